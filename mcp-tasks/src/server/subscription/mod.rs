//! One subscription as its client sees it: what becomes of tasks, which the
//! router says, and whatever else it listens to, which rmcp's handler says.
//!
//! Both have one acknowledgement, one id and one end. Nothing is queued here:
//! a message is made when the transport has room for it.

#[cfg(feature = "http")]
mod http;
mod theirs;

use rmcp::model::Extensions;
use tokio_util::sync::CancellationToken;

pub(super) use self::theirs::Begun;
use self::theirs::{Heard, Theirs};
use super::engine::Handler;
use crate::protocol::{Message, Reply};
use crate::router::{Router, Subscription};
use crate::task::Caller;

/// An open subscription; it ends when it is dropped.
pub(super) struct Stream {
    ours: Subscription,
    /// None if nothing but tasks was asked for, or agreed to.
    theirs: Option<Theirs>,
    stop: CancellationToken,
    /// What is to be said before anything new.
    next: Option<Said>,
}

/// What a subscription has to say.
pub(super) enum Said {
    Message(String),
    /// Nothing more, after this.
    End(End),
}

/// How the server ends a subscription (P42).
pub(super) struct End {
    /// The `notifications/cancelled` that names the request.
    pub(super) cancellation: String,
    /// The reply to the request.
    pub(super) reply: String,
}

impl Stream {
    /// Opens the subscription that a message asks for; the first that it says is
    /// its acknowledgement.
    ///
    /// A handler is asked for if one is needed; `extensions` are what it is to
    /// know of how the message came.
    ///
    /// # Errors
    ///
    /// The reply to send instead.
    pub(super) async fn open(
        router: &Router,
        handler: impl FnOnce() -> Handler,
        message: &Message<'_>,
        text: &[u8],
        extensions: Extensions,
        caller: &Caller,
        stop: CancellationToken,
    ) -> Result<Self, Reply> {
        let ours = router.listen(message, caller).await;
        let ours = ours.unwrap_or_else(|| unreachable!("the message asks for a subscription"))?;
        let (theirs, agreed) = if ours.asks_for_more() {
            let opened = Theirs::open(&handler(), text, extensions).await;
            opened.map_err(|error| Reply::error(message.id(), &error))?
        } else {
            Default::default()
        };
        let acknowledgement = ours.acknowledgement(agreed);
        Ok(Self {
            ours,
            theirs,
            stop,
            next: Some(Said::Message(acknowledgement)),
        })
    }

    /// Waits until there may be something to say.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(super) async fn ready(&mut self) {
        if self.next.is_some() {
            return;
        }
        let ended = if self.stop.is_cancelled() {
            Ok(())
        } else {
            let heard = async {
                match &mut self.theirs {
                    Some(theirs) => theirs.hear().await,
                    None => std::future::pending().await,
                }
            };
            // In no order: whoever says much must not keep the other from being
            // heard.
            tokio::select! {
                () = self.stop.cancelled() => Ok(()),
                heard = heard => match heard {
                    Heard::Message(message) => {
                        self.next = Some(Said::Message(message));
                        return;
                    }
                    Heard::End(end) => end,
                },
                () = self.ours.ready() => return,
            }
        };
        self.theirs = None;
        self.next = Some(Said::End(End {
            cancellation: self.ours.cancellation(),
            reply: match ended {
                Ok(()) => self.ours.result(),
                Err(error) => self.ours.error(&error),
            },
        }));
    }

    /// What there is to say, if it still is. To be called once it is ready.
    pub(super) async fn take(&mut self) -> Option<Said> {
        match self.next.take() {
            Some(said) => Some(said),
            None => self.ours.take().await.map(Said::Message),
        }
    }
}
