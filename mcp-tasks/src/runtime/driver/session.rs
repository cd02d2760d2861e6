//! Calls whose client can be asked while they are open: those of older sessions
//! (P70).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde_json::value::RawValue;

use crate::protocol::{InputRequest, ProtocolError};
use crate::task::{Event, InputKey};

/// The client of an open call.
pub trait SessionClient: Send + Sync + 'static {
    /// Sends the client a request and gives its result. Dropping the future
    /// takes the request back.
    ///
    /// # Errors
    ///
    /// What the client said instead of a result, or that it is gone.
    fn ask(&self, request: &InputRequest) -> Asking;
}

/// A request that is on its way to the client of an open call.
pub type Asking = Pin<Box<dyn Future<Output = Result<SessionAnswer, ProtocolError>> + Send>>;

/// What the client of an open call answers to a request.
#[derive(Debug)]
pub enum SessionAnswer {
    /// Its result, to be judged.
    Result(Box<RawValue>),
    /// Somebody has refused that it be done.
    Refused,
}

/// A session, and what its client is being asked.
pub(super) struct Session {
    client: Arc<dyn SessionClient>,
    asking: Vec<(InputKey, Asking)>,
}

impl Session {
    pub(super) fn new(client: Arc<dyn SessionClient>) -> Self {
        Self {
            client,
            asking: Vec::new(),
        }
    }

    /// Puts to the client what the journal says was asked, and takes back what
    /// it says was withdrawn.
    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::Asked { key, request } => {
                let asking = self.client.ask(request);
                self.asking.push((key.clone(), asking));
            }
            Event::Withdrawn { key } => self.asking.retain(|(asked, _)| asked != key),
            _ => {}
        }
    }

    /// What the client has answered.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Answered> {
        for at in 0..self.asking.len() {
            if let Poll::Ready(answer) = self.asking[at].1.as_mut().poll(cx) {
                let (key, _) = self.asking.swap_remove(at);
                return Poll::Ready(Answered { key, answer });
            }
        }
        Poll::Pending
    }
}

/// What the client of a session has said to a question.
pub(super) struct Answered {
    pub(super) key: InputKey,
    pub(super) answer: Result<SessionAnswer, ProtocolError>,
}
