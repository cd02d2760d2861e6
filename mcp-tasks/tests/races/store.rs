//! A store in which everything comes at the worst moment.

use std::sync::Arc;
use std::time::Duration;

use mcp_tasks::MemoryStore;
use mcp_tasks::store::{
    Change, Claim, Commit, Delivery, LiveLimits, StoreError, StoreFuture, StoreLayer, TaskStore,
    ToCommit,
};
use mcp_tasks::task::{Access, Answer, Entry, Event, InputKey, Seq, TaskId, Timestamp};
use serde_json::value::RawValue;

use crate::client::accept;

/// The memory store, with something in its way.
#[derive(Default)]
pub(crate) struct Awkward {
    pub(crate) inner: MemoryStore,
    /// Answers a question just before its timeout is recorded.
    pub(crate) answers_at_timeout: bool,
    /// Takes no questions: says that the journal is damaged.
    pub(crate) refuses_questions: bool,
    /// How long the store takes to say that a commit is done.
    pub(crate) slow_commits: Duration,
    /// How long it takes to say that it has done what a client asked for.
    pub(crate) slow_replies: Duration,
    /// How long it takes to read a journal.
    pub(crate) slow_reads: Duration,
}

impl Awkward {
    /// The same, said later.
    fn later<'a, T: Send + 'a>(&'a self, done: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        StoreFuture::new(async move {
            let done = done.await;
            tokio::time::sleep(self.slow_replies).await;
            done
        })
    }
}

impl StoreLayer for Awkward {
    fn inner(&self) -> &dyn TaskStore {
        &self.inner
    }

    fn is_durable(&self) -> bool {
        false
    }

    fn begin(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        self.later(self.inner.begin(journal, limits, now))
    }

    fn read<'a>(
        &'a self,
        id: &'a TaskId,
        last: Seq,
    ) -> StoreFuture<'a, Vec<mcp_tasks::task::Entry>> {
        StoreFuture::new(async move {
            tokio::time::sleep(self.slow_reads).await;
            self.inner.read(id, last).await
        })
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        StoreFuture::new(async move {
            let ToCommit { id, events, .. } = *commit;
            let asks = events
                .iter()
                .any(|event| matches!(event, Event::Asked { .. }));
            if self.refuses_questions && asks {
                return Err(StoreError::Damaged {
                    id: id.clone(),
                    reason: "it is not".to_owned(),
                });
            }
            for event in events.iter().filter(|_| self.answers_at_timeout) {
                if let Event::TimerFired { key } = event
                    && let Some(question) = key.as_str().strip_suffix("#timeout")
                {
                    let response = accept("just in time");
                    let answer = Answer {
                        key: InputKey::new(question),
                        response: &response,
                    };
                    let answers = [answer];
                    let delivered = self.inner.deliver(id, Access::Server, &answers, now);
                    delivered.await?;
                }
            }
            let committed = self.inner.commit(commit, now).await;
            tokio::time::sleep(self.slow_commits).await;
            committed
        })
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        self.later(self.inner.deliver(id, access, answers, now))
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        self.later(self.inner.cancel(id, access, now))
    }

    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        self.later(self.inner.signal(id, name, value, now))
    }
}
