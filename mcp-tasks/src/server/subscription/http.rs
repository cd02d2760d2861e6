//! A subscription as the body of an HTTP response: a stream of server-sent
//! events.
//!
//! The next event is made when the connection has room for it. A client that
//! goes away has the body dropped, and the subscription with it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderValue, Response, header};
use http_body::Frame;
use tokio::time::{Instant, Sleep};

use super::super::stdio::one_line;
use super::{Said, Stream};

/// How long a stream is quiet before a comment keeps the connection from being
/// taken for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The comment.
const STILL_HERE: &str = ":\n\n";

struct Events {
    /// None once everything is said.
    next: Option<Next>,
    keep_alive: Pin<Box<Sleep>>,
}

/// Waits for the next thing to say, and hands the stream back.
type Next = Pin<Box<dyn Future<Output = (Stream, Said)> + Send>>;

impl Stream {
    pub(in crate::server) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::new(Events {
            next: Some(next(self)),
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
}

fn next(mut stream: Stream) -> Next {
    Box::pin(async move {
        loop {
            stream.ready().await;
            if let Some(said) = stream.take().await {
                return (stream, said);
            }
        }
    })
}

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(waiting) = &mut self.next else {
            return Poll::Ready(None);
        };
        let text = match waiting.as_mut().poll(cx) {
            Poll::Ready((stream, Said::Message(message))) => {
                self.next = Some(next(stream));
                event(message)
            }
            Poll::Ready((_, Said::End(end))) => {
                self.next = None;
                // The response ends the stream.
                event(end.cancellation) + &event(end.reply)
            }
            Poll::Pending => {
                ready!(self.keep_alive.as_mut().poll(cx));
                STILL_HERE.to_owned()
            }
        };
        self.keep_alive.as_mut().reset(Instant::now() + KEEP_ALIVE);
        Poll::Ready(Some(Ok(Frame::data(text.into()))))
    }
}

fn event(message: String) -> String {
    format!("data: {}\n\n", one_line(message))
}
