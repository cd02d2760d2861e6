//! The engine through the router, in one process: no transport, real tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::protocol::{Message, TaskStatus};
use mcp_tasks::router::Router;
use mcp_tasks::runtime::Runtime;
use mcp_tasks::task::{InputKey, TaskId};
use mcp_tasks::{Caller, MemoryStore};
use serde_json::{Value, json};

#[derive(Elicit)]
struct Approval {
    /// Ship it?
    approve: bool,
    #[elicit(min = 1, max = 100, default = 10)]
    percent: u8,
}

#[mcp_task(ttl = "1h")]
async fn ask_twice() -> Result<String, ToolError> {
    let a: String = ask_user("first").await?;
    let b: String = ask_user("second").await?;
    Ok(format!("{a},{b}"))
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = step(async { Ok::<_, std::io::Error>(format!("plan for {service}")) }).await?;
    set_status("waiting for approval");
    let approval: Approval = ask_user(format!("Deploy {service}? {plan}")).await?;
    Ok(format!("{} {}", approval.approve, approval.percent))
}

#[mcp_task]
async fn pair() -> Result<String, ToolError> {
    let (left, right) = try_join!(left: ask_user::<String>("l"), right: ask_user::<String>("r"))?;
    Ok(format!("{left},{right}"))
}

#[mcp_task]
async fn mixed() -> Result<String, ToolError> {
    let (a, b) = join!(
        async {
            let x: String = ask_user("x").await?;
            let y = step_value(async { 2 }).await;
            Ok::<_, AskError>(format!("{x}{y}"))
        },
        async { step_value(async { "slept".to_owned() }).await },
    );
    let first = race!(
        async {
            sleep(Duration::from_millis(10)).await;
            "timer"
        },
        async {
            let _never: Result<String, AskError> = ask_user("never").await;
            "answer"
        },
    );
    let all = join_all((0..3).map(|n| ask_user::<u8>(format!("number {n}")))).await;
    let sum: u32 = all.into_iter().flatten().map(u32::from).sum();
    Ok(format!("{}{b}{first}{sum}", a?))
}

#[mcp_task]
async fn boom() {
    panic!("secret detail");
}

#[mcp_task(cancel_grace = "5s")]
async fn tidy() -> Result<String, ToolError> {
    cancelled().await;
    Ok("tidied up".to_owned())
}

/// Three that no client can help to go on: they are never tasks.
#[mcp_task(support = "forbidden")]
async fn hears() -> Result<String, ToolError> {
    Ok(signal::<String>("go").await?)
}

#[mcp_task(support = "forbidden", replay = false)]
async fn asks_without_replay() -> Result<String, ToolError> {
    Ok(ask_user("name?").await?)
}

#[mcp_task(support = "forbidden")]
async fn runs_once() -> Result<String, ToolError> {
    let done = async { Ok::<_, std::io::Error>("done".to_owned()) };
    Ok(step(done).at_most_once(OnAmbiguous::Fail).await?)
}

#[mcp_task(inline = "10s")]
async fn quick(ask: bool) -> Result<String, ToolError> {
    if ask {
        let answer: String = ask_user("slow?").await?;
        return Ok(answer);
    }
    Ok("at once".to_owned())
}

/// Panics when it is read, or else when it is dropped.
#[derive(schemars::JsonSchema)]
struct Trap {
    #[allow(dead_code, reason = "for the schema")]
    early: bool,
}

impl<'de> serde::Deserialize<'de> for Trap {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let early = bool::deserialize(deserializer)?;
        assert!(!early, "secret detail");
        Ok(Self { early })
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "secret detail");
    }
}

#[mcp_task]
async fn trapped(trap: Trap, key: String) -> Result<String, ToolError> {
    let _held = trap;
    let answer: String = ask_user("?").key(&key).await?;
    Ok(answer)
}

struct Client {
    router: Router,
}

