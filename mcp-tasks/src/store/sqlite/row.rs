//! A task's row: what can be known of a task without its journal.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};

use super::holders::HolderId;
use super::schema::{ARRIVED, NEVER, RUNNING};
use crate::store::Activity;
pub(super) use crate::store::columns::{caller_of, listed_as, stored, time};
use crate::task::{
    Access, Caller, FencingNumber, Recoveries, Retention, Seq, Snapshot, TaskId, TaskState,
    Timestamp,
};

/// The number of a task in this file.
pub(super) type TaskNumber = i64;

/// The number of a tool's code in this file.
pub(super) type CodeNumber = i64;

/// How a task is held.
const NOT_HELD: i64 = 0;
const HELD: i64 = 1;
const POISONOUS: i64 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) task: TaskNumber,
    pub(super) code: CodeNumber,
    pub(super) caller: Caller,
    pub(super) fencing: FencingNumber,
    pub(super) seq: Seq,
    /// Where its last status is, 0 if there is none.
    pub(super) status: Seq,
    /// Whether the function was running when its holder last said so.
    pub(super) running: bool,
    pub(super) waking: Waking,
    pub(super) due: Due,
    /// What it is listed as; as in the schema.
    state: i64,
}

/// By what the row is found when somebody looks for tasks to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waking {
    pub(super) holder: HolderId,
    pub(super) unseen: Unseen,
    /// As in the schema.
    pub(super) distrust: i64,
    held: i64,
    /// Of the holders that could not run it, the first and the last to have
    /// come. None of them tries again, nor any that came between them.
    held_by: [HolderId; 2],
    held_build: String,
    wake_at: i64,
}

/// Whether something was appended that the holder has not seen; as in the
/// schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unseen(i64);

impl Unseen {
    pub(super) const NOTHING: Self = Self(0);
    /// The holder must look for it.
    pub(super) const FROM_OTHERS: Self = Self(1);
    /// The holder's own process has told it.
    pub(super) const FROM_ITSELF: Self = Self(2);
}

impl Waking {
    /// Whether everything but the time and the news is the same.
    fn is_claimed_as(&self, other: &Self) -> bool {
        self.holder == other.holder
            && self.distrust == other.distrust
            && self.held == other.held
            && self.held_by == other.held_by
            && self.held_build == other.held_build
    }
}

/// By what the row is found when time has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) ended: bool,
    pub(super) at: i64,
}

const FIND: &str = "SELECT task, code, caller, fencing, seq, status, running,
    holder, unseen, distrust, held, held_first, held_last, held_build, wake_at, ended, due_at,
    state FROM tasks WHERE id = ?1 AND caller = ifnull(?2, caller)";

/// A task that has just been claimed by its creator: there is nothing to be
/// said about most of it. Like all writing here it fails rather than aborts: a
/// transaction in which anything fails is rolled back, and SQLite need not be
/// ready to undo single statements.
const INSERT: &str = "INSERT OR FAIL INTO tasks (id, code, caller, fencing, seq, status, running,
    holder, unseen, distrust, held, held_first, held_last, held_build, wake_at, ended, due_at,
    state, snapshot)
    VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, 0, 0, 0, 0, 0, '', ?8, ?9, ?10, ?11, ?12)";

/// The updates by what they touch: an index is written to if a column of it is
/// named, whether it changes or not.
static UPDATES: LazyLock<[String; 64]> = LazyLock::new(|| {
    std::array::from_fn(|parts| {
        let mut sql = "UPDATE OR FAIL tasks SET fencing = ?2, running = ?3".to_owned();
        if parts & SNAPSHOT != 0 {
            sql.push_str(", seq = ?4, status = ?5, snapshot = ?6");
        }
        if parts & CLAIM != 0 {
            sql.push_str(
                ", holder = ?7, distrust = ?9, held = ?10, held_first = ?11, held_last = ?12, \
                 held_build = ?13",
            );
        }
        if parts & UNSEEN != 0 {
            sql.push_str(", unseen = ?8");
        }
        if parts & WAKE != 0 {
            sql.push_str(", wake_at = ?14");
        }
        if parts & DUE != 0 {
            sql.push_str(", ended = ?15, due_at = ?16");
        }
        if parts & STATE != 0 {
            sql.push_str(", state = ?17");
        }
        sql + " WHERE task = ?1"
    })
});
const SNAPSHOT: usize = 1;
const DUE: usize = 2;
const WAKE: usize = 4;
const UNSEEN: usize = 8;
/// What seldom changes while a task has one holder.
const CLAIM: usize = 16;
const STATE: usize = 32;

