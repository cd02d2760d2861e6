//! The examples, driven as an MCP client drives them: each is a process of its own,
//! and is spoken to as its readers are told to.

mod batch;
mod existing_server;
mod oauth_url;
mod survey;
mod webhook;

use mcp_tasks_tests::{Client, Reply, acknowledged};
use serde_json::{Value, json};

/// Waits for a question, and gives it.
async fn asked(client: &Client, id: &str, key: &str) -> Value {
    let task = client
        .until_task(id, key, |task| task["inputRequests"].get(key).is_some())
        .await;
    task["inputRequests"][key].clone()
}

/// Waits for a question, and sends an answer.
async fn answer(client: &Client, id: &str, key: &str, answer: Value) -> Reply {
    asked(client, id, key).await;
    client.update(id, json!({ key: answer })).await
}

/// Waits for a question, and fills its form in.
async fn fill_in(client: &Client, id: &str, key: &str, content: Value) {
    let accepted = json!({ "action": "accept", "content": content });
    acknowledged(&answer(client, id, key, accepted).await);
}

/// Waits for a question, and declines it.
async fn decline(client: &Client, id: &str, key: &str) {
    acknowledged(&answer(client, id, key, json!({ "action": "decline" })).await);
}

/// Waits for a result that is an error of the tool, and gives its words.
async fn tool_error(client: &Client, id: &str) -> String {
    let task = client.until(id, "completed").await;
    assert_eq!(task["result"]["isError"], true, "{task}");
    let words = task["result"]["content"][0]["text"].as_str();
    words.expect("errors have words").to_owned()
}
