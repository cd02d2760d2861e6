//! A task's row: what can be known of a task without its journal.

use tokio_postgres::Row as SqlRow;

use super::schema::{ARRIVED, NEVER, RUNNING, SUSPECT};
use super::text::was;
use crate::store::Activity;
use crate::store::columns::{listed_as, stored};
use crate::task::{
    Caller, FencingNumber, Recoveries, Retention, Seq, Snapshot, TaskState, Timestamp,
};

/// The number of a holder; every enlisting gets one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct HolderId(pub(super) i64);

impl HolderId {
    /// The holder of what nobody has claimed.
    pub(super) const NOBODY: Self = Self(0);
}

/// How a task is held.
const NOT_HELD: i16 = 0;
const HELD: i16 = 1;
const POISONOUS: i16 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) task: i64,
    pub(super) code: i32,
    pub(super) caller: Caller,
    /// Which state of the row this is.
    pub(super) revision: i64,
    pub(super) holder: HolderId,
    pub(super) fencing: FencingNumber,
    pub(super) seq: Seq,
    /// Where its last status is, 0 if there is none.
    pub(super) status: Seq,
    /// Whether the function was running when its holder last said so.
    pub(super) running: bool,
    pub(super) unseen: Unseen,
    /// Whether its holder has died while it ran, and nobody has recovered it.
    pub(super) recover: bool,
    /// As in the schema.
    pub(super) distrust: i16,
    pub(super) held: i16,
    /// Of the holders that could not run it, the first and the last to have
    /// come. None of them tries again, nor any that came between them.
    pub(super) held_by: [HolderId; 2],
    pub(super) held_build: String,
    pub(super) timer_at: i64,
    pub(super) wake_at: i64,
    pub(super) ended: bool,
    /// What it is listed as.
    pub(super) state: i16,
    pub(super) updated_at: i64,
    pub(super) expires_at: i64,
    pub(super) due_at: i64,
}

/// Whether something was appended that the holder has not seen; as in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unseen(pub(super) i16);

impl Unseen {
    pub(super) const NOTHING: Self = Self(0);
    /// The holder must look for it.
    pub(super) const FROM_OTHERS: Self = Self(1);
    /// The holder's own process has told it.
    pub(super) const FROM_ITSELF: Self = Self(2);
}

/// The columns of a row, in the order in which they are read.
macro_rules! columns {
    () => {
        "t.task, t.code, t.caller, t.revision, t.holder, t.fencing, t.seq, t.status, t.running, \
         t.unseen, t.recover, t.distrust, t.held, t.held_first, t.held_last, t.held_build, \
         t.timer_at, t.wake_at, t.ended, t.state, t.updated_at, t.expires_at, t.due_at"
    };
}
pub(super) use columns;

/// How many they are: what else is selected comes after them.
pub(super) const COLUMNS: usize = 23;

impl Row {
    /// The row of a task that its creator has claimed.
    pub(super) fn new(
        code: i32,
        state: &TaskState,
        holder: HolderId,
        retention: Retention,
    ) -> Self {
        let mut row = Self {
            task: 0,
            code,
            caller: state.snapshot().caller.clone(),
            revision: 1,
            holder,
            fencing: FencingNumber(1),
            seq: state.seq(),
            status: 0,
            running: true,
            unseen: Unseen::NOTHING,
            recover: false,
            distrust: 0,
            held: NOT_HELD,
            held_by: [HolderId::NOBODY; 2],
            held_build: String::new(),
            timer_at: NEVER,
            wake_at: NEVER,
            ended: false,
            state: 0,
            updated_at: 0,
            expires_at: NEVER,
            due_at: NEVER,
        };
        row.settle(state, retention);
        row
    }

    /// Reads a row whose columns begin with the one of this number.
    pub(super) fn read(row: &SqlRow, first: usize) -> Self {
        let seq = |column| row.get::<_, i64>(first + column).cast_unsigned();
        Self {
            task: row.get(first),
            code: row.get(first + 1),
            caller: Caller::new(was(row.get(first + 2))),
            revision: row.get(first + 3),
            holder: HolderId(row.get(first + 4)),
            fencing: FencingNumber(seq(5)),
            seq: seq(6),
            status: seq(7),
            running: row.get(first + 8),
            unseen: Unseen(row.get(first + 9)),
            recover: row.get(first + 10),
            distrust: row.get(first + 11),
            held: row.get(first + 12),
            held_by: [HolderId(row.get(first + 13)), HolderId(row.get(first + 14))],
            held_build: row.get(first + 15),
            timer_at: row.get(first + 16),
            wake_at: row.get(first + 17),
            ended: row.get(first + 18),
            state: row.get(first + 19),
            updated_at: row.get(first + 20),
            expires_at: row.get(first + 21),
            due_at: row.get(first + 22),
        }
    }

