//! What `tasks/get` costs from the text of the request to the text of the
//! reply, with few and with many tasks waiting.
//!
//! ```text
//! cargo bench -p mcp-tasks --bench wire
//! ```
//!
//! No transport: what a server adds to this is reading and writing bytes.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mcp_tasks::Caller;
use mcp_tasks::prelude::*;
use mcp_tasks::protocol::Message;
use mcp_tasks::router::Router;
use mcp_tasks::runtime::Runtime;
use serde_json::{Value, json};

#[derive(Elicit)]
struct Approval {
    /// Ship this plan?
    approve: bool,
    /// Share of traffic in the first hour
    #[elicit(min = 1, max = 100, default = 10)]
    percent: u8,
    #[elicit(format = "email")]
    notify: Option<String>,
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let approval: Approval = ask_user(format!("Deploy {service}?")).await?;
    Ok(format!(
        "{} {} {:?}",
        approval.approve, approval.percent, approval.notify
    ))
}

fn request(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {},
            "extensions": { "io.modelcontextprotocol/tasks": {} },
        },
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

async fn route(router: &Router, text: &str, caller: &Caller) -> String {
    let message = Message::parse(text.as_bytes()).expect("this is JSON-RPC");
    let reply = router.route(&message, caller).await;
    reply.expect("the message is ours").body
}

/// The outcome of a future that does not wait, as none does on the memory store.
fn now<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// A router to a runtime in which so many tasks wait, and the text of a
/// `tasks/get` for one of them.
async fn filled(count: usize, caller: &Caller) -> (Router, String) {
    let built = Runtime::builder("bench", "1").task(deploy).build();
    let router = Router::new(built.expect("one tool"));
    let call = request(
        "tools/call",
        json!({"name": "deploy", "arguments": {"service": "web"}}),
    );
    let mut get = String::new();
    for _ in 0..count {
        let created = route(&router, &call, caller).await;
        let created: Value = serde_json::from_str(&created).expect("a reply is JSON");
        get = request("tasks/get", json!({"taskId": created["result"]["taskId"]}));
        tokio::task::yield_now().await;
    }
    let reply = route(&router, &get, caller).await;
    assert!(reply.contains("input_required"), "{reply}");
    (router, get)
}

fn wire(criterion: &mut Criterion) {
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime without I/O needs nothing of the system");
    let caller = Caller::anonymous();
    let mut group = criterion.benchmark_group("tasks/get from text to text");
    for count in [10, 100_000] {
        let (router, get) = tokio.block_on(filled(count, &caller));
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| now(route(&router, black_box(&get), &caller)));
        });
    }
    group.finish();
}

criterion_group!(benches, wire);
criterion_main!(benches);
