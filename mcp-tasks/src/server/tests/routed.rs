//! What the edges make of tools of ours and of the router's answers.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{InitializeRequestParams, InitializeResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use super::super::{NoHandler, TaskServer};
use super::stdio::Client;
use super::{Greeter, initialize, server, standalone};
use crate::{State, ToolError, ask_user, mcp_task, set_status, step_value};

#[mcp_task(crate = crate)]
async fn deploy(a: u32) -> String {
    format!("deployed {a}")
}

#[mcp_task(crate = crate, name = "await", support = "required")]
async fn await_it() {}

#[mcp_task(crate = crate)]
async fn question() -> Result<String, ToolError> {
    Ok(ask_user::<String>("name?").await?)
}

/// Runs until it is dropped.
#[mcp_task(crate = crate)]
async fn slow(name: String, State(record): State<Record>) {
    set_status("begun");
    step_value(hang(name, record)).await;
}

async fn hang(name: String, record: Record) {
    record.note("begun", &name);
    let _guard = Guard(name, record);
    pending::<()>().await;
}

#[mcp_task(crate = crate)]
async fn boom() {
    panic!("secret detail");
}

/// What has become of slow calls.
#[derive(Clone, Default)]
struct Record(Arc<watch::Sender<Vec<String>>>);

struct Guard(String, Record);

impl Drop for Guard {
    fn drop(&mut self) {
        self.1.note("dropped", &self.0);
    }
}

impl Record {
    fn note(&self, what: &str, name: &str) {
        self.0
            .send_modify(|notes| notes.push(format!("{name} {what}")));
    }

    async fn wait_for(&self, note: &str) {
        let mut notes = self.0.subscribe();
        let there = notes.wait_for(|notes| notes.iter().any(|one| one == note));
        timeout(Duration::from_secs(5), there)
            .await
            .unwrap_or_else(|_| panic!("not within 5 s: {note}"))
            .unwrap();
    }
}

fn with_tools() -> TaskServer<Greeter> {
    server().task(deploy).task(await_it)
}

fn with_slow_tools(record: &Record) -> TaskServer<Greeter> {
    server().state(record.clone()).task(deploy).task(slow)
}

fn call(id: u32, name: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": name, "arguments": { "a": 1 } } })
}

/// A call of 2026-07-28 that is answered at once.
fn quick(id: u32) -> Value {
    let params = json!({ "name": "deploy", "arguments": { "a": 1 } });
    standalone(id, "tools/call", params)
}

/// A call that is not answered.
fn endless(id: u32, name: &str) -> Value {
    let params = json!({ "name": "slow", "arguments": { "name": name } });
    standalone(id, "tools/call", params)
}

fn names(reply: &Value) -> Vec<&str> {
    let tools = reply["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn our_tools_come_first_and_on_the_first_page_only() {
    let mut client = Client::of(with_tools());
    let page = client.ask(&standalone(1, "tools/list", json!({}))).await;
    assert_eq!(names(&page), ["deploy", "await", "greet"]);
    let next = json!({ "cursor": page["result"]["nextCursor"] });
    let page = client.ask(&standalone(2, "tools/list", next)).await;
    assert_eq!(names(&page), ["ask"]);
}

#[tokio::test]
async fn a_server_without_a_handler_lists_its_tools_and_names_itself() {
    let mut client = Client::of(TaskServer::new("deployer", "3.1").task(deploy));
    let reply = client
        .ask(&standalone(1, "server/discover", json!({})))
        .await;
    let result = &reply["result"];
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "deployer", "{reply}");
    assert_eq!(info["version"], "3.1");
    assert!(result["capabilities"]["tools"].is_object());
    let page = client.ask(&standalone(2, "tools/list", json!({}))).await;
    assert_eq!(names(&page), ["deploy"]);
    let reply = client
        .ask(&standalone(3, "tools/list", json!({ "cursor": "x" })))
        .await;
    assert_eq!(reply["error"]["code"], -32602);
    let reply = client
        .ask(&standalone(4, "tools/call", json!({ "name": "nope" })))
        .await;
    assert_eq!(reply["error"]["code"], -32602);
    assert!(reply["error"]["message"].as_str().unwrap().contains("nope"));
    let reply = client.ask(&initialize(5)).await;
    assert_eq!(reply["result"]["serverInfo"]["name"], "deployer");
    assert!(reply["result"]["capabilities"]["tools"].is_object());
}

