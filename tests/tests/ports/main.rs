//! Tools of the kind that people write for other frameworks, written for this one
//! and driven over HTTP to their end.

mod approve_expense;
mod book_table;
mod create_event;
mod hold_room;
mod play_adventure;
mod review_query;
mod survey_team;
mod transfer_money;

use mcp_tasks::TaskServer;
use mcp_tasks::server::BuiltServer;
use mcp_tasks_tests::{Client, acknowledged};
use serde_json::{Value, json};

/// Serves the tools, as long as the test runs.
async fn open(server: TaskServer) -> (BuiltServer, Client) {
    let server = server.build().unwrap();
    let application = axum::Router::new().route_service("/mcp", server.service());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, application).await });
    (server, Client::of_url(format!("http://{address}/mcp")))
}

fn server() -> TaskServer {
    TaskServer::new("ports", "1.0.0")
}

/// Waits for a question, and gives what it shows.
async fn asked(client: &Client, id: &str, key: &str) -> Value {
    let task = client
        .until_task(id, key, |task| task["inputRequests"].get(key).is_some())
        .await;
    task["inputRequests"][key]["params"].clone()
}

/// Waits for a question, and fills its form in.
async fn fill_in(client: &Client, id: &str, key: &str, content: Value) {
    asked(client, id, key).await;
    let response = json!({"action": "accept", "content": content});
    acknowledged(&client.update(id, json!({ key: response })).await);
}

/// Waits for a question, and declines it.
async fn decline(client: &Client, id: &str, key: &str) {
    asked(client, id, key).await;
    let response = json!({"action": "decline"});
    acknowledged(&client.update(id, json!({ key: response })).await);
}

/// Waits for a result that is an error of the tool, and gives its words.
async fn tool_error(client: &Client, id: &str) -> String {
    let task = client.until(id, "completed").await;
    assert_eq!(task["result"]["isError"], true, "{task}");
    task["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned()
}
