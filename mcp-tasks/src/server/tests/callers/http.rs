//! The callers of HTTP requests.

use axum::body::Body;
use http::{HeaderValue, Request, StatusCode};
use serde_json::{Value, json};
use tower_service::Service as _;

use super::super::super::TaskService;
use super::super::http::{post, send, session_post};
use super::{call, call_in_session, initialize, server, text};
use crate::Caller;

/// A request as a layer in front would hand it on.
fn from(caller: &str, mut request: Request<Body>) -> Request<Body> {
    request.extensions_mut().insert(Caller::new(caller));
    request
}

fn with_header(
    name: &'static str,
    value: &'static str,
    mut request: Request<Body>,
) -> Request<Body> {
    let value = HeaderValue::from_static(value);
    request.headers_mut().insert(name, value);
    request
}

async fn who(service: &TaskService, request: Request<Body>) -> String {
    let (status, body) = send(service, request).await;
    assert_eq!(status, 200, "{body}");
    text(&body).to_owned()
}

#[tokio::test]
async fn a_layer_in_front_says_who_calls() {
    let service = server().into_service().unwrap();
    let request = || post(&call(1, false));
    assert_eq!(who(&service, request()).await, "anonymous,anonymous");
    let hers = from("alice", request());
    assert_eq!(who(&service, hers).await, "alice,alice");
}

#[tokio::test]
async fn a_function_of_the_request_says_who_calls_and_who_may_not() {
    let server = server().caller(|request| {
        let name = request.headers.get("x-user")?.to_str().ok()?;
        Some(Caller::new(name))
    });
    let service = server.into_service().unwrap();
    let request = || post(&call(1, false));
    let named = with_header("x-user", "alice", request());
    assert_eq!(who(&service, named).await, "alice,alice");
    // It has the last word.
    let named = with_header("x-user", "alice", from("bob", request()));
    assert_eq!(who(&service, named).await, "alice,alice");
    for stranger in [request(), from("bob", request())] {
        let (status, body) = send(&service, stranger).await;
        assert_eq!(status, 401);
        assert_eq!(body["error"]["code"], -32600, "{body}");
    }
}

#[tokio::test]
async fn a_stranger_is_told_how_to_become_known_whatever_it_asks_for() {
    let server = server().bearer_tokens([("alice", "a-secret")]);
    let service = server.into_service().unwrap();
    let challenge = async |request: Request<Body>| {
        let response = service.clone().call(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        let challenge = response.headers()["www-authenticate"].to_str().unwrap();
        challenge.to_owned()
    };
    let get = Request::get("/mcp").header("host", "localhost");
    for request in [
        post(&call(1, false)),
        session_post(&initialize(1)),
        session_post(&json!("garbage")),
        get.body(Body::empty()).unwrap(),
        // Somebody else's word does not count.
        from("alice", post(&call(1, false))),
    ] {
        assert_eq!(challenge(request).await, "Bearer");
    }
    let wrong = with_header("authorization", "Bearer wrong", post(&call(1, false)));
    assert_eq!(challenge(wrong).await, r#"Bearer error="invalid_token""#);
    let hers = with_header("authorization", "bearer a-secret", post(&call(1, false)));
    assert_eq!(who(&service, hers).await, "alice,alice");
    // A foreign page learns nothing of tokens.
    let page = with_header("origin", "https://evil.example", post(&call(1, false)));
    assert_eq!(send(&service, page).await.0, StatusCode::FORBIDDEN);
}

/// A session, and what its requests carry.
struct Session<'a> {
    service: &'a TaskService,
    id: HeaderValue,
}

impl<'a> Session<'a> {
    async fn open(service: &'a TaskService, caller: &str) -> Self {
        let request = from(caller, session_post(&initialize(1)));
        let response = service.clone().call(request).await.unwrap();
        assert_eq!(response.status(), 200);
        let id = response.headers()["mcp-session-id"].clone();
        let session = Self { service, id };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.send(caller, &initialized).await.0, 202);
        session
    }

    fn request(&self, caller: &str, mut request: Request<Body>) -> Request<Body> {
        let headers = request.headers_mut();
        headers.insert("mcp-session-id", self.id.clone());
        headers.insert(
            "mcp-protocol-version",
            HeaderValue::from_static("2025-11-25"),
        );
        from(caller, request)
    }

    async fn send(&self, caller: &str, message: &Value) -> (StatusCode, Value) {
        let request = self.request(caller, session_post(message));
        send(self.service, request).await
    }
}

#[tokio::test]
async fn in_a_session_calls_are_made_by_whoever_opened_it() {
    let service = server().into_service().unwrap();
    let session = Session::open(&service, "alice").await;
    let (status, body) = session.send("alice", &call_in_session(2, false)).await;
    assert_eq!(status, 200);
    assert!(body.to_string().contains("alice,alice"), "{body}");
}

#[tokio::test]
async fn a_session_does_not_exist_for_anybody_else() {
    let service = server().into_service().unwrap();
    let session = Session::open(&service, "alice").await;
    let message = call_in_session(2, false);
    let unknown = Session {
        service: &service,
        id: HeaderValue::from_static("7f9c1c2e-0000-4000-8000-000000000000"),
    };
    let never = unknown.send("bob", &message).await;
    assert_eq!(never.0, StatusCode::NOT_FOUND, "{}", never.1);
    assert_eq!(session.send("bob", &message).await, never);
    // Nor can it be listened to, or ended.
    for method in ["GET", "DELETE"] {
        let request = |session: &Session<'_>| {
            let request = Request::builder().method(method).uri("/mcp");
            let request = request
                .header("host", "localhost")
                .header("accept", "text/event-stream");
            session.request("bob", request.body(Body::empty()).unwrap())
        };
        let never = send(&service, request(&unknown)).await;
        assert_eq!(send(&service, request(&session)).await, never, "{method}");
    }
    assert_eq!(session.send("alice", &message).await.0, 200);
}
