//! Our own client against servers that are not ours: rmcp's, with its task manager,
//! and some that are written to misbehave. Servers in other languages are in
//! `tests/interop`.

mod connections;
mod hostile;
mod processes;
mod strange;
mod theirs;

use std::process::Command;

use mcp_tasks::client::{Answer, ClientBuilder, Question, TaskClient};
use mcp_tasks::protocol::ToolResult;
use mcp_tasks_tests::{Fixture, PATIENCE, Transport};
use serde_json::json;

const RMCP_SERVER: &str = env!("CARGO_BIN_EXE_rmcp_server");
const HOSTILE_SERVER: &str = env!("CARGO_BIN_EXE_hostile_server");

/// Waits for the outcome of a call, no longer than a test does.
macro_rules! outcome {
    ($call:expr) => {
        tokio::time::timeout(mcp_tasks_tests::PATIENCE, $call)
            .await
            .expect("the call hangs")
    };
}
use outcome;

/// A client of rmcp's server.
struct Pair {
    client: TaskClient,
    /// Over HTTP; over stdio the client has started it.
    _server: Option<Fixture>,
}

impl Pair {
    async fn new(transport: Transport, builder: ClientBuilder, flags: &[&str]) -> Self {
        let builder = builder.patience(PATIENCE);
        match transport {
            Transport::Http => {
                let server = Fixture::http(RMCP_SERVER, flags).await;
                let client = builder.connect_http(server.client().url()).await.unwrap();
                Self {
                    client,
                    _server: Some(server),
                }
            }
            Transport::Stdio => {
                let mut command = Command::new(RMCP_SERVER);
                command.arg("--stdio").args(flags);
                Self {
                    client: builder.connect_stdio(command).await.unwrap(),
                    _server: None,
                }
            }
        }
    }
}

fn text(result: &ToolResult) -> &str {
    result.content[0].as_text().unwrap()
}

/// Answers every question with its own words.
async fn parrot(question: Question) -> Option<Answer> {
    Answer::accept(json!({ "name": question.message() })).ok()
}
