//! From end to end: servers over HTTP on loopback, on ours each store, and one that
//! is built on rmcp's task manager; clients with keep-alive.

use std::path::Path;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use mcp_tasks::prelude::*;
use mcp_tasks::rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use mcp_tasks::rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use mcp_tasks::{MemoryStore, TaskStore};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::live::SIDES;
use crate::peer::Peer;
use crate::rounds::Times;
use crate::server::Server;
use crate::throughput::{median, rate};
use crate::{Plan, progress};

/// The numbers of clients that are compared.
pub(crate) const CLIENTS: [usize; 2] = [1, 16];

/// A task that ends at once.
#[mcp_task(support = "required")]
async fn start(service: String) -> String {
    format!("{service} is up")
}

/// By number of clients and side.
#[derive(Default)]
pub(crate) struct Served {
    /// Calls and reads of their tasks, in pairs per second.
    pub(crate) pairs: [[f64; SIDES.len()]; 2],
    /// Seconds of one read.
    pub(crate) get: [[f64; SIDES.len()]; 2],
}

pub(crate) fn measure(plan: &Plan, directory: &Path, server: &Server) -> Served {
    progress("end to end over HTTP");
    // Servers have threads of their own, as far as there are cores for that.
    let servers = tokio::runtime::Runtime::new().expect("the system has threads");
    let clients = tokio::runtime::Runtime::new().expect("the system has threads");
    let urls = servers.block_on(async {
        let sqlite = SqliteStore::open(directory.join("http.db")).expect("the disk takes a file");
        let postgres = server.store("http").await;
        [
            serve_peer().await,
            serve(MemoryStore::new()).await,
            serve(sqlite).await,
            serve(postgres).await,
        ]
    });
    let sides = urls.map(Wire::new);
    let mut measured = Served::default();
    for (of, count) in CLIENTS.into_iter().enumerate() {
        let mut pairs: [Vec<f64>; SIDES.len()] = Default::default();
        let mut gets: [Times; SIDES.len()] = Default::default();
        for turn in 0..=plan.turns / 5 {
            for ((wire, pairs), gets) in sides.iter().zip(&mut pairs).zip(&mut gets) {
                let (done, times) = clients.block_on(run(wire, count, plan.turn));
                // The first has warmed everything up.
                if turn > 0 {
                    pairs.push(done);
                    gets.extend(times);
                }
            }
        }
        measured.pairs[of] = pairs.map(median);
        measured.get[of] = gets.map(|mut times| times.median());
    }
    measured
}

async fn listen(router: axum::Router) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await;
    let listener = listener.expect("there is a free port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move {
        let serving = axum::serve(listener, router).await;
        serving.expect("it serves");
    });
    format!("http://{address}/mcp")
}

async fn serve(store: impl TaskStore) -> String {
    let server = TaskServer::new("bench", "1").task(start).store(store);
    let service = server.into_service().expect("it is put together");
    listen(axum::Router::new().route_service("/mcp", service)).await
}

async fn serve_peer() -> String {
    let peer = Peer::default();
    let service = StreamableHttpService::new(
        move || Ok(peer.clone()),
        std::sync::Arc::new(LocalSessionManager::default()),
        // The faster of its two ways, and ours.
        StreamableHttpServerConfig::default().with_json_response(true),
    );
    listen(axum::Router::new().route_service("/mcp", service)).await
}

#[derive(Clone)]
struct Wire {
    url: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Wire {
    fn new(url: String) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self {
            url,
            client: Client::builder(TokioExecutor::new()).build(connector),
        }
    }

    /// The result of a request, with the headers that a client sends with it; null if
    /// it is refused.
    async fn send(&self, method: &str, name: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
        });
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = http::Request::post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method)
            .header("mcp-name", name)
            .body(Full::from(message.to_string()))
            .expect("headers are plain text");
        let response = self.client.request(request).await.expect("a response");
        let body = response.into_body().collect().await.expect("a body");
        let body = body.to_bytes();
        let reply: Result<Value, _> = serde_json::from_slice(&body);
        let mut reply = reply.expect("a reply is JSON");
        reply["result"].take()
    }

    /// Calls, and reads the task that the call is; gives the time of the read, if the
    /// task was still there: on a busy machine one of rmcp's short ttls may be over.
    async fn pair(&self) -> Option<Duration> {
        let call = json!({"name": "start", "arguments": {"service": "billing"}});
        let created = self.send("tools/call", "start", call).await;
        let id = created["taskId"].as_str().expect("a task");
        let getting = Instant::now();
        let task = self.send("tasks/get", id, json!({ "taskId": id })).await;
        task["status"].is_string().then(|| getting.elapsed())
    }
}

/// So many clients for as long as given: pairs per second, and the times of reads.
async fn run(wire: &Wire, count: usize, time: Duration) -> (f64, Vec<Duration>) {
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for _ in 0..count {
        let wire = wire.clone();
        clients.spawn(async move {
            let mut gets = Vec::new();
            while begun.elapsed() < time {
                gets.extend(wire.pair().await);
            }
            gets
        });
    }
    let gets = clients.join_all().await.concat();
    (rate(gets.len() as u64, begun.elapsed()), gets)
}
