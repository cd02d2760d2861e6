//! A store that says when a task has asked or ended.
//!
//! Whoever measures throughput must neither wait longer than it takes nor ask
//! all the time. So the one who called is told as a client that listens would
//! be, when the commit is durable; then it reads the task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_tasks::TaskStore;
use mcp_tasks::store::{Commit, StoreFuture, StoreLayer, ToCommit};
use mcp_tasks::task::{Event, TaskId, Timestamp};
use tokio::sync::Notify;

/// Those who wait for word of a task.
#[derive(Default)]
pub(crate) struct Told(Mutex<HashMap<TaskId, Arc<Notify>>>);

impl Told {
    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of(&self, id: &TaskId) -> Arc<Notify> {
        self.lock().entry(id.clone()).or_default().clone()
    }

    pub(crate) fn forget(&self, id: &TaskId) {
        self.lock().remove(id);
    }
}

pub(crate) struct Listening<S> {
    store: S,
    told: Arc<Told>,
}

impl<S> Listening<S> {
    pub(crate) fn new(store: S, told: Arc<Told>) -> Self {
        Self { store, told }
    }
}

impl<S: TaskStore> StoreLayer for Listening<S> {
    fn inner(&self) -> &dyn TaskStore {
        &self.store
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        let tells = |event: &Event| matches!(event, Event::Asked { .. } | Event::Finished(_));
        let committing = self.store.commit(commit, now);
        if !commit.events.iter().any(tells) {
            return committing;
        }
        StoreFuture::new(async {
            let committed = committing.await;
            if matches!(committed, Ok(Commit::Done(_))) {
                self.told.of(commit.id).notify_one();
            }
            committed
        })
    }
}
