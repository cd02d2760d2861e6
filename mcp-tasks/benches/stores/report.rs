//! The figures side by side, in Markdown.

use std::fmt;

use crate::cost::{Costs, Stage};
use crate::http::{CLIENTS, Served};
use crate::idle;
use crate::live::{Latencies, MOST_OF_PEER, SIDES};
use crate::markdown::{Table, grouped};
use crate::meter::Cost;
use crate::rates::{Rates, WORKS};
use crate::rounds::Operation;
use crate::throughput::Pair;

/// Everything that was measured.
pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) latencies: Vec<Latencies>,
    pub(crate) rates: Rates,
    pub(crate) served: Served,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) costs: Costs,
}

/// A table of all sides, each of ours with its ratio to rmcp.
fn table_of_sides() -> Table {
    let [peer, ours @ ..] = SIDES;
    let heads = ours.into_iter().flat_map(|own| [own, "/rmcp"]);
    Table::new(["", peer].into_iter().chain(heads))
}

fn with_ratios(figures: [f64; SIDES.len()], scale: f64) -> impl Iterator<Item = f64> {
    let [peer, ours @ ..] = figures;
    let ours = ours
        .into_iter()
        .flat_map(move |own| [own * scale, own / peer]);
    [peer * scale].into_iter().chain(ours)
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

impl Report {
    fn latencies(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n**One caller, by the number of other tasks that live**: medians in µs, and each \
             as a multiple of rmcp's. Rmcp's figures in the last line of each operation are \
             beside {} tasks.\n",
            grouped_count(self.most().min(MOST_OF_PEER))
        )?;
        let mut table = table_of_sides();
        for (nth, operation) in Operation::ALL.into_iter().enumerate() {
            for latencies in &self.latencies {
                let words = format!("{}, {}", operation.name(), grouped_count(latencies.live));
                table.line(words, with_ratios(latencies.seconds[nth], 1e6));
            }
        }
        write!(f, "{table}")
    }

    /// The most tasks that lived.
    fn most(&self) -> usize {
        self.latencies.last().map_or(0, |latencies| latencies.live)
    }

    fn rates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = grouped_count(self.most());
        writeln!(
            f,
            "\n**64 callers beside {most} parked tasks**: per second.\n"
        )?;
        let mut table = Table::new(["", SIDES[2], SIDES[3]]);
        for (work, rates) in WORKS.into_iter().zip(self.rates) {
            table.line(work, rates);
        }
        write!(f, "{table}")
    }

    fn served(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n**End to end over HTTP on loopback**: a call whose task ends at once, and a \
             `tasks/get` of it.\n"
        )?;
        let mut table = table_of_sides();
        for (nth, clients) in CLIENTS.into_iter().enumerate() {
            let clients = counted(clients, "client");
            let pairs = with_ratios(self.served.pairs[nth], 1.0);
            table.line(format!("pairs per second, {clients}"), pairs);
            let get = with_ratios(self.served.get[nth], 1e6);
            table.line(format!("`tasks/get` in µs, {clients}"), get);
        }
        write!(f, "{table}")
    }

    fn pairs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n**Call, ask, answer, finish**: commits per second, beside the same rows written \
             by the same library alone.\n"
        )?;
        let mut table = Table::new(["", "ours", "raw", "ours/raw"]);
        for pair in &self.pairs {
            let callers = counted(pair.callers, "caller");
            let figures = [pair.ours, pair.raw, pair.ratio];
            table.line(format!("{}, {callers}", pair.store), figures);
        }
        write!(f, "{table}")
    }

    fn costs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n**What a task costs in PostgreSQL**.\n")?;
        let heads = ["statements", "bytes of WAL", "whole pages in it"];
        let mut table = Table::new([""].into_iter().chain(heads));
        let costs = &self.costs;
        for (name, cost) in &costs.resident {
            table.cost(*name, *cost);
        }
        let life = sum(&costs.resident, |name| name != "`tasks/get`");
        table.cost("a life in memory, no `tasks/get`", life);
        for (name, cost) in &costs.parked {
            table.cost(format!("parked: {name}"), *cost);
        }
        let begin = sum(&costs.resident, |name| ["create", "ask"].contains(&name));
        let delete = sum(&costs.resident, |name| name == "delete");
        let parked = begin + sum(&costs.parked, |_| true) + delete;
        table.cost("a life with one parking, no `tasks/get`", parked);
        for (name, cost) in &costs.at_rest {
            table.cost(
                format!("parked, first touch after a checkpoint: {name}"),
                *cost,
            );
        }
        writeln!(f, "{table}")?;
        writeln!(
            f,
            "**Replicas with nothing to do**: per second, together.\n"
        )?;
        let mut table = Table::new([""].into_iter().chain(heads));
        for (replicas, cost) in idle::REPLICAS.into_iter().zip(costs.idle) {
            table.cost(counted(replicas, "replica"), cost);
        }
        writeln!(f, "{table}")?;
        writeln!(
            f,
            "**Room for a parked task in PostgreSQL**: rows and bytes.\n"
        )?;
        let mut table = Table::new(["table", "rows", "bytes", "bytes of indexes"]);
        for room in &costs.room {
            table.line(
                format!("`{}`", room.table),
                [room.rows, room.bytes, room.indexes],
            );
        }
        write!(f, "{table}")
    }
}

fn sum(stages: &[Stage], of: impl Fn(&str) -> bool) -> Cost {
    let stages = stages.iter().filter(|(name, _)| of(name));
    stages.fold(Cost::NOTHING, |sum, (_, cost)| sum + *cost)
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn grouped_count(count: usize) -> String {
    grouped(count as f64)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.machine)?;
        self.latencies(f)?;
        self.rates(f)?;
        self.served(f)?;
        self.pairs(f)?;
        self.costs(f)
    }
}
