//! Where tasks are kept.
//!
//! A store keeps each task's journal and, beside it, the snapshot that the
//! journal adds up to. It decides nothing itself: what may follow what, whether
//! an answer fits, what time does to a task are functions of [`task`](crate::task),
//! which every store calls inside its own transactions. What must be one
//! transaction is one method.
//!
//! Of calls that never become tasks it keeps next to nothing: the keys that seal
//! what travels through their clients, and which of that has been used.
//!
//! A store handle is one *holder*: what has claimed tasks through it is run by
//! the process that has the handle, as long as its lease lasts. Anybody may
//! read, answer, cancel and signal any task.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod columns;
mod future;
mod layer;
mod memory;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod near;
#[cfg(feature = "store-parity")]
pub mod parity;
#[cfg(feature = "postgres")]
mod postgres;
mod seats;
#[cfg(feature = "sqlite")]
mod sqlite;
mod turns;

use std::sync::Arc;

use serde_json::value::RawValue;

pub use future::StoreFuture;
pub use layer::StoreLayer;
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresBuilder, PostgresStore};
pub use seats::{Lane, PATIENCE_MS, RunNumber, Seated, SeatsWanted, WAITS_MS, WaitingHolder};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteStore, inspect};

use crate::protocol::TaskStatus;
use crate::task::{
    Access, Answer, Created, Entry, Event, FencingNumber, IllegalTransition, InputKey, KeyRing,
    Refusal, Retention, SealingKey, Seq, Snapshot, StateId, TaskId, TaskState, Timestamp,
};

/// Keeps tasks.
///
/// # Durability
///
/// When an operation's future resolves, what it did is as durable as the store
/// ever makes it. An operation whose future is dropped has happened whole or
/// not at all.
///
/// # Callers
///
/// A task that does not exist for an [`Access`] is looked for in the same way and
/// with the same work as one that does not exist at all, so that the time it takes
/// does not tell the one from the other.
///
/// # Time
///
/// A store that several machines share uses its own clock and passes over
/// `now`; any other takes what it is given. See [`clock`](Self::clock).
pub trait TaskStore: Send + Sync + 'static {
    /// Whether tasks outlive the server that began them, so that another can go
    /// on with them. A server asks once.
    fn is_durable(&self) -> bool;

    /// The time, for a store that has a clock of its own: a runtime goes by that
    /// one, so that timers and expiries are due when the store says so.
    fn clock(&self) -> Option<Timestamp> {
        None
    }

    /// Begins to hold tasks for a server, or begins anew after the lease was
    /// lost: under a new identity, so that nothing claimed before is held any
    /// more.
    ///
    /// Comes before every operation but the reads, and again at any time.
    fn enlist<'a>(&'a self, server: &'a Server, now: Timestamp) -> StoreFuture<'a, ()>;

    /// Renews the lease; false if it was lost, and others may have taken over.
    ///
    /// Also takes the leases of holders that have died, as far as the store can
    /// tell, so that their tasks can be claimed.
    fn renew(&self, now: Timestamp) -> StoreFuture<'_, bool>;

    /// Gives up the lease in good order, so that others can take over at once;
    /// that is no `RecoveryStarted` for the tasks that ran. Dropping the store
    /// does the same.
    fn leave(&self) -> StoreFuture<'_, ()>;

    /// Gives up, in good order, the claims on all tasks but these, whose functions
    /// this process lets come to an end: others can go on with the rest before it
    /// [leaves](Self::leave). A store may leave that for then.
    fn hand_over<'a>(&'a self, kept: &'a [TaskId]) -> StoreFuture<'a, ()> {
        let _ = kept;
        StoreFuture::ready(Ok(()))
    }

    /// Begins a task, claimed by its creator, with what its journal holds by
    /// then: `Created` alone, or also what happened to the call before it became
    /// a task, as it was.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] if a limit on live tasks is reached.
    fn begin(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim>;

    /// Begins a task that nothing has happened to yet.
    ///
    /// # Errors
    ///
    /// As [`begin`](Self::begin).
    fn create(
        &self,
        created: Created,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        self.begin(Entry::journal(created, now), limits, now)
    }

    /// Claims tasks that must run and that no living holder has: their function
    /// was not waiting when its holder died, something has arrived for it, or a
    /// timer is due. Tasks of other servers are passed over.
    ///
    /// If there are more than are wanted, callers have their turns: of each the
    /// oldest need, then the next of each, so that none waits for all that
    /// another has.
    ///
    /// A task whose function was running when its holder died gets a
    /// `RecoveryStarted`. A suspect among these is claimed only when no living
    /// holder runs another. A held task is claimed by whoever has not tried it:
    /// another build, and if it is not poisonous, another holder.
    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, now: Timestamp) -> StoreFuture<'a, Work>;

    /// Reads a task; `None` if it does not exist for this access.
    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>>;

    /// Lists tasks of one server that exist for an access, those that were begun
    /// last first. Takes an effort that does not grow with the tasks of other
    /// callers, where one is named.
    fn list<'a>(&'a self, listing: &'a Listing<'a>) -> StoreFuture<'a, Vec<Arc<Snapshot>>>;

    /// Reads the entries of a journal that come after `last`; none if the task
    /// is gone. Statuses that later ones have taken the place of may be
    /// missing, and of a task that has ended everything but its end.
    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>>;

    /// Appends what the holder of a claim has to say, if nobody else has
    /// appended since it last looked, and notes what its function does next.
    ///
    /// With no events it only notes that.
    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit>;

    /// Judges and records answers; needs no claim. `None` if the task does not
    /// exist for this access.
    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>>;

    /// Records a request for cancellation; needs no claim. `None` if the task
    /// does not exist for this access.
    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>>;

    /// Records a signal; needs no claim. `None` if the task does not exist; a
    /// task that has ended takes none, and is unchanged.
    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>>;

    /// Does what time has made due by `now`, for up to `limit` tasks: expiry,
    /// the end of a cancelled task's grace, deletion.
    fn elapse(&self, limit: usize, now: Timestamp) -> StoreFuture<'_, Elapsed>;

    /// Waits until somebody else may have changed any task, and tells what is known
    /// of that.
    ///
    /// Called again and again while somebody waits, and only then unless the store
    /// [hears](Self::hears): it may look a few times a second for as long as it is
    /// awaited. Dropping it loses nothing. A store of one process never resolves it.
    fn news(&self) -> StoreFuture<'_, News>;

    /// Whether [news](Self::news) comes by itself, and waiting for it costs next to
    /// nothing: then a server that has nothing to do waits for it too, and takes up
    /// at once what another leaves. A server asks once.
    fn hears(&self) -> bool {
        false
    }

    /// The keys that seal the state of calls which travels through clients,
    /// newest first; the same for all servers on this store. If there is none
    /// yet, or [`KeyRing`] finds that a new one is due, `fresh` becomes one.
    fn sealing_keys(&self, fresh: SealingKey, now: Timestamp) -> StoreFuture<'_, KeyRing>;

    /// Takes note that a sealed state was accepted; false if it was before. To
    /// be remembered until the state is too old to be accepted at all.
    fn spend<'a>(
        &'a self,
        state: &'a StateId,
        until: Timestamp,
        now: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Takes a seat in each lane that a run of a function counts towards, or in
    /// none: if in one of them as many runs of living holders of this server have
    /// seats as there are, or [another holder](WaitingHolder::goes_before) is to
    /// have the next that is free. A run that has its seats is told so again.
    ///
    /// A holder that is refused waits in the lane that was full. In a lane that
    /// had room for it, whether or not it has got its seats, it does not any more.
    ///
    /// Seats are free once they are given back, and once their holder has left,
    /// enlisted anew, or its lease is over; to that one all lanes are full. Where
    /// holders may all lose touch with the store at once, they may stay taken until
    /// others set its tasks free.
    fn take_seats<'a>(
        &'a self,
        wanted: &'a SeatsWanted<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Seated>;

    /// Gives back the seats of a run of this holder, if it has any.
    fn give_back_seats(&self, run: RunNumber) -> StoreFuture<'_, ()>;

    /// Counts what there is.
    fn stats(&self) -> StoreFuture<'_, StoreStats>;
}

