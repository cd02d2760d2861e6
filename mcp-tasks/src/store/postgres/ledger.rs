//! Changing a task: its row and its journal are read, a change is worked out, and
//! written over that very row in one statement, or worked out anew.
//!
//! A row's revision says whether it is still the one that was read. So no lock is
//! held while something is worked out, and what a task was when it was last changed
//! here need not be read again: usually nobody else has changed it.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tokio_postgres::Row as SqlRow;

use super::clock::Clock;
use super::connections::{Connections, Lent, busy};
use super::deaths::Deaths;
use super::holders::{Me, Touch};
use super::news::News;
use super::query::{Name, Query};
use super::row::{COLUMNS, HolderId, Row, columns};
use super::schema::SLOTS;
use super::text::{kept, sought};
use super::trouble::Trouble;
use crate::store::columns::{caller_of, damaged, end_of, entry, from_json, stored, time, to_json};
use crate::store::near::{Brief, Handover, Recent, Snapshots};
use crate::store::{Change, StoreError};
use crate::task::{
    Access, Entry, Event, FORMAT, IllegalTransition, Retention, Seq, Snapshot, TaskId, TaskState,
    Timestamp,
};

/// How many tasks are known at least without a look at the database.
const TASKS: usize = 1024;

/// How often a change is worked out anew before somebody is told that there is too
/// much going on.
const ATTEMPTS: usize = 200;

/// The tables, and what is known of them here.
pub(super) struct Ledger {
    pub(super) connections: Connections,
    /// What must not wait for all that goes on: heartbeats, and telling others.
    pub(super) beats: Connections,
    pub(super) name: Name,
    pub(super) clock: Clock,
    pub(super) news: Arc<News>,
    /// The holder that this store's handle is, once it has enlisted.
    me: Mutex<Option<Arc<Me>>>,
    pub(super) touch: Mutex<Touch>,
    pub(super) deaths: Arc<Deaths>,
    /// Live tasks as they were when they were last changed here.
    tasks: Mutex<Recent<(Row, TaskState)>>,
    pub(super) snapshots: Snapshots,
    /// What drivers of this process need not read again.
    pub(super) handover: Handover,
    pub(super) commits: AtomicU64,
    /// The caller whose tasks were claimed last, if there were more of them than
    /// could be.
    pub(super) cursor: Mutex<String>,
    pub(super) queries: Queries,
}

/// All statements, by what they are about.
pub(super) struct Queries {
    load: Query,
    put: Query,
    put_nothing_said: Query,
    pub(super) changes: super::changes::Queries,
    pub(super) claims: super::claims::Queries,
    pub(super) elapse: super::elapse::Queries,
    pub(super) holders: super::holders::Queries,
    pub(super) news: super::news::Queries,
    pub(super) reading: super::reading::Queries,
    pub(super) sealing: super::sealing::Queries,
    pub(super) seats: super::seats::Queries,
}

/// A task that is to be changed.
pub(super) struct Task {
    pub(super) id: TaskId,
    pub(super) row: Row,
    /// As it was read.
    pub(super) before: Row,
    known: Known,
    /// Its journal, if it was read for this.
    pub(super) journal: Option<Vec<Entry>>,
    /// What has been appended and is not written yet.
    pub(super) entries: Vec<Entry>,
}

enum Known {
    Live(TaskState),
    /// Of an ended task this is left; and of one that was written, here.
    Shown(Arc<Snapshot>),
}

/// What became of a change that was worked out.
pub(super) enum Worked<T> {
    /// It is to be written, and then this is the outcome.
    Write(T),
    /// Nothing is to be written, and this is the outcome.
    Leave(T),
}

/// A row with its journal; of a task that has ended, its snapshot.
const LOAD: &str = concat!(
    "SELECT ",
    columns!(),
    ", CASE WHEN t.ended THEN t.snapshot END, j.seqs, j.ats, j.formats, j.events
     FROM @tasks t LEFT JOIN LATERAL (
         SELECT array_agg(seq ORDER BY seq) AS seqs, array_agg(at ORDER BY seq) AS ats,
             array_agg(format ORDER BY seq) AS formats, array_agg(event ORDER BY seq) AS events
         FROM @journal WHERE task = t.task
     ) j ON NOT t.ended
     WHERE t.id = $1::text AND t.caller = coalesce($2::text, t.caller)"
);

