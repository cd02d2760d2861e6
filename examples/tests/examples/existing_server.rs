//! `existing-server`: an rmcp server that has gained a task.

use mcp_tasks_tests::{Client, Declares, Fixture, Launch, Transport, over_every_transport};
use serde_json::{Value, json};

use super::{asked, decline, fill_in, tool_error};

async fn open(transport: Transport) -> (Fixture, Client) {
    let server = Launch::example(env!("CARGO_BIN_EXE_existing-server"), transport)
        .start()
        .await;
    let client = server.client();
    (server, client)
}

over_every_transport!(
    what_it_had_is_what_it_was,
    a_note_is_published_as_it_was_read,
    what_is_not_to_be_published_is_not,
);

async fn what_it_had_is_what_it_was(transport: Transport) {
    let (_server, client) = open(transport).await;
    let discovered = client.request("server/discover", json!({})).await;
    let discovered = discovered.result();
    let extensions = &discovered["capabilities"]["extensions"];
    assert_eq!(extensions["io.modelcontextprotocol/tasks"], json!({}));
    assert!(discovered.to_string().contains("notebook"), "{discovered}");

    let listed = client.request("tools/list", json!({})).await;
    let tools = listed.result()["tools"].as_array().unwrap().iter();
    let mut names: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["publish", "titles", "write"]);

    // For whoever declares tasks, too, its own tools are no tasks.
    let note = json!({ "title": "Bari", "text": "Has a harbour." });
    for client in [&client, &client.declaring(Declares::Nothing)] {
        let written = client.call("write", note.clone()).await;
        assert_eq!(written.tool_text(), "`Bari` is written down");
        let titles = client.call("titles", json!({})).await;
        assert_eq!(titles.tool_text(), "Bari\nTurin");
    }
    let prompt = client
        .request("prompts/get", json!({ "name": "summary" }))
        .await;
    let message = &prompt.result()["messages"][0]["content"]["text"];
    let words = message.as_str().unwrap();
    assert!(
        words.contains("harbour") && words.contains("river"),
        "{words}"
    );
}

async fn a_note_is_published_as_it_was_read(transport: Transport) {
    let (_server, client) = open(transport).await;
    let id = client.task("publish", json!({ "title": "Turin" })).await;
    let shown = asked(&client, &id, "approval").await;
    let shown = shown["params"]["message"].clone();
    assert_eq!(shown, Value::from("Turin\n\nHas a fine river."));
    let other = json!({ "title": "Turin", "text": "Has two rivers." });
    client.call("write", other).await.tool_text();
    let approval = json!({ "publish": true, "author": "Ada" });
    fill_in(&client, &id, "approval", approval).await;
    let published = client.until_text(&id).await;
    assert_eq!(published, "Turin, by Ada: Has a fine river.");
}

async fn what_is_not_to_be_published_is_not(transport: Transport) {
    let (_server, client) = open(transport).await;
    let id = client.task("publish", json!({ "title": "Turin" })).await;
    fill_in(&client, &id, "approval", json!({ "publish": false })).await;
    let words = tool_error(&client, &id).await;
    assert_eq!(words, "`Turin` is not to be published");

    let id = client.task("publish", json!({ "title": "Turin" })).await;
    decline(&client, &id, "approval").await;
    assert_eq!(tool_error(&client, &id).await, "the question was declined");

    let id = client.task("publish", json!({ "title": "Rome" })).await;
    let words = tool_error(&client, &id).await;
    assert_eq!(words, "step `text`: there is no note `Rome`");
}
