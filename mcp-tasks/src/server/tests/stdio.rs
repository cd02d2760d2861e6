//! The line filter over real streams.

use std::time::Duration;

use rmcp::ServerHandler;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::super::TaskServer;
use super::super::stdio;
use super::{initialize, server, standalone};
use crate::Tasks;

/// The client's end of a connection.
pub(super) struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    serving: JoinHandle<std::io::Result<()>>,
    pub(super) tasks: Tasks,
    /// Tells the server to stop.
    pub(super) stop: CancellationToken,
}

impl Client {
    pub(super) fn of<H: ServerHandler>(server: TaskServer<H>) -> Self {
        Self::with_pipe(server, 1 << 16)
    }

    /// A connection that holds so many bytes that are not read yet.
    pub(super) fn with_pipe<H: ServerHandler>(server: TaskServer<H>, bytes: usize) -> Self {
        let server = server.build().unwrap();
        let (near, far) = tokio::io::duplex(bytes);
        let (read, write) = tokio::io::split(far);
        let (tasks, stop) = (server.tasks(), server.stdio.stop.clone());
        let serving = tokio::spawn(stdio::serve(server.stdio, read, write));
        let (output, input) = tokio::io::split(near);
        let output = BufReader::new(output).lines();
        Self {
            input,
            output,
            serving,
            tasks,
            stop,
        }
    }

    pub(super) async fn send(&mut self, message: &Value) {
        self.line(message.to_string().as_bytes()).await;
    }

    pub(super) async fn line(&mut self, line: &[u8]) {
        self.input.write_all(line).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    pub(super) async fn receive(&mut self) -> Value {
        let line = timeout(Duration::from_secs(5), self.output.next_line())
            .await
            .expect("no reply within 5 s")
            .unwrap()
            .expect("the server hung up");
        serde_json::from_str(&line).unwrap()
    }

    pub(super) async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        let reply = self.receive().await;
        assert_eq!(reply["id"], message["id"], "{reply}");
        reply
    }

    /// Ends the input and returns what is still written.
    pub(super) async fn finish(mut self) -> Vec<Value> {
        self.input.shutdown().await.unwrap();
        timeout(Duration::from_secs(5), self.serving)
            .await
            .expect("still serving 5 s after the input ended")
            .unwrap()
            .unwrap();
        let mut rest = Vec::new();
        while let Ok(Some(line)) = self.output.next_line().await {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        rest
    }
}

fn call(id: u32, name: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } })
}

#[tokio::test]
async fn an_older_session_works_as_it_did() {
    let mut client = Client::of(server());
    let reply = client.ask(&initialize(1)).await;
    assert_eq!(reply["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(reply["result"]["serverInfo"]["name"], "greeter");
    assert_eq!(reply["result"]["capabilities"]["extensions"], Value::Null);
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    client.send(&initialized).await;
    let reply = client.ask(&call(2, "greet")).await;
    assert_eq!(reply["result"]["content"][0]["text"], "hello", "{reply}");
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn a_session_asks_its_client_on_the_open_call() {
    let mut client = Client::of(server());
    client.ask(&initialize(1)).await;
    client.send(&call(2, "ask")).await;
    let question = client.receive().await;
    assert_eq!(question["method"], "elicitation/create");
    let answer =
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } });
    client.send(&answer).await;
    let reply = client.receive().await;
    assert_eq!(reply["id"], 2);
    assert_eq!(reply["result"]["content"][0]["text"], "Decline", "{reply}");
}

