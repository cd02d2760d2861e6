//! Driving a task of a server that says what the test has written down.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};

use super::*;
use crate::answers::{Answer, AnswersError, Question};
use crate::connection::Connection;

/// Plays a server that gives these replies in turn; what it was sent is kept.
fn played(replies: Vec<Value>) -> (Client, Arc<Mutex<Vec<Value>>>) {
    let (near, far) = duplex(1 << 16);
    let sent = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&sent);
    tokio::spawn(async move {
        let (reader, mut writer) = split(far);
        let mut lines = BufReader::new(reader).lines();
        for mut reply in replies {
            let line = lines.next_line().await.unwrap().unwrap();
            let request: Value = serde_json::from_str(&line).unwrap();
            reply["id"] = request["id"].clone();
            kept.lock().unwrap().push(request);
            let line = format!("{reply}\n");
            writer.write_all(line.as_bytes()).await.unwrap();
        }
    });
    let (reader, writer) = split(near);
    let connection = Connection::new(BufReader::new(reader), writer);
    (Client::new(connection, "test", "0"), sent)
}

fn task(status: &str, more: &Value) -> Value {
    let mut task = json!({
        "resultType": "complete", "taskId": "t1", "status": status, "pollIntervalMs": 20,
        "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z", "ttlMs": null,
    });
    for (name, value) in more.as_object().unwrap() {
        task[name] = value.clone();
    }
    task
}

fn result(result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "result": result })
}

fn asking() -> Value {
    let schema = json!({ "type": "object", "properties": {} });
    let params = json!({ "message": "Sure?", "requestedSchema": schema });
    task(
        "input_required",
        &json!({ "inputRequests": { "q": { "method": "elicitation/create", "params": params } } }),
    )
}

fn created() -> Task {
    serde_json::from_value(task("working", &json!({}))).unwrap()
}

/// How driving the task ends, and what was seen meanwhile.
async fn driven(client: &mut Client, answers: &mut Yes) -> (Result<Outcome, Error>, String) {
    let mut seen = Vec::new();
    let mut screen = Screen::plain(&mut seen);
    let outcome = drive(client, created(), answers, &mut screen).await;
    (outcome, String::from_utf8(seen).unwrap())
}

/// Answers yes, and keeps the refusals that it was told.
#[derive(Default)]
struct Yes {
    refusals: Vec<Option<String>>,
}

impl Answers for Yes {
    fn answer(&mut self, _: &Question, refusal: Option<&str>) -> Result<Answer, AnswersError> {
        self.refusals.push(refusal.map(str::to_owned));
        Ok(Action::Accept.into())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn each_question_is_answered_once_and_each_status_shown_once() {
    let rolling_out = json!({ "statusMessage": "rolling out" });
    let (mut client, sent) = played(vec![
        result(&task("working", &json!({}))),
        result(&asking()),
        result(&json!({ "resultType": "complete" })),
        // The answer is acknowledged, and does not show yet.
        result(&asking()),
        result(&task("working", &rolling_out)),
        result(&task("working", &rolling_out)),
        result(&task(
            "completed",
            &json!({ "statusMessage": "rolling out", "result": { "content": [] } }),
        )),
    ]);
    let (outcome, seen) = driven(&mut client, &mut Yes::default()).await;
    assert!(matches!(outcome.unwrap(), Outcome::Result(result) if !result.is_error));
    assert_eq!(
        seen,
        "  working\n  input required\n  question `q` answered\n  working: rolling out\n  completed\n"
    );
    let sent = sent.lock().unwrap();
    let updates: Vec<_> = sent
        .iter()
        .filter(|request| request["method"] == "tasks/update")
        .collect();
    assert_eq!(updates.len(), 1);
    let params = &updates[0]["params"];
    assert_eq!(
        params["inputResponses"],
        json!({ "q": { "action": "accept" } })
    );
    assert!(sent.iter().all(|request| {
        let meta = &request["params"]["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
            && meta["io.modelcontextprotocol/clientCapabilities"]["extensions"].is_object()
    }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_answer_that_the_server_refuses_is_asked_for_again() {
    let refused = json!({ "jsonrpc": "2.0", "error": { "code": -32602, "message": "no" } });
    let (mut client, _) = played(vec![
        result(&asking()),
        refused,
        result(&json!({ "resultType": "complete" })),
        result(&task("cancelled", &json!({ "statusMessage": "enough" }))),
    ]);
    let mut answers = Yes::default();
    let (outcome, _) = driven(&mut client, &mut answers).await;
    assert!(matches!(outcome.unwrap(), Outcome::Cancelled(Some(reason)) if reason == "enough"));
    assert_eq!(answers.refusals, [None, Some("no".to_owned())]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_goes_away_ends_the_wait() {
    let (mut client, _) = played(vec![result(&task("working", &json!({})))]);
    let (outcome, _) = driven(&mut client, &mut Yes::default()).await;
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "the server went away before it answered `tasks/get`"
    );
}
