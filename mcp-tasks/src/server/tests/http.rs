//! The HTTP layer, called as the tower service that it is.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower_service::Service as _;

use super::super::TaskService;
use super::{initialize, server, standalone};

/// A POST as a well-behaved client of 2026-07-28 sends it.
pub(super) fn post(message: &Value) -> Request<Body> {
    let mut request = session_post(message);
    let mut set = |name: &'static str, value: &str| {
        request.headers_mut().insert(name, value.parse().unwrap());
    };
    set("mcp-protocol-version", "2026-07-28");
    set("mcp-method", message["method"].as_str().unwrap());
    if let Some(name) = message["params"]["name"].as_str() {
        set("mcp-name", name);
    }
    request
}

pub(super) fn session_post(message: &Value) -> Request<Body> {
    Request::post("/mcp")
        .header("host", "localhost:8000")
        .header("content-type", "application/json; charset=utf-8")
        .header("accept", "application/json, text/event-stream;q=0.9")
        .body(Body::from(message.to_string()))
        .unwrap()
}

pub(super) async fn send(service: &TaskService, request: Request<Body>) -> (StatusCode, Value) {
    let response = service.clone().call(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into_owned()));
    (status, body)
}

fn service() -> TaskService {
    server().into_service().unwrap()
}

fn list() -> Value {
    standalone(1, "tools/list", json!({}))
}

/// The status and error code of a request that is one change away from a good one.
async fn refused(change: impl FnOnce(&mut Request<Body>)) -> (u16, i64) {
    let mut request = post(&list());
    change(&mut request);
    let (status, body) = send(&service(), request).await;
    (status.as_u16(), body["error"]["code"].as_i64().unwrap_or(0))
}

fn set(name: &'static str, value: &'static str) -> impl FnOnce(&mut Request<Body>) {
    move |request| {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
}

fn without(name: &'static str) -> impl FnOnce(&mut Request<Body>) {
    move |request| {
        request.headers_mut().remove(name);
    }
}

#[tokio::test]
async fn requests_of_2026_are_served() {
    let service = service();
    let (status, body) = send(&service, post(&standalone(1, "server/discover", json!({})))).await;
    assert_eq!(status, 200, "{body}");
    let extensions = &body["result"]["capabilities"]["extensions"];
    assert_eq!(*extensions, json!({ "io.modelcontextprotocol/tasks": {} }));
    let (status, body) = send(&service, post(&list())).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["result"]["tools"][0]["name"], "greet");
    assert_eq!(body["result"]["nextCursor"], "second");
    let call = standalone(2, "tools/call", json!({ "name": "greet" }));
    let (status, body) = send(&service, post(&call)).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["result"]["content"][0]["text"], "hello");
}

#[tokio::test]
async fn host_and_origin_are_looked_at_before_anything_else() {
    assert_eq!(refused(set("host", "evil.example")).await, (403, -32600));
    assert_eq!(
        refused(set("origin", "https://evil.example")).await,
        (403, -32600)
    );
    assert_eq!(
        refused(set("origin", "http://localhost:3000")).await,
        (200, 0)
    );
    assert_eq!(refused(without("host")).await, (400, -32600));
    let foreign = |request: &mut Request<Body>| {
        *request.method_mut() = Method::GET;
        set("origin", "null")(request);
    };
    assert_eq!(refused(foreign).await, (403, -32600));
    // For older sessions too.
    let mut request = session_post(&initialize(1));
    set("origin", "https://evil.example")(&mut request);
    assert_eq!(send(&service(), request).await.0, 403);
}

#[tokio::test]
async fn methods_and_media_types_are_those_of_mcp() {
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::OPTIONS] {
        let change = |request: &mut Request<Body>| *request.method_mut() = method;
        assert_eq!(refused(change).await, (405, -32600));
    }
    assert_eq!(refused(set("content-type", "text/plain")).await.0, 415);
    assert_eq!(refused(set("accept", "application/json")).await.0, 406);
    assert_eq!(refused(without("accept")).await.0, 406);
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused() {
    let service = server().message_limit(1000).into_service().unwrap();
    let mut request = post(&list());
    *request.body_mut() = Body::from(vec![b' '; 1001]);
    let (status, body) = send(&service, request).await;
    assert_eq!(status, 413);
    assert_eq!(body["error"]["code"], -32600);
    assert!(body["error"]["message"].as_str().unwrap().contains("1000"));
}

