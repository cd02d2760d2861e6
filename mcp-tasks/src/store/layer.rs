//! Stores around stores.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{
    Change, Claim, Commit, Delivery, Elapsed, Listing, LiveLimits, News, RunNumber, Seated,
    SeatsWanted, Server, StoreFuture, StoreStats, TaskStore, ToCommit, Wanted, Work,
};
use crate::task::{
    Access, Answer, Entry, KeyRing, SealingKey, Seq, Snapshot, StateId, TaskId, Timestamp,
};

/// A store that does one or another thing differently from the store inside it:
/// one that counts, or logs, or fails when a test wants it to.
///
/// Every method hands on to the one of the same name of [`TaskStore`], which
/// says what it does; write those that differ. Whatever is a `StoreLayer` is a
/// [`TaskStore`].
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use mcp_tasks::MemoryStore;
/// use mcp_tasks::store::{Commit, StoreFuture, StoreLayer, TaskStore, ToCommit};
/// use mcp_tasks::task::Timestamp;
///
/// struct Counted {
///     inner: MemoryStore,
///     commits: AtomicU64,
/// }
///
/// impl StoreLayer for Counted {
///     fn inner(&self) -> &dyn TaskStore {
///         &self.inner
///     }
///
///     fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
///         self.commits.fetch_add(1, Ordering::Relaxed);
///         self.inner.commit(commit, now)
///     }
/// }
/// ```
#[allow(missing_docs, reason = "`TaskStore` says what its methods do")]
pub trait StoreLayer: Send + Sync + 'static {
    /// The store inside.
    fn inner(&self) -> &dyn TaskStore;

    fn is_durable(&self) -> bool {
        self.inner().is_durable()
    }

    fn clock(&self) -> Option<Timestamp> {
        self.inner().clock()
    }

    fn hears(&self) -> bool {
        self.inner().hears()
    }

    fn enlist<'a>(&'a self, server: &'a Server, now: Timestamp) -> StoreFuture<'a, ()> {
        self.inner().enlist(server, now)
    }

    fn renew(&self, now: Timestamp) -> StoreFuture<'_, bool> {
        self.inner().renew(now)
    }

    fn leave(&self) -> StoreFuture<'_, ()> {
        self.inner().leave()
    }

    fn hand_over<'a>(&'a self, kept: &'a [TaskId]) -> StoreFuture<'a, ()> {
        self.inner().hand_over(kept)
    }

    fn begin(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        self.inner().begin(journal, limits, now)
    }

    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, now: Timestamp) -> StoreFuture<'a, Work> {
        self.inner().claim(wanted, now)
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>> {
        self.inner().get(id, access)
    }

    fn list<'a>(&'a self, listing: &'a Listing<'a>) -> StoreFuture<'a, Vec<Arc<Snapshot>>> {
        self.inner().list(listing)
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        self.inner().read(id, last)
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        self.inner().commit(commit, now)
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        self.inner().deliver(id, access, answers, now)
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        self.inner().cancel(id, access, now)
    }

    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        self.inner().signal(id, name, value, now)
    }

    fn elapse(&self, limit: usize, now: Timestamp) -> StoreFuture<'_, Elapsed> {
        self.inner().elapse(limit, now)
    }

    fn news(&self) -> StoreFuture<'_, News> {
        self.inner().news()
    }

    fn sealing_keys(&self, fresh: SealingKey, now: Timestamp) -> StoreFuture<'_, KeyRing> {
        self.inner().sealing_keys(fresh, now)
    }

    fn spend<'a>(
        &'a self,
        state: &'a StateId,
        until: Timestamp,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.inner().spend(state, until, now)
    }

    fn take_seats<'a>(
        &'a self,
        wanted: &'a SeatsWanted<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Seated> {
        self.inner().take_seats(wanted, now)
    }

    fn give_back_seats(&self, run: RunNumber) -> StoreFuture<'_, ()> {
        self.inner().give_back_seats(run)
    }

    fn stats(&self) -> StoreFuture<'_, StoreStats> {
        self.inner().stats()
    }
}

impl<L: StoreLayer> TaskStore for L {
    fn is_durable(&self) -> bool {
        StoreLayer::is_durable(self)
    }

    fn clock(&self) -> Option<Timestamp> {
        StoreLayer::clock(self)
    }

    fn hears(&self) -> bool {
        StoreLayer::hears(self)
    }

    fn enlist<'a>(&'a self, server: &'a Server, now: Timestamp) -> StoreFuture<'a, ()> {
        StoreLayer::enlist(self, server, now)
    }

    fn renew(&self, now: Timestamp) -> StoreFuture<'_, bool> {
        StoreLayer::renew(self, now)
    }

    fn leave(&self) -> StoreFuture<'_, ()> {
        StoreLayer::leave(self)
    }

    fn hand_over<'a>(&'a self, kept: &'a [TaskId]) -> StoreFuture<'a, ()> {
        StoreLayer::hand_over(self, kept)
    }

    fn begin(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        StoreLayer::begin(self, journal, limits, now)
    }

    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, now: Timestamp) -> StoreFuture<'a, Work> {
        StoreLayer::claim(self, wanted, now)
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>> {
        StoreLayer::get(self, id, access)
    }

    fn list<'a>(&'a self, listing: &'a Listing<'a>) -> StoreFuture<'a, Vec<Arc<Snapshot>>> {
        StoreLayer::list(self, listing)
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        StoreLayer::read(self, id, last)
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        StoreLayer::commit(self, commit, now)
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        StoreLayer::deliver(self, id, access, answers, now)
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        StoreLayer::cancel(self, id, access, now)
    }

    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        StoreLayer::signal(self, id, name, value, now)
    }

    fn elapse(&self, limit: usize, now: Timestamp) -> StoreFuture<'_, Elapsed> {
        StoreLayer::elapse(self, limit, now)
    }

    fn news(&self) -> StoreFuture<'_, News> {
        StoreLayer::news(self)
    }

    fn sealing_keys(&self, fresh: SealingKey, now: Timestamp) -> StoreFuture<'_, KeyRing> {
        StoreLayer::sealing_keys(self, fresh, now)
    }

    fn spend<'a>(
        &'a self,
        state: &'a StateId,
        until: Timestamp,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        StoreLayer::spend(self, state, until, now)
    }

    fn take_seats<'a>(
        &'a self,
        wanted: &'a SeatsWanted<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Seated> {
        StoreLayer::take_seats(self, wanted, now)
    }

    fn give_back_seats(&self, run: RunNumber) -> StoreFuture<'_, ()> {
        StoreLayer::give_back_seats(self, run)
    }

    fn stats(&self) -> StoreFuture<'_, StoreStats> {
        StoreLayer::stats(self)
    }
}
