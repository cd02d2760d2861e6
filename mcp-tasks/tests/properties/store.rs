//! The memory store, watched: what it is told is kept, and it can be made to
//! fail its server at any moment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mcp_tasks::MemoryStore;
use mcp_tasks::store::{
    Activity, Change, Claim, Commit, Delivery, Elapsed, LiveLimits, StoreFuture, StoreLayer,
    TaskStore, ToCommit, Wanted, Work,
};
use mcp_tasks::task::{Access, Answer, Entry, Event, Seq, TaskId, Timestamp};
use serde_json::value::RawValue;

use super::journal::{Journal, answer_any, lock};

/// The store of one life of a server.
pub(crate) struct Watched {
    inner: MemoryStore,
    /// What another server uses, on the same machine.
    other: MemoryStore,
    journal: Arc<Journal>,
    life: Arc<Life>,
}

/// A life of a server, as its store sees it.
#[derive(Default)]
pub(crate) struct Life {
    dead: AtomicBool,
    /// Ends it at a commit to come.
    fuse: Mutex<Option<Fuse>>,
    /// Whether a function is in its memory.
    pub(crate) runs: AtomicBool,
}

/// Ends a life when so many commits have been made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fuse {
    pub(crate) commits: usize,
    /// Before the last of them, or after.
    pub(crate) before: bool,
}

impl Life {
    pub(crate) fn end(&self) {
        self.dead.store(true, Ordering::Relaxed);
        self.runs.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    pub(crate) fn light(&self, fuse: Fuse) {
        *lock(&self.fuse) = Some(fuse);
    }

    /// Counts a commit; says whether to die before or after it.
    fn commits(&self) -> Option<Fuse> {
        let mut fuse = lock(&self.fuse);
        let burning = fuse.as_mut()?;
        if burning.commits > 0 {
            burning.commits -= 1;
            return None;
        }
        fuse.take()
    }
}

impl Watched {
    pub(crate) fn new(store: &MemoryStore, journal: Arc<Journal>, life: Arc<Life>) -> Self {
        Self {
            inner: store.share(),
            other: store.share(),
            journal,
            life,
        }
    }

    /// Takes a while; for good, if the server is dead.
    async fn pass(&self) {
        self.journal.call();
        let turns = {
            let mut random = self.journal.random();
            if random.percent(50) {
                random.below(4)
            } else {
                0
            }
        };
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        if self.life.is_over() {
            std::future::pending::<()>().await;
        }
    }

    async fn sync(&self, id: &TaskId) {
        self.journal.sync(&self.inner, id).await;
    }

    /// Another server's client answers, signals, or answers again.
    async fn rush(&self, id: &TaskId, now: Timestamp) {
        let percent = self.journal.rush.load(Ordering::Relaxed);
        let percent = u32::try_from(percent).expect("it is a part of a hundred");
        if self.journal.random().percent(percent) {
            answer_any(&self.other, &self.journal, id, now).await;
        }
    }
}

impl StoreLayer for Watched {
    fn inner(&self) -> &dyn TaskStore {
        &self.inner
    }

    fn renew(&self, now: Timestamp) -> StoreFuture<'_, bool> {
        StoreFuture::new(async move {
            self.pass().await;
            self.inner.renew(now).await
        })
    }

    fn begin(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        StoreFuture::new(async move {
            let claim = self.inner.begin(journal, limits, now).await?;
            let id = claim.snapshot.id.clone();
            self.life.runs.store(true, Ordering::Relaxed);
            self.sync(&id).await;
            Ok(claim)
        })
    }

    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, now: Timestamp) -> StoreFuture<'a, Work> {
        StoreFuture::new(async move {
            self.pass().await;
            let work = self.inner.claim(wanted, now).await?;
            for claim in &work.claims {
                self.sync(&claim.snapshot.id).await;
            }
            self.pass().await;
            Ok(work)
        })
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        StoreFuture::new(async move {
            self.pass().await;
            let entries = self.inner.read(id, last).await?;
            if last == 0 && matches!(entries.first(), Some(first) if first.seq == 1) {
                // The function is made of this before anything else happens.
                self.journal.load();
                self.life.runs.store(true, Ordering::Relaxed);
            } else {
                self.pass().await;
            }
            Ok(entries)
        })
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        StoreFuture::new(async move {
            let fuse = self.life.commits();
            if let Some(fuse) = fuse
                && fuse.before
            {
                self.journal
                    .log(format_args!("dies before {:?}", commit.events));
                self.life.end();
            }
            self.pass().await;
            self.rush(commit.id, now).await;
            let done = self.inner.commit(commit, now).await?;
            if let Commit::Done(_) = &done {
                let end = |event: &Event| matches!(event, Event::Held(_) | Event::Finished(_));
                if commit.then == Activity::Parked || commit.events.iter().any(end) {
                    self.life.runs.store(false, Ordering::Relaxed);
                }
            }
            if let Commit::Done(snapshot) = &done {
                self.journal.add(commit.events, snapshot.updated_at);
            }
            self.sync(commit.id).await;
            if fuse.is_some() {
                self.journal
                    .log(format_args!("dies after {:?}", commit.events));
                self.life.end();
            }
            self.pass().await;
            Ok(done)
        })
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        StoreFuture::new(async move {
            self.pass().await;
            let delivery = self.inner.deliver(id, access, answers, now).await?;
            self.sync(id).await;
            self.pass().await;
            Ok(delivery)
        })
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        StoreFuture::new(async move {
            self.pass().await;
            let change = self.inner.cancel(id, access, now).await?;
            self.sync(id).await;
            self.pass().await;
            Ok(change)
        })
    }

    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        StoreFuture::new(async move {
            self.pass().await;
            let change = self.inner.signal(id, name, value, now).await?;
            self.sync(id).await;
            self.pass().await;
            Ok(change)
        })
    }

    fn elapse(&self, limit: usize, now: Timestamp) -> StoreFuture<'_, Elapsed> {
        StoreFuture::new(async move {
            self.pass().await;
            let elapsed = self.inner.elapse(limit, now).await?;
            for change in &elapsed.changes {
                self.sync(&change.snapshot.id).await;
            }
            Ok(elapsed)
        })
    }
}