#[tokio::test]
async fn requests_of_2026_need_no_handshake() {
    let mut client = Client::of(server());
    let reply = client
        .ask(&standalone(1, "server/discover", json!({})))
        .await;
    let capabilities = &reply["result"]["capabilities"];
    assert_eq!(
        capabilities["extensions"],
        json!({ "io.modelcontextprotocol/tasks": {} }),
        "{reply}"
    );
    assert_eq!(capabilities["tasks"], Value::Null);
    let reply = client.ask(&standalone(2, "tools/list", json!({}))).await;
    assert_eq!(reply["result"]["tools"][0]["name"], "greet", "{reply}");
    assert_eq!(reply["result"]["resultType"], "complete");
    let meta = &reply["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(meta["name"], "greeter", "{reply}");
    let params = json!({ "name": "greet" });
    let reply = client.ask(&standalone(3, "tools/call", params)).await;
    assert_eq!(reply["result"]["content"][0]["text"], "hello", "{reply}");
}

#[tokio::test]
async fn both_eras_share_one_connection() {
    let mut client = Client::of(server());
    client.ask(&standalone(1, "tools/list", json!({}))).await;
    client.ask(&initialize(2)).await;
    let reply = client.ask(&call(3, "greet")).await;
    assert_eq!(reply["result"]["resultType"], Value::Null, "{reply}");
    let params = json!({ "name": "greet" });
    let reply = client.ask(&standalone(4, "tools/call", params)).await;
    assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
}

#[tokio::test]
async fn a_malformed_notification_is_passed_over_in_silence() {
    let mut client = Client::of(server());
    for params in [json!([]), json!({ "_meta": 7 })] {
        client
            .send(&json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": params }))
            .await;
    }
    client.send(&json!({ "method": "notifications/x" })).await;
    client.ask(&standalone(1, "tools/list", json!({}))).await;
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn garbage_gets_an_error_and_the_server_lives_on() {
    let limit = 4096;
    let mut client = Client::of(server().message_limit(limit));
    let long = vec![b' '; 3 * limit];
    let cases: [(&[u8], i64); 9] = [
        (b"{", -32700),
        (b"nonsense", -32700),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
            -32700,
        ),
        (b"[]", -32600),
        (b"{\"jsonrpc\":\"2.0\"}", -32600),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
            -32600,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
            -32602,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}",
            -32602,
        ),
        (&long, -32600),
    ];
    for (line, code) in cases {
        client.line(line).await;
        let reply = client.receive().await;
        assert_eq!(reply["error"]["code"], code, "{reply}");
    }
    client.line(b"  ").await;
    client.line(b"\r").await;
    client.ask(&standalone(2, "tools/list", json!({}))).await;
    client.ask(&initialize(3)).await;
    client.ask(&call(4, "greet")).await;
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn a_notification_may_come_first() {
    for method in [
        "notifications/initialized",
        "notifications/cancelled",
        "made/up",
    ] {
        let mut client = Client::of(server());
        let params = json!({ "requestId": 7 });
        let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        client.send(&notification).await;
        client.ask(&standalone(1, "tools/list", json!({}))).await;
        client.ask(&initialize(2)).await;
        client.ask(&call(3, "greet")).await;
        client
            .send(&json!({ "jsonrpc": "2.0", "id": 99, "result": {} }))
            .await;
        client.ask(&call(4, "greet")).await;
    }
}

#[tokio::test]
async fn a_ping_may_come_before_a_session() {
    let mut client = Client::of(server());
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(client.ask(&ping).await["result"], json!({}));
    client.ask(&initialize(2)).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" });
    assert_eq!(client.ask(&ping).await["result"], json!({}));
}

#[tokio::test]
async fn what_a_request_must_say_about_itself_is_asked_for_first() {
    let mut client = Client::of(server());
    let mut request = standalone(1, "tools/list", json!({}));
    request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let error = client.ask(&request).await["error"].take();
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"]["requested"], "2099-01-01");
    let supported = error["data"]["supported"].as_array().unwrap();
    assert!(supported.contains(&json!("2026-07-28")) && supported.contains(&json!("2025-11-25")));
    let mut request = standalone(2, "tools/list", json!({}));
    let meta = request["params"]["_meta"].as_object_mut().unwrap();
    meta.remove("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(client.ask(&request).await["error"]["code"], -32602);
}

#[tokio::test]
async fn unknown_methods_and_malformed_parameters_are_told_apart() {
    let mut client = Client::of(server());
    for (id, method, code) in [
        (1, "tasks/list", -32601),
        (2, "made/up", -32601),
        (3, "tools/call", -32602),
        (4, "prompts/get", -32602),
        (5, "ping", -32601),
        (6, "initialize", -32601),
        (7, "logging/setLevel", -32601),
        (8, "resources/subscribe", -32601),
    ] {
        let reply = client
            .ask(&standalone(id, method, json!({ "name": 7 })))
            .await;
        assert_eq!(reply["error"]["code"], code, "{method}: {reply}");
    }
    client.ask(&initialize(10)).await;
    for (id, method, code) in [
        (11, "tasks/get", -32601),
        (12, "tasks/list", -32601),
        (13, "tools/call", -32602),
    ] {
        let params = json!({ "taskId": "t", "name": 7 });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let reply = client.ask(&request).await;
        assert_eq!(reply["error"]["code"], code, "{method}: {reply}");
    }
}

#[tokio::test]
async fn an_id_in_use_is_refused_and_a_cancelled_call_gets_no_reply() {
    let mut client = Client::of(server());
    client.ask(&initialize(1)).await;
    client.send(&call(2, "ask")).await;
    let question = client.receive().await;
    assert_eq!(client.ask(&call(2, "greet")).await["error"]["code"], -32600);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 2 } });
    client.send(&cancel).await;
    // The id is free again, and the late answer to the question leads nowhere.
    let reply = client.ask(&call(2, "greet")).await;
    assert_eq!(reply["result"]["content"][0]["text"], "hello", "{reply}");
    let answer =
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } });
    client.send(&answer).await;
    client.ask(&call(3, "greet")).await;
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn calls_on_the_way_when_the_input_ends_still_get_their_reply() {
    let mut client = Client::of(server());
    client.send(&standalone(1, "tools/list", json!({}))).await;
    let rest = client.finish().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["id"], 1);
}
