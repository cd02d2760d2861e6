//! The database that replicas share goes away for a while and comes back: c85.
//!
//! Whatever takes it away, clients are told, and told that it will pass; nothing
//! that waits is disturbed, and nothing is lost.

use std::time::{Duration, Instant};

use mcp_tasks_tests::postgres::{Cluster, Relay};
use mcp_tasks_tests::{Client, Fixture, Launch, PATIENCE, Reply, Transport, keys};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::FIXTURES;

/// Makes each of these a test over every transport, on PostgreSQL alone.
macro_rules! on_postgres {
    ($($case:ident),+ $(,)?) => {$(
        mod $case {
            use crate::Transport;

            #[tokio::test]
            #[ignore = "needs PostgreSQL"]
            async fn http() {
                super::$case(Transport::Http).await;
            }

            #[tokio::test]
            #[ignore = "needs PostgreSQL"]
            async fn stdio() {
                super::$case(Transport::Stdio).await;
            }
        }
    )+};
}
pub(crate) use on_postgres;

on_postgres! {
    c85_a_database_that_is_stopped_comes_back,
    c85_a_database_that_crashes_comes_back,
    c85_a_network_that_breaks_is_mended,
    c85_a_network_that_falls_silent_is_mended,
    c85_a_database_that_restarts_again_and_again_loses_nothing,
    c85_a_server_that_finds_no_database_says_so_and_does_not_start,
}

/// How long anything may take while a database recovers again and again, on a busy
/// machine.
const LONG: Duration = Duration::from_secs(60);

/// How a database goes away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It is stopped in good order.
    Stopped,
    /// Its processes die.
    Crashed,
    /// Connections break, and none can be made.
    Broken,
    /// Nothing arrives, and nobody says so.
    Silent,
}

/// Two replicas on a database that goes away.
struct Replicas {
    cluster: Cluster,
    relay: Relay,
    a: Fixture,
    b: Fixture,
}

impl Replicas {
    /// The second speaks the other transport.
    async fn start(transport: Transport) -> Self {
        let cluster = Cluster::start_new().await;
        let relay = Relay::to(&cluster).await;
        let database = cluster.database().await.through(&relay);
        let launch = Launch::new(FIXTURES, transport).on(&database);
        let a = launch.start().await;
        let b = launch.over(transport.other()).start().await;
        Self {
            cluster,
            relay,
            a,
            b,
        }
    }

    async fn lose(&self, fault: Fault) {
        match fault {
            Fault::Stopped => self.cluster.stop().await,
            Fault::Crashed => self.cluster.kill().await,
            Fault::Broken => self.relay.cut(),
            Fault::Silent => self.relay.hold(),
        }
    }

    async fn find(&self, fault: Fault) {
        match fault {
            Fault::Stopped | Fault::Crashed => self.cluster.start().await,
            Fault::Broken | Fault::Silent => self.relay.mend(),
        }
    }
}

async fn c85_a_database_that_is_stopped_comes_back(transport: Transport) {
    goes_and_comes_back(transport, Fault::Stopped).await;
}

async fn c85_a_database_that_crashes_comes_back(transport: Transport) {
    goes_and_comes_back(transport, Fault::Crashed).await;
}

async fn c85_a_network_that_breaks_is_mended(transport: Transport) {
    goes_and_comes_back(transport, Fault::Broken).await;
}

async fn c85_a_network_that_falls_silent_is_mended(transport: Transport) {
    goes_and_comes_back(transport, Fault::Silent).await;
}

