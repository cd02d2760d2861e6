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
use crate::client::answer::AnyAnswers;
use crate::client::{Answer, Question, QuestionKind};

/// The code that the protocol has for a user who does not want to.
const NOBODY_ANSWERS: rmcp::model::ErrorCode = rmcp::model::ErrorCode(-1);

/// A question that came while a call was open.
#[derive(Debug)]
pub(in crate::client) struct Visit {
    pub(in crate::client) kind: QuestionKind,
    /// The server waits for this; dropped when it no longer does.
    pub(in crate::client) reply: oneshot::Sender<Answer>,
}

/// Where questions are brought to the calls that are open.
#[derive(Default)]
pub(in crate::client) struct Desk {
    calls: Mutex<Vec<Seat>>,
    /// Who answers what belongs to no call.
    answers: Option<Arc<dyn AnyAnswers>>,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Seat {
    number: u64,
    request: RequestId,
    visits: mpsc::UnboundedSender<Visit>,
}

impl Desk {
    pub(super) fn new(answers: Option<Arc<dyn AnyAnswers>>) -> Self {
        Self {
            calls: Mutex::default(),
            answers,
        }
    }

    /// Answers a server that wants to know the client's folders: it asks as soon as
    /// it is connected, and again whenever it likes.
    async fn roots(&self) -> Option<Answer> {
        let question = Question {
            key: "roots".into(),
            task: None,
            tool: None,
            kind: QuestionKind::Roots,
        };
        self.answers.as_ref()?.answer(question).await
    }

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
        let kind = QuestionKind::read(method, Some(&params));
        if let QuestionKind::Other { problem, .. } = &kind {
            return Err(ErrorData::invalid_params(problem.clone(), None));
        }
        let can_be_declined = matches!(kind, QuestionKind::Form { .. } | QuestionKind::Url { .. });
        let answer = async {
            if matches!(kind, QuestionKind::Roots) && origin.is_none() {
                return Ok::<_, ErrorData>(self.desk.roots().await);
            }
            let (reply, answer) = oneshot::channel();
            self.desk.bring(origin.as_ref(), Visit { kind, reply })?;
            // The call may end before.
            Ok(answer.await.ok())
        };
        let answer = tokio::select! {
            answer = answer => answer?,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        };
        let answer = match answer {
            Some(answer) if can_be_declined || !answer.is_refusal() => answer,
            None if can_be_declined => Answer::dismiss(),
            // The results of these have no word for it.
            _ => return Err(ErrorData::new(NOBODY_ANSWERS, "nobody answers", None)),
        };
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