/// Writes a row over the one that it was worked out from, and no other; the claim is
/// compared besides, which says the same in other words.
macro_rules! put {
    ($($more:literal)*) => {
        concat!(
            "WITH put AS (
                UPDATE @tasks t SET revision = t.revision + 1, holder = $5::int8, seq = $6::int8,
                    status = $7::int8, running = $8::bool, unseen = $9::int2,
                    recover = $10::bool, distrust = $11::int2, held = $12::int2,
                    held_first = $13::int8, held_last = $14::int8, held_build = $15::text,
                    timer_at = $16::int8, wake_at = $17::int8, ended = $18::bool,
                    state = $19::int2, updated_at = $20::int8, expires_at = $21::int8,
                    due_at = $22::int8, snapshot = coalesce($23::text, t.snapshot)
                WHERE t.task = $1::int8 AND t.revision = $2::int8 AND t.fencing = $3::int8
                    AND t.holder = $4::int8
                RETURNING t.task, t.caller
            )",
            $($more,)*
            " SELECT task FROM put"
        )
    };
}

const PUT_NOTHING_SAID: &str = put!();

/// The row of the caller is locked before one of the totals, always: two that wait
/// for each other would get nowhere.
const PUT: &str = put!(
    ", unsaid AS (
        DELETE FROM @journal j USING put
        WHERE j.task = put.task AND j.seq BETWEEN $24::int8 AND $25::int8
    ), said AS (
        INSERT INTO @journal (task, seq, at, format, event)
        SELECT put.task, e.seq, e.at, $29::int2, e.event
        FROM put, unnest($26::int8[], $27::int8[], $28::text[]) AS e(seq, at, event)
    ), of_caller AS (
        UPDATE @callers c SET live = c.live - 1 FROM put
        WHERE $30::bool AND c.caller = put.caller RETURNING 1
    ), of_all AS (
        UPDATE @totals SET live = live - 1 FROM put
        WHERE $30::bool AND slot = $31::int4 AND (SELECT count(*) FROM of_caller) >= 0
    )"
);

impl Ledger {
    pub(super) fn new(
        connections: Connections,
        beats: Connections,
        name: Name,
        clock: Clock,
        news: Arc<News>,
    ) -> Self {
        let query = |sql: &str| Query::new(&name, sql);
        Self {
            queries: Queries {
                load: query(LOAD),
                put: query(PUT),
                put_nothing_said: query(PUT_NOTHING_SAID),
                changes: super::changes::Queries::new(query),
                claims: super::claims::Queries::new(query),
                elapse: super::elapse::Queries::new(query),
                holders: super::holders::Queries::new(query),
                news: super::news::Queries::new(query),
                reading: super::reading::Queries::new(query),
                sealing: super::sealing::Queries::new(query),
                seats: super::seats::Queries::new(query),
            },
            connections,
            beats,
            cursor: Mutex::default(),
            clock,
            news,
            me: Mutex::default(),
            touch: Mutex::default(),
            deaths: Arc::default(),
            tasks: Mutex::new(Recent::new(TASKS)),
            snapshots: Snapshots::default(),
            handover: Handover::default(),
            commits: AtomicU64::new(0),
            name,
        }
    }

    /// The holder that this is.
    pub(super) fn me(&self) -> Result<Arc<Me>, StoreError> {
        self.holder().ok_or_else(|| {
            StoreError::Unavailable("no server has enlisted with this store".to_owned())
        })
    }

    pub(super) fn holder(&self) -> Option<Arc<Me>> {
        let me = self.me.lock().unwrap_or_else(PoisonError::into_inner);
        me.clone()
    }