/// A server as its store knows it.
#[derive(Clone, Debug)]
pub struct Server {
    /// Its name and scope: only servers that agree in both run each other's
    /// tasks.
    pub name: Arc<str>,
    /// Divides servers of one name.
    pub scope: Arc<str>,
    /// Which build of it this is.
    pub build: Arc<str>,
    /// Milliseconds for which a lease holds.
    pub lease_ms: u64,
    /// How long its tasks are kept after their end.
    pub retention: Retention,
}

/// Which tasks a holder can run.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// This one, or any.
    pub only: Option<&'a TaskId>,
    /// Tools and versions of which it has the code.
    pub tools: &'a [(Arc<str>, u32)],
    /// At most so many.
    pub limit: usize,
}

/// Which tasks to list.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// Of servers of this name and scope.
    pub server: &'a Server,
    /// That exist for this access.
    pub access: Access<'a>,
    /// In this status, or in any.
    pub status: Option<TaskStatus>,
    /// At most so many.
    pub limit: usize,
}

/// What there is to run.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Tasks that are claimed now.
    pub claims: Vec<Claim>,
    /// When the clock makes the next one due, as far as the store can tell.
    pub next: Option<Timestamp>,
}

/// What others have done.
#[derive(Clone, Debug, Default)]
pub struct News {
    /// Tasks claimed here whose journals others have appended to. A task is among
    /// them again and again until something is committed for it, or, if others
    /// have ended it, once.
    pub grown: Vec<TaskId>,
    /// The tasks that others may have changed in any way; `None` if that can be
    /// any.
    pub changed: Option<Vec<TaskId>>,
    /// Whether there may be tasks to claim.
    pub work: bool,
    /// Whether there may be seats that others have given back.
    pub seats: bool,
}

