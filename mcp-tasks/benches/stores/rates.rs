//! How much 64 callers get done at once beside many parked tasks.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_tasks::TaskStore;
use mcp_tasks::task::TaskId;
use tokio::task::JoinSet;

use crate::cost::parked_in;
use crate::engine::Engine;
use crate::live::{self, parking, stop};
use crate::server::Server;
use crate::stages::{Point, Stages};
use crate::throughput::{median, rate};
use crate::{Plan, progress};

const CALLERS: usize = 64;

/// Per second: reads of any task, tasks that were begun, asked and parked, and
/// parked ones that were answered and ended.
#[derive(Clone, Copy)]
enum Work {
    Get,
    Park,
    Resume,
}

pub(crate) const WORKS: [&str; 3] = [
    "`tasks/get` of any",
    "create, ask, park",
    "answer parked, finish",
];

/// By work: SQLite, PostgreSQL.
pub(crate) type Rates = [[f64; 2]; 3];

struct Side {
    engine: Engine,
    stages: Stages,
    /// Those that were parked first stand in front.
    waiting: Arc<Mutex<VecDeque<TaskId>>>,
}

pub(crate) async fn measure(plan: &Plan, directory: &Path, server: &Server) -> Rates {
    progress("64 callers");
    let live = plan.most();
    let file = live::file(directory, live);
    let schema = live::schema(live);
    let in_postgres = parked_in(server, &schema).await;
    let in_sqlite = ids_in(&file).expect("the file has been filled");
    let sides = [
        Side::new(live::in_sqlite(directory, live), in_sqlite),
        Side::new(server.store(&schema).await, in_postgres),
    ];
    let mut rates: [[Vec<f64>; 2]; 3] = Default::default();
    for _ in 0..plan.rates {
        for (work, rates) in [Work::Get, Work::Park, Work::Resume]
            .into_iter()
            .zip(&mut rates)
        {
            for (side, rates) in sides.iter().zip(rates) {
                rates.push(side.run(work, plan.turn).await);
            }
        }
    }
    for side in sides {
        stop(side.engine).await;
    }
    rates.map(|rates| rates.map(median))
}

fn ids_in(file: &Path) -> rusqlite::Result<Vec<TaskId>> {
    let connection = rusqlite::Connection::open(file)?;
    let mut find = connection.prepare("SELECT id FROM tasks WHERE NOT ended ORDER BY id")?;
    let ids = find.query_map((), |row| row.get::<_, String>(0))?;
    ids.map(|id| id.map(|id| TaskId::from_text(&id))).collect()
}

impl Side {
    fn new(store: impl TaskStore, ids: Vec<TaskId>) -> Self {
        let stages = Stages::open();
        Self {
            engine: parking(store, &stages),
            stages,
            waiting: Arc::new(Mutex::new(ids.into())),
        }
    }

    async fn run(&self, work: Work, time: Duration) -> f64 {
        let parked = self.stages.count(Point::Parks);
        let begun = Instant::now();
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let (engine, waiting) = (self.engine.clone(), self.waiting.clone());
            callers.spawn(async move {
                let mut done = 0;
                while begun.elapsed() < time {
                    if !once(&engine, &waiting, work).await {
                        break;
                    }
                    done += 1;
                }
                done
            });
        }
        let done: u64 = callers.join_all().await.iter().sum();
        if matches!(work, Work::Park) {
            let all = parked + usize::try_from(done).unwrap_or(0);
            self.stages.come_to(Point::Parks, all).await;
        }
        rate(done, begun.elapsed())
    }
}

/// Does it once; false if there is no task for it.
async fn once(engine: &Engine, waiting: &Mutex<VecDeque<TaskId>>, work: Work) -> bool {
    let lock = || waiting.lock().expect("nobody panics with it");
    match work {
        Work::Get => {
            let Some(id) = lock().pop_front() else {
                return false;
            };
            engine.get(&id).await;
            lock().push_back(id);
        }
        Work::Park => {
            let id = engine.create().await;
            engine.until_asked(&id).await;
            lock().push_back(id);
        }
        Work::Resume => {
            let Some(id) = lock().pop_front() else {
                return false;
            };
            engine.answer(&id).await;
            engine.finished(&id).await;
        }
    }
    true
}
