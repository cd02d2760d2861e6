//! Where a driver records what happens: nowhere, or in the journal of a task.

use std::future::pending;
use std::time::Duration;

use tokio::time::Instant;

use super::super::Mark;
use super::super::RETRY_MS;
use super::super::lease::Epoch;
use super::super::limit_reached;
use super::super::output::Called;
use super::end::{are_ours, is_passing};
use super::open::{OpenCall, Reply};
use super::{Driver, Stop};
use crate::observe::figures::{self, Stopwatch};
use crate::observe::story;
use crate::protocol::ProtocolError;
use crate::store::{Activity, Claim, Commit, StoreError, ToCommit};
use crate::task::{Access, Created, Entry, Event, FencingNumber, Seq, TaskId, Timestamp};

/// Where what happens is recorded.
pub(super) enum Record {
    /// Nowhere: the function is only looked at.
    Nowhere,
    /// In memory, and with the client: the call is answered inline.
    Call(Box<OpenCall>),
    /// Nowhere yet: the call may still be answered inline.
    Window(Window),
    /// In the store.
    Task(Journal),
}

impl Record {
    /// Takes the reply to whoever called, and waits for it.
    pub(super) fn reply(&mut self) -> Option<&mut Reply> {
        match self {
            Self::Window(window) => Some(&mut window.reply),
            Self::Call(call) => call.reply.as_mut(),
            Self::Nowhere | Self::Task(_) => None,
        }
    }

    /// The last entry that was recorded.
    fn last(&self) -> Seq {
        match self {
            Self::Task(journal) => journal.last,
            Self::Call(call) => call.last(),
            Self::Nowhere | Self::Window(_) => 0,
        }
    }

    /// Whether the store takes the function to be running, and should know
    /// when it is not.
    pub(super) fn says_it_runs(&self) -> bool {
        matches!(self, Self::Task(journal) if journal.noted == Activity::Running)
    }

    /// Waits until the call must be answered with a task, or need not be
    /// answered; forever if that is no question.
    pub(super) async fn window_over(&mut self) -> Result<(), Stop> {
        let until = match self {
            Self::Window(window) => Some(window.until),
            Self::Nowhere | Self::Call(_) | Self::Task(_) => None,
        };
        let Some(reply) = self.reply() else {
            return pending().await;
        };
        let over = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = reply.closed() => Err(Stop::TaskOver),
            () = over => Ok(()),
        }
    }
}

/// The journal of a task, as its driver knows it.
pub(super) struct Journal {
    pub(super) id: TaskId,
    pub(super) fencing: FencingNumber,
    pub(super) last: Seq,
    /// The lease under which the task was claimed.
    pub(super) epoch: Epoch,
    /// What the store knows of what the function does.
    pub(super) noted: Activity,
    /// About how many bytes it takes, without the last status.
    weight: u64,
    /// Of the statuses only the last is kept.
    status_weight: u64,
}

/// The time in which a call may return a plain result.
pub(in super::super) struct Window {
    created: Box<Created>,
    /// When the call came: what the function has seen of the time so far.
    called_at: Timestamp,
    pub(super) until: Instant,
    pub(super) reply: Reply,
}

impl Window {
    pub(in super::super) fn new(
        created: Created,
        called_at: Timestamp,
        millis: u64,
        reply: Reply,
    ) -> Self {
        Self {
            created: Box::new(created),
            called_at,
            until: Instant::now() + Duration::from_millis(millis),
            reply,
        }
    }
}

impl Driver {
    pub(super) fn become_task(&mut self, claim: &Claim, mark: Mark) {
        let shared = &self.shared;
        let id = claim.snapshot.id.clone();
        if let Some((at, _)) = claim.snapshot.due(shared.server.retention) {
            shared.agenda.elapse_at(at);
        }
        shared.known.enter(&id, self.poke.clone(), mark.calls);
        self.record = Record::Task(Journal {
            id,
            fencing: claim.fencing,
            last: claim.last,
            epoch: mark.epoch,
            noted: Activity::Running,
            weight: 0,
            status_weight: 0,
        });
    }

