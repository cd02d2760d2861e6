//! The file as the writer sees it inside a transaction.
//!
//! Everything that is asked at one time is done in one transaction. Each
//! operation looks before it writes, so that one that may not be done leaves
//! the others alone; what the database then fails to write concerns them all.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::{Connection, params};

use super::backlog::Turns;
use super::counts::Counts;
use super::holders::{Me, Remains};
use super::journal;
use super::news::Told;
use super::row::{CodeNumber, Row};
use super::trouble::{Failure, Fault, in_words};
use crate::store::near::{Brief, Handover, Recent, Snapshots};
use crate::store::{Claim, StoreError};
use crate::task::{
    Access, Entry, Event, FencingNumber, Retention, Snapshot, TaskId, TaskState, Timestamp,
};

/// How many tasks are known at least without a look at the file: one that is
/// busy is asked for again and again.
const TASKS: usize = 1024;

pub(super) struct Ledger {
    pub(super) connection: Connection,
    /// Where the file is.
    pub(super) path: PathBuf,
    /// The holder that this store's handle is, once it has enlisted.
    pub(super) me: Option<Arc<Me>>,
    pub(super) counts: Counts,
    /// How many operations of this transaction have appended to a journal.
    pub(super) appended: u64,
    /// What holders leave beside the file, to be swept away after the commit.
    pub(super) remains: Vec<Remains>,
    /// Whose turn it is in what there is to claim.
    pub(super) turns: Turns,
    /// What its holder was told last.
    pub(super) told: Told,
    /// What drivers of this process need not read again, once it is committed.
    pub(super) handover: Handover,
    pub(super) to_hand_over: Vec<(TaskId, Vec<Entry>)>,
    /// What the reader need not put together again, likewise.
    pub(super) snapshots: Snapshots,
    briefs: Vec<Brief>,
    /// Until when the lease holds, according to the file.
    pub(super) lease_until: Option<i64>,
    /// Who this was before the transaction.
    me_before: Option<Arc<Me>>,
    /// Live tasks as they stand in the file, as long as nobody else has written
    /// to it.
    tasks: Recent<(Row, TaskState)>,
    /// Changes when somebody else has.
    version: i64,
    /// The numbers of tools and their versions, on the holder's server.
    pub(super) codes: HashMap<(Arc<str>, u32), CodeNumber>,
    /// Whether the operation at hand has written anything.
    wrote: bool,
    /// Why the whole transaction cannot be committed.
    broken: Option<String>,
}

/// A task that an operation has to do with.
pub(super) struct Task {
    pub(super) id: TaskId,
    pub(super) row: Row,
    before: Row,
    known: Known,
    /// What has been appended and is not written yet.
    pub(super) entries: Vec<Entry>,
}

enum Known {
    Live(TaskState),
    /// Of an ended task the end is left.
    Ended(Arc<Snapshot>),
}

impl Ledger {
    pub(super) fn new(connection: Connection, path: PathBuf) -> Self {
        Self {
            connection,
            path,
            me: None,
            counts: Counts::default(),
            appended: 0,
            remains: Vec::new(),
            turns: Turns::default(),
            told: Told::default(),
            handover: Handover::default(),
            to_hand_over: Vec::new(),
            snapshots: Snapshots::default(),
            briefs: Vec::new(),
            lease_until: None,
            me_before: None,
            tasks: Recent::new(TASKS),
            version: 0,
            codes: HashMap::new(),
            wrote: false,
            broken: None,
        }
    }

    pub(super) fn begin(&mut self) -> rusqlite::Result<()> {
        self.me_before.clone_from(&self.me);
        self.appended = 0;
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute(())?;
        // From here on nobody else writes.
        let version = self.version_of_others().inspect_err(|_| self.roll_back())?;
        if version != self.version {
            self.forget();
            self.version = version;
        }
        Ok(())
    }

    /// What changes whenever another connection writes.
    pub(super) fn version_of_others(&self) -> rusqlite::Result<i64> {
        self.connection
            .prepare_cached("PRAGMA data_version")?
            .query_row((), |row| row.get(0))
    }

    /// Forgets what stands in the file, which has changed.
    pub(super) fn forget(&mut self) {
        self.tasks.clear();
        self.lease_until = None;
    }

