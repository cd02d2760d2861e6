//! What clients ask of a runtime: calls, and questions about their tasks.
//!
//! Every request goes the same way: the client's capability, the shape of the
//! request, ownership and existence, the store.

use std::future::poll_fn;
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::driver::{Driver, OpenCall, ProgressSink, SessionClient, Window};
use super::output::Called;
use super::rounds::{Opened, Retry, Round, code_has_changed};
use super::{Mark, RETRY_MS, Runtime, Shared, Support, Tool, limit_reached, store_failed};
use crate::flow::{Context, Given, Needs};
use crate::observe::{TraceContext, figures, story};
use crate::protocol::{Capabilities, ProtocolError};
use crate::store::{Claim, Delivery, LiveLimits, StoreError};
use crate::task::{
    Access, Answer, Caller, ClientInfo, Created, Entry, Event, Snapshot, TaskId, Timestamp,
};

/// A call of one of our tools.
#[derive(Clone, Copy)]
pub struct CallRequest<'a> {
    /// The arguments as they were sent.
    pub arguments: Option<&'a RawValue>,
    /// Who calls.
    pub caller: &'a Caller,
    /// What the client declared on this request (P1).
    pub capabilities: Capabilities,
    /// The client of an older session; else the request's `_meta` names it.
    pub client: Option<&'a ClientInfo>,
    /// The request's `_meta` as it was sent.
    pub meta: Option<&'a RawValue>,
    /// What the client brings if it was asked something before (P60).
    pub retry: Option<&'a Retry<'a>>,
    /// The client, if it can be asked while the call is open (P70).
    pub session: Option<&'a Arc<dyn SessionClient>>,
    /// Where the call's progress is told, if the client asked for it. That of a
    /// task is in the task.
    pub progress: Option<&'a Arc<dyn ProgressSink>>,
}

impl CallRequest<'_> {
    /// The client and the `_meta`, as far as the tool takes them.
    fn origin(&self, needs: Needs) -> (Option<ClientInfo>, Option<Arc<RawValue>>) {
        let named = || self.meta.and_then(client_of);
        let client = needs.client.then(|| self.client.cloned().or_else(named));
        let meta = self.meta.filter(|_| needs.meta);
        (client.flatten(), meta.map(|raw| raw.to_owned().into()))
    }
}

impl Runtime {
    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// `-32021` if the tool needs a capability that the client did not declare,
    /// before its body runs (P5); `-32602` for arguments that do not fit; the
    /// function's own protocol error, if it ran inline; `-32603` at a limit, or
    /// if the store fails.
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels a call that runs inline. A task that has
    /// been created goes on (P52).
    pub async fn call(&self, tool: &Tool, call: CallRequest<'_>) -> Result<Called, ProtocolError> {
        let called = self.answer(tool, call).await?;
        let path = match &called {
            Called::Task(_) => "task",
            Called::InputRequired(_) => "rounds",
            Called::Result(_) if call.retry.is_some() => "rounds",
            Called::Result(_) if call.session.is_some() => "session",
            Called::Result(_) => "inline",
        };
        figures::called(&tool.definition.name, path);
        Ok(called)
    }

    async fn answer(&self, tool: &Tool, call: CallRequest<'_>) -> Result<Called, ProtocolError> {
        self.refuse_if_stopping()?;
        let shared = &self.shared;
        let definition = &tool.definition;
        let declared = call.capabilities.tasks;
        if definition.support == Support::Required && !declared {
            return Err(ProtocolError::tasks_required(format!(
                "tool `{}` only runs as a task: declare the extension `{}` on the request",
                tool.name(),
                crate::protocol::TASKS_EXTENSION
            )));
        }
        let _open = shared.limits.admit(&shared.calls, call.caller)?;
        let (client, meta) = call.origin(definition.needs());
        let size = call.arguments.map_or(0, |arguments| arguments.get().len())
            + client.as_ref().map_or(0, ClientInfo::weight)
            + meta.as_ref().map_or(0, |meta| meta.get().len());
        if size > shared.limits.arguments {
            let and_meta = meta.map_or("", |_| " and `_meta`");
            let words = format!(
                "the arguments{and_meta} take {size} bytes; the limit is {}",
                shared.limits.arguments
            );
            return Err(limit_reached(
                "arguments",
                ProtocolError::invalid_params(words),
            ));
        }
        if let Some(retry) = call.retry {
            return match shared.open_round(tool, &call, retry).await? {
                Opened::AsksAgain(questions) => Ok(Called::InputRequired(questions)),
                Opened::GoesOn(round) => shared.go_on(tool, &call, round).await,
            };
        }
        let given = Given {
            states: &shared.states,
            caller: call.caller,
            client: client.as_ref(),
            meta: meta.as_deref(),
        };
        let body = tool.body(call.arguments, given)?;
        tool.check_limits(call.arguments)?;
        let becomes_task = declared && definition.support != Support::Forbidden;
        let is_task_at_once = becomes_task && !definition.starts_task;
        let window = is_task_at_once
            .then_some(definition.inline_ms)
            .flatten()
            .filter(|_| definition.support != Support::Required);
        let now = shared.now();
        let (id, seed) = shared.ids.draw(now)?;
        let created = Created {
            id,
            tool: definition.name.clone(),
            version: definition.version,
            arguments: arguments(call.arguments),
            caller: call.caller.clone(),
            capabilities: Capabilities {
                // Whatever a call asks that is no task yet, its client must show.
                inbox: is_task_at_once && shared.inbox.is_for(call.caller),
                ..call.capabilities
            },
            ttl_ms: definition.ttl_ms,
            poll_interval_ms: definition.poll_interval_ms,
            cancel_grace_ms: definition.cancel_grace_ms,
            seed,
            client,
            meta,
            trace: call.meta.and_then(TraceContext::of_meta).map(Arc::new),
        };
        let context = Arc::new(Context::new(&created, now, window.is_none()));
        let driver = Driver::new(shared.clone(), context, definition.replay, Some(body));
        if !is_task_at_once {
            let mut open = OpenCall::new(created, now, call.capabilities);
            if let Some(client) = call.session {
                open = open.in_session(client.clone());
            }
            return driver
                .answer(open.telling(call.progress), becomes_task)
                .await;
        }
        let Some(window) = window else {
            return shared.begin(driver, created, now).await.map(Called::Task);
        };
        let (reply, replied) = oneshot::channel();
        tokio::spawn(driver.run_window(Window::new(created, now, window, reply)));
        replied
            .await
            .unwrap_or_else(|_| Err(ProtocolError::internal("internal error")))
    }

