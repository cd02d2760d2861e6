//! So many functions of a tool, or of a caller, run at once over all servers on
//! a store, and the rest have their turns.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::runtime::RuntimeBuilder;
use mcp_tasks::{Caller, Limits, MemoryStore};
use serde_json::json;
use tokio::task::JoinSet;

use crate::store::Counted;
use crate::tools::{Gauge, deploy, long, work};
use crate::world::{Client, SECOND, World};

/// The same in newer code.
#[mcp_task(name = "deploy", version = 2, concurrency = 2)]
async fn deploy_2(ms: u64, State(gauge): State<Gauge>) -> String {
    step_value(gauge.work(ms)).await;
    "deployed anew".to_owned()
}

fn per_caller(seats: usize) -> Limits {
    let mut limits = Limits::default();
    limits.running_per_caller = Some(seats);
    limits
}

#[tokio::test(start_paused = true)]
async fn no_more_functions_of_a_tool_run_at_once_than_it_says_whatever_server_they_are_on() {
    let (world, gauge) = (World::new(), Gauge::default());
    let [one, two] =
        [1, 2].map(|_| world.server(|server| server.task(deploy).state(gauge.clone())));
    let mut running = JoinSet::new();
    for number in 0..50 {
        let server = if number % 2 == 0 { &one } else { &two };
        let client = Client::of(server, &format!("caller {}", number % 5));
        running.spawn(async move {
            let id = client.task("deploy", json!({"ms": 1000})).await;
            client.until_done(&id).await
        });
    }
    let took = running.join_all().await.into_iter().max().unwrap();
    assert_eq!((gauge.most(), gauge.now()), (2, 0));
    // Nobody sleeps over a free seat for long.
    assert!(took < 40 * SECOND, "{took:?}");
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_more_run_at_once_on_two_servers_that_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let gauge = Gauge::default();
    let servers = [1, 2].map(|_| {
        let store = mcp_tasks::SqliteStore::open(folder.path().join("tasks.db")).unwrap();
        let server = mcp_tasks::runtime::Runtime::builder("test", "1").store(store);
        let server = server.task(deploy).task(work).state(gauge.clone());
        server.limits(per_caller(2)).build().unwrap()
    });
    let mut running = JoinSet::new();
    for number in 0..50 {
        let client = Client::of(&servers[number % 2], &format!("caller {}", number % 5));
        running.spawn(async move {
            let id = client.task("deploy", json!({"ms": 5})).await;
            client.until_done(&id).await
        });
    }
    running.join_all().await;
    assert_eq!((gauge.most(), gauge.now()), (2, 0));
}

/// Every write to a file wakes all who share it, and those who wait ask again.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn servers_that_wait_do_not_keep_each_other_awake() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tasks.db");
    let servers = [1, 2, 3].map(|_| {
        let store = mcp_tasks::SqliteStore::open(&file).unwrap();
        let server = mcp_tasks::runtime::Runtime::builder("test", "1").store(store);
        let server = server.task(long).state(Gauge::default());
        server.build().unwrap()
    });
    for server in &servers {
        Client::of(server, "ada").task("long", json!({})).await;
    }
    tokio::time::sleep(2 * SECOND).await;
    let other = rusqlite::Connection::open(&file).unwrap();
    let version = || -> i64 {
        let version = other.query_row("PRAGMA data_version", (), |row| row.get(0));
        version.unwrap()
    };
    let (mut last, mut writes) = (version(), 0);
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let now = version();
        writes += usize::from(now != last);
        last = now;
    }
    // Three heartbeats each at most, and twice in three seconds of two that they
    // still wait.
    assert!(writes <= 24, "{writes} writes in six seconds");
}

#[tokio::test(start_paused = true)]
async fn all_versions_of_a_tool_count_together() {
    let (world, gauge) = (World::new(), Gauge::default());
    let old = world.server(|server| server.task(deploy).state(gauge.clone()));
    let new = world.server(|server| server.task(deploy).task(deploy_2).state(gauge.clone()));
    let [old, new] = [old, new].map(|server| Client::of(&server, "ada"));
    let mut ids = Vec::new();
    for client in [&old, &new, &old, &new, &old, &new] {
        ids.push(client.task("deploy", json!({"ms": 1000})).await);
    }
    for id in &ids {
        old.until_done(id).await;
    }
    assert_eq!(gauge.most(), 2);
}

