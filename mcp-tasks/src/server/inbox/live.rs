//! Tells open pages that what they show has changed.
//!
//! A page is told no more than that: what it says then is the digest of what
//! there is, and the page fetches itself if it shows something else. So an event
//! that was missed is made good by the next, and by the first after the
//! connection comes back.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use http::Response;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::questions::Questions;
use super::{Refused, refuse};
use crate::protocol::ProtocolError;
use crate::runtime::{Changes, Room, Runtime, Seat, Seats, limit_reached};
use crate::server::events::{self, Source};
use crate::task::Caller;

/// The name of the events.
const EVENT: &str = "questions";

/// When a browser comes back that has lost its connection.
const COME_BACK: &str = "retry: 3000\n\n";

/// Between two looks at the questions of one page: changes come in bursts.
const PAUSE: Duration = Duration::from_millis(250);

/// So often the store is asked in a second for all pages together, however many are
/// open: where there are many, and tasks never rest, each of them hears later.
const LOOKS: u32 = 256;

/// Before a store that has failed is asked again.
const RETRY: Duration = Duration::from_secs(2);

/// The stream of one page.
struct Events {
    next: mpsc::Receiver<String>,
    _seat: Seat,
}

impl Source for Events {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<String>> {
        self.next.poll_recv(cx)
    }
}

pub(super) async fn events(
    runtime: &Runtime,
    seats: Arc<Seats>,
    caller: Caller,
    stop: CancellationToken,
) -> Result<Response<Body>, Refused> {
    let limits = runtime.limits();
    let room = Room {
        total: limits.subscriptions,
        per_caller: limits.subscriptions_per_caller,
    };
    let seat = seats.take(&caller, room).map_err(|_| {
        let words = "Too many pages of the inbox are open: close some.";
        let error = limit_reached("subscriptions", ProtocolError::internal(words));
        refuse(503, error.message)
    })?;
    let changes = runtime.changes().await?;
    let (tell, next) = mpsc::channel(1);
    let page = Page {
        caller,
        seats,
        tell,
    };
    tokio::spawn(watch(runtime.clone(), page, changes, stop));
    Ok(events::response(Events { next, _seat: seat }))
}

/// A page that listens.
struct Page {
    caller: Caller,
    /// Those of all pages.
    seats: Arc<Seats>,
    tell: mpsc::Sender<String>,
}

/// How long a page is left alone after a look, if so many are open.
fn pause(pages: usize) -> Duration {
    let pages = u32::try_from(pages).unwrap_or(u32::MAX);
    PAUSE.max(Duration::from_secs(1).saturating_mul(pages) / LOOKS)
}

/// Says what there is, and again whenever that changes, until the page is closed
/// or the server is.
async fn watch(runtime: Runtime, page: Page, mut changes: Changes, stop: CancellationToken) {
    let Page {
        caller,
        seats,
        tell,
    } = page;
    let over = async {
        tokio::select! {
            () = stop.cancelled() => {}
            () = tell.closed() => {}
        }
    };
    let telling = async {
        let mut told = None;
        if tell.send(COME_BACK.to_owned()).await.is_err() {
            return;
        }
        loop {
            let Ok(questions) = Questions::of(&runtime, &caller).await else {
                tokio::time::sleep(RETRY).await;
                continue;
            };
            let digest = questions.digest();
            if told.as_ref() != Some(&digest) {
                let event = format!("event: {EVENT}\ndata: {digest}\n\n");
                if tell.send(event).await.is_err() {
                    return;
                }
                told = Some(digest);
            }
            tokio::time::sleep(pause(seats.taken())).await;
            if !changes.next().await {
                return;
            }
        }
    };
    tokio::select! {
        () = over => {}
        () = telling => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_pages_ask_no_more_than_some() {
        for few in [0, 1, 64] {
            assert_eq!(pause(few), PAUSE);
        }
        assert_eq!(pause(2560), Duration::from_secs(10));
        assert!(pause(usize::MAX) > pause(2560));
    }
}
