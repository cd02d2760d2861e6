//! Our own client against the fixture server, and against what servers and
//! networks do that the fixture server does not: a proxy stands between them.

mod ends;
mod questions;
mod servers;
mod trouble;
mod watching;

use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_tasks::client::{Answer, Answers, Call, ClientBuilder, Question, TaskClient};
use mcp_tasks::protocol::ToolResult;
use mcp_tasks_tests::meddler::{Meddler, Trick};
use mcp_tasks_tests::{Fixture, PATIENCE, Transport};
use serde_json::json;
use tokio::time::timeout;

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

/// Waits for the outcome of a call, no longer than a test does.
macro_rules! outcome {
    ($call:expr) => {
        tokio::time::timeout(mcp_tasks_tests::PATIENCE, $call)
            .await
            .expect("the call hangs")
    };
}
use outcome;

/// A fixture server and a client of it.
struct Pair {
    client: TaskClient,
    /// Over HTTP; over stdio the client has started it.
    _server: Option<Fixture>,
}

impl Pair {
    async fn new(transport: Transport, builder: ClientBuilder) -> Self {
        let builder = builder.patience(PATIENCE);
        match transport {
            Transport::Http => {
                let server = Fixture::http(FIXTURES, &[]).await;
                let client = builder.connect_http(server.client().url()).await.unwrap();
                Self {
                    client,
                    _server: Some(server),
                }
            }
            Transport::Stdio => {
                let mut command = Command::new(FIXTURES);
                command.arg("--stdio");
                let client = builder.connect_stdio(command).await.unwrap();
                Self {
                    client,
                    _server: None,
                }
            }
        }
    }
}

/// A fixture server over HTTP, what meddles, and a client that is connected
/// through it.
struct Meddled {
    client: TaskClient,
    proxy: Meddler,
    server: Fixture,
}

impl Meddled {
    async fn new(builder: ClientBuilder, flags: &[&str]) -> Self {
        Self::prepared(builder, flags, |_| {}).await
    }

    /// The same, with something planned before the client comes.
    async fn prepared(builder: ClientBuilder, flags: &[&str], plan: impl FnOnce(&Meddler)) -> Self {
        let server = Fixture::http(FIXTURES, flags).await;
        let proxy = Meddler::before(server.client().url()).await;
        plan(&proxy);
        let builder = builder.patience(PATIENCE);
        let client = builder.connect_http(proxy.url()).await.unwrap();
        Self {
            client,
            proxy,
            server,
        }
    }
}

/// A server that knows no such method.
fn unknown_method() -> Trick {
    Trick::Refuse(json!({ "code": -32601, "message": "method not found" }))
}

fn text(result: &ToolResult) -> &str {
    result.content[0].as_text().unwrap()
}

/// The id of the task that the call becomes.
async fn task_id(call: &Call) -> Arc<str> {
    let mut states = call.states();
    let id = async {
        loop {
            let state = states.next().await.expect("the call has ended");
            if let Some(id) = state.id {
                return id;
            }
        }
    };
    timeout(PATIENCE, id).await.expect("it is no task")
}

/// Answers each question with its own key, and remembers what was asked.
#[derive(Clone, Default)]
struct Echo {
    asked: Arc<Mutex<Vec<Question>>>,
}

impl Echo {
    fn asked(&self) -> Vec<Question> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn keys(&self) -> Vec<String> {
        self.asked().iter().map(|it| it.key.to_string()).collect()
    }
}

impl Answers for Echo {
    async fn answer(&self, question: Question) -> Option<Answer> {
        let key = question.key.to_string();
        self.asked.lock().unwrap().push(question);
        Answer::accept(json!({ "answer": key, "name": key })).ok()
    }
}