#[tokio::test]
async fn an_older_session_runs_what_need_not_be_a_task() {
    let mut client = Client::of(with_tools());
    client.ask(&initialize(1)).await;
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    assert_eq!(names(&client.ask(&list).await), ["deploy", "greet"]);
    let reply = client.ask(&call(3, "deploy")).await;
    let result = &reply["result"];
    assert_eq!(result["content"][0]["text"], "deployed 1", "{reply}");
    assert_eq!(result["resultType"], Value::Null, "{reply}");
    let error = client.ask(&call(4, "await")).await["error"].take();
    assert_eq!(error["code"], -32602);
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("only runs as a task")
    );
}

#[tokio::test]
async fn an_older_session_without_elicitation_is_told_so() {
    let mut client = Client::of(server().task(question));
    let mut begin = initialize(1);
    begin["params"]["capabilities"] = json!({});
    client.ask(&begin).await;
    let error = client.ask(&call(2, "question")).await["error"].take();
    assert_eq!(error["code"], -32021, "{error}");
    let required = &error["data"]["requiredCapabilities"];
    assert!(required["elicitation"].is_object(), "{error}");
}

#[tokio::test]
async fn an_older_session_is_asked_while_its_call_is_open() {
    let mut client = Client::of(server().task(question));
    let mut begin = initialize(1);
    begin["params"]["capabilities"] = json!({ "elicitation": {} });
    client.ask(&begin).await;
    client.send(&call(2, "question")).await;
    let asked = client.receive().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let answer = json!({ "action": "accept", "content": { "answer": "Ada" } });
    client
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }))
        .await;
    let reply = client.receive().await;
    assert_eq!(reply["id"], 2, "{reply}");
    assert_eq!(reply["result"]["content"][0]["text"], "Ada", "{reply}");
}

#[tokio::test]
async fn a_slow_call_holds_nobody_up_and_can_be_cancelled() {
    let record = Record::default();
    let mut client = Client::of(with_slow_tools(&record));
    client.send(&endless(1, "cancelled")).await;
    record.wait_for("cancelled begun").await;
    client.ask(&quick(2)).await;
    client.ask(&standalone(3, "tools/list", json!({}))).await;
    let reply = client.ask(&quick(1)).await;
    assert_eq!(reply["error"]["code"], -32600);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 1 } });
    client.send(&cancel).await;
    record.wait_for("cancelled dropped").await;
    client.ask(&quick(1)).await;
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn the_end_of_the_input_drops_what_still_runs() {
    let record = Record::default();
    let mut client = Client::of(with_slow_tools(&record));
    client.send(&endless(1, "ended")).await;
    record.wait_for("ended begun").await;
    client.ask(&quick(2)).await;
    assert!(client.finish().await.is_empty());
    record.wait_for("ended dropped").await;
}

#[tokio::test]
async fn a_panic_is_an_error_without_its_words_and_the_server_lives_on() {
    let mut client = Client::of(server().task(boom).task(deploy));
    let params = json!({ "name": "boom" });
    let reply = client.ask(&standalone(1, "tools/call", params)).await;
    assert_eq!(reply["error"]["code"], -32603);
    assert!(!reply.to_string().contains("secret"), "{reply}");
    client.ask(&quick(1)).await;
}

/// Refuses the first session that is opened.
struct Moody(AtomicBool);

impl ServerHandler for Moody {
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.0.swap(false, Ordering::SeqCst) {
            return Err(ErrorData::internal_error("not today", None));
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }
}

#[tokio::test]
async fn a_session_that_failed_can_be_begun_again() {
    let moody = TaskServer::wrap(Moody(AtomicBool::new(true)));
    let mut client = Client::of(moody.task(deploy));
    assert_eq!(
        client.ask(&initialize(1)).await["error"]["message"],
        "not today"
    );
    client.ask(&quick(2)).await;
    assert_eq!(
        client.ask(&initialize(1)).await["result"]["protocolVersion"],
        "2025-11-25"
    );
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    client.ask(&list).await;
}

