//! Functions that come back: from a parked task's answer to its result, and
//! what a journal's length adds to that.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_tasks::SqliteStore;
use mcp_tasks::task::TaskId;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::engine::Engine;
use crate::throughput::median;

const CALLERS: usize = 64;

/// How many parked tasks are answered.
const ANSWERED: u16 = 4096;

/// The journals that are compared, by the number of steps before the question.
const SHORT: u32 = 1;
const LONG: u32 = 1001;
const OF_EACH: usize = 16;

pub(crate) struct Resumed {
    /// Seconds from an answer to the result: the median, and what one in a
    /// hundred exceeds.
    pub(crate) median: f64,
    pub(crate) slowest: f64,
    pub(crate) per_second: f64,
    /// Seconds that one more recorded step adds.
    pub(crate) per_entry: f64,
}

pub(crate) fn measure(parked: &Path, long: &Path) -> Resumed {
    let tokio = tokio::runtime::Runtime::new().expect("the system has threads");
    tokio.block_on(async {
        let ids = ids(parked, usize::from(ANSWERED));
        let begun = Instant::now();
        let mut times = answer_all(parked, ids).await;
        let per_second = f64::from(ANSWERED) / begun.elapsed().as_secs_f64();
        times.sort_by(f64::total_cmp);
        Resumed {
            median: times[times.len() / 2],
            slowest: times[times.len() * 99 / 100],
            per_second,
            per_entry: per_entry(long).await,
        }
    })
}

/// A task of a file.
pub(crate) fn an_id(file: &Path) -> TaskId {
    ids(file, 1).pop().expect("the file has been filled")
}

/// So many tasks of a file.
fn ids(file: &Path, count: usize) -> Vec<TaskId> {
    let ids = || -> rusqlite::Result<Vec<String>> {
        let connection = rusqlite::Connection::open(file)?;
        // Ids are random, so that these lie all over the file.
        let mut find = connection.prepare("SELECT id FROM tasks ORDER BY id LIMIT ?1")?;
        find.query_map([count.cast_signed() as i64], |row| row.get(0))?
            .collect()
    };
    let ids = ids().expect("the file can be read");
    ids.iter().map(|id| TaskId::from_text(id)).collect()
}

fn open(file: &Path, park_after: Duration) -> Engine {
    let store = SqliteStore::open(file).expect("the disk takes a file");
    Engine::start(store, |builder| builder.park_after(park_after))
}

async fn answer_all(file: &Path, ids: Vec<TaskId>) -> Vec<f64> {
    let engine = open(file, Duration::from_secs(3600));
    let ids = Arc::new(Mutex::new(ids));
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let (engine, ids) = (engine.clone(), ids.clone());
        callers.spawn(async move {
            let mut times = Vec::new();
            loop {
                let next = ids.lock().expect("nobody panics with it").pop();
                let Some(id) = next else { return times };
                times.push(time_to_result(&engine, &id).await);
            }
        });
    }
    callers.join_all().await.concat()
}

async fn time_to_result(engine: &Engine, id: &TaskId) -> f64 {
    let begun = Instant::now();
    engine.answer(id).await;
    engine.finished(id).await;
    begun.elapsed().as_secs_f64()
}

/// Compares tasks that have run many steps with others that have run few.
async fn per_entry(file: &Path) -> f64 {
    let mut ids = Vec::new();
    {
        let engine = open(file, Duration::ZERO);
        let mut callers = JoinSet::new();
        for n in 0..2 * OF_EACH {
            let engine = engine.clone();
            let steps = if n % 2 == 0 { SHORT } else { LONG };
            callers.spawn(async move { (steps, engine.create_long(steps).await) });
        }
        ids.extend(callers.join_all().await);
        // One after another, as they have asked.
        for (_, id) in &ids {
            engine.until_asked(id).await;
        }
        while engine.counts().await.1 > 0 {
            sleep(Duration::from_millis(10)).await;
        }
    }
    // A process that has seen none of them.
    let engine = open(file, Duration::from_secs(3600));
    let (mut short, mut long) = (Vec::new(), Vec::new());
    for (steps, id) in ids {
        let times = if steps == SHORT {
            &mut short
        } else {
            &mut long
        };
        times.push(time_to_result(&engine, &id).await);
    }
    (median(long) - median(short)) / f64::from(LONG - SHORT)
}
