//! Tasks in a SQLite file, which several processes of one host may share.
//!
//! SQLite in write-ahead mode: one thread writes, another reads, and what they
//! are asked reaches them through queues, so that nothing blocks the caller's
//! runtime.

mod backlog;
mod changes;
mod claims;
mod counts;
mod fail_point;

mod holders;
pub mod inspect;
mod journal;
mod ledger;
mod listing;
mod news;
mod opening;
mod queue;
mod reader;

mod row;
mod schema;
mod sealing;
mod seats;
mod trouble;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::value::RawValue;

use self::changes::{OwnedAccess, OwnedCommit};
use self::ledger::Ledger;
use self::listing::OwnedListing;
use self::reader::Reader;
use self::seats::OwnedWanted;
use self::trouble::Fault;
use self::writer::Writer;
use super::near::Handover;
use super::{
    Change, Claim, Commit, Delivery, Elapsed, Listing, LiveLimits, News, RunNumber, Seated,
    SeatsWanted, Server, StoreFuture, StoreStats, TaskStore, ToCommit, Wanted, Work,
};
use crate::Error;
use crate::task::{
    Access, Answer, Entry, KeyRing, SealingKey, Seq, Snapshot, StateId, TaskId, Timestamp,
};

/// A store that keeps tasks in a SQLite file.
///
/// ```no_run
/// # fn main() -> Result<(), mcp_tasks::Error> {
/// use mcp_tasks::SqliteStore;
///
/// let store = SqliteStore::open("deployer.db")?;
/// # Ok(()) }
/// ```
///
/// Several processes of one host may use one file, also at the same time: a
/// server that speaks over stdio is started once per client. What one leaves
/// behind another takes over, at once if its process has ended, and otherwise
/// when its lease is over. SQLite lets one process write at a time: one that is
/// stopped in the middle of that (`SIGSTOP`, a debugger) keeps the others from
/// writing until it goes on or ends. A file on a network file system must not be
/// shared.
///
/// # What is on the disk
///
/// Beside the file itself there are, while it is in use, `-wal` and `-shm`,
/// which belong to SQLite and to the file, and one empty `-holder-N` for each
/// process. Files are created so that only their owner may read them. Journals
/// and results are stored as they are. When a task ends, its questions, answers
/// and steps are removed, and when its retention is over, the rest of it. The keys
/// that seal what travels through clients in rounds are in the file too, each for
/// eight days: whoever can read it can make such states.
///
/// # What is promised
///
/// What was acknowledged is there after the process is killed, and, as far as
/// the disk keeps its own promises, after the power fails: each commit waits
/// until the operating system says that it is on the disk.
///
/// # Dropping
///
/// Finishes what has been asked for, gives up the lease and closes the file;
/// that blocks for as long as it takes.
pub struct SqliteStore {
    // In this order they are dropped: the last to close the file tidies up.
    reader: Reader,
    writer: Writer,
    handover: Handover,
    /// The version of the file of which its holder has heard.
    heard: AtomicI64,
}

impl SqliteStore {
    /// Opens a file; creates it if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] if the file cannot be used: it belongs to another
    /// program or a newer version, is damaged, locked or read-only, or its
    /// directory does not exist. It is left as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let opened = opening::open(path.as_ref())?;
        let threads = |error| Error::Io {
            doing: "starting a thread for the task store".to_owned(),
            error,
        };
        let ledger = Ledger::new(opened.writer, opened.path);
        let reader = Reader::start(opened.reader, ledger.snapshots.clone());
        Ok(Self {
            handover: ledger.handover.clone(),
            reader: reader.map_err(threads)?,
            writer: Writer::start(ledger).map_err(threads)?,
            heard: AtomicI64::new(opened.version),
        })
    }

    fn write<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Ledger) -> Result<T, Fault> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        StoreFuture::new(self.writer.perform(operation))
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

impl TaskStore for SqliteStore {
    fn is_durable(&self) -> bool {
        true
    }

