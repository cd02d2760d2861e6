//! Where a driver records what happens: nowhere, or in the journal of a task.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::super::known::MissedCalls;
use super::super::output::Called;
use super::super::{RETRY_MS, Shared};
use super::{Driver, Stop};
use crate::protocol::ProtocolError;
use crate::store::{Claim, Commit, StoreError};
use crate::task::{Access, Created, Entry, Event, FencingNumber, Seq, Snapshot, TaskId, Timestamp};

/// Where what happens is recorded.
pub(super) enum Record {
    /// Nowhere: the call is answered inline.
    Inline,
    /// Nowhere yet: the call may still be answered inline.
    Window(Window),
    /// In the store.
    Task(Journal),
}

impl Record {
    /// Waits until the call must be answered with a task, or need not be
    /// answered; forever if that is no question.
    pub(super) async fn window_over(&mut self) -> Result<(), Stop> {
        let Self::Window(window) = self else {
            return pending().await;
        };
        tokio::select! {
            () = window.reply.closed() => Err(Stop::TaskOver),
            () = tokio::time::sleep_until(window.until) => Ok(()),
        }
    }
}

/// The journal of a task, as its driver knows it.
pub(super) struct Journal {
    pub(super) id: TaskId,
    fencing: FencingNumber,
    last: Seq,
    /// About how many bytes it takes, without the last status.
    weight: u64,
    /// Of the statuses only the last is kept.
    status_weight: u64,
    /// When time next does something to the task, as its timer knows.
    due: Option<Timestamp>,
}

impl Journal {
    /// Sets the task's timer, unless it is set as it should be.
    fn schedule(&mut self, shared: &Arc<Shared>, snapshot: &Snapshot) {
        let due = snapshot.due(shared.retention).map(|(at, _)| at);
        if self.due != due
            && let Some(at) = due
        {
            shared.known.schedule(shared, &self.id, at);
        }
        self.due = due;
    }
}

/// The time in which a call may return a plain result.
pub(in super::super) struct Window {
    created: Box<Created>,
    pub(super) until: Instant,
    pub(super) reply: Reply,
}

impl Window {
    pub(in super::super) fn new(created: Created, millis: u64, reply: Reply) -> Self {
        Self {
            created: Box::new(created),
            until: Instant::now() + Duration::from_millis(millis),
            reply,
        }
    }
}

/// Answers the call.
type Reply = oneshot::Sender<Result<Called, ProtocolError>>;

impl Driver {
    pub(super) fn become_task(&mut self, claim: &Claim, calls: MissedCalls) {
        let id = claim.snapshot.id.clone();
        let due = claim.snapshot.due(self.shared.retention).map(|(at, _)| at);
        self.shared
            .known
            .enter(&self.shared, &id, self.poke.clone(), due, calls);
        self.record = Record::Task(Journal {
            id,
            fencing: claim.fencing,
            last: 1,
            weight: 0,
            status_weight: 0,
            due,
        });
    }

    /// Makes a task of a call whose window is over.
    pub(super) async fn promote(&mut self) -> Result<(), Stop> {
        let Record::Window(window) = std::mem::replace(&mut self.record, Record::Inline) else {
            return Ok(());
        };
        let calls = self.shared.known.missed_calls();
        let claim = match self.shared.create(*window.created).await {
            Ok(claim) => claim,
            Err(error) => {
                window.reply.send(Err(error)).ok();
                return Err(Stop::TaskOver);
            }
        };
        let snapshot = claim.snapshot.clone();
        self.become_task(&claim, calls);
        self.context.start_steps();
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
        self.append(&mut events).await?;
        for event in events {
            match event {
                Event::StepDone { .. } => self.outcomes.push_back(event),
                Event::TimerFired { ref key } => {
                    self.forget_timer(key);
                    self.outcomes.push_back(event);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Appends events to the journal. What others appended meanwhile comes
    /// first, and takes away what it has made moot.
    async fn append(&mut self, events: &mut Vec<Event>) -> Result<(), Stop> {
        loop {
            events.retain(|event| !self.is_moot(event));
            if events.is_empty() {
                return Ok(());
            }
            let Record::Task(journal) = &mut self.record else {
                return Ok(());
            };
            let (mut weight, mut status_weight) = (0, journal.status_weight);
            for event in &*events {
                match event {
                    Event::Status { .. } => status_weight = event.weight(),
                    _ => weight += event.weight(),
                }
            }
            // What others append is not refused, but it counts.
            if journal.weight + weight + status_weight > self.shared.limits.journal as u64 {
                let ending = matches!(events.last(), Some(Event::Finished(_)));
                if !ending {
                    return Err(Stop::Fail(ProtocolError::internal(format!(
                        "the task's journal has reached its limit of {} bytes",
                        self.shared.limits.journal
                    ))));
                }
            }
            let commit = self
                .shared
                .store
                .commit(
                    &journal.id,
                    journal.fencing,
                    journal.last,
                    events,
                    Shared::now(),
                )
                .await;
            match commit {
                Ok(Commit::Done(snapshot)) => {
                    journal.last += events.len() as Seq;
                    journal.weight += weight;
                    journal.status_weight = status_weight;
                    journal.schedule(&self.shared, &snapshot);
                    return Ok(());
                }
                Ok(Commit::Behind(missing)) => self.catch_up(missing)?,
                Ok(Commit::Lost) => return Err(Stop::TaskOver),
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::error!(%error, "a task cannot go on");
                    // It would look alive and have nobody who runs it.
                    return Err(Stop::Fail(ProtocolError::internal("internal error")));
                }
                Err(error) => {
                    tracing::warn!(task = %journal.id, %error, "the store failed, trying again");
                    tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
                }
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
            matches!(outcome, Event::Answered { key: its, .. } | Event::TimerFired { key: its }
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

    fn catch_up(&mut self, missing: Vec<Entry>) -> Result<(), Stop> {
        let Record::Task(journal) = &mut self.record else {
            return Ok(());
        };
        for entry in missing {
            journal.last = entry.seq;
            journal.weight += entry.event.weight();
            match entry.event {
                Event::Finished(_) => return Err(Stop::TaskOver),
                event @ (Event::Answered { .. } | Event::CancelRequested) => {
                    self.outcomes.push_back(event);
                }
                _ => {}
            }
        }
        Ok(())
    }
}
