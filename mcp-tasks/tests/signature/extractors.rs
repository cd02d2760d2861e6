//! What the server gives to a function besides its arguments, live and after a
//! restart.

use mcp_tasks::MemoryStore;
use mcp_tasks::prelude::*;
use mcp_tasks::task::TaskId;
use serde_json::{Value, json};

use crate::client::Client;

/// Says who calls, before and after a question.
#[mcp_task]
async fn who(
    before: String,
    caller: Caller,
    client: ClientInfo,
    Meta(meta): Meta,
    State(server): State<String>,
) -> Result<String, ToolError> {
    let name = client.title().or(client.name()).unwrap_or("somebody");
    let version = client.version().unwrap_or("?");
    let trace = meta.get("example/trace").and_then(Value::as_str);
    let asked: String = ask_user(format!(
        "{before}: {caller} with {name} {version}, traced as {}",
        trace.unwrap_or("nothing")
    ))
    .await?;
    Ok(format!(
        "{server}: {asked}, {caller}, {name}, {version}, {trace:?}"
    ))
}

/// Says who calls.
#[mcp_task]
async fn at_once(caller: Caller, client: ClientInfo, meta: Meta) -> String {
    format!(
        "{caller} {:?} {}",
        client.name(),
        meta.0.contains_key("example/trace")
    )
}

/// Takes nothing of the request.
#[mcp_task]
async fn incurious() -> Result<String, ToolError> {
    let answer: String = ask_user("?").await?;
    Ok(answer)
}

fn client(store: &MemoryStore, caller: &str) -> Client {
    let mut client = Client::new(|server| {
        server
            .task(who)
            .task(at_once)
            .task(incurious)
            .state("the server".to_owned())
            .store(store.share())
    });
    client.caller = Caller::new(caller);
    client.meta = json!({
        "io.modelcontextprotocol/clientInfo": {
            "name": "desk", "title": "The Desk", "version": "1.2", "websiteUrl": "https://desk.example",
        },
        "example/trace": "00-17",
    });
    client
}

#[tokio::test]
async fn a_call_in_line_sees_its_caller_its_client_and_its_meta() {
    let mut client = client(&MemoryStore::new(), "alice");
    assert_eq!(
        client.text("at_once", json!({})).await,
        r#"alice Some("desk") true"#
    );
    // A client need not say anything.
    client.meta = json!({});
    client.caller = Caller::anonymous();
    assert_eq!(
        client.text("at_once", json!({})).await,
        "anonymous None false"
    );
}

#[tokio::test]
async fn what_is_given_is_no_argument() {
    let listing = client(&MemoryStore::new(), "alice").listing("who");
    let properties = listing["inputSchema"]["properties"].as_object();
    let names: Vec<_> = properties.expect("properties").keys().collect();
    assert_eq!(names, ["before"]);
}

#[tokio::test]
async fn a_task_sees_the_same_after_a_restart_whoever_answers() {
    let store = MemoryStore::new();
    let before = client(&store, "alice");
    let id = before.start("who", json!({ "before": "now" })).await;
    let task = before.until(&id, "input_required").await;
    let message = &task["inputRequests"]["asked"]["params"]["message"];
    assert_eq!(message, "now: alice with The Desk 1.2, traced as 00-17");
    let crashed = before.router.runtime().crash().await;
    crashed.expect("memory does not fail");

    let mut after = client(&store, "alice");
    after.meta = json!({ "io.modelcontextprotocol/clientInfo": { "name": "x", "version": "9" } });
    after.router.runtime().start();
    after.answer(&id, "asked", json!("yes")).await;
    let task = after.until(&id, "completed").await;
    assert_eq!(
        task["result"]["content"][0]["text"],
        r#"the server: yes, alice, The Desk, 1.2, Some("00-17")"#
    );
}

#[tokio::test]
async fn a_journal_from_before_a_tool_took_them_still_runs() {
    let journal = r#"{"format":1,"seq":1,"at":1764443045678,"event":{"created":{"id":"abcdefghijkmnpqrstuvwxyz23456789","tool":"at_once","version":1,"arguments":{},"caller":"alice","capabilities":{},"ttl_ms":null,"poll_interval_ms":1000,"cancel_grace_ms":null,"seed":[1,2]}}}
{"format":1,"seq":2,"at":1764443045680,"event":{"finished":"cancelled"}}
"#;
    let journal = journal.parse().expect("a journal");
    let server = client(&MemoryStore::new(), "bob");
    let replayed = mcp_tasks::testing::replay(server.router.runtime(), &journal).await;
    replayed.expect("it fits");
}

#[tokio::test]
async fn what_no_tool_takes_is_not_recorded() {
    let store = MemoryStore::new();
    let client = client(&store, "alice");
    let tasks = client.router.runtime().tasks();
    for (tool, recorded) in [("incurious", false), ("who", true)] {
        let id = client.start(tool, json!({ "before": "" })).await;
        let journal = tasks.journal(&TaskId::from_text(&id)).await;
        let journal = journal.expect("memory answers").expect("the task is there");
        let text = journal.to_string();
        assert_eq!(text.contains("The Desk"), recorded, "{text}");
        assert_eq!(text.contains("00-17"), recorded, "{text}");
    }
}

#[tokio::test]
async fn meta_that_is_kept_counts_towards_the_limit_of_arguments() {
    let mut client = client(&MemoryStore::new(), "alice");
    client.meta["padding"] = json!("x".repeat(1 << 20));
    let error = client.refused("who", json!({ "before": "" })).await;
    assert_eq!(error["code"], -32602);
    let message = error["message"].as_str().expect("words");
    assert!(
        message.starts_with("the arguments and `_meta` take 10"),
        "{message}"
    );
    client.start("incurious", json!({})).await;
}

/// Two versions of one tool's code.
mod versions {
    use super::*;

    #[mcp_task(name = "size")]
    pub(super) async fn wide(#[arg(max = 100)] size: u8) -> Result<String, ToolError> {
        let answer: String = ask_user("?").await?;
        Ok(format!("{size} {answer}"))
    }

    #[mcp_task(name = "size")]
    pub(super) async fn narrow(#[arg(max = 10)] size: u8) -> Result<String, ToolError> {
        let answer: String = ask_user("?").await?;
        Ok(format!("{size} {answer}"))
    }
}

#[tokio::test]
async fn a_task_that_has_begun_keeps_its_arguments_when_the_limits_narrow() {
    let store = MemoryStore::new();
    let before = Client::new(|server| server.task(versions::wide).store(store.share()));
    let id = before.start("size", json!({ "size": 50 })).await;
    before.until(&id, "input_required").await;
    let crashed = before.router.runtime().crash().await;
    crashed.expect("memory does not fail");

    let after = Client::new(|server| server.task(versions::narrow).store(store.share()));
    after.router.runtime().start();
    after.answer(&id, "answer", json!("yes")).await;
    let task = after.until(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "50 yes");
    let params = json!({"name": "size", "arguments": { "size": 50 }});
    let refused = after.send("tools/call", params, true).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}
