//! Server-sent events as the body of an HTTP response.
//!
//! The next event is made when the connection has room for it. A client that
//! goes away has the body dropped, and with it what makes the events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderValue, Response, header};
use http_body::Frame;
use tokio::time::{Instant, Sleep};

use super::stdio::one_line;

/// How long a stream is quiet before a comment keeps the connection from being
/// taken for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The comment.
const STILL_HERE: &str = ":\n\n";

/// Makes events.
pub(super) trait Source: Unpin + Send + 'static {
    /// The text of what comes next; none once everything is said.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<String>>;
}

/// A message as an event.
pub(super) fn event(message: String) -> String {
    format!("data: {}\n\n", one_line(message))
}

/// A response that is a stream of events.
pub(super) fn response(source: impl Source) -> Response<Body> {
    let mut response = Response::new(Body::new(Events {
        source,
        keep_alive: Box::pin(tokio::time::sleep(KEEP_ALIVE)),
    }));
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        // Proxies that know it pass events on at once.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

struct Events<S> {
    source: S,
    keep_alive: Pin<Box<Sleep>>,
}

impl<S: Source> http_body::Body for Events<S> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let text = match self.source.poll_next(cx) {
            Poll::Ready(Some(text)) => text,
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => {
                ready!(self.keep_alive.as_mut().poll(cx));
                STILL_HERE.to_owned()
            }
        };
        self.keep_alive.as_mut().reset(Instant::now() + KEEP_ALIVE);
        Poll::Ready(Some(Ok(Frame::data(text.into()))))
    }
}
