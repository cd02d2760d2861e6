//! A call over HTTP whose client wants to be told of its progress.
//!
//! If there is something to tell before the reply, the response is a stream of
//! events that the reply ends; else it is the reply, as for any other request.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use bytes::Bytes;
use http::Response;
use tokio::sync::mpsc;

use super::events::{self, Source, event};
use crate::protocol::{Message, Reply};
use crate::router::Router;
use crate::task::Caller;

/// How many updates may wait for the connection.
const UNSENT: usize = 1;

/// A call under way.
struct Told {
    /// None once it has its reply.
    call: Option<Answering>,
    updates: mpsc::Receiver<String>,
    /// Until it is sent.
    reply: Option<Said>,
    /// What was taken out to see what comes first.
    first: Option<String>,
}

type Answering = Pin<Box<dyn Future<Output = Option<Reply>> + Send>>;

/// What a call says.
enum Said {
    Update(String),
    /// The last; none for a request that is not ours.
    Reply(Option<Reply>),
}

/// What came of such a call.
pub(super) enum Answer {
    /// It had nothing to tell before its reply.
    Reply(Reply),
    Stream(Response<Body>),
    NotOurs,
}

/// Routes a request whose client wants to be told.
pub(super) async fn route(router: Router, body: Bytes, caller: Caller) -> Answer {
    let (sender, updates) = mpsc::channel(UNSENT);
    let call: Answering = Box::pin(async move {
        match Message::parse(&body) {
            Ok(message) => router.route_telling(&message, &caller, sender).await,
            Err(malformed) => Some(malformed.into_response()),
        }
    });
    let mut told = Told {
        call: Some(call),
        updates,
        reply: None,
        first: None,
    };
    match poll_fn(|cx| told.poll_said(cx)).await {
        Some(Said::Update(update)) => {
            told.first = Some(update);
            Answer::Stream(events::response(told))
        }
        Some(Said::Reply(Some(reply))) => Answer::Reply(reply),
        Some(Said::Reply(None)) | None => Answer::NotOurs,
    }
}

impl Told {
    /// What comes next: all updates before the reply.
    fn poll_said(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>> {
        loop {
            if let Some(first) = self.first.take() {
                return Poll::Ready(Some(Said::Update(first)));
            }
            if let Poll::Ready(Some(update)) = self.updates.poll_recv(cx) {
                return Poll::Ready(Some(Said::Update(update)));
            }
            let Some(call) = &mut self.call else {
                return Poll::Ready(self.reply.take());
            };
            self.reply = Some(Said::Reply(ready!(call.as_mut().poll(cx))));
            self.call = None;
        }
    }
}

impl Source for Told {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<String>> {
        let said = ready!(self.poll_said(cx));
        Poll::Ready(said.and_then(|said| match said {
            Said::Update(update) => Some(event(update)),
            Said::Reply(reply) => reply.map(|reply| event(reply.body)),
        }))
    }
}
