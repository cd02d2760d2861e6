//! A store that says when a task has asked or ended.
//!
//! Whoever measures throughput must neither wait longer than it takes nor ask
//! all the time. So the one who called is told as a client that listens would
//! be, when the commit is durable; then it reads the task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_tasks::TaskStore;
use mcp_tasks::store::{
    Change, Claim, Commit, Delivery, Elapsed, LiveLimits, Server, StoreFuture, StoreStats,
    ToCommit, Wanted, Work,
};
use mcp_tasks::task::{Access, Answer, Created, Entry, Event, Seq, Snapshot, TaskId, Timestamp};
use serde_json::value::RawValue;
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

impl<S: TaskStore> TaskStore for Listening<S> {
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

    fn is_durable(&self) -> bool {
        self.store.is_durable()
    }

    fn enlist<'a>(&'a self, server: &'a Server, now: Timestamp) -> StoreFuture<'a, ()> {
        self.store.enlist(server, now)
    }

    fn renew(&self, now: Timestamp) -> StoreFuture<'_, bool> {
        self.store.renew(now)
    }

    fn leave(&self) -> StoreFuture<'_, ()> {
        self.store.leave()
    }

    fn create(
        &self,
        created: Created,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        self.store.create(created, limits, now)
    }

    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, now: Timestamp) -> StoreFuture<'a, Work> {
        self.store.claim(wanted, now)
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>> {
        self.store.get(id, access)
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        self.store.read(id, last)
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        self.store.deliver(id, access, answers, now)
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        self.store.cancel(id, access, now)
    }

    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        self.store.signal(id, name, value, now)
    }

    fn elapse(&self, limit: usize, now: Timestamp) -> StoreFuture<'_, Elapsed> {
        self.store.elapse(limit, now)
    }

    fn news(&self) -> StoreFuture<'_, Vec<TaskId>> {
        self.store.news()
    }

    fn stats(&self) -> StoreFuture<'_, StoreStats> {
        self.store.stats()
    }
}
