//! The figures side by side, and the bounds that they are held to.

use std::fmt;

use crate::rounds::{Column, Operations};

/// How much dearer an operation may be beside 100,000 tasks than beside 10.
const MOST_GROWTH: f64 = 2.0;

/// How long an operation may take, as a share of rmcp's time beside 10 tasks.
const MOST_OF_PEER: f64 = 1.0;

pub(crate) struct Report {
    ours: [Column; 3],
    peer: [Column; 3],
}

/// A row: its name, where its figures stand, and whether its growth is bounded.
type Row = (&'static str, fn(&Operations<f64>) -> f64, bool);

const ROWS: [Row; 6] = [
    ("create", |of| of.create, true),
    ("ask", |of| of.ask, true),
    ("get", |of| of.get, true),
    // What grows is the time of a memory in which ten tasks are in the
    // processor's cache, and of 100,000 hardly any.
    ("get of any", |of| of.get_any, false),
    ("answer", |of| of.answer, true),
    ("finish", |of| of.finish, true),
];

impl Report {
    pub(crate) fn new(ours: [Column; 3], peer: [Column; 3]) -> Self {
        Self { ours, peer }
    }

    fn growth(&self, of: fn(&Operations<f64>) -> f64) -> f64 {
        of(&self.ours[2].medians) / of(&self.ours[0].medians)
    }

    fn share(&self, of: fn(&Operations<f64>) -> f64) -> f64 {
        of(&self.ours[0].medians) / of(&self.peer[0].medians)
    }

    /// The bounds that are broken, in words.
    pub(crate) fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for (name, of, bounded) in ROWS {
            let (growth, share) = (self.growth(of), self.share(of));
            // A figure that is missing is not within bounds.
            if bounded && (growth.is_nan() || growth > MOST_GROWTH) {
                broken.push(format!(
                    "{name} takes {growth:.2} times as long beside 100,000 tasks as beside 10"
                ));
            }
            if share.is_nan() || share > MOST_OF_PEER {
                broken.push(format!(
                    "{name} takes {share:.2} times as long as rmcp beside 10 tasks"
                ));
            }
        }
        broken
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Medians in µs, by the number of other tasks that wait\n")?;
        writeln!(
            f,
            "{:<11} {:>32} {:>9}   {:>30} {:>9}",
            "", "mcp-tasks", "growth", "rmcp", "ours/rmcp"
        )?;
        write!(f, "{:<11}", "operation")?;
        for column in &self.ours {
            write!(f, " {:>10}", column.waiting)?;
        }
        write!(f, " {:>9}  ", format!("<= {MOST_GROWTH}"))?;
        for column in &self.peer {
            write!(f, " {:>10}", column.waiting)?;
        }
        writeln!(f, " {:>8}", format!("<= {MOST_OF_PEER}"))?;
        for (name, of, bounded) in ROWS {
            write!(f, "{name:<11}")?;
            for column in &self.ours {
                write!(f, " {:>10.2}", of(&column.medians) / 1000.0)?;
            }
            let mark = if bounded { ' ' } else { '*' };
            write!(f, " {:>9.2}{mark} ", self.growth(of))?;
            for column in &self.peer {
                write!(f, " {:>10.2}", of(&column.medians) / 1000.0)?;
            }
            writeln!(f, " {:>8.2}", self.share(of))?;
        }
        writeln!(
            f,
            "\n* not held to the bound: most of it is the processor's caches\n"
        )?;
        for (side, column) in [("mcp-tasks", &self.ours[2]), ("rmcp", &self.peer[2])] {
            if let Some(bytes) = column.bytes {
                writeln!(
                    f,
                    "resident memory per waiting task at {}: {:.1} KB ({side})",
                    column.waiting,
                    bytes / 1000.0
                )?;
            }
        }
        Ok(())
    }
}
