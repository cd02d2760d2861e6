//! The inbox: a web page where people find and answer the questions of their
//! tasks, whatever their MCP client can show.
//!
//! Everything is written on the server and works without JavaScript; the script
//! only spares reloading. All of it is at one path, told apart by the query, so
//! that it works wherever it is mounted. An answer goes the way of
//! `tasks/update`: it is judged, the first one counts, and a task of somebody
//! else does not exist.

mod card;
mod fields;
mod filled;
mod hints;
mod live;
mod offer;
mod page;
mod questions;
mod token;
mod typed;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use serde_json::value::to_raw_value;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use self::card::Draft;
use self::page::{Note, Page};
use self::questions::{Asks, Question, Questions};
use self::typed::{Typed, Unreadable};
use super::access::Access;
use super::callers::{Callers, Unauthenticated};
use crate::observe::story;
use crate::protocol::{ErrorCode, FieldError, ProtocolError};
use crate::runtime::{Heard, Inbox as Reach, Runtime, Seats};
use crate::task::Caller;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What the page may do, and where to: nothing comes from elsewhere, nothing is
/// in line, nobody puts it into a frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// What the inbox is told by the builder.
pub(super) struct InboxConfig {
    pub(super) visitors: Reach,
    pub(super) access: Access,
    pub(super) callers: Callers,
    pub(super) stop: CancellationToken,
}

/// The inbox as a [`tower_service::Service`], from
/// [`BuiltServer::inbox_service`](super::BuiltServer::inbox_service).
///
/// It mounts in an axum application with `route_service("/inbox", service)`, at
/// whatever path, behind the layer that says who calls.
#[derive(Clone)]
pub struct InboxService {
    inbox: Arc<Inbox>,
}

struct Inbox {
    config: InboxConfig,
    runtime: Runtime,
    /// Pages that hear of changes.
    seats: Arc<Seats>,
}

/// A request that gets no page of questions.
enum Refused {
    Stranger(Unauthenticated),
    /// In words for whoever may not see anything here.
    KeptOut(String),
    /// In words for whoever sent it.
    Because(StatusCode, String),
    /// A question that was answered before, or is asked no more.
    TooLate,
}

impl InboxService {
    pub(super) fn new(config: InboxConfig, runtime: Runtime) -> Self {
        let seats = Arc::default();
        Self {
            inbox: Arc::new(Inbox {
                config,
                runtime,
                seats,
            }),
        }
    }

    /// Whether everybody who can come to it without a layer in front is a
    /// stranger to it, so that nobody would see anything.
    pub(super) fn needs_a_layer(&self) -> bool {
        let config = &self.inbox.config;
        config.visitors == Reach::Authenticated && config.callers.are_said_by_a_layer()
    }
}

impl std::fmt::Debug for InboxService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InboxService").finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for InboxService
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
        let inbox = Arc::clone(&self.inbox);
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let answered = inbox.answer(parts, body).await;
            let mut response = answered.unwrap_or_else(Refused::into_response);
            harden(response.headers_mut());
            Ok(response)
        })
    }
}

impl Inbox {
    async fn answer<B>(&self, mut parts: Parts, body: B) -> Result<Response<Body>, Refused>
    where
        B: http_body::Body<Error: Into<BoxError>>,
    {
        let checked = self.config.access.check(&parts);
        checked.map_err(|(status, words)| match status {
            403 => Refused::KeptOut(words),
            _ => refuse(status, words),
        })?;
        let caller = self.config.callers.identify_visitor(&mut parts);
        let caller = caller.map_err(|stranger| {
            story::unauthenticated();
            Refused::Stranger(stranger)
        })?;
        if !self.config.visitors.is_for(&caller) {
            story::unauthenticated();
            return Err(Refused::KeptOut(
                "This inbox shows people their own questions, and nothing says who you are. \
                 Sign in first; if you run this server, put its authentication in front of the \
                 inbox."
                    .to_owned(),
            ));
        }
        let query = parts.uri.query().unwrap_or_default();
        match parts.method {
            Method::GET | Method::HEAD => match query {
                "style" => Ok(asset("text/css; charset=utf-8", page::STYLE)),
                "script" => Ok(asset("text/javascript; charset=utf-8", page::SCRIPT)),
                "icon" => Ok(asset("image/svg+xml", page::ICON)),
                "events" if parts.method == Method::GET => self.events(&caller).await,
                _ => self.list(&caller, Note::of_query(query)).await,
            },
            Method::POST => {
                let own = self.config.access.is_from_own_page(&parts);
                own.map_err(|words| refuse(403, words))?;
                let limit = self.runtime.limits().answer;
                let typed = Typed::read(&parts.headers, body, limit).await?;
                self.take(&caller, typed).await
            }
            _ => Err(refuse(
                405,
                "The inbox is read with GET and answered with POST.",
            )),
        }
    }

