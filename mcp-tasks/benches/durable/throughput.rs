//! Commits per second, ours and raw in turn, on the same disk.

use std::path::Path;
use std::time::{Duration, Instant};

use mcp_tasks::SqliteStore;
use mcp_tasks::task::TaskId;
use tokio::task::JoinSet;

use crate::engine::Engine;
use crate::life::{Life, Written};
use crate::raw::Raw;

/// How long a turn takes.
const TURN: Duration = Duration::from_millis(300);

/// The numbers of callers that are compared, and how often everybody has a turn
/// then.
const CALLERS: [(usize, usize); 2] = [(1, 7), (64, 21)];

/// How often per second something was done.
#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
pub(crate) fn rate(times: u64, within: Duration) -> f64 {
    times as f64 / within.as_secs_f64()
}

/// What callers do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Call, and see that the question is there.
    Create,
    /// Call, answer, and read the result.
    RoundTrip,
}

impl Work {
    pub(crate) const ALL: [Self; 2] = [Self::Create, Self::RoundTrip];

    /// What one of these commits.
    fn commits(self, life: &Life) -> &[Written] {
        match self {
            Self::Create => &life.commits[..2],
            Self::RoundTrip => &life.commits,
        }
    }
}

/// Both sides at one work with one number of callers.
pub(crate) struct Pair {
    pub(crate) work: Work,
    pub(crate) callers: usize,
    /// How many commits one piece of work is.
    pub(crate) commits: usize,
    /// Medians, in commits per second.
    pub(crate) ours: f64,
    pub(crate) raw: f64,
    /// Raw, without callers.
    pub(crate) looped: f64,
    /// The median of the turns' ratios of ours to raw.
    pub(crate) ratio: f64,
}

pub(crate) fn measure(directory: &Path, life: &Life) -> Vec<Pair> {
    // As `#[tokio::main]` makes it.
    let tokio = tokio::runtime::Runtime::new().expect("the system has threads");
    let mut pairs = Vec::new();
    for (callers, turns) in CALLERS {
        for work in Work::ALL {
            let name = |side| directory.join(format!("{side}-{callers}-{}.db", work as u8));
            let commits = work.commits(life);
            let mut raw = Raw::open(&name("raw")).expect("the disk takes a file");
            let engine = tokio.block_on(async {
                let store = SqliteStore::open(name("ours")).expect("the disk takes a file");
                Engine::start(store, |builder| builder)
            });
            let mut figures: [Vec<f64>; 4] = Default::default();
            for turn in 0..=turns {
                let (ours, tasks) = tokio.block_on(run(&engine, work, callers, TURN));
                let called = raw.called(&tokio, commits, callers, TURN);
                let looped = raw.looped(commits, callers, TURN);
                let called = called.expect("the disk takes rows");
                let looped = looped.expect("the disk takes rows");
                // A server is at work for longer than a turn, and its tasks end
                // as fast as they come: memory and pages are used again.
                tokio.block_on(engine.cancel(&tasks));
                raw.end_all().expect("the disk takes rows");
                // The first has warmed everything up.
                if turn > 0 {
                    let turn = [ours, called, looped, ours / called];
                    for (figures, figure) in figures.iter_mut().zip(turn) {
                        figures.push(figure);
                    }
                }
            }
            let [ours, raw, looped, ratio] = figures.map(median);
            pairs.push(Pair {
                work,
                callers,
                commits: commits.len(),
                ours,
                raw,
                looped,
                ratio,
            });
        }
    }
    pairs
}

/// So many callers at work for as long as given; gives the commits per second,
/// and the tasks that are left.
async fn run(engine: &Engine, work: Work, callers: usize, time: Duration) -> (f64, Vec<TaskId>) {
    let (before, _) = engine.counts().await;
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let engine = engine.clone();
        tasks.spawn(async move {
            let mut left = Vec::new();
            while begun.elapsed() < time {
                match work {
                    Work::Create => left.push(engine.create_and_see().await),
                    Work::RoundTrip => engine.round_trip().await,
                }
            }
            left
        });
    }
    let left = tasks.join_all().await;
    let time = begun.elapsed();
    let (after, _) = engine.counts().await;
    (rate(after - before, time), left.concat())
}

pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
