//! rmcp's service loop, run behind channels.
//!
//! There are up to two per connection on stdio: one is an older session, begun
//! with the client's `initialize`; the other serves single requests of
//! 2026-07-28, which need no handshake, as rmcp does it for each HTTP request.
//! A subscription, over either transport, has one of its own. None touches stdin
//! or stdout, and each may end without the others ending.

use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{
    ClientJsonRpcMessage, InitializeRequestParams, ProtocolVersion, ServerJsonRpcMessage,
};
use rmcp::service::{serve_directly_with_ct, serve_server_with_ct};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Makes handlers.
pub(super) struct Engine {
    handler: Box<dyn Fn() -> Handler + Send + Sync>,
}

/// A handler, which any number of loops may run.
#[derive(Clone)]
pub(super) struct Handler {
    run: Arc<dyn Fn(Lifecycle, Channel, CancellationToken) -> Running + Send + Sync>,
}

type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Engine {
    pub(super) fn new<H: ServerHandler>(factory: impl Fn() -> H + Send + Sync + 'static) -> Self {
        let handler = move || {
            let handler = Arc::new(factory());
            let run = move |lifecycle, channel, stop| -> Running {
                Box::pin(run(lifecycle, handler.clone(), channel, stop))
            };
            Handler { run: Arc::new(run) }
        };
        Self {
            handler: Box::new(handler),
        }
    }

    /// A new handler.
    pub(super) fn handler(&self) -> Handler {
        (self.handler)()
    }
}

/// One loop of a connection; no two have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LoopId(u64);

impl LoopId {
    pub(super) const FIRST: Self = Self(0);

    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// What a loop has to say to its connection.
#[derive(Debug)]
pub(super) enum Event {
    /// A message for the client.
    Sent(LoopId, Box<ServerJsonRpcMessage>),
    /// The loop is over; nothing of it comes after this.
    Ended(LoopId),
}

/// How a loop begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lifecycle {
    /// With an `initialize` request, which must be the first message.
    Session,
    /// With whatever comes.
    Standalone,
}

/// A running loop; dropping it ends it.
#[derive(Debug)]
pub(super) struct RmcpLoop {
    id: LoopId,
    messages: mpsc::UnboundedSender<ClientJsonRpcMessage>,
    _stop: DropGuard,
}

impl RmcpLoop {
    pub(super) fn start(
        id: LoopId,
        lifecycle: Lifecycle,
        handler: &Handler,
        events: mpsc::Sender<Event>,
    ) -> Self {
        // Unbounded, as the loop takes what comes without waiting for handlers;
        // what a client can pile up is bounded by its requests in flight.
        let (messages, from_client) = mpsc::unbounded_channel();
        let stop = CancellationToken::new();
        let channel = Channel {
            id,
            messages: from_client,
            events: events.clone(),
        };
        let running = tokio::spawn((handler.run)(lifecycle, channel, stop.clone()));
        tokio::spawn(async move {
            if let Err(error) = running.await {
                tracing::error!(%error, "rmcp's service loop failed");
            }
            // Nobody is left to be told when the connection is gone.
            let _ = events.send(Event::Ended(id)).await;
        });
        Self {
            id,
            messages,
            _stop: stop.drop_guard(),
        }
    }

    pub(super) fn id(&self) -> LoopId {
        self.id
    }

    /// Gives a message to the loop, or back if the loop is over.
    pub(super) fn send(
        &self,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Box<ClientJsonRpcMessage>> {
        self.messages
            .send(message)
            .map_err(|refused| Box::new(refused.0))
    }
}

async fn run(
    lifecycle: Lifecycle,
    handler: impl ServerHandler,
    channel: Channel,
    stop: CancellationToken,
) {
    let running = match lifecycle {
        Lifecycle::Session => match serve_server_with_ct(handler, channel, stop).await {
            Ok(running) => running,
            Err(error) => {
                tracing::warn!(%error, "an older session could not be begun");
                return;
            }
        },
        Lifecycle::Standalone => {
            // The version keeps rmcp from sending requests to a client that
            // takes none.
            let mut peer = InitializeRequestParams::default();
            peer.protocol_version = ProtocolVersion::V_2026_07_28;
            serve_directly_with_ct(handler, channel, Some(peer), stop)
        }
    };
    if let Err(error) = running.waiting().await {
        tracing::error!(%error, "rmcp's service loop failed");
    }
}

/// The loop's side: a transport of messages that are already parsed.
struct Channel {
    id: LoopId,
    messages: mpsc::UnboundedReceiver<ClientJsonRpcMessage>,
    events: mpsc::Sender<Event>,
}

impl Transport<RoleServer> for Channel {
    type Error = mpsc::error::SendError<Event>;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let events = self.events.clone();
        let event = Event::Sent(self.id, Box::new(message));
        // At once where there is room: what is sent together would else come in
        // any order, as rmcp polls these side by side.
        let unsent = match events.try_send(event) {
            Ok(()) => None,
            Err(TrySendError::Full(event) | TrySendError::Closed(event)) => Some(event),
        };
        async move {
            match unsent {
                Some(event) => events.send(event).await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.messages.close();
        Ok(())
    }
}
