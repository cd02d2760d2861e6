//! The client of an older session, which can be asked while a call is open (P70).

mod dialect;
mod progress;
mod written;

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientResult, CustomNotification, ErrorCode, ServerNotification};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

pub(super) use self::dialect::Dialect;
pub(super) use self::progress::notices;
pub(super) use self::written::as_written;
use crate::protocol::{InputKind, InputRequest, ProtocolError};
use crate::runtime::{Asking, SessionAnswer, SessionClient};

/// What a client says instead of a model's reply when a person has refused that
/// it be asked.
const REFUSED: ErrorCode = ErrorCode(-1);

/// The client at the other end of a session, during one call.
pub(super) struct Session {
    peer: Peer<RoleServer>,
    dialect: Dialect,
    /// The ids of the URLs that a person has agreed to open.
    opened: Arc<Mutex<Vec<String>>>,
}

impl Session {
    pub(super) fn new(peer: Peer<RoleServer>, dialect: Dialect) -> Self {
        Self {
            peer,
            dialect,
            opened: Arc::default(),
        }
    }

    /// Says that what happens at URLs has come to its end: the call for which
    /// they were opened has succeeded.
    pub(super) async fn complete(&self) {
        let opened = std::mem::take(&mut *lock(&self.opened));
        for id in opened {
            let method = "notifications/elicitation/complete";
            let params = json!({ "elicitationId": id });
            let notification = CustomNotification::new(method, Some(params));
            let notification = ServerNotification::CustomNotification(notification);
            // Whoever has gone needs no telling.
            self.peer.send_notification(notification).await.ok();
        }
    }
}

impl SessionClient for Session {
    fn ask(&self, request: &InputRequest) -> Asking {
        let peer = self.peer.clone();
        let kind = request.kind();
        let id = new_id();
        let params = id.as_ref().map_err(Clone::clone);
        let params = params.and_then(|id| self.dialect.params(request, id));
        let question = params.and_then(|params| written::request(&request.method, params));
        let opened = self.opened.clone();
        Box::pin(async move {
            let handle = peer
                .send_cancellable_request(question?, PeerRequestOptions::no_options())
                .await
                .map_err(|error| unanswered(&error))?;
            let answer = match Open(Some(handle)).answer().await {
                Ok(answer) => answer,
                Err(ServiceError::McpError(error))
                    if kind == InputKind::Model && error.code == REFUSED =>
                {
                    return Ok(SessionAnswer::Refused);
                }
                Err(error) => return Err(unanswered(&error)),
            };
            if kind == InputKind::Url && agrees(&answer) {
                lock(&opened).extend(id);
            }
            to_json(&answer).map(SessionAnswer::Result)
        })
    }
}

/// A request that the client may still answer; taken back when it is dropped.
struct Open(Option<RequestHandle<RoleServer>>);

impl Open {
    async fn answer(&mut self) -> Result<ClientResult, ServiceError> {
        let Some(handle) = &mut self.0 else {
            return Err(ServiceError::TransportClosed);
        };
        let answer = (&mut handle.rx).await;
        self.0 = None;
        answer.map_err(|_| ServiceError::TransportClosed)?
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let (Some(handle), Ok(tokio)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            tokio.spawn(async move {
                let reason = "the answer is no longer needed";
                // Whoever has gone needs no telling.
                handle.cancel(Some(reason.to_owned())).await.ok();
            });
        }
    }
}

fn agrees(answer: &ClientResult) -> bool {
    use rmcp::model::ElicitationAction;
    matches!(answer, ClientResult::ElicitResult(result) if result.action == ElicitationAction::Accept)
}

/// An id that no other elicitation of the server has.
fn new_id() -> Result<String, ProtocolError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| ProtocolError::internal("internal error"))?;
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
    Ok(id.to_string())
}

fn lock(opened: &Mutex<Vec<String>>) -> std::sync::MutexGuard<'_, Vec<String>> {
    opened.lock().unwrap_or_else(PoisonError::into_inner)
}

fn to_json(answer: &ClientResult) -> Result<Box<RawValue>, ProtocolError> {
    to_raw_value(answer).map_err(|_| ProtocolError::internal("it cannot be put into JSON"))
}

fn unanswered(error: &ServiceError) -> ProtocolError {
    match error {
        ServiceError::McpError(error) if error.code == ErrorCode::METHOD_NOT_FOUND => {
            ProtocolError::internal("it does not know how to")
        }
        ServiceError::McpError(error) => ProtocolError::internal(error.message.clone()),
        error => ProtocolError::internal(error.to_string()),
    }
}