/// A body that says that it is long, and never comes.
struct Promised;

impl http_body::Body for Promised {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        std::task::Poll::Pending
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(1 << 50)
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_says_that_it_is_over_the_limit_is_not_waited_for() {
    let request = post(&list()).map(|_| Promised);
    let response = service().call(request);
    let response = tokio::time::timeout(std::time::Duration::from_secs(10), response);
    assert_eq!(response.await.unwrap().unwrap().status(), 413);
}

#[tokio::test]
async fn headers_must_agree_with_the_message() {
    let header = -32020;
    assert_eq!(
        refused(without("mcp-protocol-version")).await,
        (400, header)
    );
    let other = set("mcp-protocol-version", "2025-11-25");
    assert_eq!(refused(other).await, (400, header));
    assert_eq!(refused(without("mcp-method")).await, (400, header));
    assert_eq!(
        refused(set("mcp-method", "tools/call")).await,
        (400, header)
    );
    let call = standalone(1, "tools/call", json!({ "name": "greet" }));
    for change in [
        Box::new(without("mcp-name")) as Box<dyn FnOnce(&mut Request<Body>)>,
        Box::new(set("mcp-name", "grüße")),
        Box::new(set("mcp-name", "other")),
    ] {
        let mut request = post(&call);
        change(&mut request);
        let (status, body) = send(&service(), request).await;
        assert_eq!(
            (status.as_u16(), &body["error"]["code"]),
            (400, &json!(header))
        );
        assert_eq!(body["id"], 1);
    }
    let mut request = post(&call);
    set("mcp-name", "=?base64?Z3JlZXQ=?=")(&mut request);
    assert_eq!(send(&service(), request).await.0, 200);
}

#[tokio::test]
async fn what_a_request_must_say_about_itself_is_asked_for() {
    for (missing, status, code) in [
        ("io.modelcontextprotocol/protocolVersion", 400, -32602),
        ("io.modelcontextprotocol/clientCapabilities", 400, -32602),
        ("io.modelcontextprotocol/clientInfo", 200, 0),
    ] {
        let mut message = list();
        let meta = message["params"]["_meta"].as_object_mut().unwrap();
        meta.remove(missing);
        let (got, body) = send(&service(), post(&message)).await;
        assert_eq!(got, status, "{body}");
        assert_eq!(body["error"]["code"].as_i64().unwrap_or(0), code);
    }
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(
        send(&service(), post(&bare)).await.1["error"]["code"],
        -32602
    );
    for unknown in ["2099-01-01", "1.0"] {
        let mut message = list();
        message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(unknown);
        let mut request = post(&message);
        set("mcp-protocol-version", unknown)(&mut request);
        let (status, body) = send(&service(), request).await;
        assert_eq!(status, 400);
        assert_eq!(body["error"]["code"], -32022);
        assert_eq!(body["error"]["data"]["requested"], unknown);
    }
}

#[tokio::test]
async fn unknown_methods_are_404_and_malformed_parameters_are_not() {
    for (method, status, code) in [
        ("tasks/list", 404, -32601),
        ("tasks/result", 404, -32601),
        ("made/up", 404, -32601),
        ("ping", 404, -32601),
        ("initialize", 404, -32601),
        ("logging/setLevel", 404, -32601),
        ("resources/subscribe", 404, -32601),
        ("resources/unsubscribe", 404, -32601),
        ("tools/call", 200, -32602),
    ] {
        let request = post(&standalone(1, method, json!({ "name": 7, "uri": "x:" })));
        let (got, body) = send(&service(), request).await;
        assert_eq!(got, status, "{method}: {body}");
        assert_eq!(body["error"]["code"], code, "{method}: {body}");
    }
}

#[tokio::test]
async fn what_is_not_a_request_gets_its_own_answer() {
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" });
    let (status, body) = send(&service(), post(&notification)).await;
    assert_eq!((status.as_u16(), body), (202, json!("")));
    // HTTP has to answer something: an error without an id.
    let malformed = json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": [] });
    let (status, body) = send(&service(), post(&malformed)).await;
    assert_eq!(
        (status.as_u16(), &body["error"]["code"]),
        (400, &json!(-32602))
    );
    assert_eq!(body["id"], Value::Null);
    let garbage = |request: &mut Request<Body>| *request.body_mut() = Body::from("{");
    assert_eq!(refused(garbage).await, (400, -32700));
    let batch = |request: &mut Request<Body>| *request.body_mut() = Body::from("[]");
    assert_eq!(refused(batch).await, (400, -32600));
    let response = json!({ "jsonrpc": "2.0", "id": 1, "result": {} }).to_string();
    let response = |request: &mut Request<Body>| *request.body_mut() = Body::from(response);
    assert_eq!(refused(response).await, (400, -32600));
}

#[tokio::test]
async fn an_older_session_works_as_it_did() {
    let service = service();
    let response = service
        .clone()
        .call(session_post(&initialize(1)))
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    let session = response.headers()["mcp-session-id"].clone();
    let in_session = |mut request: Request<Body>| {
        request
            .headers_mut()
            .insert("mcp-session-id", session.clone());
        set("mcp-protocol-version", "2025-11-25")(&mut request);
        request
    };
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(
        send(&service, in_session(session_post(&initialized)))
            .await
            .0,
        202
    );
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "greet" } });
    let (status, body) = send(&service, in_session(session_post(&call))).await;
    assert_eq!(status, 200);
    assert!(
        body.as_str().unwrap().contains(r#""text":"hello""#),
        "{body}"
    );
    // A request that names 2026-07-28 stands alone, session or not.
    let mut alone = post(&list());
    alone
        .headers_mut()
        .insert("mcp-session-id", session.clone());
    assert_eq!(send(&service, alone).await.0, 200);
    let delete = Request::delete("/mcp")
        .header("host", "localhost")
        .body(Body::empty());
    let (status, _) = send(&service, in_session(delete.unwrap())).await;
    assert_eq!(status, 204);
}