    /// Notes what stood in the journal when the task was taken over.
    pub(super) fn has_read(&mut self, journal: &[Entry]) {
        let Record::Task(known) = &mut self.record else {
            return;
        };
        for entry in journal {
            known.last = known.last.max(entry.seq);
            match entry.event {
                Event::Created(_) => {}
                Event::Status { .. } => known.status_weight = entry.event.weight(),
                _ => known.weight += entry.event.weight(),
            }
        }
    }

    /// Makes a task of a call whose window is over.
    pub(super) async fn promote(&mut self) -> Result<(), Stop> {
        let Record::Window(window) = std::mem::replace(&mut self.record, Record::Nowhere) else {
            return Ok(());
        };
        let journal = Entry::journal(*window.created, window.called_at);
        let (claim, mark) = match self.shared.create(journal).await {
            Ok(created) => created,
            Err(error) => {
                window.reply.send(Err(error)).ok();
                return Err(Stop::TaskOver);
            }
        };
        let snapshot = claim.snapshot.clone();
        self.become_task(&claim, mark);
        self.context.start_steps();
        self.function.wake_up();
        // Whoever called may have gone meanwhile; the task goes on (P52).
        window.reply.send(Ok(Called::Task(snapshot))).ok();
        Ok(())
    }

    /// Records events, together with the status if it has changed, and queues
    /// the outcomes among them.
    pub(super) async fn commit(&mut self, mut events: Vec<Event>) -> Result<(), Stop> {
        if matches!(self.record, Record::Task(_))
            && let Some((message, progress)) = self.context.take_status()
        {
            self.status_written = Some(Instant::now());
            events.insert(0, Event::Status { message, progress });
        }
        if !events.is_empty() {
            self.cleared_at = None;
        }
        let then = self.activity_after(&events);
        let at = self.append(&mut events, then).await?;
        let first = (self.record.last() + 1).saturating_sub(events.len() as Seq);
        for (seq, event) in (first..).zip(events) {
            match &event {
                Event::Patched { .. } => self.context.patches_recorded(),
                Event::StepIntended { key, .. } => self.context.intent_recorded(key),
                Event::TimerFired { key } => self.forget_timer(key),
                _ => {}
            }
            if event.is_outcome() {
                self.outcomes.push_back(Entry { seq, at, event });
            }
        }
        Ok(())
    }

    /// What the function does once these are recorded. It goes on if it is
    /// shown an outcome, or may start something that waited to be recorded.
    fn activity_after(&self, events: &[Event]) -> Activity {
        let goes_on = |event: &Event| {
            event.is_outcome()
                || matches!(event, Event::Patched { .. } | Event::StepIntended { .. })
        };
        // A function that cannot be run again is not waiting for anybody who
        // could.
        if self.replayable && self.waits() && !events.iter().any(goes_on) {
            Activity::Waiting
        } else {
            Activity::Running
        }
    }

