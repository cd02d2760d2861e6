//! Our client, driven by a table: reads a job on its stdin, reports each outcome as
//! a line of JSON on its stdout, and judges nothing. `tests/interop/servers.mjs`
//! has it call the tools of servers that others wrote.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_tasks::client::{
    Answer, Answers, Call, CallError, CallOptions, CallState, ClientError, Question, QuestionKind,
    TaskClient, ToolInfo,
};
use mcp_tasks::protocol::{InputKind, ProtocolError, TaskStatus, ToolResult};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// What is to be done.
#[derive(Deserialize)]
struct Job {
    server: Reach,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Reach {
    Http { url: String },
    Stdio { command: Vec<String> },
}

#[derive(Deserialize)]
struct Case {
    #[serde(rename = "case")]
    name: String,
    tool: String,
    #[serde(default)]
    arguments: Option<Value>,
    /// By the key of the question, or by its words: what is answered; `null` for
    /// nothing.
    #[serde(default)]
    answers: HashMap<String, Value>,
    #[serde(default)]
    cancel: Option<When>,
}

/// When a call is cancelled.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum When {
    /// When something is asked.
    Asked,
    /// When it has said how far it is, or is a task.
    Started,
}

/// How long a call may take.
const CASE: Duration = Duration::from_secs(30);

/// Answers by the table, and keeps what was asked.
#[derive(Clone, Default)]
struct Desk {
    answers: HashMap<String, Value>,
    asked: Arc<Mutex<Vec<Value>>>,
    put: Arc<Notify>,
}

impl Answers for Desk {
    async fn answer(&self, question: Question) -> Option<Answer> {
        self.asked.lock().unwrap().push(shown(&question));
        self.put.notify_one();
        let of_key = self.answers.get(&*question.key);
        let answer = of_key.or_else(|| self.answers.get(&words(&question)));
        let answer = answer.filter(|answer| !answer.is_null())?;
        to_raw_value(answer).ok().map(Answer::raw)
    }

    fn kinds(&self) -> Vec<InputKind> {
        vec![
            InputKind::Form,
            InputKind::Url,
            InputKind::Model,
            InputKind::Roots,
        ]
    }
}

/// The words of a question, or what it is, if it has none.
fn words(question: &Question) -> String {
    match &question.kind {
        QuestionKind::Model { .. } => "model".to_owned(),
        QuestionKind::Roots => "roots".to_owned(),
        QuestionKind::Other { method, .. } => method.clone(),
        _ => question.message().to_owned(),
    }
}

fn shown(question: &Question) -> Value {
    let (form, url, problem) = match &question.kind {
        QuestionKind::Form { form, .. } => (Some(form.to_json_text()), None, None),
        QuestionKind::Url { url, .. } => (None, Some(url.clone()), None),
        QuestionKind::Other { problem, .. } => (None, None, Some(problem.clone())),
        _ => (None, None, None),
    };
    json!({
        "key": question.key,
        "words": words(question),
        "ofTask": question.task.is_some(),
        "form": form.map(|form| serde_json::from_str::<Value>(&form).unwrap()),
        "url": url,
        "problem": problem,
    })
}

fn say(line: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").expect("stdout is read");
}

#[tokio::main]
async fn main() {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let job: Job = serde_json::from_reader(std::io::stdin()).expect("a job");
    let builder = TaskClient::builder()
        .answers(Desk::default())
        .log(|line| eprintln!("server: {line}"));
    let client = match job.server {
        Reach::Http { url } => builder.connect_http(url).await,
        Reach::Stdio { command } => {
            let mut started = Command::new(&command[0]);
            started.args(&command[1..]);
            builder.connect_stdio(started).await
        }
    };
    let client = client.unwrap_or_else(|error| panic!("{error}"));
    let server = client.server().await.unwrap();
    say(&json!({ "server": {
        "name": server.name,
        "version": server.version,
        "protocol": server.protocol_version,
        "tasks": server.tasks,
    }}));
    match client.tools().await {
        Ok(tools) => say(&json!({ "tools": tools.iter().map(listed).collect::<Vec<_>>() })),
        Err(error) => say(&json!({ "tools": Value::Null, "problem": error.to_string() })),
    }
    for case in job.cases {
        say(&one(&client, case).await);
    }
    client.close().await;
    say(&json!({ "end": true }));
}