impl Row {
    /// The row of a task that its creator has claimed.
    pub(super) fn new(
        code: CodeNumber,
        state: &TaskState,
        holder: HolderId,
        retention: Retention,
    ) -> Self {
        let mut row = Self {
            task: 0,
            code,
            caller: state.snapshot().caller.clone(),
            fencing: FencingNumber(1),
            seq: state.seq(),
            status: 0,
            running: true,
            waking: Waking {
                holder,
                unseen: Unseen::NOTHING,
                distrust: 0,
                held: NOT_HELD,
                held_by: [HolderId::NOBODY; 2],
                held_build: String::new(),
                wake_at: RUNNING,
            },
            due: Due {
                ended: false,
                at: NEVER,
            },
            state: listed_as(state.snapshot().status()),
        };
        row.settle(state, retention);
        row
    }

    /// Finds a task that exists for `access`.
    ///
    /// Whose it is is for SQLite to compare: a row that is another's is no more
    /// read than one that is not there.
    pub(super) fn find(
        connection: &Connection,
        id: &TaskId,
        access: Access<'_>,
    ) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(FIND)?
            .query_row((id.as_str(), caller_of(access)), Self::read)
            .optional()
    }

    fn read(row: &SqlRow<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            task: row.get(0)?,
            code: row.get(1)?,
            caller: Caller::new(row.get::<_, String>(2)?),
            fencing: FencingNumber(row.get::<_, i64>(3)?.cast_unsigned()),
            seq: row.get::<_, i64>(4)?.cast_unsigned(),
            status: row.get::<_, i64>(5)?.cast_unsigned(),
            running: row.get(6)?,
            waking: Waking {
                holder: HolderId(row.get(7)?),
                unseen: Unseen(row.get(8)?),
                distrust: row.get(9)?,
                held: row.get(10)?,
                held_by: [HolderId(row.get(11)?), HolderId(row.get(12)?)],
                held_build: row.get(13)?,
                wake_at: row.get(14)?,
            },
            due: Due {
                ended: row.get(15)?,
                at: row.get(16)?,
            },
            state: row.get(17)?,
        })
    }

    /// Writes a new row; false if there is one with this id.
    pub(super) fn insert(
        &mut self,
        connection: &Connection,
        id: &TaskId,
        snapshot: &str,
    ) -> rusqlite::Result<bool> {
        let inserted = connection.prepare_cached(INSERT)?.insert(params![
            id.as_str(),
            self.code,
            self.caller.as_str(),
            self.fencing.0.cast_signed(),
            self.seq.cast_signed(),
            self.running,
            self.waking.holder.0,
            self.waking.wake_at,
            self.due.ended,
            self.due.at,
            self.state,
            snapshot,
        ]);
        match inserted {
            Ok(task) => {
                self.task = task;
                Ok(true)
            }
            Err(error) if is_taken(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes what is not as it was `before`; the snapshot if there is a new
    /// one.
    pub(super) fn update(
        &self,
        connection: &Connection,
        before: &Self,
        snapshot: Option<&str>,
    ) -> rusqlite::Result<()> {
        let mut parts = 0;
        if snapshot.is_some() {
            parts |= SNAPSHOT;
        }
        if self.due != before.due {
            parts |= DUE;
        }
        let (waking, was) = (&self.waking, &before.waking);
        if waking.wake_at != was.wake_at {
            parts |= WAKE;
        }
        if waking.unseen != was.unseen {
            parts |= UNSEEN;
        }
        if !waking.is_claimed_as(was) {
            parts |= CLAIM;
        }
        if self.state != before.state {
            parts |= STATE;
        }
        let mut statement = connection.prepare_cached(&UPDATES[parts])?;
        statement.raw_bind_parameter(1, self.task)?;
        statement.raw_bind_parameter(2, self.fencing.0.cast_signed())?;
        statement.raw_bind_parameter(3, self.running)?;
        if let Some(snapshot) = snapshot {
            statement.raw_bind_parameter(4, self.seq.cast_signed())?;
            statement.raw_bind_parameter(5, self.status.cast_signed())?;
            statement.raw_bind_parameter(6, snapshot)?;
        }
        if parts & CLAIM != 0 {
            statement.raw_bind_parameter(7, waking.holder.0)?;
            statement.raw_bind_parameter(9, waking.distrust)?;
            statement.raw_bind_parameter(10, waking.held)?;
            let [first, last] = waking.held_by;
            statement.raw_bind_parameter(11, first.0)?;
            statement.raw_bind_parameter(12, last.0)?;
            statement.raw_bind_parameter(13, &*waking.held_build)?;
        }
        if parts & UNSEEN != 0 {
            statement.raw_bind_parameter(8, waking.unseen.0)?;
        }
        if parts & WAKE != 0 {
            statement.raw_bind_parameter(14, waking.wake_at)?;
        }
        if parts & DUE != 0 {
            statement.raw_bind_parameter(15, self.due.ended)?;
            statement.raw_bind_parameter(16, self.due.at)?;
        }
        if parts & STATE != 0 {
            statement.raw_bind_parameter(17, self.state)?;
        }
        statement.raw_execute().map(drop)
    }

    /// The last entry of a task that has ended.
    pub(super) fn end(&self) -> Option<Seq> {
        self.due.ended.then_some(self.seq)
    }

    /// Notes what the function does.
    pub(super) fn note(&mut self, then: Activity) {
        self.running = then == Activity::Running;
        match then {
            Activity::Parked => self.waking.holder = HolderId::NOBODY,
            // Something has arrived for it, as far as others are concerned.
            Activity::Queued => self.waking.unseen = Unseen::FROM_ITSELF,
            Activity::Running | Activity::Waiting => {}
        }
    }

    /// Notes that its holder cannot run it, before that is in the state.
    pub(super) fn hold(&mut self) {
        let waking = &mut self.waking;
        let holder = waking.holder;
        waking.held_by = match waking.held_by {
            [first, last] if waking.held != NOT_HELD => [first.min(holder), last.max(holder)],
            _ => [holder; 2],
        };
    }

    /// Works out, from the state and what was noted, where the row must be
    /// found.
    pub(super) fn settle(&mut self, state: &TaskState, retention: Retention) {
        self.settle_end(state.snapshot(), retention);
        let held = match &state.snapshot().held {
            None => NOT_HELD,
            Some(held) if held.poisonous => {
                if *held.build != *self.waking.held_build {
                    held.build.as_ref().clone_into(&mut self.waking.held_build);
                }
                POISONOUS
            }
            Some(_) => HELD,
        };
        let asleep = held != NOT_HELD || self.due.ended;
        let waking = &mut self.waking;
        waking.held = held;
        let recoveries = state.recoveries();
        waking.distrust = if asleep || !self.running {
            0
        } else if recoveries.is_suspect() {
            2
        } else {
            let again = Recoveries {
                started: recoveries.started + 1,
                ..recoveries
            };
            i64::from(again.is_suspect())
        };
        waking.wake_at = if asleep || waking.distrust > 0 {
            NEVER
        } else if self.running {
            RUNNING
        } else if waking.unseen != Unseen::NOTHING {
            ARRIVED
        } else {
            state.next_timer().map_or(NEVER, stored)
        };
    }

    /// Works out what time does to the task next. Of an ended task there is
    /// nothing else to know.
    pub(super) fn settle_end(&mut self, snapshot: &Snapshot, retention: Retention) {
        self.due.at = snapshot.due(retention).map_or(NEVER, |(at, _)| stored(at));
        self.due.ended = snapshot.is_terminal();
        self.state = listed_as(snapshot.status());
        if self.due.ended {
            self.running = false;
            self.waking.distrust = 0;
            self.waking.held = NOT_HELD;
            self.waking.wake_at = NEVER;
        }
    }

    /// Whether somebody must run the function by `now`.
    pub(super) fn must_run(&self, now: Timestamp) -> bool {
        self.waking.distrust > 0 || self.waking.wake_at <= stored(now)
    }

    /// Whether somebody must try a held task who has not.
    pub(super) fn is_held_from_others(&self, me: HolderId, build: &str) -> bool {
        match self.waking.held {
            HELD => {
                let [first, last] = self.waking.held_by;
                me < first || me > last
            }
            POISONOUS => self.waking.held_build != build,
            _ => false,
        }
    }

    /// When the clock wakes the function.
    pub(super) fn wakes_at(&self) -> Option<Timestamp> {
        (self.waking.wake_at != NEVER).then(|| time(self.waking.wake_at))
    }
}

/// Whether the id of a new task is that of another.
fn is_taken(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}