    /// Appends events to the journal. What others appended meanwhile comes
    /// first, and takes away what it has made moot.
    ///
    /// Gives the time at which they were recorded.
    pub(super) async fn append(
        &mut self,
        events: &mut Vec<Event>,
        then: Activity,
    ) -> Result<Timestamp, Stop> {
        let mut unsure = false;
        loop {
            events.retain(|event| !self.is_moot(event));
            let outcomes_wait = !self.outcomes.is_empty();
            let Record::Task(journal) = &mut self.record else {
                return self.append_to_call(events);
            };
            // What came first is shown to the function next.
            let then = match then {
                Activity::Waiting if outcomes_wait => Activity::Running,
                then => then,
            };
            if events.is_empty() && journal.noted == then {
                return Ok(self.shared.now());
            }
            let (mut weight, mut status_weight) = (0, journal.status_weight);
            for event in &*events {
                match event {
                    Event::Status { .. } => status_weight = event.weight(),
                    _ => weight += event.weight(),
                }
            }
            // What others append is not refused, but it counts.
            if journal.weight + weight + status_weight > self.shared.limits.journal as u64 {
                let ending = matches!(events.last(), Some(Event::Finished(_) | Event::Held(_)));
                if !ending && weight > 0 {
                    let words = format!(
                        "the task's journal has reached its limit of {} bytes",
                        self.shared.limits.journal
                    );
                    let error = limit_reached("journal", ProtocolError::internal(words));
                    return Err(Stop::Fail(error));
                }
            }
            let now = self.shared.now();
            let commit = ToCommit {
                id: &journal.id,
                fencing: journal.fencing,
                last: journal.last,
                events,
                then,
            };
            let since = Stopwatch::start();
            let committed = self.shared.store.commit(&commit, now).await;
            figures::committed(since);
            match committed {
                Ok(Commit::Done(snapshot)) => {
                    let at = if events.is_empty() {
                        now
                    } else {
                        snapshot.updated_at
                    };
                    journal.last += events.len() as Seq;
                    journal.weight += weight;
                    journal.status_weight = status_weight;
                    journal.noted = then;
                    if !events.is_empty() {
                        self.shared.watchers.changed(&journal.id);
                        self.tell_of(events);
                    }
                    if let Some((due, _)) = snapshot.due(self.shared.server.retention) {
                        self.shared.agenda.elapse_at(due);
                    }
                    return Ok(at);
                }
                Ok(Commit::Behind(missing)) if unsure && are_ours(&missing, events) => {
                    // What was said to have failed had not. What others have
                    // appended since comes after the outcomes among it, and is
                    // read then.
                    let ours = &missing[..events.len()];
                    journal.last += ours.len() as Seq;
                    journal.weight += weight;
                    journal.status_weight = status_weight;
                    journal.noted = then;
                    self.shared.watchers.changed(&journal.id);
                    self.tell_of(events);
                    if missing.len() > ours.len() {
                        self.poke.notify_one();
                    }
                    return Ok(ours.last().map_or(now, |entry| entry.at));
                }
                Ok(Commit::Behind(missing)) => self.catch_up(missing)?,
                Ok(Commit::Lost) => return Err(Stop::TaskOver),
                Err(error) if is_passing(&error) => {
                    unsure |= matches!(error, StoreError::Unsure(_));
                    tracing::warn!(task = %journal.id, %error, "the store failed, trying again");
                    tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
                }
                Err(error) => {
                    tracing::error!(%error, "a task cannot go on");
                    // It would look alive and have nobody who runs it.
                    return Err(Stop::Fail(ProtocolError::internal("internal error")));
                }
            }
        }
    }

    /// Tells whoever watches the server what was recorded.
    fn tell_of(&self, events: &[Event]) {
        for event in events {
            story::recorded(self.context.of(), event);
            if matches!(event, Event::Finished(_)) {
                self.shared.one_less();
            }
        }
    }

    /// Whether an event is the withdrawal of something whose outcome is
    /// recorded and has not been shown yet: the outcome came first.
    fn is_moot(&self, event: &Event) -> bool {
        let Event::Withdrawn { key } = event else {
            return false;
        };
        self.outcomes.iter().any(|outcome| {
            matches!(&outcome.event, Event::Answered { key: its, .. } | Event::TimerFired { key: its }
                if its == key)
        })
    }

    /// Reads what others have appended.
    pub(super) async fn read_journal(&mut self) -> Result<(), Stop> {
        let Record::Task(journal) = &self.record else {
            return Ok(());
        };
        let store = &self.shared.store;
        let missing = match store.read(&journal.id, journal.last).await {
            // Usually a commit has seen it before; or the task is gone.
            Ok(missing) if missing.is_empty() => store
                .get(&journal.id, Access::Server)
                .await
                .map(|task| task.map(|_| missing)),
            missing => missing.map(Some),
        };
        match missing {
            Ok(Some(missing)) => self.catch_up(missing),
            Ok(None) => Err(Stop::TaskOver),
            Err(error) => {
                tracing::warn!(task = %journal.id, %error, "the store failed, trying again");
                tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
                self.poke.notify_one();
                Ok(())
            }
        }
    }

    pub(super) fn catch_up(&mut self, missing: Vec<Entry>) -> Result<(), Stop> {
        let Record::Task(journal) = &mut self.record else {
            return Ok(());
        };
        for entry in &missing {
            journal.last = entry.seq;
            journal.weight += entry.event.weight();
            if matches!(entry.event, Event::Finished(_)) {
                return Err(Stop::TaskOver);
            }
        }
        let mut outcomes = missing;
        outcomes.retain(|entry| entry.event.is_outcome());
        if self.outcomes.is_empty() {
            // Usually it is one answer, and stays where it lies.
            self.outcomes = outcomes.into();
        } else {
            self.outcomes.extend(outcomes);
        }
        Ok(())
    }
}