async fn goes_and_comes_back(transport: Transport, fault: Fault) {
    let replicas = Replicas::start(transport).await;
    let (a, b) = (replicas.a.client(), replicas.b.client());
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("side.txt");

    // One waits for an answer on each, one for a timer that rings meanwhile, one is
    // inside a step that ends meanwhile, one is listened to where it does not run.
    let waiting = a.task("side", json!({ "file": file })).await;
    let key = a.until_asked(&waiting, None).await;
    let before = a.get(&waiting).await;
    let other = b.task("ask2", json!({})).await;
    let first = b.until_asked(&other, None).await;
    let mut listening = a.listen_to(&[&other]).await;
    assert_eq!(listening.task().await["status"], "input_required");
    let signalled = a.task("wait_signal", json!({})).await;
    // Of this one nobody will know what has become of it.
    let tried = b.task("ask1", json!({})).await;
    b.until_asked(&tried, None).await;
    let timer = a.task("timer", json!({ "ms": 2500 })).await;
    let step = b.task("slow", json!({ "ms": 2000 })).await;

    let lost = Instant::now();
    replicas.lose(fault).await;
    loop {
        for client in [&a, &b] {
            is_told(client, &tried).await;
        }
        if lost.elapsed() >= Duration::from_secs(5) {
            break;
        }
        sleep(Duration::from_millis(500)).await;
    }
    replicas.find(fault).await;
    let found = Instant::now();

    // Nobody needs to be told: it goes on by itself.
    for client in [&a, &b] {
        assert_eq!(until_served(client, &waiting).await, before);
    }
    assert!(
        found.elapsed() < Duration::from_secs(3),
        "served after {:?}",
        found.elapsed()
    );
    assert_eq!(a.until_text(&timer).await, "rang");
    assert_eq!(a.until_text(&step).await, "done");
    b.answer(&waiting, &key, "go").await;
    assert_eq!(a.until_text(&waiting).await, "ab");
    // What the subscription missed is told first, if there is any.
    b.answer(&other, &first, "A").await;
    let second = b.until_asked(&other, Some(&first)).await;
    b.answer(&other, &second, "B").await;
    let ended = listening.until("completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "A,B");
    let signal = json!({"task_id": signalled, "name": "go", "value": "word"});
    assert_eq!(b.call("send_signal", signal).await.tool_text(), "sent");
    assert_eq!(a.until_text(&signalled).await, "signalled: word");
    let new = a.task("ask1", json!({})).await;
    let key = b.until_asked(&new, None).await;
    b.answer(&new, &key, "new").await;
    assert_eq!(a.until_text(&new).await, "got: new");
    // What a client was told to try again may have been done, too.
    a.cancelled(&tried).await;
    for client in [&a, &b] {
        let ended = |stats: &Value| stats["live"] == 0 && stats["resident"] == 0;
        client.until_stats("rid of all", ended).await;
    }
}

/// Checks that a client is told, whatever it asks, and is told to try again.
async fn is_told(client: &Client, id: &str) {
    let task = || json!({ "taskId": id });
    let answer = json!({
        "taskId": id,
        "inputResponses": { "answer": { "action": "decline" } },
    });
    let call = json!({ "name": "required", "arguments": {} });
    let asked = Instant::now();
    let replies = tokio::join!(
        client.request("tasks/get", task()),
        client.request("tasks/update", answer),
        client.request("tasks/cancel", task()),
        client.request("tools/call", call),
    );
    let replies: [Reply; 4] = replies.into();
    for reply in replies {
        reply.refused(-32603, &["not available", "try again"]);
    }
    assert!(asked.elapsed() < PATIENCE, "{:?}", asked.elapsed());
}

/// Waits until a client is served again; it hears of nothing but the outage before.
async fn until_served(client: &Client, id: &str) -> Value {
    let deadline = Instant::now() + LONG;
    loop {
        let reply = client.try_get(id).await;
        if reply.message["error"].is_null() {
            return reply.result().clone();
        }
        reply.refused(-32603, &["not available", "try again"]);
        assert!(Instant::now() < deadline, "not served in time");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Sends a request again and again while there is no database.
async fn insist(client: &Client, method: &str, params: Value) -> Reply {
    let deadline = Instant::now() + LONG;
    loop {
        let reply = client.request(method, params.clone()).await;
        if reply.message["error"].is_null() {
            return reply;
        }
        reply.refused(-32603, &["try again"]);
        assert!(Instant::now() < deadline, "not served in time");
        sleep(Duration::from_millis(20)).await;
    }
}

async fn c85_a_database_that_restarts_again_and_again_loses_nothing(transport: Transport) {
    let replicas = Replicas::start(transport).await;
    let clients = [replicas.a.client(), replicas.b.client()];
    let drives: Vec<_> = (0..12)
        .map(|number| {
            let clients = clients.clone();
            tokio::spawn(async move {
                let mut tasks = 0;
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_secs(9) {
                    drive(&clients, number, tasks).await;
                    tasks += 1;
                }
                tasks
            })
        })
        .collect();
    for round in 0..4 {
        sleep(Duration::from_secs(1)).await;
        if round % 2 == 0 {
            replicas.cluster.stop().await;
        } else {
            replicas.cluster.kill().await;
        }
        sleep(Duration::from_secs(1)).await;
        replicas.cluster.start().await;
    }
    let mut tasks = 0;
    for drive in drives {
        tasks += drive.await.unwrap();
    }
    println!("{tasks} tasks ended right");
    assert!(tasks >= 12, "{tasks}");
}

/// Drives a task to its end, on one replica and the other; a refused call has made
/// none that anybody could see.
async fn drive(clients: &[Client; 2], number: usize, task: usize) {
    let client = |turn: usize| &clients[(number + turn) % 2];
    let call = json!({ "name": "ask2", "arguments": {} });
    let created = insist(client(task), "tools/call", call).await;
    let id = created.result()["taskId"].as_str().unwrap().to_owned();
    let mut last: Option<String> = None;
    for turn in 1..=2 {
        let deadline = Instant::now() + LONG;
        let key = loop {
            let task = until_served(client(turn), &id).await;
            let asked = keys(&task).pop().filter(|key| Some(key) != last.as_ref());
            match asked {
                Some(key) => break key,
                None => sleep(Duration::from_millis(20)).await,
            }
            assert!(Instant::now() < deadline, "it asks no more: {task}");
        };
        // The one that is acknowledged counts, though it may be sent twice.
        let answer = json!({ "action": "accept", "content": { "answer": turn.to_string() } });
        let update = json!({ "taskId": id, "inputResponses": { &key: answer } });
        insist(client(turn + 1), "tasks/update", update).await;
        last = Some(key);
    }
    let deadline = Instant::now() + LONG;
    loop {
        let task = until_served(client(task), &id).await;
        if task["status"] == "completed" {
            assert_eq!(task["result"]["content"][0]["text"], "1,2");
            return;
        }
        assert_eq!(task["status"], "working", "{task}");
        assert!(Instant::now() < deadline, "it does not end: {task}");
        sleep(Duration::from_millis(20)).await;
    }
}

async fn c85_a_server_that_finds_no_database_says_so_and_does_not_start(transport: Transport) {
    let cluster = Cluster::start_new().await;
    let database = cluster.database().await;
    let launch = Launch::new(FIXTURES, transport).on(&database);
    cluster.stop().await;
    let refusal = launch.refused().await;
    assert_eq!(refusal.code, Some(1), "{refusal:?}");
    assert!(refusal.said.starts_with("fixtures: "), "{refusal:?}");
    assert_eq!(refusal.said.trim_end().lines().count(), 1, "{refusal:?}");
    for words in [&cluster.port().to_string(), "refused"] {
        assert!(refusal.said.contains(words), "no `{words}`: {refusal:?}");
    }
    cluster.start().await;
    launch.start().await.client().stats().await;
}
