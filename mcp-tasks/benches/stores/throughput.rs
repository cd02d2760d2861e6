//! SQLite and PostgreSQL beside what is left of each when only the writing is left
//! of a commit, in turn.

use std::path::Path;
use std::time::{Duration, Instant};

use mcp_tasks::SqliteStore;
use tokio::task::JoinSet;

use crate::engine::Engine;
use crate::life::Life;
use crate::raw::Raw;
use crate::raw_postgres::RawPostgres;
use crate::server::Server;
use crate::{Plan, progress};

/// The numbers of callers that are compared.
const CALLERS: [usize; 2] = [1, 64];

/// Commits of a call, its question, its answer and its end.
const COMMITS: u64 = 4;

/// How often per second something was done.
#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
pub(crate) fn rate(times: u64, within: Duration) -> f64 {
    times as f64 / within.as_secs_f64()
}

pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A store and its raw figure, with so many callers.
pub(crate) struct Pair {
    pub(crate) store: &'static str,
    pub(crate) callers: usize,
    /// Medians, in commits per second.
    pub(crate) ours: f64,
    pub(crate) raw: f64,
    /// The median of the turns' ratios of ours to raw.
    pub(crate) ratio: f64,
}

pub(crate) fn measure(
    plan: &Plan,
    tokio: &tokio::runtime::Runtime,
    directory: &Path,
    server: &Server,
) -> Vec<Pair> {
    progress("beside the raw rates of the databases");
    let life = tokio.block_on(Life::observe());
    let commits = &life.commits;
    let mut pairs = Vec::new();
    for callers in CALLERS {
        let name = |side| directory.join(format!("{side}-{callers}.db"));
        let mut raw_sqlite = Raw::open(&name("raw")).expect("the disk takes a file");
        let sqlite = tokio.block_on(async {
            let store = SqliteStore::open(name("ours")).expect("the disk takes a file");
            Engine::start(store, |builder| builder)
        });
        let (postgres, mut raw_postgres) = tokio.block_on(async {
            let store = server.store(&format!("ours_{callers}")).await;
            let raw = RawPostgres::open(server, &format!("raw_{callers}")).await;
            (Engine::start(store, |builder| builder), raw)
        });
        let mut figures: [Vec<f64>; 6] = Default::default();
        for turn in 0..=plan.turns / 5 {
            let mut round = [0.0; 6];
            round[0] = tokio.block_on(run(&sqlite, callers, plan.turn));
            let raw = raw_sqlite.called(tokio, commits, callers, plan.turn);
            round[1] = raw.expect("the disk takes rows");
            raw_sqlite.end_all().expect("the disk takes rows");
            round[3] = tokio.block_on(run(&postgres, callers, plan.turn));
            round[4] = tokio.block_on(raw_postgres.called(commits, callers, plan.turn));
            for of in [0, 3] {
                round[of + 2] = round[of] / round[of + 1];
            }
            // The first has warmed everything up.
            if turn > 0 {
                for (figures, figure) in figures.iter_mut().zip(round) {
                    figures.push(figure);
                }
            }
        }
        let figures = figures.map(median);
        for (of, store) in [(0, "SQLite"), (3, "PostgreSQL")] {
            pairs.push(Pair {
                store,
                callers,
                ours: figures[of],
                raw: figures[of + 1],
                ratio: figures[of + 2],
            });
        }
        tokio.block_on(async {
            crate::live::stop(sqlite).await;
            crate::live::stop(postgres).await;
        });
    }
    pairs
}

/// So many callers at work for as long as given: call, answer, and read the result.
/// Gives the commits per second.
async fn run(engine: &Engine, callers: usize, time: Duration) -> f64 {
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let engine = engine.clone();
        tasks.spawn(async move {
            let mut lives = 0;
            while begun.elapsed() < time {
                engine.round_trip().await;
                lives += 1;
            }
            lives
        });
    }
    let lives: u64 = tasks.join_all().await.iter().sum();
    rate(lives * COMMITS, begun.elapsed())
}