    pub(super) fn set_holder(&self, me: Option<Arc<Me>>) -> Option<Arc<Me>> {
        let mut its = self.me.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut its, me)
    }

    pub(super) fn retention(&self) -> Retention {
        self.holder()
            .map_or_else(Retention::default, |me| me.retention)
    }

    fn tasks(&self) -> MutexGuard<'_, Recent<(Row, TaskState)>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in how a task stands in the database.
    pub(super) fn remember(&self, id: TaskId, row: Row, state: TaskState) {
        self.tasks().put(id, (row, state));
    }

    /// Others have changed a task.
    pub(super) fn forget(&self, id: &TaskId) {
        self.tasks().take(id);
        self.handover.forget(id);
    }

    /// A task as it was when it was last changed here.
    fn known(&self, id: &TaskId, access: Access<'_>) -> Option<Task> {
        let (row, state) = self.tasks().take(id)?;
        // What is another's is looked for as long as what is not there.
        access.may_see(&row.caller).then(|| Task {
            id: id.clone(),
            before: row.clone(),
            row,
            known: Known::Live(state),
            journal: None,
            entries: Vec::new(),
        })
    }

    /// Reads a task that exists for `access`.
    pub(super) async fn load(
        &self,
        id: &TaskId,
        access: Access<'_>,
    ) -> Result<Option<Task>, StoreError> {
        let caller = caller_of(access).map(kept);
        let rows = self
            .connections
            .read(&self.queries.load, &[&sought(id), &caller])
            .await?;
        rows.first().map(|row| Task::read(id, row)).transpose()
    }

    /// Works out a change of a task and writes it, again and again while others
    /// change it meanwhile. `None` if it does not exist for this access.
    ///
    /// What is to be left as it is has been worked out from the task as it stands
    /// in the database, not as it was.
    pub(super) async fn change<T>(
        &self,
        id: &TaskId,
        access: Access<'_>,
        mut work: impl FnMut(&mut Task) -> Result<Worked<T>, StoreError>,
    ) -> Result<Option<(T, Task)>, StoreError> {
        let mut known = self.known(id, access);
        for _ in 0..ATTEMPTS {
            let was_known = known.is_some();
            let mut task = match known.take() {
                Some(task) => task,
                None => match self.load(id, access).await? {
                    Some(task) => task,
                    None => return Ok(None),
                },
            };
            match work(&mut task) {
                Ok(Worked::Write(outcome)) => {
                    if self.put(&mut task).await? {
                        return Ok(Some((outcome, task)));
                    }
                }
                _ if was_known => {}
                Ok(Worked::Leave(outcome)) => {
                    self.put_away(&mut task);
                    return Ok(Some((outcome, task)));
                }
                Err(error) => return Err(error),
            }
        }
        Err(busy())
    }

    /// Keeps in mind what was read and is not changed.
    fn put_away(&self, task: &mut Task) {
        if task.entries.is_empty()
            && let Some(state) = task.take_state()
        {
            self.remember(task.id.clone(), task.before.clone(), state);
        }
    }

    /// Writes what has become of a task; false if it is not any more what it was
    /// worked out from.
    async fn put(&self, task: &mut Task) -> Result<bool, StoreError> {
        let put = self.prepare(task);
        let (query, values) = put.statement(&self.queries);
        let written = self.connections.write(query, &values).await;
        if let Err(StoreError::Unsure(_)) = written {
            // It may be there, and whoever tries again finds nothing left to change.
            self.tell(task);
        }
        let done = !written?.is_empty();
        if done {
            self.has_put(task, put.snapshot.as_deref());
        }
        Ok(done)
    }

    /// The same within a transaction.
    pub(super) async fn put_in(
        &self,
        transaction: &mut Lent,
        task: &mut Task,
    ) -> Result<bool, Trouble> {
        let put = self.prepare(task);
        let (query, values) = put.statement(&self.queries);
        let written = transaction.run(query, &values).await?;
        Ok(!written.is_empty())
    }

    fn prepare(&self, task: &mut Task) -> Put {
        let retention = self.retention();
        match &task.known {
            Known::Live(state) => task.row.settle(state, retention),
            Known::Shown(snapshot) => task.row.settle_end(snapshot, retention),
        }
        let unsaid = drop_said(&mut task.row, &task.entries);
        let ends = task.row.ended && !task.before.ended;
        let said: Vec<&Entry> = task
            .entries
            .iter()
            .filter(|_| !ends)
            .filter(|entry| !is_status(entry) || entry.seq == task.row.status)
            .collect();
        Put {
            task: task.row.task,
            revision: task.before.revision,
            fencing: task.before.fencing.0.cast_signed(),
            holder_before: task.before.holder.0,
            seq: task.row.seq.cast_signed(),
            status: task.row.status.cast_signed(),
            snapshot: (!task.entries.is_empty()).then(|| to_json(task.snapshot())),
            unsaid: [unsaid.0.cast_signed(), unsaid.1.cast_signed()],
            seqs: said.iter().map(|entry| entry.seq.cast_signed()).collect(),
            ats: said.iter().map(|entry| stored(entry.at)).collect(),
            events: said.iter().map(|entry| to_json(&entry.event)).collect(),
            format: i16::try_from(FORMAT).unwrap_or(i16::MAX),
            ends,
            slot: next_slot(),
            row: task.row.clone(),
        }
    }

    /// Takes in what was written.
    pub(super) fn has_put(&self, task: &mut Task, snapshot: Option<&str>) {
        task.row.revision += 1;
        if !task.entries.is_empty() {
            self.commits.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(text) = snapshot {
            let brief = Brief::new(task.row.seq, task.snapshot(), text);
            self.snapshots.put(brief.into_iter());
        }
        if let Some(state) = task.take_state()
            && !task.row.ended
        {
            self.remember(task.id.clone(), task.row.clone(), state);
        }
    }

    /// Tells others of a change that was written.
    pub(super) fn tell(&self, task: &Task) {
        let me = self.holder().map_or(HolderId::NOBODY, |me| me.id);
        let holder = task.before.holder;
        let grown = (holder != me && holder != HolderId::NOBODY).then_some(holder);
        let work = task.row.holder == HolderId::NOBODY && !task.row.ended;
        self.news.tell(&task.id, grown, work);
    }
}

