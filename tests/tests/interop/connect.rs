//! rmcp's client, connected to a fixture server of its own.

use std::process::Stdio;
use std::time::Duration;

use mcp_tasks_tests::{Fixture, PATIENCE, Transport};
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::FIXTURES;
use super::desk::Desk;
use super::judge::{End, Outcome};
use super::table::{Case, Era};

/// Who calls over HTTP.
pub(crate) const CALLER: &str = "alice";
const SECRET: &str = "wonderland";

pub(crate) struct Connected {
    client: RunningService<RoleClient, Desk>,
    desk: Desk,
    era: Era,
    /// Killed when it is dropped.
    _server: Server,
}

#[expect(dead_code, reason = "they are only held")]
enum Server {
    Http(Box<Fixture>),
    Stdio(Child),
}

impl Connected {
    /// Starts a server and connects; a bare client can do nothing that it could
    /// be asked for.
    pub(crate) async fn open(era: Era, transport: Transport, is_bare: bool) -> Self {
        let lifecycle = match era {
            Era::Session => ClientLifecycleMode::Initialize,
            Era::Rounds => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        };
        let desk = Desk::new(is_bare);
        let handler = desk.clone();
        let (client, server) = match transport {
            Transport::Http => {
                let token = format!("{CALLER}={SECRET}");
                let fixture = Fixture::http(FIXTURES, &["--token", &token]).await;
                let url = fixture.client().url().to_owned();
                let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(SECRET);
                let wire = StreamableHttpClientTransport::from_config(config);
                let client = handler.serve_with_lifecycle(wire, lifecycle).await;
                (client.unwrap(), Server::Http(Box::new(fixture)))
            }
            Transport::Stdio => {
                let mut child = Command::new(FIXTURES)
                    .arg("--stdio")
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .kill_on_drop(true)
                    .spawn()
                    .expect("the fixture server cannot be started");
                let wire = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
                let client = handler.serve_with_lifecycle(wire, lifecycle).await;
                (client.unwrap(), Server::Stdio(child))
            }
        };
        Self {
            client,
            desk,
            era,
            _server: server,
        }
    }

    /// The names of all tools, sorted.
    pub(crate) async fn tools(&self) -> Vec<String> {
        let tools = self.client.list_all_tools().await.unwrap();
        let mut names: Vec<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
        names.sort_unstable();
        names
    }

    pub(crate) async fn call(&self, case: &Case) -> Outcome {
        self.desk.begin(case);
        let params = CallToolRequestParams::new(case.tool.clone());
        let called = self
            .client
            .call_tool(params.with_arguments(case.arguments.clone()));
        // Dropping the call cancels it.
        let called = tokio::select! {
            called = timeout(PATIENCE, called) => Some(called),
            () = self.desk.stop.notified() => None,
        };
        let end = match called {
            None => End::Cancelled(self.left().await),
            Some(Ok(Ok(result))) => End::Result(result),
            Some(Ok(Err(ServiceError::McpError(error)))) => End::Refused(error),
            Some(Ok(Err(error))) => End::Broken(error.to_string()),
            Some(Err(_)) => End::Broken("no outcome in time".to_owned()),
        };
        let happened = self.desk.end();
        Outcome {
            end,
            asked: happened.asked,
            progress: happened.progress,
        }
    }

    /// How many calls a cancelled one has left at the server, once it has settled.
    async fn left(&self) -> u64 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let stats = self.client.call_tool(CallToolRequestParams::new("stats"));
            let stats = stats.await.unwrap().structured_content.unwrap();
            let count = |name: &str| stats[name].as_u64().unwrap();
            let left = count("live") + count("resident");
            if left == 0 || Instant::now() > deadline {
                return left;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends the connection, and gives what should not have happened in it.
    pub(crate) async fn close(self) -> Vec<String> {
        self.client.cancel().await.unwrap();
        let over = self.desk.close();
        let mut wrong = over.unexpected;
        if over.taken_back > over.asked {
            let (back, asked) = (over.taken_back, over.asked);
            wrong.push(format!(
                "{back} questions were taken back, {asked} were asked"
            ));
        }
        if self.era == Era::Session && over.completed != over.agreed {
            let (completed, agreed) = (over.completed, over.agreed);
            wrong.push(format!(
                "over are the URLs of {completed:?}, agreed to were {agreed:?}"
            ));
        }
        wrong
    }
}
