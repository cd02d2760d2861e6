//! What becomes of each message of one stdio connection.
//!
//! All decisions are made here, one at a time; the work is done elsewhere, by
//! tasks of the router and by rmcp's loops, which report back.

use std::sync::{Arc, OnceLock};

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions as _, JsonRpcMessage, RequestId,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::super::engine::{Event, Handler, Lifecycle, LoopId, RmcpLoop};
use super::super::era::{Era, INITIALIZE, Versions, refuse_gone};
use super::super::session::as_written;
use super::StdioServer;
use super::in_flight::{InFlight, Owner, RequestKey};
use super::lines::Line;
use super::listening::listen;
use crate::protocol::{Message, MessageKind, ProtocolError, Reply};
use crate::router::LISTEN;
use crate::runtime::limit_reached;

/// How many messages of rmcp's may wait to be looked at.
const UNSEEN: usize = 64;

/// The id under which a session is begun again; its reply goes nowhere.
const RESUMED: &str = "mcp-tasks/resumed-session";

pub(super) struct Connection {
    server: Arc<StdioServer>,
    output: Output,
    /// Once it fires, the subscriptions of this connection end.
    stop: CancellationToken,
    /// What serves requests of 2026-07-28.
    handler: OnceLock<Handler>,
    in_flight: InFlight,
    calls: JoinSet<(RequestKey, Routed)>,
    session: Option<RmcpLoop>,
    standalone: Option<RmcpLoop>,
    last_loop: LoopId,
    /// An `initialize` without a reply yet.
    opening: Option<(RequestKey, ClientJsonRpcMessage)>,
    /// The `initialize` that began the session, to begin it again with.
    opened: Option<ClientJsonRpcMessage>,
    events: mpsc::Receiver<Event>,
    events_sender: mpsc::Sender<Event>,
}

/// The ways to the client.
pub(super) struct Output {
    /// For whatever a client may be owed many of.
    pub(super) replies: mpsc::Sender<String>,
    /// For what subscriptions say, which waits until there is room.
    pub(super) notices: mpsc::Sender<String>,
}

/// What the router made of a request.
pub(super) enum Routed {
    Answered(Reply),
    NotOurs(Vec<u8>),
    /// A subscription that has said everything.
    Ended,
}

/// Something other than a line that a connection must look at.
pub(super) enum Happened {
    Routed(Result<(Id, (RequestKey, Routed)), JoinError>),
    Rmcp(Event),
}

impl Connection {
    pub(super) fn new(server: Arc<StdioServer>, output: Output) -> Self {
        let (events_sender, events) = mpsc::channel(UNSEEN);
        Self {
            stop: server.stop.child_token(),
            server,
            output,
            handler: OnceLock::new(),
            in_flight: InFlight::default(),
            calls: JoinSet::new(),
            session: None,
            standalone: None,
            last_loop: LoopId::FIRST,
            opening: None,
            opened: None,
            events,
            events_sender,
        }
    }

    /// Waits until something happens; may be dropped while it waits.
    pub(super) async fn next(&mut self) -> Happened {
        tokio::select! {
            Some(routed) = self.calls.join_next_with_id() => Happened::Routed(routed),
            Some(event) = self.events.recv() => Happened::Rmcp(event),
        }
    }

    /// Ends all subscriptions in good order.
    pub(super) fn end_subscriptions(&self) {
        self.stop.cancel();
    }

    /// Goes on until every request has its reply.
    pub(super) async fn settle(&mut self) {
        while !self.in_flight.is_empty() {
            let happened = self.next().await;
            self.handle(happened).await;
        }
    }

