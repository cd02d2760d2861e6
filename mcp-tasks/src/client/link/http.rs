//! Streamable HTTP: rmcp's transport over reqwest, with replies read as text on
//! their way.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use reqwest::{Client, Response, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::{Sse, SseStream};

use super::mirrors::Mirrors;
use super::tap::Tap;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";

/// A header that no request of an older session has.
const METHOD: HeaderName = HeaderName::from_static("mcp-method");

type Fault = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// What rmcp's transport sends with.
#[derive(Clone, Debug)]
pub(in crate::client) struct Http {
    client: Client,
    tap: Arc<Tap>,
    mirrors: Arc<Mirrors>,
}

impl Http {
    pub(in crate::client) fn new(client: Client, tap: Arc<Tap>, mirrors: Arc<Mirrors>) -> Self {
        Self {
            client,
            tap,
            mirrors,
        }
    }

    /// The same events, with each message seen by the tap.
    fn seen(&self, events: Events) -> Events {
        let tap = Arc::clone(&self.tap);
        let see = move |event: Result<Sse, SseError>| {
            let mut event = event?;
            if let Some(text) = event.data.take_if(|text| !text.trim().is_empty()) {
                // What is no message is left to rmcp, which passes it over.
                let seen = tap
                    .see(&text)
                    .and_then(|message| serde_json::to_string(&message));
                event.data = Some(seen.unwrap_or(text));
            }
            Ok(event)
        };
        events.map(see).boxed()
    }

    fn see(&self, body: &[u8]) -> Result<ServerJsonRpcMessage, Fault> {
        let text = String::from_utf8_lossy(body);
        self.tap.see(&text).map_err(|error| {
            unexpected(format!(
                "a reply that is no message ({error}): {}",
                shortened(&text)
            ))
        })
    }

    async fn reply(
        &self,
        message: &ClientJsonRpcMessage,
        in_session: bool,
        response: Response,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let status = response.status();
        let expects_reply = matches!(message, ClientJsonRpcMessage::Request(_));
        if status.is_success() && !expects_reply {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            // The reply would come here and nowhere else.
            return Err(unexpected(format!(
                "no reply, but the HTTP status {status}"
            )));
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let session = response.headers().get(SESSION);
        let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
        let media_type = media_type(response.headers());
        if status.is_success() && media_type == EVENTS {
            let events = bounded(response, limits.max_sse_event_size);
            return Ok(StreamableHttpPostResponse::Sse(self.seen(events), session));
        }
        let refused = refusal(status, response.headers());
        if status == StatusCode::TOO_MANY_REQUESTS {
            return Err(refused);
        }
        let body = body(response, limits.max_json_response_size).await?;
        if status.is_success() {
            if media_type != JSON {
                return Err(StreamableHttpError::UnexpectedContentType(Some(media_type)));
            }
            let reply = about(self.see(&body)?, message);
            if !answers(&reply, message) {
                let text = String::from_utf8_lossy(&body);
                let words = format!("a reply to something else: {}", shortened(&text));
                return Err(unexpected(words));
            }
            return Ok(StreamableHttpPostResponse::Json(reply, session));
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(refused);
        }
        match self.see(&body) {
            Ok(error @ ServerJsonRpcMessage::Error(_)) => {
                let error = about(error, message);
                Ok(StreamableHttpPostResponse::Json(error, session))
            }
            _ if status.is_client_error() && !in_session => {
                let Some(id) = discovery(message) else {
                    return Err(refused);
                };
                let words = format!("HTTP status {status}");
                let error = ErrorData::invalid_request(words, None);
                let error = ServerJsonRpcMessage::error(error, Some(id));
                Ok(StreamableHttpPostResponse::Json(error, session))
            }
            _ => Err(refused),
        }
    }
}

impl StreamableHttpClient for Http {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let text = self.tap.sending(&message)?;
        let is_modern = headers.contains_key(&METHOD);
        let mut request = self
            .client
            .post(&*uri)
            .header(ACCEPT, format!("{JSON}, {EVENTS}"))
            .header(CONTENT_TYPE, JSON)
            .headers(headers.into_iter().collect())
            .body(text);
        if is_modern && let ClientJsonRpcMessage::Request(message) = &message {
            let mirrored = self.mirrors.headers(&message.request);
            request = request.headers(mirrored.into_iter().collect());
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = &session {
            request = request.header(SESSION, &**session);
        }
        let response = request.send().await.map_err(fault)?;
        self.reply(&message, session.is_some(), response, limits)
            .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Fault> {
        self.client
            .delete_session(uri, session, token, headers)
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Fault> {
        let events = self
            .client
            .get_stream(uri, session, last_event, token, headers)
            .await?;
        Ok(self.seen(events))
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<Events, Fault> {
        let events = self
            .client
            .get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, limit)
            .await?;
        Ok(self.seen(events))
    }
}

/// The id of the request that asks what a server is, if it is that one.
fn discovery(message: &ClientJsonRpcMessage) -> Option<rmcp::model::RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::DiscoverRequest(_)) =>
        {
            Some(request.id.clone())
        }
        _ => None,
    }
}