    /// Notes what the function does.
    pub(super) fn note(&mut self, then: Activity) {
        self.running = then == Activity::Running;
        match then {
            Activity::Parked => self.holder = HolderId::NOBODY,
            // Something has arrived for it, as far as others are concerned.
            Activity::Queued => self.unseen = Unseen::FROM_ITSELF,
            Activity::Running | Activity::Waiting => {}
        }
    }

    /// Notes that its holder cannot run it, before that is in the state.
    pub(super) fn hold(&mut self) {
        let holder = self.holder;
        self.held_by = match self.held_by {
            [first, last] if self.held != NOT_HELD => [first.min(holder), last.max(holder)],
            _ => [holder; 2],
        };
    }

    /// Works out, from the state and what was noted, where the row must be found.
    pub(super) fn settle(&mut self, state: &TaskState, retention: Retention) {
        self.held = match &state.snapshot().held {
            None => NOT_HELD,
            Some(held) if held.poisonous => {
                if *held.build != *self.held_build {
                    held.build.as_ref().clone_into(&mut self.held_build);
                }
                POISONOUS
            }
            Some(_) => HELD,
        };
        let recoveries = state.recoveries();
        let again = Recoveries {
            started: recoveries.started + 1,
            ..recoveries
        };
        self.distrust = if recoveries.is_suspect() {
            2
        } else {
            i16::from(again.is_suspect())
        };
        self.timer_at = state.next_timer().map_or(NEVER, stored);
        self.settle_end(state.snapshot(), retention);
    }

    /// Works out what the snapshot says. Of an ended task there is nothing else to
    /// know.
    pub(super) fn settle_end(&mut self, snapshot: &Snapshot, retention: Retention) {
        self.ended = snapshot.is_terminal();
        // It is one digit.
        self.state = i16::try_from(listed_as(snapshot.status())).unwrap_or_default();
        self.updated_at = stored(snapshot.updated_at);
        self.expires_at = snapshot.expires_at().map_or(NEVER, stored);
        self.due_at = snapshot.due(retention).map_or(NEVER, |(at, _)| stored(at));
        if self.ended {
            self.running = false;
            self.recover = false;
            self.distrust = 0;
            self.held = NOT_HELD;
            self.timer_at = NEVER;
            if self.unseen != Unseen::FROM_OTHERS {
                self.holder = HolderId::NOBODY;
            }
        }
        self.wake_at = self.waking();
    }

    /// Where the row stands in the order of waking; as in the schema.
    fn waking(&self) -> i64 {
        if self.holder != HolderId::NOBODY || self.ended || self.held != NOT_HELD {
            NEVER
        } else if self.running {
            if self.recover && self.distrust > 0 {
                SUSPECT
            } else {
                RUNNING
            }
        } else if self.unseen != Unseen::NOTHING {
            ARRIVED
        } else {
            self.timer_at
        }
    }

    /// Whether it is to be claimed by `now`.
    pub(super) fn is_unclaimed(&self, now: Timestamp) -> bool {
        self.holder == HolderId::NOBODY && self.wake_at <= stored(now)
    }
}

/// Sets free the rows of a holder, `t`: as [`Row::waking`] works it out. `$died`
/// says whether what ran is to be recovered.
macro_rules! set_free {
    ($died:literal) => {
        concat!(
            "revision = t.revision + 1, holder = 0, recover = t.recover OR (t.running AND ",
            $died,
            "), wake_at = CASE
                WHEN t.ended OR t.held > 0 THEN 9223372036854775807
                WHEN t.running AND t.distrust > 0 AND (t.recover OR ",
            $died,
            ") THEN -2
                WHEN t.running THEN -1
                WHEN t.unseen > 0 THEN 0
                ELSE t.timer_at
            END"
        )
    };
}
pub(super) use set_free;
