//! Where calls of ours may stand, what they are called there, and parts of tasks
//! that have functions of their own.

mod calls;
mod crashes;
mod keys;
mod methods;
mod names;
mod places;
mod timeouts;

use mcp_tasks::task::Event;
use mcp_tasks::testing::TestTask;
use serde_json::{Value, json};

/// The name under which a task asks whether it should end, so that its journal
/// can be read before.
pub(crate) const END: &str = "end";

/// The keys of all that a task has asked for so far, in order, without its last
/// question.
pub(crate) async fn recorded(task: &TestTask) -> Vec<String> {
    task.asked(END).await;
    let journal = task.journal().await.expect("it has not ended");
    let keys = journal.entries().iter().filter_map(|entry| {
        let (Event::Asked { key, .. }
        | Event::StepDone { key, .. }
        | Event::TimerSet { key, .. }
        | Event::Ran { key }) = &entry.event
        else {
            return None;
        };
        (key.as_str() != END).then(|| key.to_string())
    });
    keys.collect()
}

/// Gives a question of one value an answer.
pub(crate) async fn answer(task: &TestTask, key: &str, value: impl Into<Value>) {
    task.answer(key, json!({ "answer": value.into() })).await;
}

/// Answers every question, one after the other, in the way that its form wants,
/// until the task asks whether it should end; gives all keys.
pub(crate) async fn answer_all(task: &TestTask) -> Vec<String> {
    loop {
        let now = task.until(|task| !task.input_requests.is_empty()).await;
        let (key, request) = now.input_requests.first().expect("it asks something");
        if key.as_str() == END {
            return recorded(task).await;
        }
        let params: Value = serde_json::from_str(request.params.get()).expect("JSON");
        let form = &params["requestedSchema"]["properties"]["answer"];
        let value = match form["type"].as_str() {
            Some("boolean") => json!(true),
            Some("integer") => json!(1),
            _ => json!("yes"),
        };
        answer(task, key.as_str(), value).await;
    }
}

/// Lets a task end; gives the text of its result.
pub(crate) async fn end(task: &TestTask) -> String {
    answer(task, END, true).await;
    task.result().await.text()
}
