//! Sessions of the protocol versions before 2026-07-28: a handshake, and
//! requests in both directions.
//!
//! Everything that the server says comes out of one queue, in its order, and is
//! looked through for what these versions do not have.

use std::process::Stdio;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::{Fixture, PATIENCE, Transport};

/// What no message of a session may have, however deep.
const NEWER: [&str; 9] = [
    "resultType",
    "requestState",
    "inputRequests",
    "taskId",
    "task",
    "tasks",
    "pollIntervalMs",
    "ttlMs",
    "io.modelcontextprotocol/tasks",
];

/// A client in a session.
pub struct Session {
    wire: Wire,
    said: mpsc::UnboundedReceiver<Said>,
    last_id: u64,
}

/// A message of the server.
#[derive(Clone, Debug)]
pub struct Said {
    /// Over HTTP, the id of the request on whose stream it came; none for the
    /// stream that belongs to no request.
    pub on: Option<u64>,
    /// The message.
    pub message: Value,
    /// The message as it was on the wire.
    pub text: String,
}

impl Said {
    fn new(on: Option<u64>, text: String) -> Option<Self> {
        let message = serde_json::from_str(&text).ok()?;
        Some(Self { on, message, text })
    }
}

enum Wire {
    Stdio {
        stdin: ChildStdin,
        /// Killed when it is dropped.
        child: Child,
    },
    Http {
        http: Http,
        server: Box<Fixture>,
    },
}

#[derive(Clone)]
struct Http {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
    version: String,
    id: String,
    said: mpsc::UnboundedSender<Said>,
}

impl Session {
    /// Starts a fixture server and opens a session in this version, in which the
    /// client can do so much; over HTTP with a stream that belongs to no request.
    pub async fn open(
        binary: &str,
        transport: Transport,
        version: &str,
        capabilities: Value,
    ) -> Self {
        let session = Self::begin(binary, transport, version, capabilities).await;
        let (session, opened) = session;
        assert_eq!(opened, version);
        if let Wire::Http { http, .. } = &session.wire {
            http.listen().await;
        }
        session
    }

    /// The same without that stream, in whatever version the server chooses.
    pub async fn begin(
        binary: &str,
        transport: Transport,
        version: &str,
        capabilities: Value,
    ) -> (Self, String) {
        let (sender, said) = mpsc::unbounded_channel();
        let initialize = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": version,
                "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "0" },
            },
        });
        let mut session = match transport {
            Transport::Stdio => {
                let (stdin, child) = start(binary, sender);
                let wire = Wire::Stdio { stdin, child };
                let mut session = Self {
                    wire,
                    said,
                    last_id: 0,
                };
                session.write(&initialize).await;
                session
            }
            Transport::Http => {
                let server = Fixture::http(binary, &[]).await;
                let url = server.client().url().to_owned();
                let http = Http::open(url, version, sender, &initialize).await;
                let wire = Wire::Http {
                    http,
                    server: Box::new(server),
                };
                Self {
                    wire,
                    said,
                    last_id: 0,
                }
            }
        };
        let opened = session.reply(0).await;
        if let Wire::Http { http, .. } = &mut session.wire
            && let Some(chosen) = opened["result"]["protocolVersion"].as_str()
        {
            chosen.clone_into(&mut http.version);
        }
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        session.write(&initialized).await;
        let chosen = opened["result"]["protocolVersion"].as_str();
        let chosen = chosen.unwrap_or_else(|| panic!("no version: {opened}"));
        (session, chosen.to_owned())
    }

    /// Sends a request and gives its id.
    pub async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&message).await;
        id
    }

    /// Calls a tool and gives the request's id.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> u64 {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await
    }

    /// Calls a tool that wants nothing of the client, and gives its reply.
    pub async fn result_of(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.call(tool, arguments).await;
        self.reply(id).await
    }

    /// The next message of the server.
    pub async fn next(&mut self) -> Said {
        let said = timeout(PATIENCE, self.said.recv()).await;
        let said = said.expect("no message in time").expect("it hung up");
        refuse_newer(&said.message, &said.message);
        said
    }

    /// The next message, which must be a request of this method.
    pub async fn asked(&mut self, method: &str) -> Said {
        let said = self.next().await;
        assert_eq!(said.message["method"], method, "{said:?}");
        assert!(!said.message["id"].is_null(), "{said:?}");
        said
    }

    /// The next message, which must be the reply to this request.
    pub async fn reply(&mut self, id: u64) -> Value {
        let said = self.next().await;
        assert_eq!(said.message["id"], id, "{said:?}");
        assert!(said.message["method"].is_null(), "{said:?}");
        said.message
    }

    /// The text of the reply to this request, which must go well.
    pub async fn text(&mut self, id: u64) -> String {
        let reply = self.reply(id).await;
        let text = reply["result"]["content"][0]["text"].as_str();
        assert_ne!(reply["result"]["isError"], true, "{reply}");
        text.unwrap_or_else(|| panic!("no text: {reply}"))
            .to_owned()
    }

    /// Answers a request of the server.
    pub async fn answer(&mut self, asked: &Said, result: Value) {
        let message = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result });
        self.write(&message).await;
    }

    /// Fails a request of the server.
    pub async fn fail(&mut self, asked: &Said, code: i64, words: &str) {
        let error = json!({ "code": code, "message": words });
        let message = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": error });
        self.write(&message).await;
    }

    /// Says that a request is cancelled.
    pub async fn cancel(&mut self, id: u64) {
        let params = json!({ "requestId": id });
        let message =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.write(&message).await;
    }

    /// Ends the session, and gives what the server still says in it.
    pub async fn hang_up(self) -> Vec<Said> {
        let Self { wire, mut said, .. } = self;
        let _alive = match wire {
            Wire::Stdio { stdin, child } => {
                drop(stdin);
                (Some(child), None)
            }
            Wire::Http { http, server } => {
                http.delete().await;
                (None, Some(server))
            }
        };
        let mut rest = Vec::new();
        while let Some(said) = timeout(PATIENCE, said.recv()).await.expect("no end") {
            rest.push(said);
        }
        rest
    }

    async fn write(&mut self, message: &Value) {
        match &mut self.wire {
            Wire::Stdio { stdin, .. } => {
                let line = format!("{message}\n");
                stdin.write_all(line.as_bytes()).await.expect("it reads");
                stdin.flush().await.expect("it reads");
            }
            Wire::Http { http, .. } => http.post(message).await,
        }
    }
}

