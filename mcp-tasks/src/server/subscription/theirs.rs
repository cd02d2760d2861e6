//! What rmcp's handler has to say on a subscription.

use rmcp::model::{
    ClientJsonRpcMessage, Extensions, GetExtensions as _, JsonRpcMessage, ServerJsonRpcMessage,
    ServerNotification, SubscriptionFilter,
};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::super::engine::{Event, Handler, Lifecycle, LoopId, RmcpLoop};
use crate::protocol::{META_SUBSCRIPTION_ID, ProtocolError};

/// How many messages of the handler's wait for a client that does not read;
/// then the handler waits.
const UNSAID: usize = 16;

/// A handler that listens for a client, in a loop of its own; it is told to stop
/// when this is dropped.
pub(super) struct Theirs {
    rmcp: RmcpLoop,
    events: mpsc::Receiver<Event>,
}

/// Goes with a request to the handler, which tells by it that it listens.
///
/// rmcp acknowledges a subscription before its handler is asked to listen, which
/// would then miss what happens in between.
#[derive(Clone)]
pub(in crate::server) struct Begun(mpsc::Sender<()>);

impl Begun {
    pub(in crate::server) fn tell(&self) {
        // Once is enough.
        self.0.try_send(()).ok();
    }
}

pub(super) enum Heard {
    Message(String),
    /// The handler has ended its part, or failed.
    End(Result<(), ProtocolError>),
}

impl Theirs {
    /// Has the handler listen as the request in `text` asks, which it sees with
    /// these extensions, and gives what it has agreed to. If that is nothing,
    /// there is nobody to hear.
    ///
    /// # Errors
    ///
    /// The error by which it refuses.
    pub(super) async fn open(
        handler: &Handler,
        text: &[u8],
        extensions: Extensions,
    ) -> Result<(Option<Self>, Map<String, Value>), ProtocolError> {
        let mut request: ClientJsonRpcMessage = serde_json::from_slice(text).map_err(|error| {
            ProtocolError::invalid_request(format!("not a request that can be served: {error}"))
        })?;
        let (begun, mut listens) = mpsc::channel(1);
        if let JsonRpcMessage::Request(request) = &mut request {
            let its = request.request.extensions_mut();
            its.extend(extensions);
            its.insert(Begun(begun));
        }
        let (sender, events) = mpsc::channel(UNSAID);
        let rmcp = RmcpLoop::start(LoopId::FIRST, Lifecycle::Standalone, handler, sender);
        let mut theirs = Self { rmcp, events };
        if theirs.rmcp.send(request).is_err() {
            return Err(failed());
        }
        let agreed = theirs.agreed().await?;
        // Nothing comes if the request is gone, which is heard of later.
        listens.recv().await;
        let is_nothing = agreed == SubscriptionFilter::default();
        let Ok(Value::Object(agreed)) = serde_json::to_value(agreed) else {
            return Err(failed());
        };
        Ok(((!is_nothing).then_some(theirs), agreed))
    }

    /// Waits for the acknowledgement, which comes first.
    async fn agreed(&mut self) -> Result<SubscriptionFilter, ProtocolError> {
        while let Some(Event::Sent(_, message)) = self.events.recv().await {
            match *message {
                JsonRpcMessage::Notification(notification) => {
                    if let ServerNotification::SubscriptionsAcknowledgedNotification(agreed) =
                        notification.notification
                    {
                        return Ok(agreed.params.notifications);
                    }
                }
                JsonRpcMessage::Error(error) => return Err(error.error.into()),
                JsonRpcMessage::Response(_) | JsonRpcMessage::Request(_) => break,
            }
        }
        Err(failed())
    }

    /// Waits for what belongs on a subscription; all else is dropped, above all
    /// progress and log messages (P42).
    pub(super) async fn hear(&mut self) -> Heard {
        while let Some(Event::Sent(_, message)) = self.events.recv().await {
            match *message {
                JsonRpcMessage::Response(_) => return Heard::End(Ok(())),
                JsonRpcMessage::Error(error) => return Heard::End(Err(error.error.into())),
                message => {
                    if let Some(message) = news(&message) {
                        return Heard::Message(message);
                    }
                    tracing::debug!("dropped a message that is not of the subscription");
                }
            }
        }
        Heard::End(Err(failed()))
    }
}

/// A message as text, if it is of a kind that a client can listen to, and was
/// sent by way of the subscription.
fn news(message: &ServerJsonRpcMessage) -> Option<String> {
    let JsonRpcMessage::Notification(notification) = message else {
        return None;
    };
    if !matches!(
        notification.notification,
        ServerNotification::ToolListChangedNotification(_)
            | ServerNotification::PromptListChangedNotification(_)
            | ServerNotification::ResourceListChangedNotification(_)
            | ServerNotification::ResourceUpdatedNotification(_)
    ) {
        return None;
    }
    let message = serde_json::to_value(message).ok()?;
    let is_tagged = message["params"]["_meta"]
        .get(META_SUBSCRIPTION_ID)
        .is_some();
    is_tagged.then(|| message.to_string())
}

fn failed() -> ProtocolError {
    ProtocolError::internal("internal error: the subscription could not go on")
}