/// One of the rows over which the totals are spread, each time the next: changes
/// that are under way together do not wait for each other's commits.
pub(super) fn next_slot() -> i32 {
    // Where a process begins is left to chance: others begin elsewhere.
    static NEXT: LazyLock<AtomicU64> =
        LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one(())));
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    i32::try_from(next % SLOTS).unwrap_or_default()
}

fn is_status(entry: &Entry) -> bool {
    matches!(entry.event, Event::Status { .. })
}

/// Which entries new ones take the place of: those from the first number to the
/// second.
fn drop_said(row: &mut Row, entries: &[Entry]) -> (Seq, Seq) {
    let is_end = |entry: &Entry| matches!(entry.event, Event::Finished(_));
    if entries.last().is_some_and(is_end) {
        // Nobody will run it again, and what it was asked and told should not stay
        // longer than it must. How it ended is in its snapshot.
        row.status = 0;
        return (0, Seq::MAX >> 1);
    }
    let Some(status) = entries.iter().rev().find(|entry| is_status(entry)) else {
        return (1, 0);
    };
    let before = std::mem::replace(&mut row.status, status.seq);
    if before > 0 { (before, before) } else { (1, 0) }
}

/// The values of a statement that puts a task down.
pub(super) struct Put {
    task: i64,
    revision: i64,
    fencing: i64,
    holder_before: i64,
    seq: i64,
    status: i64,
    pub(super) snapshot: Option<String>,
    unsaid: [i64; 2],
    seqs: Vec<i64>,
    ats: Vec<i64>,
    events: Vec<String>,
    format: i16,
    ends: bool,
    slot: i32,
    row: Row,
}

type Values<'a> = Vec<&'a (dyn tokio_postgres::types::ToSql + Sync)>;

impl Put {
    fn statement<'a>(&'a self, queries: &'a Queries) -> (&'a Query, Values<'a>) {
        let row = &self.row;
        let mut values: Values<'a> = vec![
            &self.task,
            &self.revision,
            &self.fencing,
            &self.holder_before,
            &row.holder.0,
            &self.seq,
            &self.status,
            &row.running,
            &row.unseen.0,
            &row.recover,
            &row.distrust,
            &row.held,
            &row.held_by[0].0,
            &row.held_by[1].0,
            &row.held_build,
            &row.timer_at,
            &row.wake_at,
            &row.ended,
            &row.state,
            &row.updated_at,
            &row.expires_at,
            &row.due_at,
            &self.snapshot,
        ];
        if self.snapshot.is_none() {
            return (&queries.put_nothing_said, values);
        }
        values.extend([
            &self.unsaid[0] as &(dyn tokio_postgres::types::ToSql + Sync),
            &self.unsaid[1],
            &self.seqs,
            &self.ats,
            &self.events,
            &self.format,
            &self.ends,
            &self.slot,
        ]);
        (&queries.put, values)
    }
}

impl Task {
    fn read(id: &TaskId, sql: &SqlRow) -> Result<Self, StoreError> {
        let row = Row::read(sql, 0);
        let mut journal = None;
        let known = if let Some(snapshot) = sql.get(COLUMNS) {
            Known::Shown(from_json(id, snapshot)?)
        } else {
            let entries = journal_in(id, sql, COLUMNS + 1)?;
            let state = replay(id, &entries, row.seq)?;
            journal = Some(entries);
            Known::Live(state)
        };
        Ok(Self {
            id: id.clone(),
            before: row.clone(),
            row,
            known,
            journal,
            entries: Vec::new(),
        })
    }

