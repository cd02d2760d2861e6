//! `subscriptions/listen`: what is asked for, and what our part says (P40–P42).
//!
//! The router says what becomes of tasks. Whatever else a client may listen to
//! is another's; the transport puts both into one stream.

mod filter;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tracing::Instrument as _;

use self::filter::Filter;
use super::{Router, needs_tasks};
use crate::observe::figures::Subscribed;
use crate::observe::story;
use crate::protocol::{
    Capabilities, META_SUBSCRIPTION_ID, Message, MessageKind, Meta, ProtocolError, Reply,
};
use crate::runtime::{Full, Room, Runtime, Seat, Watch, limit_reached};
use crate::task::{Caller, TaskId};

/// The method that begins a subscription.
pub(crate) const LISTEN: &str = "subscriptions/listen";

/// Our part of one subscription; it ends when it is dropped.
///
/// It holds no messages: each is made of the task as it is when there is room
/// for it, so that a slow reader costs nothing and gets the last state.
pub struct Subscription {
    runtime: Runtime,
    /// The id of the request, as it was written.
    id: Box<RawValue>,
    watch: Watch,
    /// The tasks agreed to, if any were asked for.
    agreed: Option<Vec<TaskId>>,
    asks_for_more: bool,
    _seat: Seat,
    _counted: Subscribed,
}

impl Router {
    /// Begins our part of a subscription; `None` if the message does not ask for
    /// one.
    ///
    /// Tasks that do not exist for the caller are left out of it. After the
    /// acknowledgement comes the state of each task that is not as it was
    /// created, and then each change that shows more than a later
    /// `lastUpdatedAt`.
    ///
    /// # Errors
    ///
    /// The reply to send: `-32021` without the extension for whoever names
    /// tasks, before any is looked at (P6); `-32602` for a malformed filter, or
    /// too many tasks; `-32603` at a limit, or if the store fails.
    pub async fn listen(
        &self,
        message: &Message<'_>,
        caller: &Caller,
    ) -> Option<Result<Subscription, Reply>> {
        if message.kind() != MessageKind::Request || message.method() != LISTEN {
            return None;
        }
        let capabilities = match message.meta().required() {
            Ok(capabilities) => capabilities,
            Err(error) => {
                return Some(Err(Reply::error(message.id(), &error).with_status(400)));
            }
        };
        let begun = self.begin(message, capabilities, caller);
        let begun = async {
            begun.await.map_err(|error| {
                story::refused(&error);
                Reply::error(message.id(), &error)
            })
        };
        let span = story::request_span(LISTEN, None);
        Some(begun.instrument(span).await)
    }

    async fn begin(
        &self,
        message: &Message<'_>,
        capabilities: Capabilities,
        caller: &Caller,
    ) -> Result<Subscription, ProtocolError> {
        let filter = Filter::read(message.params().notifications)?;
        if filter.names_tasks() {
            needs_tasks(message, capabilities)?;
        }
        let limits = self.runtime.limits();
        let wanted = filter.task_ids(limits.subscribed_tasks)?;
        let room = Room {
            total: limits.subscriptions,
            per_caller: limits.subscriptions_per_caller,
        };
        let seat = self.seats.take(caller, room);
        let seat = seat.map_err(|full| no_seat(full, room))?;
        let ids = wanted.as_deref().unwrap_or_default();
        let (watch, agreed) = self.runtime.watch(ids, caller).await?;
        let id = message.id().expect("a request has an id");
        Ok(Subscription {
            runtime: self.runtime.clone(),
            id: id.to_owned(),
            watch,
            agreed: wanted.map(|_| agreed),
            asks_for_more: filter.asks_for_more(),
            _seat: seat,
            _counted: Subscribed::new(),
        })
    }
}

impl Subscription {
    /// Whether the client asked for more than tasks.
    pub fn asks_for_more(&self) -> bool {
        self.asks_for_more
    }

    /// The first message: names the tasks agreed to, and `more` of what else
    /// was asked for.
    pub fn acknowledgement(&self, more: Map<String, Value>) -> String {
        let mut notifications = more;
        if let Some(agreed) = &self.agreed {
            let ids = agreed.iter().map(TaskId::as_str).collect();
            notifications.insert("taskIds".to_owned(), ids);
        }
        let params = json!({ "notifications": notifications, "_meta": self.meta() });
        notification("notifications/subscriptions/acknowledged", &params)
    }

    /// Waits until a task may have something new to show.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub async fn ready(&mut self) {
        self.watch.ready().await;
    }

    /// The next `notifications/tasks`, of a task as it is now; `None` if the
    /// task that may have changed shows nothing new.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub async fn take(&mut self) -> Option<String> {
        let task = self.watch.read().await?;
        let params = task.to_notification_json(self.runtime.server_info(), &self.id);
        Some(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{params}}}"#
        ))
    }

    /// What a server that ends the subscription must send: that it does (P42).
    pub fn cancellation(&self) -> String {
        let params = json!({
            "requestId": self.id,
            "reason": "the server ends the subscription",
            "_meta": self.meta(),
        });
        notification("notifications/cancelled", &params)
    }

    /// The reply to the request, once the server ends the subscription (P42).
    pub fn result(&self) -> String {
        let result = json!({
            "resultType": "complete",
            "_meta": Meta {
                server_info: self.runtime.server_info(),
                progress: None,
                subscription_id: Some(&self.id),
            },
        });
        Reply::result(Some(&self.id), &result.to_string()).body
    }

    /// The reply to the request, if the subscription ends because something
    /// failed.
    pub fn error(&self, error: &ProtocolError) -> String {
        Reply::error(Some(&self.id), error).body
    }

    fn meta(&self) -> Value {
        json!({ META_SUBSCRIPTION_ID: self.id })
    }
}

fn no_seat(full: Full, room: Room) -> ProtocolError {
    let (limit, words) = match full {
        Full::Server => (
            "subscriptions",
            format!(
                "the server already serves {} subscriptions, its limit; try again later, or poll",
                room.total
            ),
        ),
        Full::Caller => (
            "subscriptions_per_caller",
            format!(
                "you already have {} subscriptions, the limit; end one first, or name more tasks \
                 in one",
                room.per_caller
            ),
        ),
    };
    limit_reached(limit, ProtocolError::internal(words))
}

fn notification(method: &str, params: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}
