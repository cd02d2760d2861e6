//! What is asked of people who come to the server themselves, rather than by
//! their client: which questions they have, and what becomes of an answer.

use std::sync::{Arc, Weak};

use serde_json::value::RawValue;
use tokio::sync::watch;

use super::{Runtime, Shared, TaskFilter, store_failed};
use crate::protocol::{FieldError, ProtocolError, TaskStatus};
use crate::store::Delivery;
use crate::task::{
    Access, Answer, Caller, InputKey, KeyId, Problem, SealingKey, Snapshot, TaskId, Timestamp,
};

/// What became of an answer.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    /// It counts.
    Recorded,
    /// The question was answered before, or is asked no more.
    TooLate,
    /// It does not fit, and the question is open still.
    Unfit(Vec<FieldError>),
}

/// Changes of any tasks, here or in other processes.
pub(crate) struct Changes {
    shared: Weak<Shared>,
    told: watch::Receiver<()>,
}

impl Changes {
    /// Waits until some task may have changed; false once the server is gone.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> bool {
        self.told.changed().await.is_ok() && self.shared.strong_count() > 0
    }
}

impl Runtime {
    /// The tasks of a caller that wait for an answer, newest first.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails.
    pub(crate) async fn asking(
        &self,
        caller: &Caller,
        limit: usize,
    ) -> Result<Vec<Arc<Snapshot>>, ProtocolError> {
        let filter = TaskFilter::new()
            .caller(caller.clone())
            .status(TaskStatus::InputRequired)
            .limit(limit);
        self.shared.list(&filter).await
    }

    /// Reads a task; `None` if it does not exist for this caller.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails.
    pub(crate) async fn find(
        &self,
        id: &TaskId,
        caller: &Caller,
    ) -> Result<Option<Arc<Snapshot>>, ProtocolError> {
        let found = self.shared.store.get(id, Access::Caller(caller)).await;
        found.map_err(|error| store_failed(&error))
    }

    /// Hears of changes from now on.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails.
    pub(crate) async fn changes(&self) -> Result<Changes, ProtocolError> {
        let shared = &self.shared;
        // What other processes change is heard of in the background.
        shared.start();
        let enlisted = shared.enlisted().await;
        enlisted.map_err(|error| store_failed(&error))?;
        Ok(Changes {
            shared: Arc::downgrade(shared),
            told: shared.watchers.all(),
        })
    }

    /// Takes one answer, as [`update`](Self::update) does.
    ///
    /// # Errors
    ///
    /// `-32602` if it is longer than answers may be, `-32603` if the store fails.
    pub(crate) async fn hear(
        &self,
        id: &TaskId,
        key: &InputKey,
        caller: &Caller,
        response: &RawValue,
    ) -> Result<Heard, ProtocolError> {
        let answer = Answer {
            key: key.clone(),
            response,
        };
        Ok(match self.deliver(id, caller, &[answer]).await? {
            Some(Delivery::Recorded(change)) if !change.answered.is_empty() => Heard::Recorded,
            Some(Delivery::Recorded(_)) | None => Heard::TooLate,
            Some(Delivery::Refused(refusal)) => {
                let problems = refusal.0.into_iter().map(|error| error.problem);
                Heard::Unfit(problems.flat_map(fields).collect())
            }
        })
    }

    /// The key by which what is given out now is known again, by whichever
    /// process of the server.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails.
    pub(crate) async fn newest_key(&self) -> Result<SealingKey, ProtocolError> {
        let shared = &self.shared;
        let key = shared.sealer.newest(&*shared.store, shared.now()).await;
        key.map_err(|error| store_failed(&error))
    }

    /// The key of this id, if it is good still.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails.
    pub(crate) async fn key(&self, id: KeyId) -> Result<Option<SealingKey>, ProtocolError> {
        let shared = &self.shared;
        let key = shared.sealer.key(id, &*shared.store, shared.now()).await;
        key.map_err(|error| store_failed(&error))
    }

    /// The time as the engine has it.
    pub(crate) fn now(&self) -> Timestamp {
        self.shared.now()
    }
}

fn fields(problem: Problem) -> Vec<FieldError> {
    match problem {
        Problem::Fields(errors) => errors,
        Problem::Shape(rule) => vec![FieldError::new("", rule)],
    }
}
