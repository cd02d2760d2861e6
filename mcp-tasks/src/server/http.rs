//! The HTTP layer in front of rmcp's service.
//!
//! What must hold for every message (host, origin, media types, size, headers,
//! version) is decided here, once, before anything is routed. Then the router
//! is asked; what it does not know goes on to rmcp.
//!
//! A request is answered on the connection's own future: when the client goes
//! away, that future is dropped, and an inline call with it (P52).

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::{Buf, Bytes};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use rmcp::ServerHandler;
use rmcp::model::Extensions;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use super::access::Access;
use super::callers::{Callers, SessionIds, Unauthenticated};
use super::engine::Engine;
use super::era::{Era, INITIALIZE, Versions, opens_sessions, refuse_gone};
use super::headers::{self, NamePolicy, PROTOCOL_VERSION_HEADER, SESSION_HEADER};
use super::mirrored::MirroredArguments;
use super::resumed;
use super::subscription::Stream;
use super::told;
use crate::observe::story;
use crate::protocol::{Malformed, Message, MessageKind, ProtocolError, Reply};
use crate::router::{LISTEN, Router};
use crate::runtime::limit_reached;
use crate::task::Caller;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Rmcp = Box<dyn Fn(Request<Full<Bytes>>) -> BoxFuture<Response<Body>> + Send + Sync>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How much of a body that is too large is read after all, and how long, so
/// that its sender gets to see why it is refused.
const DISCARDED_BYTES: usize = 16 << 20;
const DISCARDING: Duration = Duration::from_secs(5);

/// What the layer is told by the builder.
pub(super) struct HttpConfig {
    pub(super) access: Access,
    pub(super) callers: Callers,
    pub(super) session_ids: SessionIds,
    pub(super) names: NamePolicy,
    pub(super) mirrored: MirroredArguments,
    pub(super) message_limit: usize,
    pub(super) versions: Arc<Versions>,
}

/// An MCP server as a [`tower_service::Service`].
///
/// It mounts in an axum application with `route_service("/mcp", service)` or
/// `nest_service("/mcp", service)`, behind whatever layers the application has.
/// A layer that authenticates says who calls by putting a [`Caller`] into the
/// request's extensions; without one every caller is
/// [`Caller::anonymous`]. [`bearer_tokens`](super::TaskServer::bearer_tokens) and
/// [`caller`](super::TaskServer::caller) do without such a layer.
///
/// # Cancellation
///
/// Dropping the future of a request (which is what a client's disconnect does)
/// drops a call that runs inline. A task that the call has made lives on.
/// Dropping the body of a subscription ends that subscription, and no task.
#[derive(Clone)]
pub struct TaskService {
    layer: Arc<Layer>,
}

struct Layer {
    config: HttpConfig,
    router: Router,
    rmcp: Rmcp,
    /// The older sessions.
    sessions: Arc<LocalSessionManager>,
    /// What a subscription has of rmcp.
    engine: Arc<Engine>,
    /// Once it fires, subscriptions end, and streams of rmcp.
    stop: CancellationToken,
}

impl TaskService {
    pub(super) fn new<H: ServerHandler>(
        config: HttpConfig,
        router: Router,
        factory: impl Fn() -> H + Send + Sync + 'static,
        engine: Arc<Engine>,
        stop: CancellationToken,
    ) -> Self {
        let rmcp_config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(config.access.rmcp_hosts())
            .with_max_request_body_bytes(config.message_limit)
            .with_json_response(true)
            .with_cancellation_token(stop.child_token());
        let sessions = Arc::new(LocalSessionManager::default());
        let service =
            StreamableHttpService::new(move || Ok(factory()), sessions.clone(), rmcp_config);
        let rmcp: Rmcp = Box::new(move |request| {
            let service = service.clone();
            Box::pin(async move { service.handle(request).await.map(Body::new) })
        });
        Self {
            layer: Arc::new(Layer {
                config,
                router,
                rmcp,
                sessions,
                engine,
                stop,
            }),
        }
    }
}

impl<B> Service<Request<B>> for TaskService
where
    B: http_body::Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let layer = Arc::clone(&self.layer);
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            Ok(layer.answer(parts, body).await.unwrap_or_else(reply))
        })
    }
}

