//! What each operation takes while 10, 1,000 and 100,000 other tasks live, in
//! memory, SQLite and PostgreSQL, and with rmcp's task manager.

use std::path::Path;
use std::time::{Duration, Instant};

use mcp_tasks::task::TaskId;
use mcp_tasks::{MemoryStore, SqliteStore, TaskStore};

use crate::engine::Engine;
use crate::peer::Peer;
use crate::rounds::{Dice, Operation, Side as _, Stopwatch, World};
use crate::server::Server;
use crate::stages::{Point, Staged, Stages};
use crate::{Plan, progress};

/// Filling rmcp's manager with more alone would take minutes: it looks at every task
/// on every call.
pub(crate) const MOST_OF_PEER: usize = 10_000;

/// Those that are compared, in the order in which they are shown.
pub(crate) const SIDES: [&str; 4] = ["rmcp", "memory", "SQLite", "PostgreSQL"];

/// Seconds, by operation and side; not a number where a side has no such thing.
pub(crate) struct Latencies {
    pub(crate) live: usize,
    pub(crate) seconds: Vec<[f64; SIDES.len()]>,
}

/// The name of the schema in which so many tasks live.
pub(crate) fn schema(live: usize) -> String {
    format!("live_{live}")
}

/// The file in which so many tasks live.
pub(crate) fn file(directory: &Path, live: usize) -> std::path::PathBuf {
    directory.join(format!("live-{live}.db"))
}

/// A server that gives up tasks from memory as soon as they wait.
pub(crate) fn parking(store: impl TaskStore, stages: &Stages) -> Engine {
    let store = Staged::new(store, stages.clone());
    Engine::start(store, |builder| builder.park_after(Duration::ZERO))
}

pub(crate) async fn stop(engine: Engine) {
    let stopped = engine.runtime.shut_down(Duration::from_secs(5)).await;
    stopped.expect("the store is there");
}

/// A store full of tasks that are parked.
pub(crate) struct Parked {
    engine: Engine,
    stages: Stages,
    waiting: Vec<TaskId>,
    dice: Dice,
    stopwatch: Stopwatch,
}

impl Parked {
    fn new(store: impl TaskStore, waiting: Vec<TaskId>) -> Self {
        let stages = Stages::open();
        Self {
            engine: parking(store, &stages),
            stages,
            waiting,
            dice: Dice::default(),
            stopwatch: Stopwatch::default(),
        }
    }

    /// Parks one more and answers one of the others, so that as many are left.
    async fn turn(&mut self) {
        let parked = self.stages.count(Point::Parks);
        let begun = Instant::now();
        let id = self.engine.create().await;
        self.stages.come_to(Point::Parks, parked + 1).await;
        self.stopwatch.add(Operation::Park, begun.elapsed());
        self.engine.until_asked(&id).await;
        let any = self.dice.below(self.waiting.len());
        let any = std::mem::replace(&mut self.waiting[any], id);
        let answering = Instant::now();
        self.engine.answer(&any).await;
        self.engine.finished(&any).await;
        self.stopwatch.add(Operation::Resume, answering.elapsed());
    }

    /// The same tasks, for a server that parks nothing.
    async fn into_world(self, store: impl TaskStore) -> World<Engine> {
        stop(self.engine).await;
        let mut world = World::new(Engine::start(store, |builder| builder), self.waiting);
        world.stopwatch = self.stopwatch;
        world
    }
}

/// SQLite and PostgreSQL, with each number of tasks.
pub(crate) type Filled = Vec<[Parked; 2]>;

pub(crate) async fn fill(plan: &Plan, directory: &Path, server: &Server) -> Filled {
    let mut filled = Vec::new();
    for live in plan.live {
        progress(&format!("stores are filled with {live} tasks"));
        let schema = schema(live);
        let sqlite = park(in_sqlite(directory, live), live).await;
        let postgres = park(server.store_to_fill(&schema).await, live).await;
        filled.push([
            Parked::new(in_sqlite(directory, live), sqlite),
            Parked::new(server.store(&schema).await, postgres),
        ]);
    }
    filled
}

/// Fills a store with tasks that are parked.
async fn park(store: impl TaskStore, live: usize) -> Vec<TaskId> {
    let stages = Stages::open();
    let engine = parking(store, &stages);
    let ids = engine.fill(live).await;
    stages.come_to(Point::Parks, live).await;
    stop(engine).await;
    ids
}

pub(crate) fn in_sqlite(directory: &Path, live: usize) -> SqliteStore {
    SqliteStore::open(file(directory, live)).expect("the disk takes a file")
}

pub(crate) async fn measure(
    plan: &Plan,
    directory: &Path,
    server: &Server,
    mut parked: Filled,
) -> Vec<Latencies> {
    progress("one caller: tasks are parked and answered");
    for _ in 0..plan.turns * 2 {
        for kept in parked.iter_mut().flatten() {
            kept.turn().await;
        }
    }
    progress("memory and rmcp are filled");
    let mut worlds = Vec::new();
    for (live, [sqlite, postgres]) in plan.live.into_iter().zip(parked) {
        let memory = Engine::start(MemoryStore::new(), |builder| builder);
        let waiting = memory.fill(live).await;
        let ours = [
            World::new(memory, waiting),
            sqlite.into_world(in_sqlite(directory, live)).await,
            postgres.into_world(server.store(&schema(live)).await).await,
        ];
        let peer = Peer::default();
        let waiting = peer.fill(live.min(MOST_OF_PEER)).await;
        worlds.push((live, World::new(peer, waiting), ours));
    }
    progress("one caller: tasks live in memory");
    for _ in 0..plan.turns {
        for (_, peer, ours) in &mut worlds {
            peer.turn().await;
            for world in ours {
                world.turn().await;
            }
        }
    }
    let mut latencies = Vec::new();
    for (live, mut peer, mut ours) in worlds {
        let seconds = Operation::ALL.map(|operation| {
            let peer = peer.stopwatch.median(operation);
            let [memory, sqlite, postgres] = &mut ours;
            let ours = [memory, sqlite, postgres];
            let [memory, sqlite, postgres] = ours.map(|world| world.stopwatch.median(operation));
            [peer, memory, sqlite, postgres]
        });
        latencies.push(Latencies {
            live,
            seconds: seconds.to_vec(),
        });
        let [_, sqlite, postgres] = ours;
        stop(sqlite.side).await;
        stop(postgres.side).await;
    }
    latencies
}