    /// A task that is to be changed, from its parts.
    pub(super) fn new(id: TaskId, row: Row, state: TaskState) -> Self {
        Self {
            id,
            before: row.clone(),
            row,
            known: Known::Live(state),
            journal: None,
            entries: Vec::new(),
        }
    }

    pub(super) fn snapshot(&self) -> &Arc<Snapshot> {
        match &self.known {
            Known::Live(state) => state.snapshot(),
            Known::Shown(snapshot) => snapshot,
        }
    }

    /// The state; none of a task that has ended.
    pub(super) fn state(&self) -> Option<&TaskState> {
        match &self.known {
            Known::Live(state) => Some(state),
            Known::Shown(_) => None,
        }
    }

    fn take_state(&mut self) -> Option<TaskState> {
        let shown = Known::Shown(self.snapshot().clone());
        match std::mem::replace(&mut self.known, shown) {
            Known::Live(state) => Some(state),
            Known::Shown(_) => None,
        }
    }

    /// The entries after `last`; `None` if the journal is not at hand.
    pub(super) fn after(&self, last: Seq) -> Result<Option<Vec<Entry>>, StoreError> {
        match &self.known {
            Known::Shown(_) if self.row.seq <= last => Ok(Some(Vec::new())),
            Known::Shown(snapshot) => {
                end_of(&self.id, self.row.seq, snapshot).map(|end| Some(vec![end]))
            }
            Known::Live(_) => Ok(self.journal.as_ref().map(|journal| {
                let from = journal.partition_point(|entry| entry.seq <= last);
                journal[from..].to_vec()
            })),
        }
    }

    /// Appends events in one go, all or none; not before anything that is there.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] if the rules do not allow one of them; the task is
    /// not to be written then.
    pub(super) fn append(
        &mut self,
        events: impl IntoIterator<Item = Event>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        // Clocks of two replicas may differ by as much as a round trip.
        let at = now.max(self.snapshot().updated_at);
        for event in events {
            let seq = self.row.seq + 1;
            let entry = Entry { seq, at, event };
            let applied = match &mut self.known {
                Known::Live(state) => state.apply(&entry),
                Known::Shown(_) => Err(IllegalTransition::Ended),
            };
            applied.map_err(|illegal| StoreError::damaged(&self.id, &illegal))?;
            self.row.seq = seq;
            self.entries.push(entry);
        }
        Ok(())
    }

    /// What an operation from outside has made of it.
    pub(super) fn to_change(&self, now: Timestamp) -> Change {
        Change {
            snapshot: self.snapshot().clone(),
            changed: !self.entries.is_empty(),
            answered: Vec::new(),
            unclaimed: self.row.is_unclaimed(now),
        }
    }
}

/// Works a state out from its journal.
pub(super) fn replay(id: &TaskId, entries: &[Entry], seq: Seq) -> Result<TaskState, StoreError> {
    let state = TaskState::replay(entries).map_err(|illegal| StoreError::damaged(id, &illegal))?;
    if state.seq() != seq {
        let reason = format!("it ends with entry {} and not {seq}", state.seq());
        return Err(damaged(id, reason));
    }
    Ok(state)
}

/// A journal that was read in four columns.
pub(super) fn journal_in(
    id: &TaskId,
    row: &SqlRow,
    first: usize,
) -> Result<Vec<Entry>, StoreError> {
    let seqs: Option<Vec<i64>> = row.get(first);
    let ats: Option<Vec<i64>> = row.get(first + 1);
    let formats: Option<Vec<i16>> = row.get(first + 2);
    let events: Option<Vec<&str>> = row.get(first + 3);
    let (seqs, ats) = (seqs.unwrap_or_default(), ats.unwrap_or_default());
    let (formats, events) = (formats.unwrap_or_default(), events.unwrap_or_default());
    let rows = seqs.iter().zip(ats).zip(formats).zip(events);
    rows.map(|(((seq, at), format), event)| {
        let format = format.unsigned_abs().into();
        entry(id, seq.cast_unsigned(), time(at), format, event)
    })
    .collect()
}
