//! A server over HTTP that says what a test has written, byte for byte: what no
//! well-kept server would say.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

const LARGEST: usize = 1024 * 1024;

/// A request, as the script is shown it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// When it came.
    pub at: Instant,
    /// POST, or GET for a stream.
    pub http: Method,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub message: Value,
    /// How many of the same method came before.
    pub before: usize,
}

impl Asked {
    /// Its method; `GET` for a stream.
    pub fn method(&self) -> &str {
        self.message["method"]
            .as_str()
            .unwrap_or(self.http.as_str())
    }

    /// The reply with this result.
    pub fn result(&self, result: &Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.message["id"], "result": result })
    }

    /// The reply with this error.
    pub fn error(&self, code: i64, message: &str) -> Value {
        let error = json!({ "code": code, "message": message });
        json!({ "jsonrpc": "2.0", "id": self.message["id"], "error": error })
    }

    /// A notification on the stream of this request, which subscribes.
    pub fn told(&self, method: &str, mut params: Value) -> Value {
        params["_meta"]["io.modelcontextprotocol/subscriptionId"] = self.message["id"].clone();
        json!({ "jsonrpc": "2.0", "method": method, "params": params })
    }
}

type Script = dyn Fn(&Asked) -> Option<Response> + Send + Sync;

/// A running server.
pub struct Scripted {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    script: Box<Script>,
    seen: Mutex<Vec<Asked>>,
}

impl Scripted {
    /// Starts a server of 2026-07-28 with tasks, which says what the script says.
    /// What that leaves it refuses, but the question what it is.
    pub async fn new(script: impl Fn(&Asked) -> Option<Response> + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared {
            script: Box::new(script),
            seen: Mutex::default(),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let router = Router::new().fallback(say).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            url: format!("http://{address}/mcp"),
            shared,
        }
    }

    /// Where it is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The requests of this method that came so far.
    pub fn seen(&self, method: &str) -> Vec<Asked> {
        let seen = self
            .shared
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let of_method = seen.iter().filter(|asked| asked.method() == method);
        of_method.cloned().collect()
    }
}

async fn say(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, LARGEST).await.expect("requests are small");
    let mut asked = Asked {
        at: Instant::now(),
        http: parts.method,
        headers: parts.headers,
        message: serde_json::from_slice(&body).unwrap_or_default(),
        before: 0,
    };
    {
        let mut seen = shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = seen.iter().filter(|other| other.method() == asked.method());
        asked.before = alike.count();
        seen.push(asked.clone());
    }
    (shared.script)(&asked).unwrap_or_else(|| match asked.method() {
        "server/discover" => reply(&asked.result(&json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {
                "tools": {},
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
            "ttlMs": 0,
            "cacheScope": "private",
        }))),
        _ if asked.message["id"].is_null() => StatusCode::ACCEPTED.into_response(),
        _ => reply(&asked.error(-32601, "method not found")),
    })
}

/// A JSON message as a response.
pub fn reply(message: &Value) -> Response {
    text("application/json", message.to_string())
}

/// Anything as a response.
pub fn text(media_type: &'static str, body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, media_type)], body.into()).into_response()
}

/// Messages as events, after which the stream ends.
pub fn events(messages: &[Value]) -> Response {
    text("text/event-stream", lines(messages))
}

/// Messages as events, after which nothing more comes.
pub fn silence_after(messages: &[Value]) -> Response {
    let (mut sender, body) = tokio::io::duplex(LARGEST);
    let said = lines(messages);
    tokio::spawn(async move {
        // The client may have gone.
        let _ = tokio::io::AsyncWriteExt::write_all(&mut sender, said.as_bytes()).await;
        // Holds the stream open for longer than any test.
        tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    });
    text("text/event-stream", Body::new(Pipe(body)))
}

fn lines(messages: &[Value]) -> String {
    let events = messages
        .iter()
        .map(|message| format!("data: {message}\n\n"));
    events.collect()
}

/// What is written at the other end.
struct Pipe(tokio::io::DuplexStream);

impl http_body::Body for Pipe {
    type Data = hyper::body::Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
        let mut space = [0; 4096];
        let mut buffer = tokio::io::ReadBuf::new(&mut space);
        let read = std::pin::Pin::new(&mut self.0);
        let ready = tokio::io::AsyncRead::poll_read(read, context, &mut buffer);
        ready.map(|read| match read {
            Ok(()) if buffer.filled().is_empty() => None,
            Ok(()) => {
                let data = hyper::body::Bytes::copy_from_slice(buffer.filled());
                Some(Ok(http_body::Frame::data(data)))
            }
            Err(error) => Some(Err(error)),
        })
    }
}
