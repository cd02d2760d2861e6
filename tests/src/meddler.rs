//! A proxy between a client and a server, which sees every request and meddles
//! with some: loses replies, refuses, answers in the server's place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::{Router, routing::any};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

const LARGEST: usize = 1024 * 1024;

/// What is done to one request.
#[derive(Clone, Debug)]
pub enum Trick {
    /// It reaches the server; its reply does not reach the client.
    LoseReply,
    /// It does not reach the server: the HTTP status 429 with `Retry-After`.
    Busy {
        /// In seconds.
        retry_after: u64,
    },
    /// It does not reach the server: this is the result.
    Answer(Value),
    /// It does not reach the server: this is the JSON-RPC error.
    Refuse(Value),
    /// The server's result with these members in place of its own.
    Amend(Value),
}

/// A request that went through.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When it came.
    pub at: Instant,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub message: Value,
}

impl Seen {
    /// Its method.
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }
}

/// A proxy in front of one server.
#[derive(Clone)]
pub struct Meddler {
    shared: Arc<Shared>,
    url: String,
}

struct Shared {
    client: Client<HttpConnector, Full<Bytes>>,
    upstream: Mutex<String>,
    target: Mutex<String>,
    tricks: Mutex<Vec<(String, VecDeque<Trick>)>>,
    always: Mutex<Vec<(String, Trick)>>,
    seen: Mutex<Vec<Seen>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Meddler {
    /// Starts a proxy in front of the server at this URL.
    pub async fn before(url: &str) -> Self {
        let shared = Arc::new(Shared {
            client: Client::builder(TokioExecutor::new()).build_http(),
            upstream: Mutex::new(url.to_owned()),
            target: Mutex::default(),
            tricks: Mutex::default(),
            always: Mutex::default(),
            seen: Mutex::default(),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let router = Router::new()
            .route("/mcp", any(meddle))
            .route("/moved", any(lead_on))
            .with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            shared,
            url: format!("http://{address}/mcp"),
        }
    }

    /// Where the client finds it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A URL of the proxy's that sends the client to this one.
    pub fn moved(&self, target: &str) -> String {
        target.clone_into(&mut locked(&self.shared.target));
        self.url.replace("/mcp", "/moved")
    }

    /// Goes on with another server, as one that was started again.
    pub fn goes_on_with(&self, url: &str) {
        url.clone_into(&mut locked(&self.shared.upstream));
    }

    /// Does this to the next request of this method that nothing is planned for.
    pub fn plan(&self, method: &str, trick: Trick) {
        let mut tricks = locked(&self.shared.tricks);
        if let Some((_, planned)) = tricks.iter_mut().find(|(of, _)| of == method) {
            planned.push_back(trick);
        } else {
            tricks.push((method.to_owned(), VecDeque::from([trick])));
        }
    }

    /// Does this to each request of this method.
    pub fn always(&self, method: &str, trick: Trick) {
        locked(&self.shared.always).push((method.to_owned(), trick));
    }

    /// The requests of this method that came so far.
    pub fn seen(&self, method: &str) -> Vec<Seen> {
        let seen = locked(&self.shared.seen);
        let of_method = seen.iter().filter(|seen| seen.method() == method);
        of_method.cloned().collect()
    }
}

impl Shared {
    fn trick(&self, method: &str) -> Option<Trick> {
        let mut tricks = locked(&self.tricks);
        let planned = tricks.iter_mut().find(|(of, _)| of == method);
        planned
            .and_then(|(_, planned)| planned.pop_front())
            .or_else(|| {
                let always = locked(&self.always);
                let found = always.iter().find(|(of, _)| of == method);
                found.map(|(_, trick)| trick.clone())
            })
    }

    async fn forward(&self, parts: http::request::Parts, body: Bytes) -> Response {
        let upstream = locked(&self.upstream).clone();
        let mut request = http::Request::builder().method(parts.method).uri(upstream);
        for (name, value) in &parts.headers {
            if *name != header::HOST && *name != header::CONTENT_LENGTH {
                request = request.header(name, value);
            }
        }
        let request = request.body(Full::new(body)).expect("it was a request");
        match self.client.request(request).await {
            Ok(response) => response.map(Body::new).into_response(),
            Err(_) => StatusCode::BAD_GATEWAY.into_response(),
        }
    }
}

async fn lead_on(State(shared): State<Arc<Shared>>) -> Redirect {
    Redirect::temporary(&locked(&shared.target))
}

async fn meddle(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, LARGEST).await.expect("requests are small");
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let id = message["id"].clone();
    let seen = Seen {
        at: Instant::now(),
        headers: parts.headers.clone(),
        message,
    };
    let trick = shared.trick(seen.method());
    locked(&shared.seen).push(seen);
    let reply = |member: &str, value: Value| {
        let mut reply = json!({ "jsonrpc": "2.0", "id": id });
        reply[member] = value;
        (
            [(header::CONTENT_TYPE, "application/json")],
            reply.to_string(),
        )
            .into_response()
    };
    match trick {
        None => shared.forward(parts, body).await,
        Some(Trick::LoseReply) => {
            shared.forward(parts, body).await;
            // Ends the connection in the middle of the response.
            let broken = Body::new(Broken);
            ([(header::CONTENT_TYPE, "application/json")], broken).into_response()
        }
        Some(Trick::Busy { retry_after }) => (
            StatusCode::TOO_MANY_REQUESTS,
            [(header::RETRY_AFTER, retry_after.to_string())],
        )
            .into_response(),
        Some(Trick::Answer(result)) => reply("result", result),
        Some(Trick::Refuse(error)) => reply("error", error),
        Some(Trick::Amend(members)) => {
            let response = shared.forward(parts, body).await;
            let text = to_bytes(response.into_body(), LARGEST).await;
            let text = text.expect("replies are small");
            let mut reply: Value = serde_json::from_slice(&text).expect("the reply is JSON");
            for (name, value) in members.as_object().expect("members") {
                reply["result"][name] = value.clone();
            }
            (
                [(header::CONTENT_TYPE, "application/json")],
                reply.to_string(),
            )
                .into_response()
        }
    }
}

/// A body that breaks off.
struct Broken;

impl http_body::Body for Broken {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, std::io::Error>>> {
        std::task::Poll::Ready(Some(Err(std::io::Error::other("lost"))))
    }
}