    /// Runs one operation. If it fails half way, the transaction is broken.
    pub(super) fn run<T>(
        &mut self,
        operation: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.wrote = false;
        operation(self).map_err(|fault| {
            if self.wrote {
                let words = match &fault {
                    Fault::Refused(error) => error.to_string(),
                    Fault::Database(error) => in_words(error),
                };
                self.broken.get_or_insert(words);
            }
            fault.into()
        })
    }

    /// What must be right before the transaction is committed.
    pub(super) fn complete(&mut self) -> Result<(), Failure> {
        if let Some(broken) = self.broken.take() {
            return Err(Failure::before_commit(broken));
        }
        self.counts
            .write(&self.connection)
            .map_err(|error| Failure::before_commit(in_words(&error)))
    }

    pub(super) fn commit(&mut self) -> Result<(), Failure> {
        self.connection
            .prepare_cached("COMMIT")
            .and_then(|mut commit| commit.execute(()))
            .map_err(|error| Failure::of_commit(&error))?;
        self.me_before = None;
        self.remains.clear();
        for (id, entries) in self.to_hand_over.drain(..) {
            self.handover.put(id, entries);
        }
        self.snapshots.put(self.briefs.drain(..));
        Ok(())
    }

    /// As if the transaction had never been.
    pub(super) fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            // If even that fails, the next transaction says why.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.me = self.me_before.take();
        self.remains.drain(..).for_each(Remains::spare);
        self.broken = None;
        self.counts.forget();
        self.to_hand_over.clear();
        self.briefs.clear();
        self.codes.clear();
        self.forget();
    }

    /// The holder that this is.
    pub(super) fn me(&self) -> Result<Arc<Me>, StoreError> {
        self.me.clone().ok_or_else(|| {
            StoreError::Unavailable("no server has enlisted with this store".to_owned())
        })
    }

    pub(super) fn retention(&self) -> Retention {
        self.me
            .as_ref()
            .map_or_else(Retention::default, |me| me.retention)
    }

    /// The connection, to write with.
    pub(super) fn write(&mut self) -> &Connection {
        self.wrote = true;
        &self.connection
    }

    /// Finds a task that exists for `access`.
    pub(super) fn find(&mut self, id: &TaskId, access: Access<'_>) -> Result<Option<Row>, Fault> {
        match self.tasks.get(id) {
            Some((row, _)) if access.may_see(&row.caller) => Ok(Some(row.clone())),
            // What is another's is looked for as long as what is not there.
            _ => Ok(Row::find(&self.connection, id, access)?),
        }
    }

    /// Takes up a task, to change it.
    pub(super) fn take_up(&mut self, id: &TaskId, row: Row) -> Result<Task, Fault> {
        let known = if row.due.ended {
            Known::Ended(journal::snapshot(&self.connection, id, row.task)?)
        } else {
            Known::Live(match self.tasks.take(id) {
                Some((_, state)) => state,
                None => journal::replay(&self.connection, id, &row)?,
            })
        };
        Ok(Task {
            id: id.clone(),
            before: row.clone(),
            row,
            known,
            entries: Vec::new(),
        })
    }

    /// Writes what has become of a task; gives its row as it is now.
    pub(super) fn put_down(&mut self, mut task: Task) -> Result<Row, Fault> {
        let retention = self.retention();
        match &task.known {
            Known::Live(state) => task.row.settle(state, retention),
            Known::Ended(snapshot) => task.row.settle_end(snapshot, retention),
        }
        let entries = std::mem::take(&mut task.entries);
        if !entries.is_empty() {
            journal::append(self.write(), &mut task.row, &entries)?;
            self.appended += 1;
        }
        if task.row != task.before {
            let text = (!entries.is_empty()).then(|| journal::to_json(task.snapshot()));
            task.row
                .update(self.write(), &task.before, text.as_deref())?;
            if let Some(text) = text {
                self.briefs
                    .extend(Brief::new(task.row.seq, task.snapshot(), &text));
            }
        }
        if task.row.due.ended && !task.before.due.ended {
            self.counts.end(&self.connection, &task.row.caller)?;
        }
        if let Known::Live(state) = task.known
            && !task.row.due.ended
        {
            self.tasks.put(task.id, (task.row.clone(), state));
        }
        Ok(task.row)
    }

    /// Writes a task that has just begun; its creator has claimed it.
    pub(super) fn begin_task(
        &mut self,
        journal: &[Entry],
        state: TaskState,
        me: &Me,
    ) -> Result<Claim, Fault> {
        let snapshot = state.snapshot().clone();
        let id = snapshot.id.clone();
        let code = self.code_for(me, &snapshot.tool, snapshot.version)?;
        let mut row = Row::new(code, &state, me.id, me.retention);
        let text = journal::to_json(&snapshot);
        if !row.insert(&self.connection, &id, &text)? {
            let words = format!("there is a task {id} already");
            return Err(StoreError::Unavailable(words).into());
        }
        journal::append(self.write(), &mut row, journal)?;
        self.counts.begin(&self.connection, &row.caller)?;
        self.appended += 1;
        self.briefs.extend(Brief::new(row.seq, &snapshot, &text));
        let claim = Claim {
            fencing: FencingNumber(1),
            last: state.seq(),
            snapshot,
        };
        self.tasks.put(id, (row, state));
        Ok(claim)
    }

    /// Removes every trace of a task.
    pub(super) fn delete(&mut self, id: &TaskId, row: &Row) -> Result<(), Fault> {
        self.write()
            .prepare_cached("DELETE FROM journal WHERE task = ?1")?
            .execute([row.task])?;
        self.write()
            .prepare_cached("DELETE FROM tasks WHERE task = ?1")?
            .execute([row.task])?;
        self.counts.delete(&self.connection)?;
        self.know_no_more(id);
        Ok(())
    }

    /// Forgets how a task stands in the file.
    pub(super) fn know_no_more(&mut self, id: &TaskId) {
        self.tasks.take(id);
    }

    /// The number of a tool's code, if any task of it was ever created.
    pub(super) fn code(
        &mut self,
        me: &Me,
        tool: &Arc<str>,
        version: u32,
    ) -> Result<Option<CodeNumber>, Fault> {
        let key = (tool.clone(), version);
        if let Some(code) = self.codes.get(&key) {
            return Ok(Some(*code));
        }
        let mut find = self.connection.prepare_cached(
            "SELECT code FROM codes WHERE server = ?1 AND scope = ?2 AND tool = ?3 AND version = ?4",
        )?;
        let mut rows = find.query(params![&*me.server, &*me.scope, &**tool, version])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let code = row.get(0)?;
        self.codes.insert(key, code);
        Ok(Some(code))
    }

    fn code_for(&mut self, me: &Me, tool: &Arc<str>, version: u32) -> Result<CodeNumber, Fault> {
        if let Some(code) = self.code(me, tool, version)? {
            return Ok(code);
        }
        self.write()
            .prepare_cached(
                "INSERT INTO codes (server, scope, tool, version) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![&*me.server, &*me.scope, &**tool, version])?;
        let code = self.connection.last_insert_rowid();
        let key = (tool.clone(), version);
        self.codes.insert(key, code);
        Ok(code)
    }
}

impl Task {
    pub(super) fn snapshot(&self) -> &Arc<Snapshot> {
        match &self.known {
            Known::Live(state) => state.snapshot(),
            Known::Ended(snapshot) => snapshot,
        }
    }

    /// The state; none of a task that has ended.
    pub(super) fn state(&self) -> Option<&TaskState> {
        match &self.known {
            Known::Live(state) => Some(state),
            Known::Ended(_) => None,
        }
    }

    /// Appends events in one go, all or none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] if the rules do not allow one of them; the task
    /// is not to be put down then.
    pub(super) fn append(
        &mut self,
        events: impl IntoIterator<Item = Event>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        for event in events {
            let seq = self.row.seq + 1;
            let entry = Entry { seq, at, event };
            let applied = match &mut self.known {
                Known::Live(state) => state.apply(&entry),
                Known::Ended(_) => Err(crate::task::IllegalTransition::Ended),
            };
            applied.map_err(|illegal| StoreError::damaged(&self.id, &illegal))?;
            self.row.seq = seq;
            self.entries.push(entry);
        }
        Ok(())
    }
}