    pub(super) async fn handle(&mut self, happened: Happened) {
        match happened {
            Happened::Routed(Ok((task, (key, routed)))) => {
                let Some(id) = self.in_flight.remove_routed(&key, task) else {
                    return;
                };
                match routed {
                    Routed::Answered(reply) => self.reply(reply).await,
                    Routed::NotOurs(text) => {
                        self.hand_on(Lifecycle::Standalone, &text, key, &id).await;
                    }
                    Routed::Ended => {}
                }
            }
            Happened::Routed(Err(error)) => {
                if let Some(id) = self.in_flight.remove_task(error.id()) {
                    tracing::error!(%error, "a request failed inside the router");
                    self.refuse(Some(&id), &ProtocolError::internal("internal error"))
                        .await;
                }
            }
            Happened::Rmcp(Event::Sent(from, message)) => self.pass_out(from, *message).await,
            Happened::Rmcp(Event::Ended(ended)) => self.forget(ended).await,
        }
    }

    /// Decides about one line.
    pub(super) async fn receive(&mut self, line: Line) {
        let Line::Message(text) = line else {
            let limit = self.server.message_limit;
            let words = format!("a message may have at most {limit} bytes");
            let error = limit_reached("message", ProtocolError::invalid_request(words));
            return self.refuse(None, &error).await;
        };
        let message = match Message::parse(&text) {
            Ok(message) => message,
            Err(malformed) => {
                if let Some(reply) = malformed.into_reply() {
                    self.reply(reply).await;
                }
                return;
            }
        };
        match message.kind() {
            MessageKind::Request => self.request(&message, &text).await,
            MessageKind::Notification => self.notification(&message, &text),
            // An answer to what the session asked the client.
            MessageKind::Response => self.tell(Lifecycle::Session, &text),
        }
    }

    async fn request(&mut self, message: &Message<'_>, text: &[u8]) {
        let Some((id, key)) = message.id().zip(message.id().and_then(RequestKey::read)) else {
            return;
        };
        if self.in_flight.contains(&key) {
            let words = format!("id {id} belongs to a request that has no reply yet");
            return self
                .refuse(Some(id), &ProtocolError::invalid_request(words))
                .await;
        }
        let in_session = self.session.is_some() || self.opened.is_some();
        match Versions::era(message, None) {
            Some(Era::Standalone) => match self.server.versions.admit(message, None) {
                Ok(()) => self.standalone(message, text, key, id).await,
                Err(reply) => self.reply(reply).await,
            },
            Some(Era::Session) if in_session || message.method() == INITIALIZE => {
                self.hand_on(Lifecycle::Session, text, key, id).await;
            }
            Some(Era::Session) => self.hand_on(Lifecycle::Standalone, text, key, id).await,
            None if in_session => self.hand_on(Lifecycle::Session, text, key, id).await,
            // Allowed before `initialize`, where there is no session to answer it.
            None if message.method() == "ping" => self.reply(Reply::result(Some(id), "{}")).await,
            None => {
                if let Err(error) = message.meta().required() {
                    self.refuse(Some(id), &error).await;
                }
            }
        }
    }

    async fn standalone(
        &mut self,
        message: &Message<'_>,
        text: &[u8],
        key: RequestKey,
        id: &RawValue,
    ) {
        match refuse_gone(message) {
            Err(error) => self.refuse(Some(id), &error).await,
            Ok(()) if message.method() == LISTEN => self.listen(text.to_vec(), key, id),
            Ok(()) => self.route(text.to_vec(), key, id),
        }
    }

    /// Asks the router, without waiting for it.
    fn route(&mut self, text: Vec<u8>, key: RequestKey, id: &RawValue) {
        let (router, caller) = (self.server.router.clone(), self.server.caller.clone());
        // The same way as the reply, which comes after.
        let notices = self.output.replies.clone();
        let its = key.clone();
        let call = self.calls.spawn(async move {
            let answer = match Message::parse(&text) {
                Ok(message) => router.route_telling(&message, &caller, notices).await,
                Err(malformed) => Some(malformed.into_response()),
            };
            (its, answer.map_or(Routed::NotOurs(text), Routed::Answered))
        });
        self.in_flight.insert(key, id, Owner::Router(call));
    }

