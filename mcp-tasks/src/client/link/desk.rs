//! Questions of older sessions (P70): requests from the server, while a call is
//! open. They do not name the call.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientResult, CustomResult, ErrorData, RequestId, ServerNotification,
    ServerRequest,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, Service};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{mpsc, oneshot};

use super::tap::Tap;
use crate::client::{Answer, QuestionKind};

/// A question that came while a call was open.
#[derive(Debug)]
pub(in crate::client) struct Visit {
    pub(in crate::client) kind: QuestionKind,
    /// The server waits for this; dropped when it no longer does.
    pub(in crate::client) reply: oneshot::Sender<Answer>,
}

/// Where questions are brought to the calls that are open.
#[derive(Debug, Default)]
pub(in crate::client) struct Desk {
    calls: Mutex<Vec<Seat>>,
}

#[derive(Debug)]
struct Seat {
    number: u64,
    request: RequestId,
    visits: mpsc::UnboundedSender<Visit>,
}

impl Desk {
    /// Takes questions for a call, which is this request, until it is dropped.
    pub(in crate::client) fn sit(self: &Arc<Self>, request: RequestId) -> Seated {
        let (visits, receiver) = mpsc::unbounded_channel();
        let mut calls = self.lock();
        let number = calls.last().map_or(0, |seat| seat.number + 1);
        calls.push(Seat {
            number,
            request,
            visits,
        });
        Seated {
            desk: Arc::clone(self),
            number,
            visits: receiver,
        }
    }

    /// Brings a question to the call that it came with, or if that is not known,
    /// to the one that has been open for the longest time.
    fn bring(&self, origin: Option<&RequestId>, visit: Visit) -> Result<(), ErrorData> {
        let calls = self.lock();
        let of_origin = origin.and_then(|id| calls.iter().find(|seat| seat.request == *id));
        let seat = of_origin.or_else(|| calls.first());
        seat.and_then(|seat| seat.visits.send(visit).ok())
            .ok_or_else(|| {
                ErrorData::invalid_request("no call is open that a question could belong to", None)
            })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Seat>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that takes questions.
#[derive(Debug)]
pub(in crate::client) struct Seated {
    desk: Arc<Desk>,
    number: u64,
    visits: mpsc::UnboundedReceiver<Visit>,
}

impl Seated {
    /// The next question. Cancel-safe.
    pub(in crate::client) async fn next(&mut self) -> Visit {
        match self.visits.recv().await {
            Some(visit) => visit,
            // The sender is at the desk as long as this is.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.desk.lock().retain(|seat| seat.number != self.number);
    }
}

/// What rmcp asks of a client.
#[derive(Debug)]
pub(super) struct Handler {
    pub(super) config: ClientConfig,
    pub(super) desk: Arc<Desk>,
    pub(super) tap: Arc<Tap>,
}

impl Handler {
    async fn answer(
        &self,
        method: &str,
        typed: Value,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let internal =
            |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
        let params: Arc<RawValue> = match self.tap.question(&context.id) {
            Some(params) => params,
            None => to_raw_value(&typed["params"]).map_err(internal)?.into(),
        };
        let origin = match context.extensions.get() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id.clone()),
            _ => None,
        };
        let (reply, answer) = oneshot::channel();
        let kind = QuestionKind::read(method, Some(&params));
        if let QuestionKind::Other { problem, .. } = &kind {
            return Err(ErrorData::invalid_params(problem.clone(), None));
        }
        self.desk.bring(origin.as_ref(), Visit { kind, reply })?;
        let answer = tokio::select! {
            answer = answer => answer,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        };
        let answer = answer.unwrap_or_else(|_| Answer::dismiss());
        let answer = serde_json::from_str(answer.as_json().get()).map_err(internal)?;
        Ok(ClientResult::CustomResult(CustomResult::new(answer)))
    }
}

impl Service<RoleClient> for Handler {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let typed = serde_json::to_value(&request)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let method = typed["method"].as_str().unwrap_or_default().to_owned();
        match &*method {
            "ping" => Ok(ClientResult::empty(())),
            "elicitation/create" | "sampling/createMessage" | "roots/list" => {
                self.answer(&method, typed, context).await
            }
            _ => Err(ErrorData::new(
                rmcp::model::ErrorCode::METHOD_NOT_FOUND,
                format!("method not found: {method}"),
                None,
            )),
        }
    }

    async fn handle_notification(
        &self,
        _: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // What matters of these is heard on the wire.
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}
