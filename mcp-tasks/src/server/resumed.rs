//! The stream of an older session that its client takes up again.
//!
//! A client that lost a stream names the last event that it got, and wants those
//! after it. rmcp repeats that one too, and so would ask the same question twice.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::Frame;

const LAST_EVENT_ID: &str = "last-event-id";

/// The same stream without the event that the request names as the last one, if
/// it names one.
pub(super) fn after_the_last(headers: &HeaderMap, response: Response<Body>) -> Response<Body> {
    let last = headers
        .get(LAST_EVENT_ID)
        .and_then(|last| last.to_str().ok());
    match last {
        Some(last) => {
            let last = Some(last.trim().to_owned());
            response.map(|body| Body::new(Resumed { body, last }))
        }
        None => response,
    }
}

struct Resumed {
    body: Body,
    /// The id of the event to leave out, until the first event has come.
    last: Option<String>,
}

impl http_body::Body for Resumed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
            let data = frame
                .as_ref()
                .and_then(|frame| frame.as_ref().ok()?.data_ref());
            let id = data.and_then(event_id);
            // What has no id is a comment, that the connection may live.
            if id.is_none() || self.last.take() != id {
                return Poll::Ready(frame);
            }
        }
    }
}

/// The id of an event, which is a frame of its own.
fn event_id(event: &Bytes) -> Option<String> {
    let mut lines = std::str::from_utf8(event).ok()?.lines();
    let id = lines.find_map(|line| line.strip_prefix("id:"))?;
    Some(id.trim().to_owned())
}
