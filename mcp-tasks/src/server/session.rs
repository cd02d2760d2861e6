//! The client of an older session, which can be asked while a call is open (P70).

use rmcp::RoleServer;
use rmcp::model::{ClientResult, CustomRequest, ErrorCode, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::value::{RawValue, to_raw_value};

use crate::protocol::{InputRequest, ProtocolError};
use crate::runtime::{Asking, SessionClient};

/// The client at the other end of a session.
pub(super) struct Session {
    peer: Peer<RoleServer>,
}

impl Session {
    pub(super) fn new(peer: Peer<RoleServer>) -> Self {
        Self { peer }
    }
}

impl SessionClient for Session {
    fn ask(&self, request: &InputRequest) -> Asking {
        let peer = self.peer.clone();
        let request = to_rmcp(request);
        Box::pin(async move {
            let handle = peer
                .send_cancellable_request(request?, PeerRequestOptions::no_options())
                .await
                .map_err(|error| unanswered(&error))?;
            let mut open = Open(Some(handle));
            let answer = open.answer().await.map_err(|error| unanswered(&error))?;
            to_json(&answer)
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

/// A question as rmcp sends it. Its maps sort the fields of the form.
fn to_rmcp(request: &InputRequest) -> Result<ServerRequest, ProtocolError> {
    let params = serde_json::from_str(request.params.get()).map_err(|_| not_sent())?;
    let request = CustomRequest::new(request.method.clone(), Some(params));
    Ok(ServerRequest::CustomRequest(request))
}

fn to_json(answer: &ClientResult) -> Result<Box<RawValue>, ProtocolError> {
    to_raw_value(answer).map_err(|_| not_sent())
}

fn not_sent() -> ProtocolError {
    ProtocolError::internal("it cannot be put into JSON")
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