    fn enlist<'a>(&'a self, server: &'a Server, now: Timestamp) -> StoreFuture<'a, ()> {
        let server = server.clone();
        self.write(move |ledger| ledger.enlist(&server, now))
    }

    fn renew(&self, now: Timestamp) -> StoreFuture<'_, bool> {
        self.write(move |ledger| ledger.renew(now))
    }

    fn leave(&self) -> StoreFuture<'_, ()> {
        self.write(Ledger::leave)
    }

    fn begin(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
        _: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        self.write(move |ledger| ledger.begin_with(&journal, limits))
    }

    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, now: Timestamp) -> StoreFuture<'a, Work> {
        let only = wanted.only.cloned();
        let tools = wanted.tools.to_vec();
        let limit = wanted.limit;
        self.write(move |ledger| {
            let wanted = Wanted {
                only: only.as_ref(),
                tools: &tools,
                limit,
            };
            ledger.claim(&wanted, now)
        })
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>> {
        let (id, access) = (id.clone(), OwnedAccess::from(access));
        StoreFuture::new(self.reader.ask(move |archive| archive.get(&id, &access)))
    }

    fn list<'a>(&'a self, listing: &'a Listing<'a>) -> StoreFuture<'a, Vec<Arc<Snapshot>>> {
        let listing = OwnedListing::from(listing);
        StoreFuture::new(self.reader.ask(move |archive| archive.list(&listing)))
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        if let Some(entries) = self.handover.take(id, last) {
            return StoreFuture::ready(Ok(entries));
        }
        let id = id.clone();
        StoreFuture::new(self.reader.ask(move |archive| archive.read(&id, last)))
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        let commit = OwnedCommit {
            id: commit.id.clone(),
            fencing: commit.fencing,
            last: commit.last,
            events: commit.events.to_vec(),
            then: commit.then,
        };
        self.write(move |ledger| ledger.commit_entries(commit, now))
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        let (id, access) = (id.clone(), OwnedAccess::from(access));
        let answers: Vec<_> = answers
            .iter()
            .map(|answer| (answer.key.clone(), answer.response.to_owned()))
            .collect();
        self.write(move |ledger| ledger.deliver(&id, access.get(), &answers, now))
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        let (id, access) = (id.clone(), OwnedAccess::from(access));
        self.write(move |ledger| ledger.cancel(&id, access.get(), now))
    }

    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        let (id, name, value) = (id.clone(), name.to_owned(), value.clone());
        self.write(move |ledger| ledger.signal(&id, &name, &value, now))
    }

    fn elapse(&self, limit: usize, now: Timestamp) -> StoreFuture<'_, Elapsed> {
        self.write(move |ledger| ledger.elapse(limit, now))
    }

    fn news(&self) -> StoreFuture<'_, News> {
        StoreFuture::new(async move {
            let heard = self.heard.load(Ordering::Relaxed);
            let news = self.writer.watch(heard).await?;
            self.heard.store(news.version, Ordering::Relaxed);
            Ok(News {
                grown: news.tasks,
                // A file says that it has changed, and not where.
                changed: None,
                work: true,
                seats: true,
            })
        })
    }

    fn sealing_keys(&self, fresh: SealingKey, now: Timestamp) -> StoreFuture<'_, KeyRing> {
        self.write(move |ledger| ledger.sealing_keys(fresh, now))
    }

    fn spend<'a>(
        &'a self,
        state: &'a StateId,
        until: Timestamp,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let state = state.clone();
        self.write(move |ledger| ledger.spend(&state, until, now))
    }

    fn take_seats<'a>(
        &'a self,
        wanted: &'a SeatsWanted<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Seated> {
        let wanted = OwnedWanted::from(wanted);
        self.write(move |ledger| ledger.take_seats(&wanted, now))
    }

    fn give_back_seats(&self, run: RunNumber) -> StoreFuture<'_, ()> {
        self.write(move |ledger| ledger.give_back_seats(run))
    }

    fn stats(&self) -> StoreFuture<'_, StoreStats> {
        let commits = self.writer.commits();
        StoreFuture::new(self.reader.ask(move |archive| archive.stats(commits)))
    }
}
