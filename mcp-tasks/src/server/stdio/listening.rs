//! Subscriptions on stdio, where all of them share one output.

use rmcp::model::Extensions;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::super::engine::Handler;
use super::super::subscription::{Said, Stream};
use super::connection::Routed;
use crate::protocol::Message;
use crate::router::Router;
use crate::task::Caller;

/// Serves one subscription to its end.
///
/// # Cancellation
///
/// Dropping the future ends the subscription without a word, which is what its
/// client wants that cancels it.
pub(super) async fn listen(
    router: &Router,
    handler: &Handler,
    caller: &Caller,
    text: &[u8],
    notices: mpsc::Sender<String>,
    stop: CancellationToken,
) -> Routed {
    let message = match Message::parse(text) {
        Ok(message) => message,
        Err(malformed) => return Routed::Answered(malformed.into_response()),
    };
    let mut extensions = Extensions::new();
    extensions.insert(caller.clone());
    let opened = Stream::open(
        router,
        || handler.clone(),
        &message,
        text,
        extensions,
        caller,
        stop,
    )
    .await;
    let mut stream = match opened {
        Ok(stream) => stream,
        Err(refusal) => return Routed::Answered(refusal),
    };
    loop {
        stream.ready().await;
        // There is room before there is a message, so that none gets old while
        // the client does not read.
        let Ok(room) = notices.reserve().await else {
            return Routed::Ended;
        };
        match stream.take().await {
            None => drop(room),
            Some(Said::Message(line)) => room.send(line),
            Some(Said::End(end)) => {
                // A client that takes the cancellation for the end would pass
                // over a result that came after it.
                room.send(end.reply);
                // An error means that the writer is gone, and the client.
                let _ = notices.send(end.cancellation).await;
                return Routed::Ended;
            }
        }
    }
}