#[tokio::test]
async fn a_lost_stream_goes_on_after_the_last_event_that_came() {
    let service = service();
    let opened = service.clone().call(session_post(&initialize(1))).await;
    let session = opened.unwrap().headers()["mcp-session-id"].clone();
    let in_session = |mut request: Request<Body>| {
        request
            .headers_mut()
            .insert("mcp-session-id", session.clone());
        set("mcp-protocol-version", "2025-11-25")(&mut request);
        request
    };
    let take_up = |last: &str| {
        let request = Request::get("/mcp")
            .header("host", "localhost")
            .header("accept", "text/event-stream")
            .header("last-event-id", last)
            .body(Body::empty());
        let mut service = service.clone();
        let called = service.call(in_session(request.unwrap()));
        async { called.await.unwrap().into_body() }
    };
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    send(&service, in_session(session_post(&initialized))).await;
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "ask" } });
    let called = service
        .clone()
        .call(in_session(session_post(&call)))
        .await
        .unwrap();
    let mut lost = called.into_body();
    let first = event(&mut lost).await;
    let question = event(&mut lost).await;
    assert!(question.contains("elicitation/create"), "{question}");
    drop(lost);

    let mut stream = take_up(id(&first)).await;
    assert_eq!(event(&mut stream).await, question, "it was missed");
    drop(stream);
    let mut stream = take_up(id(&question)).await;
    let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": { "action": "decline" } });
    send(&service, in_session(session_post(&answer))).await;
    let reply = event(&mut stream).await;
    assert!(
        reply.contains("Decline") && reply.contains(r#""id":2"#),
        "{reply}"
    );
}

/// The next event of a stream.
async fn event(stream: &mut Body) -> String {
    let frame = stream.frame().await.expect("it goes on").unwrap();
    String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
}

/// The id of an event.
fn id(event: &str) -> &str {
    let mut lines = event.lines();
    let id = lines.find_map(|line| line.strip_prefix("id: "));
    id.expect("it has an id")
}

#[tokio::test]
async fn the_service_mounts_in_an_application() {
    let application: axum::Router = axum::Router::new()
        .route_service("/mcp", service())
        .nest_service("/nested/mcp", service());
    for path in ["/mcp", "/nested/mcp"] {
        let mut request = post(&list());
        *request.uri_mut() = path.parse().unwrap();
        let response = application.clone().call(request).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
    }
}
