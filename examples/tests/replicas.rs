//! `replicas`: what one has begun, another goes on with.

use mcp_tasks_tests::postgres::Database;
use mcp_tasks_tests::{Launch, Transport, acknowledged};
use serde_json::{Value, json};

/// Which replica did what, as the result tells.
fn regions(task: &Value) -> Vec<(String, String)> {
    let regions = &task["result"]["structuredContent"]["regions"];
    let regions = regions.as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    regions
        .map(|region| (text(&region["name"]), text(&region["by"])))
        .collect()
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn the_other_replica_goes_on_and_does_nothing_twice() {
    let database = Database::create().await;
    let launch = Launch::example(env!("CARGO_BIN_EXE_replicas"), Transport::Http)
        .flags(&["--db", database.url()]);
    let mut one = launch.start().await;
    let other = launch.start().await;
    let arguments = json!({ "release": "1.4", "pause": 500 });
    let id = one.client().task("rollout", arguments).await;
    let done = |task: &Value| task["statusMessage"] == "1.4 runs in eu-west";
    one.client().until_task(&id, "in a region", done).await;
    let status = one.terminate().await;
    assert!(status.success(), "{status}: {}", one.said());

    let client = other.client();
    let asks = |task: &Value| task["inputRequests"]["is_default"].is_object();
    client.until_task(&id, "is_default", asks).await;
    let yes = json!({ "action": "accept", "content": { "answer": true } });
    acknowledged(&client.update(&id, json!({ "is_default": yes })).await);
    let task = client.until(&id, "completed").await;
    let regions = regions(&task);
    let names: Vec<&str> = regions.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["eu-west", "eu-east", "us-west", "us-east"]);
    let by: Vec<&str> = regions.iter().map(|(_, by)| by.as_str()).collect();
    assert_ne!(by[0], by[3]);
    assert_eq!(task["result"]["structuredContent"]["is_default"], true);
    // What one has done is in the result, and the other said nothing of it.
    let said = [one.said(), other.said()];
    for region in names {
        let times = said.iter().flat_map(|said| said.lines());
        let times = times.filter(|line| line.ends_with(&format!("1.4 to {region}")));
        assert_eq!(times.count(), 1, "{region}: {said:?}");
    }
}
