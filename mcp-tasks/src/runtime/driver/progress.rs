//! How a call says how it goes: to a client that asked to be told.
//!
//! A call that is no task has nothing that could be read meanwhile. What its
//! function says with `set_status` and `report_progress` is sent to the client
//! as it is said, as often as a task's status is written, and the last of it
//! before the reply.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::task::Progress;

/// Takes what a call says of its progress to whoever made it.
pub trait ProgressSink: Send + Sync + 'static {
    /// Sends an update. The next is not sent before the future is done, and the
    /// call is not answered before either.
    fn tell(&self, update: ProgressUpdate) -> Telling;
}

/// An update on its way.
pub type Telling = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How a call goes.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressUpdate {
    /// How far it is; more than in the update before.
    pub progress: f64,
    /// How far it will be at the end, if that is known.
    pub total: Option<u64>,
    /// In words.
    pub message: Option<Arc<str>>,
}

/// What has been told of a call.
pub(super) struct Teller {
    sink: Arc<dyn ProgressSink>,
    /// How far it was, in thousandths.
    last: Option<u128>,
    under_way: Option<Telling>,
}

impl Teller {
    pub(super) fn new(sink: Arc<dyn ProgressSink>) -> Self {
        Self {
            sink,
            last: None,
            under_way: None,
        }
    }

    /// Whether the next update must wait for the last one.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.is_some()
    }

    pub(super) fn tell(&mut self, message: Option<Arc<str>>, progress: Option<Progress>) {
        let update = ProgressUpdate {
            progress: self.advance(progress),
            total: progress.map(|progress| progress.total),
            message,
        };
        self.under_way = Some(self.sink.tell(update));
    }

    /// How far to say that it is. The number must grow, whatever the function
    /// reports: by a thousandth where it says something new and is no further.
    fn advance(&mut self, progress: Option<Progress>) -> f64 {
        let done = progress.map_or(0, |progress| u128::from(progress.done) * 1000);
        let next = match self.last {
            Some(last) if done <= last => last + 1,
            _ => done,
        };
        self.last = Some(next);
        #[expect(clippy::cast_precision_loss, reason = "no client counts so far")]
        let thousandths = next as f64;
        thousandths / 1000.0
    }

    /// Sends what is under way.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) {
        if let Some(telling) = &mut self.under_way
            && telling.as_mut().poll(cx).is_ready()
        {
            self.under_way = None;
        }
    }

    /// Waits until nothing is under way.
    pub(super) async fn settled(&mut self) {
        poll_fn(|cx| {
            self.poll(cx);
            if self.is_busy() {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl ProgressSink for Nobody {
        fn tell(&self, _: ProgressUpdate) -> Telling {
            Box::pin(std::future::ready(()))
        }
    }

    #[test]
    fn what_is_told_grows_and_says_what_was_reported_where_it_can() {
        let mut teller = Teller::new(Arc::new(Nobody));
        let reported = |done| Some(Progress { done, total: 10 });
        let told = [
            None,
            None,
            reported(0),
            reported(3),
            reported(3),
            reported(2),
            reported(4),
        ]
        .map(|progress| teller.advance(progress).to_string());
        assert_eq!(told, ["0", "0.001", "0.002", "3", "3.001", "3.002", "4"]);
    }
}