    async fn list(&self, caller: &Caller, note: Option<Note>) -> Result<Response<Body>, Refused> {
        let questions = self.questions(caller).await?;
        let page = self.page(caller, questions, note, None).await?;
        Ok(html(StatusCode::OK, page))
    }

    /// Takes what somebody has sent.
    async fn take(&self, caller: &Caller, typed: Typed) -> Result<Response<Body>, Refused> {
        let (task, key) = typed.question();
        let is_ours = token::is_good(&self.runtime, caller, &task, &key, typed.token()).await?;
        if !is_ours {
            return Err(refuse(
                403,
                "Nothing was recorded: this form was not made for you by this page, or is some \
                 days old. Go back to the inbox and answer there.",
            ));
        }
        let question = Question::find(&self.runtime, caller, &task, &key).await?;
        let question = question.ok_or(Refused::TooLate)?;
        let Some(action) = typed.action() else {
            return Err(refuse(
                400,
                "The form does not say which button was pressed.",
            ));
        };
        let draft = match &question.asks {
            Asks::Form(form) => Draft::typed(form, &typed),
            Asks::Url { .. } => Draft::nothing(),
        };
        let response = match &question.asks {
            Asks::Form(form) => action.response(Some(draft.content(form))),
            Asks::Url { .. } => action.response(None),
        };
        let response = to_raw_value(&response).map_err(|error| refuse(500, error.to_string()))?;
        let heard = self.runtime.hear(&task, &key, caller, &response).await;
        let errors = match heard {
            Ok(Heard::Recorded) => return Ok(see(action.note())),
            Ok(Heard::TooLate) => return Err(Refused::TooLate),
            Ok(Heard::Unfit(errors)) => errors,
            Err(error) if error.code == ErrorCode::INVALID_PARAMS => {
                vec![FieldError::new("", error.message)]
            }
            Err(error) => return Err(error.into()),
        };
        let mut questions = self.questions(caller).await?;
        let failed = Some((question.card.clone(), draft.with(&question, errors)));
        questions.put(question);
        let page = self.page(caller, questions, None, failed).await?;
        Ok(html(StatusCode::UNPROCESSABLE_ENTITY, page))
    }

    async fn questions(&self, caller: &Caller) -> Result<Questions, Refused> {
        Ok(Questions::of(&self.runtime, caller).await?)
    }

    async fn page(
        &self,
        caller: &Caller,
        questions: Questions,
        note: Option<Note>,
        failed: Option<(String, Draft)>,
    ) -> Result<String, Refused> {
        let key = self.runtime.newest_key().await?;
        let page = Page {
            server: self.runtime.server_info()["name"].as_str().unwrap_or("MCP"),
            caller,
            questions: &questions,
            note,
            failed,
            now: self.runtime.now(),
        };
        Ok(page.render(|question| token::make(&key, caller, &question.task, &question.key)))
    }

    async fn events(&self, caller: &Caller) -> Result<Response<Body>, Refused> {
        let seats = Arc::clone(&self.seats);
        let stop = self.config.stop.clone();
        live::events(&self.runtime, seats, caller.clone(), stop).await
    }
}

impl Refused {
    fn into_response(self) -> Response<Body> {
        // A page names its style only to whoever would be given it.
        let (status, words, challenge, styled) = match self {
            Self::TooLate => return see(Note::TooLate),
            Self::Stranger(stranger) => {
                let status = StatusCode::UNAUTHORIZED;
                (status, stranger.words.to_owned(), stranger.challenge, false)
            }
            Self::KeptOut(words) => (StatusCode::FORBIDDEN, words, None, false),
            Self::Because(status, words) => (status, words, None, true),
        };
        let mut response = html(status, page::refusal(status, &words, styled));
        let headers = response.headers_mut();
        if let Some(challenge) = challenge {
            let challenge = HeaderValue::from_static(challenge);
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        if status == StatusCode::METHOD_NOT_ALLOWED {
            let allowed = HeaderValue::from_static("GET, HEAD, POST");
            headers.insert(header::ALLOW, allowed);
        }
        response
    }
}

impl From<ProtocolError> for Refused {
    fn from(error: ProtocolError) -> Self {
        Self::Because(StatusCode::SERVICE_UNAVAILABLE, error.message)
    }
}

impl From<Unreadable> for Refused {
    fn from(unreadable: Unreadable) -> Self {
        let (status, words) = unreadable.in_words();
        Self::Because(status, words)
    }
}

fn refuse(status: u16, words: impl Into<String>) -> Refused {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Refused::Because(status, words.into())
}

fn html(status: StatusCode, page: String) -> Response<Body> {
    let mut response = asset("text/html; charset=utf-8", page);
    *response.status_mut() = status;
    response
}

fn asset(kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Sends the browser back to the list, where it says how it went.
fn see(note: Note) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let location = HeaderValue::from_static(note.location());
    response.headers_mut().insert(header::LOCATION, location);
    response
}

fn harden(headers: &mut HeaderMap) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        // Not `no-referrer`: under that, browsers send forms with `Origin: null`.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
