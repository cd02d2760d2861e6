//! Requests over HTTP/1.1.

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::time::timeout;

use crate::{Gone, Listening, PATIENCE, Reply};

/// A pool of connections to one server.
#[derive(Clone)]
pub(crate) struct HttpWire {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
}

impl HttpWire {
    pub(crate) fn new(url: String) -> Self {
        Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            url,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Sends a request whose body is `message`, with the headers that a
    /// well-behaved client of 2026-07-28 sends with it.
    pub(crate) fn compose(&self, message: &Value, token: Option<&str>) -> http::Request<String> {
        let method = message["method"].as_str().unwrap_or_default();
        let params = &message["params"];
        let version = params["_meta"]["io.modelcontextprotocol/protocolVersion"]
            .as_str()
            .unwrap_or("2026-07-28");
        let mut request = http::Request::post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", version)
            .header("mcp-method", method);
        let name = params["taskId"].as_str().or(params["name"].as_str());
        if let Some(name) = name.filter(|_| method != "tasks/list" && method != "tasks/result") {
            request = request.header("mcp-name", name);
        }
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        request
            .body(message.to_string())
            .expect("headers are plain text")
    }

    pub(crate) async fn send(
        &self,
        request: http::Request<impl Into<Bytes>>,
    ) -> Result<Reply, Gone> {
        let (parts, text) = self.exchange(request).await?;
        let text = if is_stream(&parts) {
            last_event(&text)
        } else {
            text
        };
        Ok(Reply::new(Some(parts.status.as_u16()), text))
    }

    /// Sends a request and gives its response as it is.
    pub(crate) async fn exchange(
        &self,
        request: http::Request<impl Into<Bytes>>,
    ) -> Result<(http::response::Parts, String), Gone> {
        let request = request.map(|body| Full::new(body.into()));
        let answered = async {
            let response = self.client.request(request).await;
            let (parts, body) = response.map_err(|error| Gone::new(&error))?.into_parts();
            let body = body.collect().await.map_err(|error| Gone::new(&error))?;
            Ok((parts, body.to_bytes()))
        };
        let answered = timeout(PATIENCE, answered).await;
        let (parts, body) = answered.expect("no reply in time")?;
        let text = String::from_utf8(body.to_vec()).expect("the reply is not UTF-8");
        Ok((parts, text))
    }
}

impl HttpWire {
    /// Sends a request whose response goes on.
    pub(crate) async fn listen(&self, id: u64, request: http::Request<String>) -> Listening {
        let request = request.map(|body| Full::new(body.into()));
        let response = timeout(PATIENCE, self.client.request(request)).await;
        let response = response.expect("no reply in time").expect("no response");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Listening::over_http(id, response.into_body())
    }
}

/// Whether a response is a stream of events.
pub(crate) fn is_stream(response: &http::response::Parts) -> bool {
    let kind = response.headers.get("content-type");
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// The messages on a stream of events.
pub(crate) fn events(stream: &str) -> impl Iterator<Item = &str> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data:"));
    data.map(str::trim).filter(|data| !data.is_empty())
}

/// The reply on a stream of events: it comes after all notifications.
fn last_event(stream: &str) -> String {
    events(stream).last().unwrap_or_default().to_owned()
}