/// An error that comes as the reply to a request is about that request, whatever id
/// it bears: there are servers that refuse before they have read it, and whoever waits
/// goes by the id.
fn about(reply: ServerJsonRpcMessage, message: &ClientJsonRpcMessage) -> ServerJsonRpcMessage {
    match (reply, message) {
        (JsonRpcMessage::Error(mut error), ClientJsonRpcMessage::Request(request)) => {
            error.id = Some(request.id.clone());
            JsonRpcMessage::Error(error)
        }
        (reply, _) => reply,
    }
}

/// Whether a message is the reply to another.
fn answers(reply: &ServerJsonRpcMessage, message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else {
        return true;
    };
    match reply {
        ServerJsonRpcMessage::Response(response) => response.id == request.id,
        ServerJsonRpcMessage::Error(error) => error.id.as_ref() == Some(&request.id),
        _ => false,
    }
}

/// What a status says that no message comes with.
fn refusal(status: StatusCode, headers: &HeaderMap) -> Fault {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let challenge = header(WWW_AUTHENTICATE).map(str::to_owned);
    match (status, challenge) {
        (StatusCode::UNAUTHORIZED, Some(challenge)) => {
            StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge))
        }
        (StatusCode::FORBIDDEN, Some(challenge)) => {
            StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, None))
        }
        _ if status.is_redirection() => {
            let elsewhere = header(LOCATION).unwrap_or("nowhere");
            let end = elsewhere.find(['?', '#']).unwrap_or(elsewhere.len());
            unexpected(format!(
                "the server sends requests on to `{}` (HTTP status {}), where they are not sent \
                 by themselves; give that URL if it is right",
                &elsewhere[..end],
                status.as_u16()
            ))
        }
        _ => {
            let wait = header(RETRY_AFTER).map(str::to_owned);
            HttpStatusError::new(status.as_u16(), wait).into()
        }
    }
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.unwrap_or_default().trim().to_ascii_lowercase()
}

async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(StreamableHttpError::Client)?
    {
        if body.len() + chunk.len() > limit {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Events of at most so many bytes.
fn bounded(response: Response, limit: usize) -> Events {
    let read = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&read);
    let bytes = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(std::io::Error::other)?;
        if count.fetch_add(chunk.len(), Ordering::Relaxed) > limit {
            return Err(std::io::Error::other(format!(
                "an event of over {limit} bytes"
            )));
        }
        Ok(chunk)
    });
    SseStream::from_bytes_stream(bytes)
        .inspect(move |_| read.store(0, Ordering::Relaxed))
        .boxed()
}

/// A URL may have a secret in it.
fn fault(error: reqwest::Error) -> Fault {
    StreamableHttpError::Client(error.without_url())
}

fn unexpected(words: impl Display) -> Fault {
    StreamableHttpError::UnexpectedServerResponse(words.to_string().into())
}

fn shortened(text: &str) -> &str {
    match text.char_indices().nth(200) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
