//! Where tasks are kept.
//!
//! A store keeps each task's journal and, beside it, the snapshot that the
//! journal adds up to. It decides nothing itself: what may follow what, whether
//! an answer fits, what time does to a task are functions of [`task`](crate::task),
//! which every store calls inside its own transactions. What must be one
//! transaction is one method.

mod future;
mod memory;

use std::sync::Arc;

pub use future::StoreFuture;
pub use memory::MemoryStore;

use crate::task::{
    Access, Answer, Created, Entry, Event, FencingNumber, Refusal, Retention, Seq, Snapshot,
    TaskId, Timestamp,
};

/// Keeps tasks.
///
/// # Durability
///
/// When an operation's future resolves, what it did is as durable as the store
/// ever makes it. An operation whose future is dropped has happened whole or
/// not at all.
pub trait TaskStore: Send + Sync + 'static {
    /// Whether tasks outlive the process.
    fn is_durable(&self) -> bool;

    /// Begins a task, claimed by its creator.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] if a limit on live tasks is reached.
    fn create(
        &self,
        created: Created,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim>;

    /// Reads a task; `None` if it does not exist for this access.
    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>>;

    /// Reads the entries of a journal that come after `last`; none if the task
    /// is gone.
    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>>;

    /// Appends what the holder of a claim has to say, if nobody else has
    /// appended since it last looked.
    fn commit<'a>(
        &'a self,
        id: &'a TaskId,
        fencing: FencingNumber,
        last: Seq,
        events: &'a [Event],
        now: Timestamp,
    ) -> StoreFuture<'a, Commit>;

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

    /// Does what time has made due by `now`: expiry, the end of a cancelled
    /// task's grace, deletion. `None` if the task is gone.
    fn elapse<'a>(
        &'a self,
        id: &'a TaskId,
        retention: Retention,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>>;

    /// Counts what there is.
    fn stats(&self) -> StoreFuture<'_, StoreStats>;
}

/// How many tasks may be live at once.
#[derive(Clone, Copy, Debug)]
pub struct LiveLimits {
    /// Of one authenticated caller.
    pub per_caller: usize,
    /// On the whole server.
    pub total: usize,
}

/// A claim on a task: the right to run it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Goes with every commit.
    pub fencing: FencingNumber,
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
    /// The store cannot be reached now; trying again may help.
    #[error("the store is not available: {0}")]
    Unavailable(String),
}