impl Client {
    fn new() -> Self {
        let runtime = Runtime::builder("test", "1")
            .task(ask_twice)
            .task(deploy)
            .task(pair)
            .task(mixed)
            .task(boom)
            .task(quick)
            .task(tidy)
            .task(trapped)
            .task(hears)
            .task(asks_without_replay)
            .task(runs_once)
            .build()
            .unwrap();
        Self {
            router: Router::new(runtime),
        }
    }

    async fn send(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {},
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
        });
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let text = request.to_string();
        let message = Message::parse(text.as_bytes()).unwrap();
        let reply = self
            .router
            .route(&message, &Caller::anonymous())
            .await
            .unwrap();
        let mut reply: Value = serde_json::from_str(&reply.body).unwrap();
        match reply["result"].take() {
            Value::Null => reply["error"].take(),
            result => result,
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> String {
        let created = self
            .send("tools/call", json!({"name": tool, "arguments": arguments}))
            .await;
        assert_eq!(created["resultType"], "task", "{created}");
        created["taskId"].as_str().unwrap().to_owned()
    }

    async fn get(&self, id: &str) -> Value {
        self.send("tasks/get", json!({"taskId": id})).await
    }

    /// Polls until the task is `status`.
    async fn until(&self, id: &str, status: &str) -> Value {
        for _ in 0..1000 {
            let task = self.get(id).await;
            if task["status"] == status {
                return task;
            }
            assert!(
                !matches!(
                    task["status"].as_str(),
                    Some("completed" | "failed" | "cancelled")
                ),
                "{task}"
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("never {status}: {}", self.get(id).await);
    }

    async fn answer(&self, id: &str, key: &str, content: Value) -> Value {
        let response = json!({"action": "accept", "content": content});
        self.send(
            "tasks/update",
            json!({"taskId": id, "inputResponses": {key: response}}),
        )
        .await
    }
}

#[tokio::test]
async fn a_client_that_declares_tasks_is_not_told_to_declare_them() {
    let client = Client::new();
    for tool in ["hears", "asks_without_replay", "runs_once"] {
        let call = json!({ "name": tool, "arguments": {} });
        let error = client.send("tools/call", call).await;
        assert_eq!(error["code"], -32603, "{tool}: {error}");
        let words = error["message"].as_str().unwrap();
        assert!(words.ends_with("this call is no task"), "{words}");
    }
}

#[tokio::test]
async fn two_questions_in_a_row() {
    let client = Client::new();
    let id = client.call("ask_twice", json!({})).await;
    let task = client.until(&id, "input_required").await;
    assert_eq!(task["inputRequests"]["a"]["params"]["message"], "first");
    assert_eq!(task["ttlMs"], 3_600_000);
    let ack = client.answer(&id, "a", json!({"answer": "x"})).await;
    assert_eq!(ack["resultType"], "complete");
    let task = client.until(&id, "input_required").await;
    assert_eq!(task["inputRequests"].as_object().unwrap().len(), 1);
    client.answer(&id, "b", json!({"answer": "y"})).await;
    let task = client.until(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "x,y");
}

#[tokio::test]
async fn a_form_with_a_default_and_a_wrong_answer() {
    let client = Client::new();
    let id = client.call("deploy", json!({"service": "web"})).await;
    let task = client.until(&id, "input_required").await;
    assert_eq!(task["statusMessage"], "waiting for approval");
    let refused = client
        .answer(&id, "approval", json!({"approve": true, "percent": 101}))
        .await;
    assert_eq!(refused["code"], -32602);
    let words = refused["message"].as_str().unwrap();
    assert!(
        words.contains("approval") && words.contains("percent"),
        "{words}"
    );
    client
        .answer(&id, "approval", json!({"approve": true}))
        .await;
    let task = client.until(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "true 10");
}

#[tokio::test]
async fn questions_in_branches_have_the_branch_in_their_keys() {
    let client = Client::new();
    let id = client.call("pair", json!({})).await;
    let task = client.until(&id, "input_required").await;
    let keys: Vec<_> = task["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(keys, ["left/string", "right/string"]);
    client
        .answer(&id, "right/string", json!({"answer": "R"}))
        .await;
    let task = client.get(&id).await;
    assert_eq!(task["inputRequests"].as_object().unwrap().len(), 1);
    client
        .answer(&id, "left/string", json!({"answer": "L"}))
        .await;
    let task = client.until(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "L,R");
}

#[tokio::test]
async fn joins_races_and_any_number_at_once() {
    let client = Client::new();
    let id = client.call("mixed", json!({})).await;
    let task = client.until(&id, "input_required").await;
    assert!(task["inputRequests"]["0/x"].is_object(), "{task}");
    client.answer(&id, "0/x", json!({"answer": "X"})).await;
    let task = loop {
        let task = client.until(&id, "input_required").await;
        if task["inputRequests"].as_object().unwrap().len() == 3 {
            break task;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    };
    let keys: Vec<String> = task["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    for (n, key) in keys.iter().enumerate() {
        client.answer(&id, key, json!({"answer": n + 1})).await;
    }
    let task = client.until(&id, "completed").await;
    assert_eq!(
        task["result"]["content"][0]["text"],
        "X2sleptttimer6".replace("ttt", "tt")
    );
}

#[tokio::test]
async fn a_panic_fails_the_task_and_stays_secret() {
    let client = Client::new();
    let id = client.call("boom", json!({})).await;
    let task = client.until(&id, "failed").await;
    assert_eq!(task["error"]["code"], -32603);
    assert!(!task.to_string().contains("secret"));
}

#[tokio::test]
async fn a_quick_call_is_answered_inline_and_a_question_makes_it_a_task() {
    let client = Client::new();
    let params = json!({"name": "quick", "arguments": {"ask": false}});
    let result = client.send("tools/call", params).await;
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["content"][0]["text"], "at once");
    let id = client.call("quick", json!({"ask": true})).await;
    client.until(&id, "input_required").await;
    client.answer(&id, "answer", json!({"answer": "yes"})).await;
    client.until(&id, "completed").await;
}

#[mcp_task]
async fn counts() -> String {
    step_value(async {
        for n in 1..=100 {
            report_progress(n, 100);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    "counted".to_owned()
}

#[tokio::test]
async fn progress_is_written_now_and_then_and_the_last_of_it_always() {
    let router = Router::new(Runtime::builder("test", "1").task(counts).build().unwrap());
    let client = Client { router };
    let tasks = client.router.runtime().tasks();
    let id = client.call("counts", json!({})).await;
    let mut shown = std::collections::BTreeSet::new();
    let task = loop {
        let task = client.get(&id).await;
        shown.insert(
            task["statusMessage"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        );
        if task["status"] != "working" {
            break task;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    };
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["statusMessage"], "100/100");
    assert_eq!(
        task["_meta"]["rs.mcp-tasks/progress"],
        json!({"done": 100, "total": 100})
    );
    assert!(shown.len() > 2, "nothing showed in between: {shown:?}");
    // 100 reports in half a second or more: created, at most one status for
    // each quarter of a second, the step, the end.
    let commits = tasks.stats().await.unwrap().store.commits;
    assert!(commits < 30, "{commits} commits, {shown:?} were shown");
}

#[mcp_task]
async fn marks(State(mark): State<Arc<AtomicBool>>) {
    mark.store(true, Ordering::SeqCst);
}

#[tokio::test]
async fn a_task_that_is_cancelled_before_it_starts_never_starts() {
    let mark = Arc::new(AtomicBool::new(false));
    let builder = Runtime::builder("test", "1").state(mark.clone());
    let router = Router::new(builder.task(marks).build().unwrap());
    let client = Client { router };
    let id = client.call("marks", json!({})).await;
    // On this one thread nothing has run since.
    client.send("tasks/cancel", json!({"taskId": id})).await;
    while client
        .router
        .runtime()
        .tasks()
        .stats()
        .await
        .unwrap()
        .resident
        > 0
    {
        tokio::task::yield_now().await;
    }
    tokio::task::yield_now().await;
    assert!(!mark.load(Ordering::SeqCst));
    assert_eq!(client.get(&id).await["status"], "cancelled");
}

#[tokio::test]
async fn a_cancellation_before_the_function_starts_reaches_it() {
    let client = Client::new();
    let id = client.call("tidy", json!({})).await;
    // On this one thread nothing has run since.
    client.send("tasks/cancel", json!({"taskId": id})).await;
    let task = client.until(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "tidied up");
}

#[tokio::test]
async fn a_panic_where_arguments_are_read_or_dropped_is_an_internal_error() {
    let client = Client::new();
    let arguments = json!({"trap": true, "key": "a"});
    let params = json!({"name": "trapped", "arguments": arguments});
    let error = client.send("tools/call", params).await;
    assert_eq!(error["code"], -32603, "{error}");
    assert!(!error.to_string().contains("secret"));
    let id = client
        .call("trapped", json!({"trap": false, "key": "a/b"}))
        .await;
    let task = client.until(&id, "failed").await;
    assert!(!task.to_string().contains("secret"));
    // Inline: the call is over when the function is dropped.
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "trapped", "arguments": {"trap": false, "key": "a/b"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        },
    }});
    let text = request.to_string();
    let message = Message::parse(text.as_bytes()).unwrap();
    let reply = client.router.route(&message, &Caller::anonymous()).await;
    assert!(reply.unwrap().body.contains("-32603"));
}

#[tokio::test]
async fn code_of_the_server_hears_of_a_task_from_its_state_now_to_its_end() {
    let client = Client::new();
    let tasks = client.router.runtime().tasks();
    let id = client.call("ask_twice", json!({})).await;
    client.until(&id, "input_required").await;
    let id = TaskId::from_text(&id);
    let mut updates = tasks.subscribe(&id).await.unwrap().unwrap();
    let mut other = tasks.subscribe(&id).await.unwrap().unwrap();
    let now = updates.next().await.unwrap();
    assert_eq!(now.input_requests[0].0, InputKey::new("a"));
    // There is nothing to hear while nothing changes.
    let nothing = tokio::time::timeout(Duration::from_millis(50), updates.next());
    nothing.await.unwrap_err();
    client
        .answer(id.as_str(), "a", json!({"answer": "x"}))
        .await;
    client.until(id.as_str(), "input_required").await;
    assert!(tasks.cancel(&id).await.unwrap());
    let mut last = now;
    while let Some(task) = updates.next().await {
        assert!(!task.looks_like(&last));
        last = task;
    }
    assert_eq!(last.status(), TaskStatus::Cancelled);
    assert!(updates.next().await.is_none());
    // Whoever looks late gets the last state, and none in between.
    assert_eq!(other.next().await.unwrap().status(), TaskStatus::Cancelled);
    assert!(other.next().await.is_none());
    let unknown = TaskId::from_text("t_none");
    assert!(tasks.subscribe(&unknown).await.unwrap().is_none());
}

#[tokio::test]
async fn whoever_hears_of_a_task_does_not_keep_the_server_and_hears_that_it_is_gone() {
    // A store that outlives its server.
    let store = MemoryStore::new();
    let runtime = Runtime::builder("test", "1").task(ask_twice);
    let runtime = runtime.store(store.share()).build().unwrap();
    let client = Client {
        router: Router::new(runtime),
    };
    let tasks = client.router.runtime().tasks();
    let id = client.call("ask_twice", json!({})).await;
    client.until(&id, "input_required").await;
    let id = TaskId::from_text(&id);
    let mut updates = tasks.subscribe(&id).await.unwrap().unwrap();
    updates.next().await.unwrap();
    let gone = tokio::spawn(async move { updates.next().await.is_none() });
    // As long as a function runs there is a server.
    client.router.runtime().crash().await.unwrap();
    drop(client);
    let gone = tokio::time::timeout(Duration::from_secs(10), gone).await;
    assert!(gone.expect("it hears of it").unwrap());
    let error = tasks.subscribe(&id).await.unwrap_err();
    assert_eq!(error.code.0, -32603);
}