impl Layer {
    async fn answer<B>(&self, mut parts: Parts, body: B) -> Result<Response<Body>, Reply>
    where
        B: http_body::Body<Error: Into<BoxError>>,
    {
        self.config
            .access
            .check(&parts)
            .map_err(|(status, words)| refuse(status, words))?;
        let caller = match self.config.callers.identify(&mut parts) {
            Ok(caller) => caller,
            Err(stranger) => {
                story::unauthenticated();
                return Ok(unauthorized(&stranger));
            }
        };
        self.config.session_ids.open(&mut parts.headers, &caller);
        match parts.method {
            Method::POST => {
                check_media_types(&parts.headers)?;
                let body = self.collect(body).await?;
                self.post(parts, body, &caller).await
            }
            Method::GET if is_session_stream(&parts.headers) => {
                let headers = parts.headers.clone();
                let stream = self.hand_on(parts, Bytes::new(), &caller).await;
                Ok(resumed::after_the_last(&headers, stream))
            }
            Method::DELETE if is_session_stream(&parts.headers) => {
                let mut response = self.hand_on(parts, Bytes::new(), &caller).await;
                // rmcp says "accepted" when it is done; clients take that for
                // a session that goes on.
                if response.status() == StatusCode::ACCEPTED {
                    response = empty(StatusCode::NO_CONTENT);
                }
                Ok(response)
            }
            _ => Ok(method_not_allowed()),
        }
    }

    async fn post(
        &self,
        parts: Parts,
        body: Bytes,
        caller: &Caller,
    ) -> Result<Response<Body>, Reply> {
        let message = Message::parse(&body).map_err(Malformed::into_response)?;
        let refuse = |error: &ProtocolError| Reply::error(message.id(), error);
        let version =
            headers::single(&parts.headers, PROTOCOL_VERSION_HEADER).map_err(|e| refuse(&e))?;
        // In a session the header repeats what `initialize` settled: rmcp checks that.
        let outside = version.filter(|_| !parts.headers.contains_key(SESSION_HEADER));
        if Versions::era(&message, outside) != Some(Era::Standalone) {
            if message.method() == INITIALIZE {
                let admitted = self.admit_session().await;
                admitted.map_err(|error| refuse(&error).with_status(503))?;
            }
            return Ok(self.hand_on(parts, body.clone(), caller).await);
        }
        match message.kind() {
            // None is defined for HTTP, where closing the stream cancels.
            MessageKind::Notification => return Ok(empty(StatusCode::ACCEPTED)),
            MessageKind::Response => {
                return Err(refuse(&ProtocolError::invalid_request(
                    "a client does not send responses under 2026-07-28; \
                     answers to questions travel in `inputResponses`",
                )));
            }
            MessageKind::Request => {}
        }
        headers::check_version(&parts.headers, &message).map_err(|e| refuse(&e))?;
        self.config.versions.admit(&message, outside)?;
        headers::check_method_and_name(&parts.headers, &message, self.config.names)
            .map_err(|e| refuse(&e))?;
        self.config
            .mirrored
            .check(&parts.headers, &message)
            .map_err(|e| refuse(&e))?;
        refuse_gone(&message).map_err(|e| refuse(&e))?;
        if message.method() == LISTEN {
            return self.listen(parts, &message, &body, caller).await;
        }
        if self.router.wants_telling(&message) {
            match told::route(self.router.clone(), body.clone(), caller.clone()).await {
                told::Answer::Reply(answer) => return Ok(reply(answer)),
                told::Answer::Stream(response) => return Ok(response),
                told::Answer::NotOurs => {}
            }
        } else if let Some(answer) = self.router.route(&message, caller).await {
            return Ok(reply(answer));
        }
        Ok(self.hand_on(parts, body.clone(), caller).await)
    }

    /// Lets a session begin, if there is room for one more. They end when their
    /// clients say so, or have not been heard of for some minutes.
    async fn admit_session(&self) -> Result<(), ProtocolError> {
        let limit = self.router.runtime().limits().sessions;
        if self.sessions.sessions.read().await.len() < limit {
            return Ok(());
        }
        let words = format!("the server already has {limit} sessions, its limit; try again later");
        Err(limit_reached("sessions", ProtocolError::internal(words)))
    }