    /// Reads a task.
    ///
    /// # Errors
    ///
    /// `-32602` if it does not exist for this caller (P30).
    pub async fn get(&self, id: &TaskId, caller: &Caller) -> Result<Arc<Snapshot>, ProtocolError> {
        let found = self.shared.store.get(id, Access::Caller(caller)).await;
        found
            .map_err(|error| store_failed(&error))?
            .ok_or_else(no_such_task)
    }

    /// Records answers to a task's questions.
    ///
    /// # Errors
    ///
    /// `-32602` if the task does not exist for this caller, or if an answer
    /// breaks the rules of its question; nothing is recorded then.
    pub async fn update(
        &self,
        id: &TaskId,
        caller: &Caller,
        answers: &[Answer<'_>],
    ) -> Result<(), ProtocolError> {
        match self.deliver(id, caller, answers).await? {
            None => Err(no_such_task()),
            Some(Delivery::Refused(refusal)) => Err(refusal.into()),
            Some(Delivery::Recorded(_)) => Ok(()),
        }
    }

    /// The same, for those who want to know more than whether it went well;
    /// `None` if the task does not exist for this caller.
    pub(super) async fn deliver(
        &self,
        id: &TaskId,
        caller: &Caller,
        answers: &[Answer<'_>],
    ) -> Result<Option<Delivery>, ProtocolError> {
        let shared = &self.shared;
        shared.limits.check_answers(answers)?;
        let access = Access::Caller(caller);
        let unsure = Unsure(shared, id);
        let delivery = shared
            .store
            .deliver(id, access, answers, shared.now())
            .await;
        unsure.has_heard(&delivery);
        let delivery = delivery.map_err(|error| store_failed(&error))?;
        if let Some(Delivery::Recorded(change)) = &delivery {
            // An answer changes nothing that time does to the task.
            story::answers(&change.snapshot, &change.answered, shared.now());
            if change.changed {
                shared.has_news(id, change.unclaimed);
            }
        }
        Ok(delivery)
    }

    /// Asks for a task's cancellation; does nothing to one that has ended.
    ///
    /// # Errors
    ///
    /// `-32602` if the task does not exist for this caller.
    pub async fn cancel(&self, id: &TaskId, caller: &Caller) -> Result<(), ProtocolError> {
        let found = self.shared.cancel(id, Access::Caller(caller)).await?;
        if found { Ok(()) } else { Err(no_such_task()) }
    }
}

/// Somebody waits to hear whether the store has changed a task.
///
/// If it goes away before, or hears that it cannot be said, the server looks
/// after the task: at once, and again when the store has had time to do what it
/// had begun.
pub(super) struct Unsure<'a>(pub(super) &'a Arc<Shared>, pub(super) &'a TaskId);

/// How long after one another: a store may take its time.
const LOOK_AGAIN: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_secs(1),
    Duration::from_secs(10),
];

impl Unsure<'_> {
    pub(super) fn has_heard<T>(self, reply: &Result<T, StoreError>) {
        if !matches!(reply, Err(StoreError::Unsure(_))) {
            std::mem::forget(self);
        }
    }
}