#[test]
fn a_server_without_a_store_says_so() {
    let server = TaskServer::wrap(NoHandler::new("test", "1"));
    assert!(server.build().unwrap().notice.is_none());
    let server = TaskServer::new("test", "1").task(deploy);
    assert!(server.build().unwrap().notice.is_some());
}

#[test]
fn a_tool_on_both_sides_is_a_build_error() {
    #[mcp_task(crate = crate)]
    async fn greet() {}

    let error = server().task(greet).build().unwrap_err().to_string();
    assert!(error.contains("`greet`"), "{error}");
}

#[cfg(feature = "http")]
mod http {
    use ::http::Request;
    use axum::body::Body;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::super::super::TaskService;
    use super::super::http::{post, send};
    use super::*;
    use crate::task::Caller;

    /// A request that declares the tasks extension.
    fn declaring(id: u32, method: &str, params: Value) -> Request<Body> {
        let mut message = standalone(id, method, params);
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        post(&message)
    }

    /// Makes a task of alice's and gives its id.
    async fn task_of_alice(service: &TaskService) -> String {
        let params = json!({ "name": "deploy", "arguments": { "a": 1 } });
        let mut request = declaring(1, "tools/call", params);
        request.extensions_mut().insert(Caller::new("alice"));
        let (_, body) = send(service, request).await;
        assert_eq!(body["result"]["resultType"], "task", "{body}");
        body["result"]["taskId"].as_str().unwrap().to_owned()
    }

    /// Gets a task on somebody's behalf, without naming it in a header.
    async fn get(service: &TaskService, id: &str, caller: Option<&str>) -> (u16, Value) {
        let mut request = declaring(2, "tasks/get", json!({ "taskId": id }));
        if let Some(caller) = caller {
            request.extensions_mut().insert(Caller::new(caller));
        }
        let (status, body) = send(service, request).await;
        (status.as_u16(), body)
    }

    #[tokio::test]
    async fn the_caller_is_who_a_layer_says_it_is() {
        let service = with_tools().into_service().unwrap();
        let id = task_of_alice(&service).await;
        let (_, body) = get(&service, &id, Some("alice")).await;
        assert_eq!(body["result"]["taskId"], id, "{body}");
        for another in [Some("bob"), None] {
            let (_, body) = get(&service, &id, another).await;
            assert_eq!(body["error"]["code"], -32602, "{body}");
        }
    }

    #[tokio::test]
    async fn tasks_may_leave_their_name_out_unless_strict() {
        let service = with_tools().into_service().unwrap();
        let id = task_of_alice(&service).await;
        assert_eq!(get(&service, &id, Some("alice")).await.0, 200);
        let strict = with_tools().strict_headers(true).into_service().unwrap();
        let id = task_of_alice(&strict).await;
        let (status, body) = get(&strict, &id, Some("alice")).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!(-32020)));
    }

    #[tokio::test]
    async fn a_client_that_goes_away_drops_its_call() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let record = Record::default();
        let service = with_slow_tools(&record).into_service().unwrap();
        let application = axum::Router::new().route_service("/mcp", service);
        tokio::spawn(async move { axum::serve(listener, application).await });
        let mut told = endless(1, "told");
        told["params"]["_meta"]["progressToken"] = json!(1);
        for (name, call) in [("left", endless(1, "left")), ("told", told)] {
            let mut stream = post_to(address, &call).await;
            record.wait_for(&format!("{name} begun")).await;
            if name == "told" {
                // The response has begun.
                let mut read = String::new();
                while !read.contains("notifications/progress") {
                    let mut bytes = [0; 512];
                    let count = stream.read(&mut bytes).await.unwrap();
                    assert_ne!(count, 0, "{read}");
                    read.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
                }
            }
            drop(stream);
            record.wait_for(&format!("{name} dropped")).await;
        }
    }

    async fn post_to(address: std::net::SocketAddr, call: &Value) -> TcpStream {
        let body = call.to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: slow\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        stream
    }
}