#[tokio::test(start_paused = true)]
async fn functions_of_one_caller_are_limited_whatever_tool_they_are_of() {
    let (world, gauge) = (World::new(), Gauge::default());
    let tools = |server: RuntimeBuilder| {
        let server = server.task(work).task(deploy).state(gauge.clone());
        server.limits(per_caller(3))
    };
    let servers = [world.server(tools), world.server(tools)];
    let clients = servers.each_ref().map(|server| Client::of(server, "ada"));
    let mut ids = Vec::new();
    for number in 0..20 {
        let client = &clients[number % 2];
        let tool = if number % 3 == 0 { "deploy" } else { "work" };
        ids.push(client.task(tool, json!({"ms": 1000})).await);
    }
    // Another is not kept waiting, and nor are those who have no name.
    let eve = Client::of(&servers[0], "eve");
    let hers = eve.task("work", json!({"ms": 1000})).await;
    let took = eve.until_done(&hers).await;
    assert!(took < 2 * SECOND, "{took:?}");
    for id in &ids {
        clients[0].until_done(id).await;
    }
    assert!((3..=4).contains(&gauge.most()), "{}", gauge.most());

    let nobody = Client::of(&servers[0], Caller::anonymous().as_str());
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(nobody.task("work", json!({"ms": 1000})).await);
    }
    for id in &ids {
        let took = nobody.until_done(id).await;
        assert!(took < 2 * SECOND, "{took:?}");
    }
    assert_eq!(gauge.most(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_caller_at_its_own_limit_does_not_keep_others_from_a_tool() {
    let (world, gauge) = (World::new(), Gauge::default());
    let server = world.server(|server| {
        let server = server.task(work).task(deploy).state(gauge.clone());
        server.limits(per_caller(1))
    });
    let (ada, eve) = (Client::of(&server, "ada"), Client::of(&server, "eve"));
    // She works for an hour, and wants to deploy meanwhile.
    let hers = ada.task("work", json!({"ms": 3_600_000})).await;
    tokio::time::sleep(SECOND).await;
    for _ in 0..10 {
        ada.task("deploy", json!({"ms": 1000})).await;
    }
    let id = eve.task("deploy", json!({"ms": 1000})).await;
    let took = eve.until_done(&id).await;
    assert!(took < 2 * SECOND, "{took:?}");
    // One whose turn it is not yet is cancelled at once.
    ada.runtime.cancel(&hers, &ada.caller).await.unwrap();
    let id = ada.task("work", json!({"ms": 1000})).await;
    ada.until_done(&id).await;
    assert_eq!(gauge.most(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_limits_asks_for_no_seat() {
    let (world, gauge) = (World::new(), Gauge::default());
    let counted = Counted::new(world.holder());
    let asked = counted.seats.clone();
    let server = world.server_on(counted, |server| {
        let server = server.task(work).task(deploy).state(gauge.clone());
        server.limits(per_caller(10))
    });
    let nobody = Client::of(&server, Caller::anonymous().as_str());
    for _ in 0..5 {
        let id = nobody.task("work", json!({"ms": 10})).await;
        nobody.until_done(&id).await;
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    // One that is limited asks once and gives back once.
    let id = nobody.task("deploy", json!({"ms": 10})).await;
    nobody.until_done(&id).await;
    tokio::time::sleep(SECOND).await;
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_lone_server_in_memory_limits_its_tools_too() {
    let gauge = Gauge::default();
    let world = World::new();
    let server = world.server_on(MemoryStore::new(), |server| {
        server.task(deploy).state(gauge.clone())
    });
    let client = Client::of(&server, "ada");
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(client.task("deploy", json!({"ms": 10_000})).await);
    }
    for id in &ids {
        client.until_done(id).await;
    }
    assert_eq!(gauge.most(), 2);
}
