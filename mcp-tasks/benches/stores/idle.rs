//! What replicas take of PostgreSQL that have nothing to do.

use mcp_tasks::PostgresStore;

use crate::engine::Engine;
use crate::live::stop;
use crate::meter::{Cost, Meter};
use crate::server::Server;
use crate::{Plan, progress};

/// How many replicas there are in one database.
pub(crate) const REPLICAS: [usize; 2] = [1, 3];

/// What they take together in a second, by their number. All are watched at the same
/// time, each number in a database of its own.
pub(crate) async fn measure(plan: &Plan, server: &Server) -> [Cost; REPLICAS.len()] {
    progress("nothing: replicas are idle");
    let mut watched = Vec::new();
    for count in REPLICAS {
        let database = server.another().await;
        let mut replicas = Vec::new();
        for _ in 0..count {
            let store = PostgresStore::connect(database.url()).await;
            let store = store.expect("the database takes tables");
            replicas.push(Engine::start(store, |builder| builder));
        }
        let meter = Meter::new(server, &database).await;
        watched.push((meter, replicas, database));
    }
    // What a start takes.
    tokio::time::sleep(plan.idle / 6).await;
    let mut before = Vec::new();
    for (meter, ..) in &watched {
        before.push(meter.read().await);
    }
    tokio::time::sleep(plan.idle).await;
    let mut costs = [Cost::NOTHING; REPLICAS.len()];
    for ((cost, (meter, ..)), before) in costs.iter_mut().zip(&watched).zip(&before) {
        let used = meter.of_statements_since(before).await;
        *cost = used.per(plan.idle.as_secs_f64());
    }
    for (_, replicas, _) in watched {
        for replica in replicas {
            stop(replica).await;
        }
    }
    costs
}
