//! How long a reply takes does not tell whether a task exists that is another's.
//!
//! Requests for both take turns, so that whatever else the machine does falls on
//! both alike, and medians are compared. A busy machine gets another try; a
//! difference that is there stays.

use std::time::{Duration, Instant};

use mcp_tasks::prelude::*;
use mcp_tasks::protocol::Message;
use mcp_tasks::router::Router;
use mcp_tasks::runtime::Runtime;
use mcp_tasks_tests::{Client, Declares, Fixture, Launch, StoreFile, Transport, declared};
use serde_json::{Value, json};

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

/// How many requests of each kind are measured.
const REQUESTS: usize = 1000;

/// How far the medians may be apart.
const TOLERANCE: f64 = 0.1;

const TRIES: usize = 3;

/// How many tasks there are of somebody else.
const TASKS: usize = 100;

/// What can be asked about a task.
const METHODS: [&str; 4] = [
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "subscriptions/listen",
];

fn params(method: &str, id: &str) -> Value {
    let answer = json!({ "answer": { "action": "accept", "content": { "answer": "yes" } } });
    match method {
        "tasks/update" => json!({ "taskId": id, "inputResponses": answer }),
        "subscriptions/listen" => json!({ "notifications": { "taskIds": [id] } }),
        _ => json!({ "taskId": id }),
    }
}

/// An id that looks like one of these and belongs to no task.
fn never(id: &str) -> String {
    let (time, random) = id.split_at(id.len() - 20);
    format!("{time}{}", random.chars().rev().collect::<String>())
}

/// Whoever can be asked, and says how long it took.
trait Asked {
    async fn ask(&self, method: &str, id: &str) -> Duration;
}

async fn assert_same_time(asked: &impl Asked, ids: &[String], what: &str) {
    for method in METHODS {
        let mut seen = Vec::new();
        while !seen
            .iter()
            .any(|(foreign, unknown)| is_close(*foreign, *unknown))
        {
            assert!(
                seen.len() < TRIES,
                "{what}, {method}: the medians for foreign and unknown tasks were {seen:?}"
            );
            seen.push(medians(asked, ids, method).await);
        }
    }
}

async fn medians(asked: &impl Asked, ids: &[String], method: &str) -> (Duration, Duration) {
    let (mut foreign, mut unknown) = (Vec::new(), Vec::new());
    // The first ones find everything cold.
    let rounds = REQUESTS + TASKS;
    for (round, id) in ids.iter().cycle().take(rounds).enumerate() {
        let never = never(id);
        let (of_foreign, of_unknown) = if round % 2 == 0 {
            let of_foreign = asked.ask(method, id).await;
            (of_foreign, asked.ask(method, &never).await)
        } else {
            let of_unknown = asked.ask(method, &never).await;
            (asked.ask(method, id).await, of_unknown)
        };
        if round >= TASKS {
            foreign.push(of_foreign);
            unknown.push(of_unknown);
        }
    }
    (median(foreign), median(unknown))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn is_close(one: Duration, other: Duration) -> bool {
    let (least, most) = (one.min(other), one.max(other));
    most.as_secs_f64() <= least.as_secs_f64() * (1.0 + TOLERANCE)
}

#[mcp_task]
async fn question() -> Result<String, ToolError> {
    Ok(ask_user("What is your answer?").await?)
}

/// The router alone.
struct InProcess {
    router: Router,
    caller: Caller,
}

impl InProcess {
    async fn with(runtime: mcp_tasks::runtime::RuntimeBuilder) -> (Self, Vec<String>) {
        let runtime = runtime.task(question).build().unwrap();
        let owner = Self {
            router: Router::new(runtime),
            caller: Caller::new("alice"),
        };
        let mut ids = Vec::new();
        for _ in 0..TASKS {
            let params = json!({ "name": "question" });
            let reply = owner.send("tools/call", params).await;
            let reply: Value = serde_json::from_str(&reply).unwrap();
            ids.push(reply["result"]["taskId"].as_str().unwrap().to_owned());
        }
        let other = Self {
            caller: Caller::new("bob"),
            ..owner
        };
        (other, ids)
    }

    async fn send(&self, method: &str, params: Value) -> String {
        let text = message(method, params);
        let message = Message::parse(text.as_bytes()).unwrap();
        self.router
            .route(&message, &self.caller)
            .await
            .unwrap()
            .body
    }
}

fn message(method: &str, mut params: Value) -> String {
    params["_meta"] = declared(Declares::Everything);
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

impl Asked for InProcess {
    async fn ask(&self, method: &str, id: &str) -> Duration {
        let text = message(method, params(method, id));
        let begun = Instant::now();
        let message = Message::parse(text.as_bytes()).unwrap();
        if let Some(listening) = self.router.listen(&message, &self.caller).await {
            let said = listening.unwrap().acknowledgement(serde_json::Map::new());
            let time = begun.elapsed();
            assert!(said.contains(r#""taskIds":[]"#), "{said}");
            return time;
        }
        let reply = self.router.route(&message, &self.caller).await.unwrap();
        let time = begun.elapsed();
        assert!(reply.body.contains("-32602"), "{}", reply.body);
        time
    }
}

#[tokio::test]
async fn the_router_takes_as_long_in_memory() {
    let (other, ids) = InProcess::with(Runtime::builder("timing", "0")).await;
    assert_same_time(&other, &ids, "in memory").await;
}

#[tokio::test]
async fn the_router_takes_as_long_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("tasks.db")).unwrap();
    let (other, ids) = InProcess::with(Runtime::builder("timing", "0").store(store)).await;
    assert_same_time(&other, &ids, "on SQLite").await;
}

/// A server at the other end of a connection.
struct OverHttp {
    _server: Fixture,
    client: Client,
}

impl OverHttp {
    async fn start(launch: Launch) -> (Self, Vec<String>) {
        let tokens = ["--token", "alice=a-secret", "--token", "bob=b-secret"];
        let server = launch.flags(&tokens).start().await;
        let [alice, bob] = ["a-secret", "b-secret"].map(|token| server.client().with_token(token));
        let mut ids = Vec::new();
        for _ in 0..TASKS {
            ids.push(alice.task("ask1", json!({})).await);
        }
        let other = Self {
            _server: server,
            client: bob,
        };
        (other, ids)
    }
}

impl Asked for OverHttp {
    async fn ask(&self, method: &str, id: &str) -> Duration {
        let params = params(method, id);
        if method == "subscriptions/listen" {
            let begun = Instant::now();
            let mut listening = self.client.listen(params["notifications"].clone()).await;
            let agreed = listening.acknowledged().await;
            let time = begun.elapsed();
            assert_eq!(agreed, json!({ "taskIds": [] }));
            return time;
        }
        let begun = Instant::now();
        let reply = self.client.request(method, params).await;
        let time = begun.elapsed();
        reply.refused(-32602, &["task"]);
        time
    }
}

#[tokio::test]
async fn a_server_takes_as_long_in_memory() {
    let launch = Launch::new(FIXTURES, Transport::Http);
    let (other, ids) = OverHttp::start(launch).await;
    assert_same_time(&other, &ids, "over HTTP, in memory").await;
}

#[tokio::test]
async fn a_server_takes_as_long_on_sqlite() {
    let launch = Launch::new(FIXTURES, Transport::Http).on(&StoreFile::new());
    let (other, ids) = OverHttp::start(launch).await;
    assert_same_time(&other, &ids, "over HTTP, on SQLite").await;
}
