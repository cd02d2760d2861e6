//! How a driver stops: with a result, by parking its task, or by holding it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::record::Record;
use super::{Driver, Replaying, Stop};
use crate::flow::{Contradiction, Request};
use crate::observe::{figures, story};
use crate::protocol::ProtocolError;
use crate::runtime::RETRY_MS;
use crate::runtime::output::Called;
use crate::store::{Activity, Commit, StoreError, ToCommit};
use crate::task::{Event, Held, Outcome};

impl Driver {
    /// Compares the function with its record, which is used up or which the
    /// function has returned from; nothing new has been started yet.
    pub(super) async fn end_replay(&mut self, returned: bool) -> Result<(), Stop> {
        let Some(Replaying { task, since, .. }) = self.replay.take() else {
            return Ok(());
        };
        if matches!(self.record, Record::Task(_)) {
            figures::caught_up(since);
        }
        let timers = self.context.recorded_timers();
        self.context
            .end_replay(&task, returned)
            .map_err(Stop::Hold)?;
        self.timers = timers;
        // Between two rounds a timer may have gone off that was set in the first.
        for outcome in &self.outcomes {
            if let Event::TimerFired { key } = &outcome.event {
                self.timers.retain(|(_, timer)| timer != key);
            }
        }
        if returned {
            // What was recorded after the outcome that it returned for is not
            // its affair.
            self.outcomes.clear();
        }
        if task.held.is_some() && !returned {
            return self.commit(vec![Event::Resumed]).await;
        }
        Ok(())
    }

    /// Lets the store know that the function waits.
    pub(super) async fn rest(&mut self) -> Result<(), Stop> {
        self.commit(Vec::new()).await
    }

    /// Gives up the claim on a task that has waited for long.
    pub(super) async fn park(&mut self) -> Result<(), Stop> {
        if self.context.has_status() {
            self.commit(Vec::new()).await?;
        }
        let Record::Task(journal) = &self.record else {
            return Ok(());
        };
        let commit = ToCommit {
            id: &journal.id,
            fencing: journal.fencing,
            last: journal.last,
            events: &[],
            then: Activity::Parked,
        };
        match self.shared.store.commit(&commit, self.shared.now()).await {
            Ok(Commit::Done(_)) => {
                if let Some(at) = self.timers.iter().map(|(at, _)| *at).min() {
                    self.shared.agenda.claim_at(at);
                }
                story::parked(self.context.of());
                Err(Stop::Parked)
            }
            Ok(Commit::Behind(missing)) => self.catch_up(missing),
            Ok(Commit::Lost) => Err(Stop::TaskOver),
            Err(error) => {
                // It may have been parked all the same: then it is lost by now.
                tracing::warn!(task = %journal.id, %error, "could not park a task, trying again");
                tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
                Ok(())
            }
        }
    }

    /// Holds the task of a function that was not run.
    pub(in super::super) async fn hold(
        mut self: Box<Self>,
        contradiction: &Contradiction,
        poisonous: bool,
    ) {
        self.record_hold(contradiction, poisonous).await;
        self.leave();
    }

    /// Fails the task of a function that cannot be run.
    pub(in super::super) async fn fail(mut self: Box<Self>, error: ProtocolError) {
        self.finish(Err(error)).await;
        self.leave();
    }

    pub(super) async fn record_hold(&mut self, contradiction: &Contradiction, poisonous: bool) {
        story::held(self.context.of(), &contradiction.explanation);
        // Whatever the function asked for in this run does not count.
        drop(self.context.take_requests());
        self.context.take_status();
        let held = Event::Held(Held {
            build: self.shared.server.build.clone(),
            reason: contradiction.reason.as_str().into(),
            poisonous,
        });
        let mut events = vec![held];
        self.append(&mut events, Activity::Parked).await.ok();
    }

    /// Records the end of the call, or answers it.
    pub(super) async fn finish(&mut self, result: Result<Arc<RawValue>, ProtocolError>) {
        match std::mem::replace(&mut self.record, Record::Nowhere) {
            Record::Window(window) => {
                window.reply.send(result.map(Called::Result)).ok();
                return;
            }
            record => self.record = record,
        }
        let outcome = match result {
            Ok(result) => Outcome::Completed { result },
            Err(error) => Outcome::Failed { error },
        };
        // What the function asked for and did not wait for does not count; its
        // last words do, and how long it said that they should be kept.
        let mut events: Vec<Event> = self
            .context
            .take_requests()
            .into_iter()
            .filter_map(|request| match request {
                Request::Ttl { ttl_ms } => Some(Event::TtlChanged { ttl_ms }),
                _ => None,
            })
            .collect();
        events.push(Event::Finished(outcome));
        self.commit(events).await.ok();
    }
}

/// Whether entries that came first are the ones that this driver tried to
/// append before it was told that the store had failed.
pub(super) fn are_ours(missing: &[crate::task::Entry], events: &[Event]) -> bool {
    let text = |event: &Event| serde_json::to_string(event).ok();
    missing.len() >= events.len()
        && missing
            .iter()
            .zip(events)
            .all(|(entry, event)| text(&entry.event) == text(event))
}

/// Whether trying again may help.
pub(super) fn is_passing(error: &StoreError) -> bool {
    !matches!(error, StoreError::Damaged { .. })
}