fn start(binary: &str, said: mpsc::UnboundedSender<Said>) -> (ChildStdin, Child) {
    let mut child = Command::new(binary)
        .arg("--stdio")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the fixture server cannot be started");
    let stdin = child.stdin.take().expect("stdin is piped");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    tokio::spawn(async move {
        while let Ok(Some(line)) = lines.next_line().await {
            said.send(Said::new(None, line).expect("a line is JSON"))
                .ok();
        }
    });
    (stdin, child)
}

impl Http {
    async fn open(
        url: String,
        version: &str,
        said: mpsc::UnboundedSender<Said>,
        initialize: &Value,
    ) -> Self {
        let mut http = Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            url,
            version: version.to_owned(),
            id: String::new(),
            said,
        };
        let response = http.send("POST", initialize.to_string()).await;
        let id = response.headers()["mcp-session-id"].to_str();
        id.expect("an id is text").clone_into(&mut http.id);
        http.read(Some(0), response);
        http
    }

    async fn post(&self, message: &Value) {
        let response = self.send("POST", message.to_string()).await;
        if message["method"].is_null() || message["id"].is_null() {
            assert_eq!(response.status(), 202, "{message}");
            return;
        }
        assert_eq!(response.status(), 200, "{message}");
        self.read(message["id"].as_u64(), response);
    }

    /// Opens the stream that belongs to no request.
    async fn listen(&self) {
        let response = self.send("GET", String::new()).await;
        assert_eq!(response.status(), 200);
        self.read(None, response);
    }

    async fn delete(&self) {
        let response = self.send("DELETE", String::new()).await;
        assert!(response.status().is_success(), "{response:?}");
    }

    async fn send(&self, method: &str, body: String) -> http::Response<Incoming> {
        let mut request = http::Request::builder()
            .method(method)
            .uri(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if !self.id.is_empty() {
            request = request.header("mcp-session-id", &self.id);
            request = request.header("mcp-protocol-version", &self.version);
        }
        let request = request.body(Full::new(body.into())).expect("plain text");
        let sent = timeout(PATIENCE, self.client.request(request)).await;
        sent.expect("no response in time").expect("no response")
    }

    /// Reads a stream of events, or a reply, beside everything else.
    fn read(&self, on: Option<u64>, response: http::Response<Incoming>) {
        let said = self.said.clone();
        let is_stream = response.headers()["content-type"] == "text/event-stream";
        tokio::spawn(async move {
            let mut body = response.into_body();
            let mut text = String::new();
            while let Some(Ok(frame)) = body.frame().await {
                let Ok(data) = frame.into_data() else {
                    continue;
                };
                text.push_str(std::str::from_utf8(&data).expect("events are UTF-8"));
                while is_stream && let Some((event, rest)) = text.split_once("\n\n") {
                    let data: String = event
                        .lines()
                        .filter_map(|line| line.strip_prefix("data:"))
                        .collect();
                    Said::new(on, data).map(|message| said.send(message).ok());
                    text = rest.to_owned();
                }
            }
            Said::new(on, text).map(|message| said.send(message).ok());
        });
    }
}

/// Looks for what a session does not know.
#[track_caller]
fn refuse_newer(value: &Value, message: &Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                assert!(!NEWER.contains(&name.as_str()), "`{name}` in {message}");
                refuse_newer(value, message);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| refuse_newer(value, message)),
        _ => {}
    }
}