fn listed(tool: &ToolInfo) -> Value {
    let support = tool.task_support().map(|support| format!("{support:?}"));
    json!({ "name": tool.name, "support": support })
}

async fn one(client: &TaskClient, case: Case) -> Value {
    let desk = Desk {
        answers: case.answers,
        ..Desk::default()
    };
    let options = CallOptions::new().answers(desk.clone()).deadline(CASE);
    let arguments = case.arguments.unwrap_or_else(|| json!({}));
    let begun = tokio::time::Instant::now();
    let mut call = client.call_with(case.tool, arguments, options);
    let watch = tokio::spawn(watch(call.states()));
    if let Some(when) = case.cancel {
        cancel(&mut call, when, &desk).await;
    }
    let outcome = call.await;
    let watched = watch.await.expect("it only looks");
    let mut line = json!({
        "case": case.name,
        "asked": *desk.asked.lock().unwrap(),
        "task": watched.last.as_ref().is_some_and(|state| state.id.is_some()),
        "statuses": watched.statuses,
        "messages": watched.messages,
        "progress": watched.progress,
        "trouble": watched.trouble,
        "ms": u64::try_from(begun.elapsed().as_millis()).unwrap(),
    });
    match outcome {
        Ok(result) => line["result"] = shown_result(&result),
        Err(error) => line["error"] = shown_error(&error),
    }
    line
}

async fn cancel(call: &mut Call, when: When, desk: &Desk) {
    let ready = async {
        let mut states = call.states();
        if when == When::Asked {
            loop {
                let open = call.state().questions.len();
                if open > 0 && desk.asked.lock().unwrap().len() >= open {
                    return;
                }
                tokio::select! {
                    () = desk.put.notified() => {}
                    state = states.next() => if state.is_none() { return },
                }
            }
        }
        while let Some(state) = states.next().await {
            if state.id.is_some() || state.progress.is_some() {
                return;
            }
        }
    };
    if tokio::time::timeout(CASE, ready).await.is_ok() {
        // That it has ended already shows in its outcome.
        let _ = call.cancel().await;
    }
}

#[derive(Default)]
struct Watched {
    statuses: Vec<TaskStatus>,
    messages: Vec<String>,
    progress: Vec<Value>,
    trouble: Vec<String>,
    last: Option<CallState>,
}

async fn watch(mut states: mcp_tasks::client::States) -> Watched {
    let mut seen = Watched::default();
    while let Some(state) = states.next().await {
        note(&mut seen.statuses, Some(state.status));
        note(&mut seen.messages, state.message.clone());
        note(&mut seen.trouble, state.trouble.clone());
        let progress = state.progress.map(|it| json!([it.done, it.total]));
        note(&mut seen.progress, progress);
        seen.last = Some(state);
    }
    seen
}

/// Keeps what is new.
fn note<T: PartialEq>(seen: &mut Vec<T>, now: Option<T>) {
    if let Some(now) = now
        && seen.last() != Some(&now)
    {
        seen.push(now);
    }
}

fn shown_result(result: &ToolResult) -> Value {
    let structured = result.structured.as_deref().map(RawValue::get);
    json!({
        "content": result.content,
        "structured": structured.map(|text| serde_json::from_str::<Value>(text).unwrap()),
        "isError": result.is_error,
    })
}

fn shown_error(error: &CallError) -> Value {
    let (kind, protocol): (_, Option<&ProtocolError>) = match error {
        CallError::Failed(error) => ("failed", Some(error)),
        CallError::Cancelled { .. } => ("cancelled", None),
        CallError::Unanswered { .. } => ("unanswered", None),
        CallError::Refused { error, .. } => ("refused", Some(error)),
        CallError::Deadline { .. } => ("deadline", None),
        CallError::Lost { error, .. } => ("lost", of_client(error)),
        CallError::Client(error) => ("client", of_client(error)),
        _ => ("other", None),
    };
    json!({
        "kind": kind,
        "words": error.to_string(),
        "code": protocol.map(|it| it.code.0),
        "message": protocol.map(|it| it.message.clone()),
        "data": protocol.and_then(|it| it.data.clone()),
    })
}

fn of_client(error: &ClientError) -> Option<&ProtocolError> {
    match error {
        ClientError::Refused { error, .. } => Some(error),
        _ => None,
    }
}