impl Drop for Unsure<'_> {
    fn drop(&mut self) {
        self.0.look_after(self.1);
        let Ok(tokio) = Handle::try_current() else {
            return;
        };
        let (shared, id) = (Arc::downgrade(self.0), self.1.clone());
        tokio.spawn(async move {
            for pause in LOOK_AGAIN {
                tokio::time::sleep(pause).await;
                let Some(shared) = shared.upgrade() else {
                    return;
                };
                shared.look_after(&id);
            }
        });
    }
}

impl Shared {
    /// Goes on with a call that has asked its client something.
    async fn go_on(
        self: &Arc<Self>,
        tool: &Tool,
        call: &CallRequest<'_>,
        round: Round,
    ) -> Result<Called, ProtocolError> {
        let (created, at) = round.created();
        // The code that asked, if it is still there beside newer.
        let tool = self
            .tool_of(tool.name(), created.version)
            .ok_or_else(code_has_changed)?;
        let body = tool.body(
            Some(&created.arguments),
            super::resume::given(self, created),
        )?;
        let context = Arc::new(Context::new(created, at, true));
        let becomes_task = call.capabilities.tasks
            && tool.definition.starts_task
            && tool.definition.support != Support::Forbidden;
        let driver = Driver::new(self.clone(), context, tool.definition.replay, Some(body));
        let open = OpenCall::resume(round, call.capabilities);
        driver
            .answer(open.telling(call.progress), becomes_task)
            .await
    }

    /// Creates a task and starts its driver; also if the caller goes away while
    /// the store takes its time, as nobody would run the task.
    async fn begin(
        self: &Arc<Self>,
        driver: Box<Driver>,
        created: Created,
        now: Timestamp,
    ) -> Result<Arc<Snapshot>, ProtocolError> {
        let shared = self.clone();
        let mut begin = Box::pin(async move {
            let (claim, mark) = shared.create(Entry::journal(created, now)).await?;
            let snapshot = claim.snapshot.clone();
            tokio::spawn(driver.run_task(claim, mark));
            Ok(snapshot)
        });
        // Memory answers at once.
        match poll_fn(|cx| Poll::Ready(begin.as_mut().poll(cx))).await {
            Poll::Ready(task) => task,
            Poll::Pending => tokio::spawn(begin)
                .await
                .unwrap_or_else(|_| Err(ProtocolError::internal("internal error"))),
        }
    }

    pub(super) async fn cancel(
        self: &Arc<Self>,
        id: &TaskId,
        access: Access<'_>,
    ) -> Result<bool, ProtocolError> {
        let unsure = Unsure(self, id);
        let change = self.store.cancel(id, access, self.now()).await;
        unsure.has_heard(&change);
        let change = change.map_err(|error| store_failed(&error))?;
        if let Some(change) = &change {
            if change.changed {
                story::cancel_requested(&change.snapshot);
            }
            self.follow_up(change);
        }
        Ok(change.is_some())
    }

    /// Creates a task in the store, with its journal so far; gives the claim on it,
    /// and from when that is.
    pub(super) async fn create(
        self: &Arc<Self>,
        journal: Vec<Entry>,
    ) -> Result<(Claim, Mark), ProtocolError> {
        let limits = LiveLimits {
            per_caller: self.limits.live_per_caller,
            total: self.limits.live,
        };
        self.start();
        self.enlisted()
            .await
            .map_err(|error| store_failed(&error))?;
        let id = journal.first().and_then(|first| match &first.event {
            Event::Created(created) => Some(created.id.clone()),
            _ => None,
        });
        let begun = self.begin_under_lease(journal, limits).await;
        if let (Err(StoreError::Unsure(_)), Some(id)) = (&begun, id) {
            tokio::spawn(self.clone().undo_create(id));
        }
        let (claim, mark) = begun.map_err(|error| store_failed(&error))?;
        story::created(&claim.snapshot);
        self.one_more();
        Ok((claim, mark))
    }
}

impl Shared {
    /// Cancels a task that may have been created without anybody knowing: its
    /// caller was told that it was not.
    async fn undo_create(self: Arc<Self>, id: TaskId) {
        while let Err(error) = self.cancel(&id, Access::Server).await {
            tracing::warn!(task = %id, error = error.message, "could not undo a call, trying again");
            tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
        }
    }
}

fn no_such_task() -> ProtocolError {
    ProtocolError::invalid_params(
        "no such task: it never existed, has been deleted, or is not yours",
    )
}

/// How the client names itself in a request's `_meta`.
fn client_of(meta: &RawValue) -> Option<ClientInfo> {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(rename = "io.modelcontextprotocol/clientInfo")]
        client: Option<ClientInfo>,
    }
    serde_json::from_str::<Named>(meta.get()).ok()?.client
}

/// Arguments as they are recorded, also those that were left out.
pub(super) fn arguments(given: Option<&RawValue>) -> Arc<RawValue> {
    static EMPTY: LazyLock<Arc<RawValue>> = LazyLock::new(|| {
        RawValue::from_string("{}".to_owned())
            .expect("an empty object is JSON")
            .into()
    });
    given.map_or_else(|| EMPTY.clone(), |raw| raw.to_owned().into())
}
