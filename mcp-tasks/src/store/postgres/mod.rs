//! Tasks in a PostgreSQL database, which the replicas of a server share.
//!
//! Nearly every operation is one statement that either finds the row as it was read
//! or does nothing; no lock is held while this process works something out.

mod builder;
mod changes;
mod claims;
mod clock;
mod connections;
mod deaths;
mod elapse;
mod holders;
mod ledger;
mod listening;
mod news;
mod query;
mod reading;
mod row;
mod schema;
mod sealing;
mod seats;
mod text;
mod tls;
mod trouble;

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::task::AbortHandle;

pub use self::builder::PostgresBuilder;
use self::ledger::Ledger;
use super::{
    Change, Claim, Commit, Delivery, Elapsed, Listing, LiveLimits, News, RunNumber, Seated,
    SeatsWanted, Server, StoreFuture, StoreStats, TaskStore, ToCommit, Wanted, Work,
};
use crate::Error;
use crate::task::{
    Access, Answer, Entry, KeyRing, SealingKey, Seq, Snapshot, StateId, TaskId, Timestamp,
};

/// A store that keeps tasks in a PostgreSQL database.
///
/// ```no_run
/// # async fn connect() -> Result<(), mcp_tasks::Error> {
/// use mcp_tasks::PostgresStore;
///
/// let store = PostgresStore::connect("postgres://deployer@db.internal/deployer").await?;
/// # Ok(()) }
/// ```
///
/// Any number of processes on any number of machines may use one database: the same
/// program, started N times, is N replicas. Any of them answers any request. A task
/// runs on one at a time; what one leaves behind others take over, at once if it
/// ended in good order, and otherwise when its lease is over.
///
/// # What is in the database
///
/// Tables in a schema of their own, `mcp_tasks` unless
/// [`builder`](Self::builder) says otherwise, which is made at the first start; the
/// role needs the right to create it, or to use it if an administrator has made it.
/// Journals and results are stored as they are. When a task ends, its questions,
/// answers and steps are removed, and when its retention is over, the rest of it.
/// The keys that seal what travels through clients in rounds are there too, each for
/// eight days: whoever can read them can make such states.
///
/// # What is promised
///
/// What was acknowledged is as durable as a commit of that database: with its
/// default settings (`fsync` and `synchronous_commit` on) it survives a crash of the
/// database and a power failure; where `synchronous_commit` is off, the last moments
/// may be lost. A replica that was paused or cut off for longer than its lease
/// writes nothing when it comes back: each write names the claim under which it is
/// made, and is done only if that is still the last one.
///
/// # While the database is away
///
/// Nothing is lost, and no process ends. Clients get an error that says to try again
/// (`-32603`), tasks that wait wait on, functions stop at the next thing that must be
/// recorded, and all goes on when a connection can be made again, which is tried at
/// least every second.
///
/// # Dropping
///
/// Gives up the lease, if the runtime lives for as long as that takes.
///
/// [`guide::replicas`](crate::guide::replicas) is about running replicas, and
/// [`guide::scaling`](crate::guide::scaling) about what they cost and how far they go.
pub struct PostgresStore {
    ledger: Arc<Ledger>,
    /// Whether there is a connection on which others are heard.
    listens: bool,
    /// What goes on in the background; ends with the store.
    tasks: Vec<AbortHandle>,
}

impl PostgresStore {
    /// Connects to a database: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, or any
    /// other form that PostgreSQL's own clients take.
    ///
    /// # Errors
    ///
    /// As [`PostgresBuilder::connect`].
    pub async fn connect(url: impl Into<String>) -> Result<Self, Error> {
        Self::builder(url).connect().await
    }

    /// Says more than the address.
    pub fn builder(url: impl Into<String>) -> PostgresBuilder {
        PostgresBuilder::new(url.into())
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let ledger = self.ledger.clone();
            runtime.spawn(async move { ledger.leave().await.ok() });
        }
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl TaskStore for PostgresStore {
    fn is_durable(&self) -> bool {
        true
    }

    fn clock(&self) -> Option<Timestamp> {
        Some(self.ledger.clock.now())
    }

    fn enlist<'a>(&'a self, server: &'a Server, _: Timestamp) -> StoreFuture<'a, ()> {
        StoreFuture::new(self.ledger.enlist(server))
    }

    fn renew(&self, _: Timestamp) -> StoreFuture<'_, bool> {
        StoreFuture::new(self.ledger.renew())
    }

    fn leave(&self) -> StoreFuture<'_, ()> {
        StoreFuture::new(self.ledger.leave())
    }

    fn hand_over<'a>(&'a self, kept: &'a [TaskId]) -> StoreFuture<'a, ()> {
        StoreFuture::new(self.ledger.hand_over(kept))
    }

    fn begin(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
        _: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        StoreFuture::new(async move { self.ledger.begin(&journal, limits).await })
    }

    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, _: Timestamp) -> StoreFuture<'a, Work> {
        StoreFuture::new(self.ledger.claim(wanted))
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>> {
        StoreFuture::new(self.ledger.get(id, access))
    }

    fn list<'a>(&'a self, listing: &'a Listing<'a>) -> StoreFuture<'a, Vec<Arc<Snapshot>>> {
        StoreFuture::new(self.ledger.list(listing))
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        StoreFuture::new(self.ledger.read(id, last))
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, _: Timestamp) -> StoreFuture<'a, Commit> {
        StoreFuture::new(self.ledger.commit(commit))
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        _: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        StoreFuture::new(self.ledger.deliver(id, access, answers))
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        _: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        StoreFuture::new(self.ledger.cancel(id, access))
    }

    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        _: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        StoreFuture::new(self.ledger.signal(id, name, value))
    }

    fn elapse(&self, limit: usize, _: Timestamp) -> StoreFuture<'_, Elapsed> {
        StoreFuture::new(self.ledger.elapse(limit))
    }

    fn news(&self) -> StoreFuture<'_, News> {
        StoreFuture::new(self.ledger.news())
    }

    fn hears(&self) -> bool {
        self.listens
    }

    fn sealing_keys(&self, fresh: SealingKey, now: Timestamp) -> StoreFuture<'_, KeyRing> {
        StoreFuture::new(self.ledger.sealing_keys(fresh, now))
    }

    fn spend<'a>(
        &'a self,
        state: &'a StateId,
        until: Timestamp,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        StoreFuture::new(self.ledger.spend(state, until, now))
    }

    fn take_seats<'a>(
        &'a self,
        wanted: &'a SeatsWanted<'a>,
        _: Timestamp,
    ) -> StoreFuture<'a, Seated> {
        StoreFuture::new(self.ledger.take_seats(wanted))
    }

    fn give_back_seats(&self, run: RunNumber) -> StoreFuture<'_, ()> {
        StoreFuture::new(self.ledger.give_back_seats(run))
    }

    fn stats(&self) -> StoreFuture<'_, StoreStats> {
        StoreFuture::new(self.ledger.stats())
    }
}
