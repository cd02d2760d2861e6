//! A subscription as the body of an HTTP response.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use http::Response;

use super::super::events::{self, Source, event};
use super::{Said, Stream};

/// None once everything is said.
struct Subscribed(Option<Next>);

/// Waits for the next thing to say, and hands the stream back.
type Next = Pin<Box<dyn Future<Output = (Stream, Said)> + Send>>;

impl Stream {
    pub(in crate::server) fn into_response(self) -> Response<Body> {
        events::response(Subscribed(Some(next(self))))
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

impl Source for Subscribed {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<String>> {
        let Some(waiting) = &mut self.0 else {
            return Poll::Ready(None);
        };
        Poll::Ready(Some(match ready!(waiting.as_mut().poll(cx)) {
            (stream, Said::Message(message)) => {
                self.0 = Some(next(stream));
                event(message)
            }
            (_, Said::End(end)) => {
                self.0 = None;
                // The response ends the stream.
                event(end.cancellation) + &event(end.reply)
            }
        }))
    }
}