    /// Begins a subscription, which goes on by itself until it is cancelled.
    fn listen(&mut self, text: Vec<u8>, key: RequestKey, id: &RawValue) {
        let (router, handler) = (self.server.router.clone(), self.handler().clone());
        let (notices, stop) = (self.output.notices.clone(), self.stop.clone());
        let (its, caller) = (key.clone(), self.server.caller.clone());
        let call = self.calls.spawn(async move {
            let listening = listen(&router, &handler, &caller, &text, notices, stop);
            (its, listening.await)
        });
        self.in_flight.insert(key, id, Owner::Router(call));
    }

    fn handler(&self) -> &Handler {
        self.handler.get_or_init(|| self.server.engine.handler())
    }

    fn notification(&mut self, message: &Message<'_>, text: &[u8]) {
        if message.method() == "notifications/cancelled"
            && let Some(key) = cancelled(text)
        {
            return self.cancel(&key, text);
        }
        let lifecycle = match Versions::era(message, None) {
            Some(Era::Standalone) => Lifecycle::Standalone,
            _ if self.session.is_some() => Lifecycle::Session,
            _ => Lifecycle::Standalone,
        };
        self.tell(lifecycle, text);
    }

    fn cancel(&mut self, key: &RequestKey, text: &[u8]) {
        if self
            .opening
            .as_ref()
            .is_some_and(|(opening, _)| opening == key)
        {
            tracing::debug!("`initialize` cannot be cancelled");
            return;
        }
        match self.in_flight.remove(key) {
            Some((_, Owner::Router(call))) => call.abort(),
            Some((_, Owner::Rmcp(by))) if self.is_running(Lifecycle::Standalone, by) => {
                self.tell(Lifecycle::Standalone, text);
            }
            Some((_, Owner::Rmcp(_))) | None => self.tell(Lifecycle::Session, text),
        }
    }

    /// Gives a request to rmcp.
    async fn hand_on(&mut self, to: Lifecycle, text: &[u8], key: RequestKey, id: &RawValue) {
        let mut message = match serde_json::from_slice::<ClientJsonRpcMessage>(text) {
            Ok(message) => message,
            Err(error) => {
                let words = format!("not a request that can be served: {error}");
                return self
                    .refuse(Some(id), &ProtocolError::invalid_request(words))
                    .await;
            }
        };
        if let JsonRpcMessage::Request(request) = &mut message {
            let extensions = request.request.extensions_mut();
            extensions.insert(self.server.caller.clone());
        }
        if to == Lifecycle::Session && self.session.is_none() && self.opened.is_none() {
            if !is_initialize(&message) {
                let error =
                    ProtocolError::invalid_params("the parameters of `initialize` are malformed");
                return self.refuse(Some(id), &error).await;
            }
            self.opening = Some((key.clone(), message.clone()));
        }
        let by = self.send(to, message).await;
        self.in_flight.insert(key, id, Owner::Rmcp(by));
    }

    /// Gives rmcp a message that has no reply. Only a loop of 2026-07-28 is
    /// started for one: a session does not begin that way.
    fn tell(&mut self, to: Lifecycle, text: &[u8]) {
        let Ok(message) = serde_json::from_slice::<ClientJsonRpcMessage>(text) else {
            tracing::debug!("dropped a message that rmcp does not understand");
            return;
        };
        if to == Lifecycle::Standalone && self.standalone.is_none() {
            self.standalone = Some(self.begin(to));
        }
        let Some(rmcp) = self.slot(to) else {
            tracing::debug!("dropped a message: there is no session");
            return;
        };
        if rmcp.send(message).is_err() {
            tracing::debug!("dropped a message: rmcp's loop has ended");
        }
    }

    /// Sends a request to a loop, which is started, or started again, for it.
    async fn send(&mut self, to: Lifecycle, mut message: ClientJsonRpcMessage) -> LoopId {
        loop {
            let rmcp = match self.slot(to).take() {
                Some(rmcp) => rmcp,
                None => self.begin(to),
            };
            let id = rmcp.id();
            match rmcp.send(message) {
                Ok(()) => {
                    *self.slot(to) = Some(rmcp);
                    return id;
                }
                Err(back) => message = *back,
            }
            self.forget(id).await;
        }
    }