/// What the holder of a claim has to say.
#[derive(Clone, Copy, Debug)]
pub struct ToCommit<'a> {
    /// The task.
    pub id: &'a TaskId,
    /// The claim under which it is said.
    pub fencing: FencingNumber,
    /// The last entry that the holder has seen.
    pub last: Seq,
    /// What has happened, in order.
    pub events: &'a [Event],
    /// What the function does then.
    pub then: Activity,
}

/// What a task's function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It runs: if its holder dies, somebody must run it again.
    Running,
    /// It waits for nothing but answers, signals and recorded timers.
    Waiting,
    /// It has to run, and waits until it may: if its holder dies, somebody must
    /// run it, and it is not to blame.
    Queued,
    /// It waits, and its holder gives up the claim.
    Parked,
}

/// What time has done.
#[derive(Clone, Debug, Default)]
pub struct Elapsed {
    /// Tasks that it changed, without those that were deleted.
    pub changes: Vec<Change>,
    /// When something is due next.
    pub next: Option<Timestamp>,
}

/// How many tasks may be live at once.
#[derive(Clone, Copy, Debug)]
pub struct LiveLimits {
    /// Of one authenticated caller.
    pub per_caller: usize,
    /// On the whole server.
    pub total: usize,
}

impl LiveLimits {
    /// Whether one more may begin beside so many.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] if not.
    pub fn check_total(&self, live: usize) -> Result<(), StoreError> {
        if live < self.total {
            return Ok(());
        }
        Err(StoreError::Full(format!(
            "the server already runs {} tasks, its limit; try again later",
            self.total
        )))
    }

    /// Whether one more of one authenticated caller may begin beside so many.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] if not.
    pub fn check_caller(&self, live: usize) -> Result<(), StoreError> {
        if live < self.per_caller {
            return Ok(());
        }
        Err(StoreError::Full(format!(
            "you already have {} live tasks, the limit; finish or cancel one first",
            self.per_caller
        )))
    }
}

/// A claim on a task: the right to run it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Goes with every commit.
    pub fencing: FencingNumber,
    /// The last entry at the moment of the claim.
    pub last: Seq,
    /// The task at the moment of the claim.
    pub snapshot: Arc<Snapshot>,
}

/// How a commit went.
#[derive(Clone, Debug)]
pub enum Commit {
    /// Everything was appended, in order, after the sequence number given.
    Done(Arc<Snapshot>),
    /// Nothing was: these came first.
    Behind(Vec<Entry>),
    /// Nothing was: the claim is another's by now, or the task is gone.
    Lost,
}

/// How a delivery went.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// What fitted was recorded.
    Recorded(Change),
    /// Nothing was recorded.
    Refused(Refusal),
}

/// A task after an operation that may have changed it.
#[derive(Clone, Debug)]
pub struct Change {
    /// The task as it is now.
    pub snapshot: Arc<Snapshot>,
    /// Whether the journal grew.
    pub changed: bool,
    /// The questions that were answered, and when each was asked.
    pub answered: Vec<(InputKey, Timestamp)>,
    /// Whether the task must run and no living holder has it: then whoever
    /// changed it should claim it.
    pub unclaimed: bool,
}

/// What a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Tasks that have not ended.
    pub live: u64,
    /// Tasks that exist, ended ones too.
    pub stored: u64,
    /// Transactions that appended to a journal since the store was opened.
    pub commits: u64,
    /// Bytes of journals and snapshots, as far as the store can tell.
    pub bytes: u64,
}

/// Why a store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A limit on live tasks is reached.
    #[error("{0}")]
    Full(String),
    /// The store holds something that breaks the rules of the state machine.
    #[error("the journal of task {id} is damaged: {reason}")]
    Damaged {
        /// The task.
        id: TaskId,
        /// What is wrong with it.
        reason: String,
    },
    /// The store cannot be reached now, and nothing has happened; trying again
    /// may help.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// The store does not answer any more, and it is not known whether what was
    /// asked for has happened.
    #[error("the store has not said whether it was done: {0}")]
    Unsure(String),
}

/// What the journal of a task that begins adds up to.
fn begun(journal: &[Entry]) -> Result<TaskState, StoreError> {
    TaskState::replay(journal).map_err(|illegal| match journal.first().map(|entry| &entry.event) {
        Some(Event::Created(created)) => StoreError::damaged(&created.id, &illegal),
        _ => StoreError::Unavailable(illegal.to_string()),
    })
}

impl StoreError {
    /// For a journal that breaks the rules.
    pub fn damaged(id: &TaskId, reason: &IllegalTransition) -> Self {
        Self::Damaged {
            id: id.clone(),
            reason: reason.to_string(),
        }
    }
}
