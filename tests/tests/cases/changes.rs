//! Code that is not the code that wrote the journal: c67.

use std::path::PathBuf;

use mcp_tasks_tests::{Fixture, Transport, keys};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Store, on_every_shared_store};

on_every_shared_store! {
    c67_code_that_does_not_fit_holds_the_task_until_code_comes_that_does,
    c67_a_held_task_can_be_cancelled,
    c67_a_held_task_keeps_the_answers_that_still_arrive,
}

/// A task of the tool `drift`, and the file that stands for its code.
struct Drifting {
    server: Fixture,
    file: PathBuf,
    id: String,
    _folder: TempDir,
}

const OLD: &str = "ask:colour:Which colour?\n";

impl Drifting {
    /// A task that waits for the answer to the old question.
    async fn begin(store: Store, transport: Transport) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("code.txt");
        std::fs::write(&file, OLD).unwrap();
        let server = store.durable(transport, &[]).await;
        let client = server.client();
        let id = client.task("drift", json!({ "file": file })).await;
        assert_eq!(client.until_asked(&id, None).await, "colour");
        Self {
            server,
            file,
            id,
            _folder: folder,
        }
    }

    /// Restarts the server with other code.
    async fn becomes(&mut self, code: &str) {
        self.server.kill().await;
        std::fs::write(&self.file, code).unwrap();
        self.server.restart().await;
    }

    async fn answer(&self) {
        self.server
            .client()
            .answer(&self.id, "colour", "blue")
            .await;
    }

    /// Waits until the task is held with words that name all of these.
    async fn held(&self, named: &[&str]) -> Value {
        let names_all = |task: &Value| {
            let words = task["statusMessage"].as_str().unwrap_or_default();
            named.iter().all(|name| words.contains(name))
        };
        let task = self
            .server
            .client()
            .until_task(&self.id, &format!("held, naming {named:?}"), names_all)
            .await;
        assert_eq!(task["status"], "working", "{task}");
        assert!(keys(&task).is_empty(), "{task}");
        task
    }
}

async fn c67_code_that_does_not_fit_holds_the_task_until_code_comes_that_does(
    store: Store,
    transport: Transport,
) {
    let mut task = Drifting::begin(store, transport).await;
    // Nothing has arrived: nobody looks at a task that waits.
    task.becomes("ask:size:Which size?\n").await;
    assert_eq!(keys(&task.server.client().get(&task.id).await), ["colour"]);
    task.answer().await;
    task.held(&["held", "`colour`", "`size`", "version 1"])
        .await;
    // Another key, another kind, other words: none of them is what was asked.
    task.becomes("step:colour:\n").await;
    task.held(&["held", "`colour`", "question", "step"]).await;
    task.becomes("step:size:\n").await;
    task.held(&["held", "`colour`"]).await;
    task.becomes("ask:colour:Which colour, please?\n").await;
    task.held(&["held", "`colour`", "words"]).await;
    task.becomes(OLD).await;
    assert_eq!(task.server.client().until_text(&task.id).await, "got: blue");
    let ended = task.server.client().get(&task.id).await;
    let words = ended["statusMessage"].as_str().unwrap_or_default();
    assert!(!words.contains("held"), "{ended}");
}

async fn c67_a_held_task_can_be_cancelled(store: Store, transport: Transport) {
    let mut task = Drifting::begin(store, transport).await;
    task.becomes("ask:size:Which size?\n").await;
    task.answer().await;
    task.held(&["held", "`colour`", "`size`"]).await;
    let client = task.server.client();
    client.cancelled(&task.id).await;
    let cancelled = client.get(&task.id).await;
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    task.becomes(OLD).await;
    assert_eq!(task.server.client().get(&task.id).await, cancelled);
}

async fn c67_a_held_task_keeps_the_answers_that_still_arrive(store: Store, transport: Transport) {
    let mut task = Drifting::begin(store, transport).await;
    task.becomes("ask:size:Which size?\n").await;
    // A signal makes it run, with the question still open.
    let signal = json!({"task_id": task.id, "name": "go", "value": 1});
    let sent = task.server.client().call("send_signal", signal).await;
    assert_eq!(sent.tool_text(), "sent");
    task.held(&["held", "`colour`", "`size`"]).await;
    let client = task.server.client();
    let wrong = json!({ "colour": { "action": "accept", "content": { "answer": 7 } } });
    client
        .update(&task.id, wrong)
        .await
        .refused(-32602, &["colour", "answer"]);
    task.answer().await;
    task.held(&["held", "`colour`", "`size`"]).await;
    task.becomes(OLD).await;
    assert_eq!(task.server.client().until_text(&task.id).await, "got: blue");
}