    /// Starts a loop; a session that there was before goes on in it.
    fn begin(&mut self, lifecycle: Lifecycle) -> RmcpLoop {
        self.last_loop = self.last_loop.next();
        let events = self.events_sender.clone();
        let handler = match lifecycle {
            Lifecycle::Session => &self.server.engine.handler(),
            Lifecycle::Standalone => self.handler(),
        };
        let rmcp = RmcpLoop::start(self.last_loop, lifecycle, handler, events);
        if lifecycle == Lifecycle::Session
            && let Some(opened) = self.opened.clone()
        {
            // Should it fail, the loop ends, and what is sent after it with it.
            let _ = rmcp.send(opened);
        }
        rmcp
    }

    fn slot(&mut self, lifecycle: Lifecycle) -> &mut Option<RmcpLoop> {
        match lifecycle {
            Lifecycle::Session => &mut self.session,
            Lifecycle::Standalone => &mut self.standalone,
        }
    }

    fn is_running(&mut self, lifecycle: Lifecycle, id: LoopId) -> bool {
        self.slot(lifecycle)
            .as_ref()
            .is_some_and(|rmcp| rmcp.id() == id)
    }

    /// Writes a message of rmcp's, unless it answers what nobody waits for.
    async fn pass_out(&mut self, from: LoopId, message: rmcp::model::ServerJsonRpcMessage) {
        let (answers, succeeded) = match &message {
            JsonRpcMessage::Response(response) => (Some(&response.id), true),
            JsonRpcMessage::Error(error) => (error.id.as_ref(), false),
            _ => (None, false),
        };
        if let Some(id) = answers {
            let key = RequestKey::from(id);
            if self.in_flight.remove_served(&key, from).is_none() {
                return;
            }
            if let Some((_, opened)) = self.opening.take_if(|(opening, _)| *opening == key)
                && succeeded
            {
                self.opened = Some(with_id(opened, RESUMED));
            }
        }
        let written = match &message {
            JsonRpcMessage::Request(request) => as_written(request),
            _ => None,
        };
        match written.map_or_else(|| serde_json::to_string(&message), Ok) {
            Ok(line) => self.write(line).await,
            Err(error) => tracing::error!(%error, "a message of rmcp's could not be written"),
        }
    }

    /// Lets go of a loop that has ended, and of what it still owed.
    async fn forget(&mut self, ended: LoopId) {
        for lifecycle in [Lifecycle::Session, Lifecycle::Standalone] {
            let had = self.slot(lifecycle).take_if(|rmcp| rmcp.id() == ended);
            if had.is_some() && lifecycle == Lifecycle::Session {
                self.opening = None;
            }
        }
        for id in self.in_flight.remove_loop(ended) {
            let error =
                ProtocolError::internal("internal error: the session ended before its reply");
            self.refuse(Some(&id), &error).await;
        }
    }

    async fn refuse(&self, id: Option<&RawValue>, error: &ProtocolError) {
        self.reply(Reply::error(id, error)).await;
    }

    async fn reply(&self, reply: Reply) {
        self.write(reply.body).await;
    }

    async fn write(&self, line: String) {
        // An error means that the writer is gone, which ends the connection.
        let _ = self.output.replies.send(line).await;
    }
}

/// The request that a cancellation is about; `None` if it names none.
fn cancelled(text: &[u8]) -> Option<RequestKey> {
    #[derive(Deserialize)]
    struct Notification<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "requestId")]
        request_id: &'a RawValue,
    }
    let notification: Notification<'_> = serde_json::from_slice(text).ok()?;
    RequestKey::read(notification.params.request_id)
}

fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

fn with_id(mut message: ClientJsonRpcMessage, id: &str) -> ClientJsonRpcMessage {
    if let JsonRpcMessage::Request(request) = &mut message {
        request.id = RequestId::String(id.into());
    }
    message
}

#[cfg(test)]
mod tests;
