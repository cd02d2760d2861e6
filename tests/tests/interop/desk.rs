//! Whoever answers the questions that rmcp's client is asked.
#![expect(deprecated, reason = "sampling and roots are still on the wire")]

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CancelledNotificationParam, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    CustomNotification, ElicitRequestParams, ElicitResult, Implementation, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::table::{Case, When};

/// A client's person, model and files; it answers for one case at a time.
#[derive(Clone, Default)]
pub(crate) struct Desk {
    is_bare: bool,
    /// Something happened at which the call is to be cancelled.
    pub(crate) stop: Arc<Notify>,
    case: Arc<Mutex<Current>>,
    over: Arc<Mutex<Over>>,
}

/// What is known of the case that is under way.
#[derive(Default)]
pub(crate) struct Current {
    answers: Vec<(String, Value)>,
    cancel: Option<When>,
    pub(crate) asked: Vec<(String, Value)>,
    pub(crate) progress: Vec<Value>,
}

/// What is known of all cases.
#[derive(Default)]
pub(crate) struct Over {
    /// What nobody has asked for.
    pub(crate) unexpected: Vec<String>,
    /// The questions at URLs that somebody agreed to, and those of them that
    /// the server says are over.
    pub(crate) agreed: Vec<String>,
    pub(crate) completed: Vec<String>,
    /// How many questions there were, and how many the server has taken back.
    pub(crate) asked: usize,
    pub(crate) taken_back: usize,
}

impl Desk {
    pub(crate) fn new(is_bare: bool) -> Self {
        Self {
            is_bare,
            ..Self::default()
        }
    }

    /// Answers for another case from now on.
    pub(crate) fn begin(&self, case: &Case) {
        *self.case.lock().unwrap() = Current {
            answers: case.answers.clone().into_iter().collect(),
            cancel: case.cancel,
            ..Current::default()
        };
    }

    /// What happened in the case.
    pub(crate) fn end(&self) -> Current {
        std::mem::take(&mut *self.case.lock().unwrap())
    }

    /// What happened in all cases.
    pub(crate) fn close(&self) -> Over {
        std::mem::take(&mut *self.over.lock().unwrap())
    }

    async fn answer<T: DeserializeOwned>(&self, key: &str, params: Value) -> Result<T, ErrorData> {
        let mut answer = self.look_up(key, params)?;
        if answer == "never" {
            pending::<()>().await;
        }
        if let Value::String(text) = answer {
            answer = json!({ "action": "accept", "content": { "answer": text } });
        }
        let after = answer
            .as_object_mut()
            .and_then(|answer| answer.remove("after"));
        let after = after.and_then(|after| after.as_u64());
        tokio::time::sleep(Duration::from_millis(after.unwrap_or(0))).await;
        let answer = serde_json::from_value(answer);
        answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    fn look_up(&self, key: &str, params: Value) -> Result<Value, ErrorData> {
        let mut case = self.case.lock().unwrap();
        let answer = case.answers.iter().find(|(known, _)| known == key);
        let answer = answer.map(|(_, answer)| answer.clone());
        let id = params["elicitationId"].as_str().map(str::to_owned);
        case.asked.push((key.to_owned(), params));
        self.over.lock().unwrap().asked += 1;
        let answer = answer
            .ok_or_else(|| ErrorData::internal_error(format!("nobody expects {key:?}"), None))?;
        if answer["action"] == "accept"
            && let Some(id) = id.filter(|id| !id.is_empty())
        {
            self.over.lock().unwrap().agreed.push(id);
        }
        self.happened(&mut case, When::Asked);
        Ok(answer)
    }

    /// Has the call cancelled, once, if this is when.
    fn happened(&self, case: &mut Current, what: When) {
        if case.cancel.take_if(|when| *when == what).is_some() {
            self.stop.notify_one();
        }
    }

    fn unexpected(&self, words: String) {
        self.over.lock().unwrap().unexpected.push(words);
    }
}

impl ClientHandler for Desk {
    fn get_info(&self) -> ClientConfig {
        let all = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} });
        let capabilities = if self.is_bare { json!({}) } else { all };
        let capabilities = serde_json::from_value(capabilities).expect("they are capabilities");
        ClientConfig::new(capabilities, Implementation::new("interop", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = json!(request);
        let key = params["message"].as_str().unwrap_or_default().to_owned();
        self.answer(&key, params).await
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let params = json!(request);
        let content = &params["messages"][0]["content"];
        let first = content.get(0).unwrap_or(content);
        let key = format!("model: {}", first["text"].as_str().unwrap_or_default());
        self.answer(&key, params).await
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.answer("roots", json!({})).await
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let mut told = json!(params);
        told.as_object_mut()
            .map(|told| told.remove("progressToken"));
        let mut case = self.case.lock().unwrap();
        case.progress.push(told);
        self.happened(&mut case, When::Started);
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _: NotificationContext<RoleClient>,
    ) {
        let CustomNotification { method, params, .. } = notification;
        let id = params
            .as_ref()
            .and_then(|params| params["elicitationId"].as_str());
        match (method.as_str(), id) {
            ("notifications/elicitation/complete", Some(id)) => {
                self.over.lock().unwrap().completed.push(id.to_owned());
            }
            _ => self.unexpected(format!("{method} {params:?}")),
        }
    }

    async fn on_cancelled(
        &self,
        _: CancelledNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.over.lock().unwrap().taken_back += 1;
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.unexpected(format!("log: {params:?}"));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.unexpected("the tools changed".to_owned());
    }
}
