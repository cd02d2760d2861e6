//! So many functions of a tool, or of a caller, run at once over all servers on
//! a store, and the rest have their turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::runtime::{Called, RuntimeBuilder};
use mcp_tasks::{Caller, Limits, MemoryStore};
use serde_json::json;
use tokio::task::JoinSet;

use crate::store::{Counted, Unreliable};
use crate::world::{Client, SECOND, World};

/// How many functions work, and how many have at most.
#[derive(Clone, Default)]
pub(crate) struct Gauge(Arc<[AtomicUsize; 2]>);

impl Gauge {
    /// Works for a while.
    async fn work(self, ms: u64) {
        let _at_work = AtWork::begin(self);
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    fn most(&self) -> usize {
        self.0[1].load(Ordering::Acquire)
    }

    fn now(&self) -> usize {
        self.0[0].load(Ordering::Acquire)
    }
}

struct AtWork(Gauge);

impl AtWork {
    fn begin(gauge: Gauge) -> Self {
        let [now, most] = &*gauge.0;
        most.fetch_max(now.fetch_add(1, Ordering::AcqRel) + 1, Ordering::AcqRel);
        Self(gauge)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.0[0].fetch_sub(1, Ordering::AcqRel);
    }
}

#[mcp_task(concurrency = 2)]
async fn deploy(ms: u64, State(gauge): State<Gauge>) -> String {
    step_value(gauge.work(ms)).await;
    "deployed".to_owned()
}

/// The same in newer code.
#[mcp_task(name = "deploy", version = 2, concurrency = 2)]
async fn deploy_2(ms: u64, State(gauge): State<Gauge>) -> String {
    step_value(gauge.work(ms)).await;
    "deployed anew".to_owned()
}

#[mcp_task]
async fn work(ms: u64, State(gauge): State<Gauge>) -> String {
    step_value(gauge.work(ms)).await;
    "done".to_owned()
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

#[mcp_task(concurrency = 1)]
async fn ask_and_work(State(gauge): State<Gauge>) -> Result<String, ToolError> {
    let name: String = ask_user("Who?").await?;
    step_value(gauge.work(1000)).await;
    Ok(name)
}

#[mcp_task(concurrency = 1)]
async fn wait_for_all(State(gauge): State<Gauge>) -> Result<String, ToolError> {
    step_value(gauge.clone().work(10)).key("first").await;
    sleep(600 * SECOND).await;
    signal::<u8>("go").await?;
    step_value(gauge.work(10)).key("last").await;
    Ok("gone".to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_function_that_waits_has_no_seat() {
    let (world, gauge) = (World::new(), Gauge::default());
    let server = world.server(|server| {
        let server = server.task(ask_and_work).task(wait_for_all);
        server.state(gauge.clone()).park_after(5 * SECOND)
    });
    let client = Client::of(&server, "ada");
    let mut asked = Vec::new();
    for _ in 0..20 {
        asked.push(client.task("ask_and_work", json!({})).await);
    }
    for id in &asked {
        client
            .until(id, |task| !task.input_requests.is_empty())
            .await;
    }
    // All at once: they work one after the other, and the others wait their turn
    // as `working`, without the question.
    for id in &asked {
        client.answer(id, "name", "Ada").await;
    }
    tokio::time::sleep(SECOND / 2).await;
    for id in &asked {
        let task = client.get(id).await;
        assert_eq!(task.status(), TaskStatus::Working);
    }
    let mut most = Duration::ZERO;
    for id in &asked {
        most += client.until_done(id).await;
    }
    assert_eq!(gauge.most(), 1);
    assert!(most > 18 * SECOND, "{most:?}");
    assert!(most < 24 * SECOND, "{most:?}");

    let mut waiting = Vec::new();
    for _ in 0..20 {
        waiting.push(client.task("wait_for_all", json!({})).await);
    }
    tokio::time::sleep(700 * SECOND).await;
    for id in &waiting {
        let sent = server.tasks().signal(id, "go", &1).await;
        sent.expect("the task waits");
    }
    for id in &waiting {
        let took = client.until_done(id).await;
        assert!(took < 10 * SECOND, "{took:?}");
    }
    assert_eq!(gauge.most(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_is_parked_and_its_timer_rings_though_all_seats_are_taken() {
    let (world, gauge) = (World::new(), Gauge::default());
    let server = world.server(|server| {
        let server = server.task(ask_in_time);
        server.state(gauge.clone()).park_after(5 * SECOND)
    });
    let client = Client::of(&server, "ada");
    let asking = client.task("ask_in_time", json!({"works": false})).await;
    let asked = |task: &mcp_tasks::task::Snapshot| !task.input_requests.is_empty();
    client.until(&asking, asked).await;
    let working = client.task("ask_in_time", json!({"works": true})).await;
    tokio::time::sleep(20 * SECOND).await;
    assert_eq!(gauge.now(), 1);
    // The one that waits has gone from memory.
    assert_eq!(server.tasks().stats().await.unwrap().resident, 1);
    // Nobody can answer any more what is too late to be answered.
    tokio::time::sleep(100 * SECOND).await;
    client.until_done(&asking).await;
    client.until_done(&working).await;
}

#[mcp_task(concurrency = 1)]
async fn ask_in_time(works: bool, State(gauge): State<Gauge>) -> String {
    if works {
        step_value(gauge.work(60_000)).await;
        return "worked".to_owned();
    }
    let answer: Result<String, AskError> = ask_user("?").timeout(30 * SECOND).await;
    answer.unwrap_or_else(|error| error.to_string())
}

#[mcp_task(concurrency = 1, ttl = "1h")]
async fn long(State(gauge): State<Gauge>) -> String {
    step_value(gauge.work(2 * 3_600_000)).await;
    "done".to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_its_turn_is_working_and_can_be_cancelled_and_expires() {
    let (world, gauge) = (World::new(), Gauge::default());
    let server = world.server(|server| server.task(long).state(gauge.clone()));
    let client = Client::of(&server, "ada");
    client.task("long", json!({})).await;
    tokio::time::sleep(SECOND).await;
    let [cancelled, expired] = [
        client.task("long", json!({})).await,
        client.task("long", json!({})).await,
    ];
    tokio::time::sleep(SECOND).await;
    assert_eq!(client.get(&cancelled).await.status(), TaskStatus::Working);
    client
        .runtime
        .cancel(&cancelled, &client.caller)
        .await
        .unwrap();
    assert_eq!(client.get(&cancelled).await.status(), TaskStatus::Cancelled);
    tokio::time::sleep(SECOND).await;
    assert_eq!(server.tasks().stats().await.unwrap().resident, 2);
    tokio::time::sleep(3600 * SECOND).await;
    assert_eq!(client.get(&expired).await.status(), TaskStatus::Failed);
    assert_eq!(server.tasks().stats().await.unwrap().resident, 0);
    assert_eq!(gauge.most(), 1);
}

#[mcp_task(concurrency = 1, inline = "50ms")]
async fn quick(ms: u64, State(gauge): State<Gauge>) -> String {
    // Whatever is recorded makes it a task.
    if ms > 0 {
        step_value(gauge.work(ms)).await;
    }
    "done".to_owned()
}

#[mcp_task(concurrency = 1)]
async fn greet(State(gauge): State<Gauge>) -> Result<String, ToolError> {
    step_value(gauge.work(1000)).await;
    Ok("hello".to_owned())
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_no_tasks_count_while_they_run() {
    let (world, gauge) = (World::new(), Gauge::default());
    let tools = |server: RuntimeBuilder| server.task(greet).task(quick).state(gauge.clone());
    let [one, two] = [world.server(tools), world.server(tools)];
    let mut calls = JoinSet::new();
    for number in 0..10 {
        let client = Client::of(if number % 2 == 0 { &one } else { &two }, "ada");
        calls.spawn(async move { client.call("greet", json!({}), number % 3 == 0).await });
    }
    let called = calls.join_all().await;
    let results = called
        .iter()
        .filter(|called| matches!(called, Called::Result(_)));
    assert_eq!(results.count(), 6);
    while gauge.now() > 0 || one.tasks().stats().await.unwrap().store.live > 0 {
        tokio::time::sleep(SECOND).await;
    }
    assert_eq!(gauge.most(), 1);

    let client = Client::of(&one, "ada");
    let result = client.call("quick", json!({"ms": 0}), true).await;
    assert!(matches!(result, Called::Result(_)), "{result:?}");
    let long = client.task("quick", json!({"ms": 10_000})).await;
    // What has to wait longer than the window is a task.
    let short = client.task("quick", json!({"ms": 0})).await;
    let took = client.until_done(&short).await;
    assert!(took > 8 * SECOND, "{took:?}");
    client.until_done(&long).await;
    // Whoever hangs up while it waits has no seat.
    let held = client.task("greet", json!({})).await;
    tokio::time::sleep(SECOND / 10).await;
    for tasks in [false, true] {
        let hung_up = client.call("greet", json!({}), tasks);
        tokio::time::timeout(SECOND / 10, hung_up).await.ok();
    }
    client.until_done(&held).await;
    let id = client.task("greet", json!({})).await;
    let took = client.until_done(&id).await;
    assert!(took < 4 * SECOND, "{took:?}");
    assert_eq!(gauge.most(), 1);
}

#[mcp_task(replay = false, concurrency = 1)]
async fn once(signals: bool, State(gauge): State<Gauge>) -> Result<String, ToolError> {
    if signals {
        signal::<u8>("go").await?;
    }
    // Not a step: nobody sees what it waits for.
    gauge.work(1000).await;
    Ok("done".to_owned())
}

#[tokio::test(start_paused = true)]
async fn what_a_function_without_replay_awaits_counts_unless_others_must_tell_it_something() {
    let gauge = Gauge::default();
    let world = World::new();
    let server = world.server(|server| server.task(once).state(gauge.clone()));
    let client = Client::of(&server, "ada");
    let waiting = client.task("once", json!({"signals": true})).await;
    tokio::time::sleep(SECOND).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(client.task("once", json!({"signals": false})).await);
    }
    server.tasks().signal(&waiting, "go", &1).await.unwrap();
    for id in ids.iter().chain([&waiting]) {
        client.until_done(id).await;
    }
    assert_eq!(gauge.most(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_burst_on_one_server_does_not_keep_a_caller_of_another_from_running() {
    let (world, gauge) = (World::new(), Gauge::default());
    let [one, two] =
        [1, 2].map(|_| world.server(|server| server.task(deploy).state(gauge.clone())));
    let (ada, eve) = (Client::of(&one, "ada"), Client::of(&two, "eve"));
    for _ in 0..200 {
        ada.task("deploy", json!({"ms": 10_000})).await;
    }
    tokio::time::sleep(SECOND).await;
    for _ in 0..3 {
        let id = eve.task("deploy", json!({"ms": 10_000})).await;
        let took = eve.until_done(&id).await;
        assert!(took < 45 * SECOND, "{took:?}");
    }
    assert_eq!(gauge.most(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_seat_does_not_keep_others_from_being_taken_over() {
    let (world, gauge) = (World::new(), Gauge::default());
    let tools = |server: RuntimeBuilder| server.task(deploy).task(work).state(gauge.clone());
    let first = world.server(tools);
    let (ada, eve) = (Client::of(&first, "ada"), Client::of(&first, "eve"));
    for _ in 0..500 {
        ada.task("deploy", json!({"ms": 600_000})).await;
    }
    let id = eve.task("work", json!({"ms": 1000})).await;
    first.crash().await.unwrap();
    drop((first, ada, eve));
    let second = world.server(tools);
    let eve = Client::of(&second, "eve");
    let took = eve.until_done(&id).await;
    assert!(took < 15 * SECOND, "{took:?}");
    // The store keeps most of them until they are wanted.
    let resident = second.tasks().stats().await.unwrap().resident;
    assert!(resident < 200, "{resident}");
    tokio::time::sleep(20 * 600 * SECOND).await;
    let stats = second.tasks().stats().await.unwrap();
    assert!((450..=465).contains(&stats.store.live), "{stats:?}");
    assert!(stats.resident < 200, "{stats:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_frees_its_seats() {
    let (world, gauge) = (World::new(), Gauge::default());
    let tools = |server: RuntimeBuilder| server.task(deploy).state(gauge.clone());
    let (first, second) = (world.server(tools), world.server(tools));
    let ada = Client::of(&first, "ada");
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(ada.task("deploy", json!({"ms": 3_600_000})).await);
    }
    tokio::time::sleep(SECOND).await;
    let eve = Client::of(&second, "eve");
    let id = eve.task("deploy", json!({"ms": 1000})).await;
    tokio::time::sleep(SECOND).await;
    for id in &ids {
        ada.runtime.get(id, &ada.caller).await.unwrap();
    }
    assert!(!eve.get(&id).await.is_terminal());
    first.crash().await.unwrap();
    let took = eve.until_done(&id).await;
    assert!(took < 15 * SECOND, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_seat_is_anothers_by_now_is_stopped() {
    let (world, gauge) = (World::new(), Gauge::default());
    let server = world.server(|server| server.task(long).state(gauge.clone()));
    let client = Client::of(&server, "ada");
    let call = tokio::spawn(async move { client.try_call("long", json!({}), false).await });
    tokio::time::sleep(600 * SECOND).await;
    assert_eq!(gauge.now(), 1);
    server.crash().await.unwrap();
    let error = call.await.unwrap().unwrap_err();
    assert!(error.message.contains("try again"), "{}", error.message);
    assert_eq!(gauge.now(), 0);
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

#[tokio::test(start_paused = true)]
async fn no_seat_is_lost_whoever_goes_away_and_whatever_the_store_says() {
    let (world, gauge) = (World::new(), Gauge::default());
    let unreliable = Unreliable::new(world.holder());
    let server = world.server_on(unreliable, |server| {
        server.task(deploy).task(greet).state(gauge.clone())
    });
    let client = Client::of(&server, "ada");
    for number in 0..100 {
        // Some go before they have asked, some while they do, some after.
        let patience = Duration::from_millis(number * 7 % 150);
        let call = client.call("greet", json!({}), false);
        tokio::time::timeout(patience, call).await.ok();
        let id = client.task("deploy", json!({"ms": number % 5 * 20})).await;
        if number % 2 == 0 {
            tokio::time::sleep(patience).await;
            client.runtime.cancel(&id, &client.caller).await.unwrap();
        }
    }
    while server.tasks().stats().await.unwrap().store.live > 0 {
        tokio::time::sleep(SECOND).await;
    }
    tokio::time::sleep(10 * SECOND).await;
    assert!(gauge.most() <= 3, "{}", gauge.most());
    // All seats are free.
    let other = Client::of(
        &world.server(|server| server.task(deploy).task(greet).state(gauge.clone())),
        "eve",
    );
    let mut ids = Vec::new();
    for tool in ["deploy", "deploy", "greet"] {
        ids.push(other.task(tool, json!({"ms": 5000})).await);
    }
    for id in &ids {
        let took = other.until_done(id).await;
        assert!(took < 6 * SECOND, "{took:?}");
    }
}
