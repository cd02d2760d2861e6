//! What a task costs in PostgreSQL: statements, write-ahead log, and room.

use std::time::Duration;

use mcp_tasks::Limits;
use mcp_tasks::task::TaskId;

use crate::engine::Engine;
use crate::idle;
use crate::live::{schema, stop};
use crate::meter::{Cost, Meter, Reading};
use crate::rounds::{Dice, Side as _};
use crate::server::Server;
use crate::stages::{Point, Staged, Stages};
use crate::{Plan, progress};

/// Longer than any measurement: what is counted is not the heartbeat.
const LONG: Duration = Duration::from_secs(3600);

/// What a parked task takes in a table, on average.
pub(crate) struct Room {
    pub(crate) table: String,
    pub(crate) rows: f64,
    /// Bytes, without indexes.
    pub(crate) bytes: f64,
    /// Bytes of all its indexes.
    pub(crate) indexes: f64,
}

/// What each stage of a task's life costs, in order.
pub(crate) type Stage = (&'static str, Cost);

pub(crate) struct Costs {
    pub(crate) room: Vec<Room>,
    /// Of a task that stays in memory.
    pub(crate) resident: Vec<Stage>,
    /// Of one that is parked, from there on.
    pub(crate) parked: Vec<Stage>,
    /// Of one that was parked among many and has been at rest since, from there on.
    pub(crate) at_rest: Vec<Stage>,
    /// In a second, by the number of replicas.
    pub(crate) idle: [Cost; idle::REPLICAS.len()],
}

pub(crate) async fn measure(plan: &Plan, server: &Server, room: Vec<Room>) -> Costs {
    progress("what a task costs");
    let meter = Meter::new(server, server.tasks()).await;
    let resident = resident(plan.lives, server, &meter).await;
    let [parked, at_rest] = parked(plan, server, &meter).await;
    Costs {
        room,
        resident,
        parked,
        at_rest,
        idle: idle::measure(plan, server).await,
    }
}

/// Lives of tasks that stay in memory, all at each point before any goes on.
async fn resident(lives: usize, server: &Server, meter: &Meter) -> Vec<Stage> {
    let stages = Stages::closed();
    let store = Staged::new(server.store("lives").await, stages.clone());
    let engine = Engine::start(store, |builder| {
        builder.lease(LONG).retention(Duration::from_millis(1))
    });
    // What is done only once is not counted.
    let first = engine.create().await;
    engine.get(&first).await;
    let mut before = meter.read().await;
    let mut costs = Vec::new();
    let mut ids = vec![first];
    for _ in 0..lives {
        ids.push(engine.create().await);
    }
    costs.push(("create", meter.since(&mut before).await.among(lives)));
    let lives = ids.len();
    stages.open_until(Point::Asks);
    stages.come_to(Point::Asks, lives).await;
    costs.push(("ask", meter.since(&mut before).await.among(lives)));
    for id in &ids {
        engine.get(id).await;
    }
    costs.push(("`tasks/get`", meter.since(&mut before).await.among(lives)));
    for id in &ids {
        engine.answer(id).await;
    }
    costs.push(("answer", meter.since(&mut before).await.among(lives)));
    stages.open_until(Point::Finishes);
    stages.come_to(Point::Finishes, lives).await;
    costs.push(("finish", meter.since(&mut before).await.among(lives)));
    stages.open_until(Point::IsDeleted);
    until_all_are_deleted(server, "lives", &mut before).await;
    costs.push(("delete", meter.since(&mut before).await.among(lives)));
    stop(engine).await;
    costs
}

/// Looks now and again, and takes that out of the count.
async fn until_all_are_deleted(server: &Server, schema: &str, reading: &mut Reading) {
    let client = server.connect().await;
    let sql = format!("SELECT count(*) FROM {schema}.tasks");
    loop {
        let left = client.query_one(&sql, &[]).await;
        reading.count_one_more();
        let left: i64 = left.expect("the table is there").get(0);
        if left == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Tasks that leave memory and come back, at once; and others that were parked long
/// ago, from among many, after a checkpoint.
async fn parked(plan: &Plan, server: &Server, meter: &Meter) -> [Vec<Stage>; 2] {
    let schema = schema(plan.most());
    let others = parked_in(server, &schema).await;
    let stages = Stages::closed();
    let store = Staged::new(server.store(&schema).await, stages.clone());
    // All of them come to their end before any may.
    let mut limits = Limits::default();
    limits.running = limits.running.max(2 * plan.lives);
    let engine = Engine::start(store, |builder| {
        let builder = builder.lease(LONG).limits(limits);
        builder.park_after(Duration::ZERO)
    });
    let lives = plan.lives;
    stages.open_until(Point::Asks);
    let ids = engine.fill(lives).await;
    let mut before = meter.read().await;
    stages.open_until(Point::Parks);
    stages.come_to(Point::Parks, lives).await;
    let park = ("park", meter.since(&mut before).await.among(lives));
    let mut parked = vec![park];
    parked.extend(resumed(&engine, &stages, meter, &ids).await);
    stages.open_until(Point::Parks);
    // By a role that may not, it is left to the server.
    let client = server.connect_aside().await;
    client.batch_execute("CHECKPOINT").await.ok();
    let mut dice = Dice::default();
    let some: Vec<TaskId> = others
        .chunks((others.len() / lives).max(1))
        .take(lives)
        .map(|chunk| chunk[dice.below(chunk.len())].clone())
        .collect();
    let at_rest = resumed(&engine, &stages, meter, &some).await;
    stop(engine).await;
    [parked, at_rest.to_vec()]
}

/// Ids are random, so that their order is none.
pub(crate) async fn parked_in(server: &Server, schema: &str) -> Vec<TaskId> {
    let client = server.connect().await;
    let sql = format!("SELECT id FROM {schema}.tasks WHERE NOT ended AND holder = 0 ORDER BY id");
    let rows = client.query(&sql, &[]).await;
    let rows = rows.expect("the database has been filled");
    rows.iter()
        .map(|row| TaskId::from_text(row.get(0)))
        .collect()
}

/// Answers parked tasks, of which none finishes before all are answered.
async fn resumed(engine: &Engine, stages: &Stages, meter: &Meter, ids: &[TaskId]) -> [Stage; 2] {
    let finished = stages.count(Point::Finishes);
    let arrived = stages.arrived();
    let mut before = meter.read().await;
    for id in ids {
        engine.answer(id).await;
    }
    stages.arrive(arrived + ids.len()).await;
    let answered = meter.since(&mut before).await;
    stages.open_until(Point::Finishes);
    stages.come_to(Point::Finishes, finished + ids.len()).await;
    let finished = meter.since(&mut before).await;
    [
        ("answer, resume", answered.among(ids.len())),
        ("finish", finished.among(ids.len())),
    ]
}

/// Tables and indexes after so many tasks were parked, and nothing else done.
pub(crate) async fn room(live: usize, server: &Server) -> Vec<Room> {
    let client = server.connect().await;
    let schema = schema(live);
    let mut room = Vec::new();
    for table in ["tasks", "journal"] {
        let sql = format!(
            "SELECT count(*)::float8, pg_table_size('{schema}.{table}')::float8,
                 pg_indexes_size('{schema}.{table}')::float8
             FROM {schema}.{table}"
        );
        let row = client.query_one(&sql, &[]).await;
        let row = row.expect("the database has been filled");
        #[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
        let each = |column| row.get::<_, f64>(column) / live as f64;
        room.push(Room {
            table: table.to_owned(),
            rows: each(0),
            bytes: each(1),
            indexes: each(2),
        });
    }
    room
}