    /// Begins a subscription, whose messages are the response's body.
    async fn listen(
        &self,
        parts: Parts,
        message: &Message<'_>,
        body: &[u8],
        caller: &Caller,
    ) -> Result<Response<Body>, Reply> {
        let handler = || self.engine.handler();
        let mut extensions = Extensions::new();
        extensions.insert(parts);
        let stop = self.stop.clone();
        let stream = Stream::open(
            &self.router,
            handler,
            message,
            body,
            extensions,
            caller,
            stop,
        );
        Ok(stream.await?.into_response())
    }

    async fn collect<B>(&self, body: B) -> Result<Bytes, Reply>
    where
        B: http_body::Body<Error: Into<BoxError>>,
    {
        let limit = self.config.message_limit;
        let refused = || {
            let words = format!("a message may have at most {limit} bytes");
            let error = limit_reached("message", ProtocolError::invalid_request(words));
            Reply::error(None, &error).with_status(413)
        };
        let mut body = pin!(body);
        if body.size_hint().lower() > limit as u64 {
            // It says so itself: nobody need wait for as much as is allowed.
            discard(body).await;
            return Err(refused());
        }
        match Limited::new(body.as_mut(), limit).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => {
                discard(body).await;
                Err(refused())
            }
            Err(error) => Err(refuse(400, format!("the body could not be read: {error}"))),
        }
    }

    /// Gives a request, as it came, to rmcp.
    async fn hand_on(&self, parts: Parts, body: Bytes, caller: &Caller) -> Response<Body> {
        let mut response = (self.rmcp)(Request::from_parts(parts, Full::new(body))).await;
        let headers = response.headers_mut();
        self.config.session_ids.sign(headers, caller);
        response
    }
}

/// Reads the rest of a body that is refused, within reason.
///
/// A client that is still sending when the connection closes would see that it
/// broke, and not why.
async fn discard<B: http_body::Body>(mut body: Pin<&mut B>) {
    let all = async {
        let mut seen = 0;
        while let Some(Ok(frame)) = body.frame().await {
            seen += frame.data_ref().map_or(0, Buf::remaining);
            if seen > DISCARDED_BYTES {
                break;
            }
        }
    };
    // Whoever is slower than this does not get to read the reply.
    tokio::time::timeout(DISCARDING, all).await.ok();
}

/// `GET` and `DELETE` exist for older sessions only.
fn is_session_stream(headers: &HeaderMap) -> bool {
    let version = headers.get(PROTOCOL_VERSION_HEADER);
    headers.contains_key(SESSION_HEADER)
        && version.is_none_or(|version| version.to_str().is_ok_and(opens_sessions))
}

fn check_media_types(headers: &HeaderMap) -> Result<(), Reply> {
    let is_json = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| essence(value).eq_ignore_ascii_case("application/json"));
    if !is_json {
        return Err(refuse(415, "`Content-Type` must be `application/json`"));
    }
    let accepts = |wanted: &str| {
        headers
            .get_all(header::ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|range| essence(range).eq_ignore_ascii_case(wanted))
    };
    if accepts("application/json") && accepts("text/event-stream") {
        return Ok(());
    }
    Err(refuse(
        406,
        "`Accept` must list both `application/json` and `text/event-stream`",
    ))
}

/// A media type without its parameters.
fn essence(value: &str) -> &str {
    value
        .split_once(';')
        .map_or(value, |(essence, _)| essence)
        .trim()
}

fn refuse(status: u16, words: impl Into<String>) -> Reply {
    Reply::error(None, &ProtocolError::invalid_request(words)).with_status(status)
}

fn reply(reply: Reply) -> Response<Body> {
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

fn unauthorized(stranger: &Unauthenticated) -> Response<Body> {
    let mut response = reply(refuse(401, stranger.words));
    if let Some(challenge) = stranger.challenge {
        let challenge = HeaderValue::from_static(challenge);
        let headers = response.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn method_not_allowed() -> Response<Body> {
    let mut response = reply(refuse(
        405,
        "messages are sent with POST; GET and DELETE are for sessions of older protocol versions",
    ));
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}
