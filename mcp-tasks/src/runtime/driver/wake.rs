//! What a driver waits for, and what it does next.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};

use tokio::time::Instant;

use super::record::Record;
use super::session::Answered;
use super::{Driver, NOTICE_INTERVAL, STATUS_INTERVAL};
use crate::flow::{Contradiction, ToolOutput};
use crate::observe::figures;
use crate::runtime::lease::Standing;

/// Why a driver has something to do.
pub(super) enum Wake {
    Returned(ToolOutput),
    /// The function has caught up with its record.
    CaughtUp,
    /// The function asked for something.
    Requests,
    /// An outcome waits to be shown.
    Outcome,
    /// The journal has grown.
    News,
    /// A timer, a status or the window is due.
    Alarm,
    /// The function wants to run again.
    Resume,
    /// The function waits, and the store does not know it yet.
    Rests,
    /// The function has waited for long.
    Park,
    /// The client of a session has answered.
    Answered(Answered),
    /// Only the client can let the call go on.
    Returns,
    /// Nobody waits for the call any more.
    Abandoned,
    /// An outcome is not what the function asked for.
    Contradiction(Contradiction),
    /// The lease is late or lost.
    Lease,
    /// The server ends, and nothing is lost if the function is dropped here.
    PutDown,
}

impl Driver {
    /// Shows the function the next outcome, polls it, and waits until there is
    /// something to do.
    pub(super) async fn wake(&mut self) -> Wake {
        let poke = self.poke.clone();
        let mut poked = pin!(poke.notified());
        poll_fn(|cx| {
            // Nothing of the task is polled that may be another's by now.
            if self.standing() != Standing::Held {
                return Poll::Ready(Wake::Lease);
            }
            if self.is_put_down() {
                return Poll::Ready(Wake::PutDown);
            }
            // Most often it is an outcome that ends the waiting: it is fetched
            // and shown without asking the function first.
            match self.show_next() {
                Ok(true) => {}
                Ok(false) => {
                    if poked.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(Wake::News);
                    }
                }
                Err(contradiction) => return Poll::Ready(Wake::Contradiction(contradiction)),
            }
            if !self.function.sleeps()
                && let Poll::Ready(wake) = self.run_function(cx)
            {
                return Poll::Ready(wake);
            }
            if poked.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Wake::News);
            }
            if let Some(reply) = self.record.reply()
                && reply.poll_closed(cx).is_ready()
            {
                return Poll::Ready(Wake::Abandoned);
            }
            if self.seats_are_lost(cx) {
                return Poll::Ready(Wake::Lease);
            }
            if let Record::Call(call) = &mut self.record {
                call.poll_teller(cx);
                if let Poll::Ready(answered) = call.poll_session(cx) {
                    return Poll::Ready(Wake::Answered(answered));
                }
            }
            let waits = self.waits();
            if self.must_return(waits) {
                return Poll::Ready(Wake::Returns);
            }
            if waits && self.replayable && self.record.says_it_runs() {
                return Poll::Ready(Wake::Rests);
            }
            if !waits {
                self.waits_since = None;
            }
            if let Some((at, wake)) = self.next_alarm(waits)
                && self.alarm.poll(at, cx).is_ready()
            {
                return Poll::Ready(wake);
            }
            if self.rests() {
                self.function.sit_back();
            }
            if let Some(replay) = &mut self.replay {
                // What it waits for takes its time: others are resumed meanwhile.
                replay.permit = None;
            }
            Poll::Pending
        })
        .await
    }

    /// Polls the function, if it may run.
    fn run_function(&mut self, cx: &mut Context<'_>) -> Poll<Wake> {
        if !self.function.has_permit(&self.shared) {
            return Poll::Ready(Wake::Resume);
        }
        self.context.before_poll();
        let replays = self.replay.as_ref().is_some_and(|replay| replay.left > 0);
        if let Poll::Ready(output) = self.function.poll(&self.context.id, replays, cx) {
            return Poll::Ready(Wake::Returned(output));
        }
        if let Some(replay) = &self.replay {
            if replay.left == 0 {
                return Poll::Ready(Wake::CaughtUp);
            }
        } else if self.context.has_requests() {
            return Poll::Ready(Wake::Requests);
        }
        if self.may_show_next() {
            return Poll::Ready(Wake::Outcome);
        }
        Poll::Pending
    }

    /// Shows the function the next outcome, if there is one whose turn it is.
    pub(super) fn show_next(&mut self) -> Result<bool, Contradiction> {
        if !self.function.has_seen || !self.may_show_next() {
            return Ok(false);
        }
        let Some(outcome) = self.outcomes.pop_front() else {
            return Ok(false);
        };
        if let Some(replay) = &mut self.replay {
            replay.left = replay.left.saturating_sub(1);
        } else if figures::ARE_WANTED {
            let now = self.shared.now().as_millis();
            figures::shown(now.saturating_sub(outcome.at.as_millis()));
        }
        self.context.deliver(&outcome)?;
        self.function.has_seen = false;
        Ok(true)
    }

    /// Whether the server ends, and the task can be left to others: whatever the
    /// function has asked for is recorded, and no step runs.
    pub(super) fn is_put_down(&self) -> bool {
        if !matches!(self.record, Record::Task(_)) || !self.shared.stop.is_cancelled() {
            return false;
        }
        // What cannot be run again has as long as a step.
        if !self.replayable {
            return false;
        }
        self.context.stop_steps();
        !self.context.is_in_step()
    }

    pub(super) fn may_show_next(&self) -> bool {
        let next = self.outcomes.front();
        next.is_some_and(|next| !self.context.must_wait_for(&next.event))
    }

    /// Whether the function waits for nothing that runs in this process.
    pub(super) fn waits(&self) -> bool {
        self.replay.is_none() && self.outcomes.is_empty() && !self.context.is_running()
    }

    /// When the driver must do something of its own accord, and what.
    pub(super) fn next_alarm(&mut self, waits: bool) -> Option<(Instant, Wake)> {
        if self.replay.is_some() {
            return None;
        }
        let clock = &self.shared.clock;
        let timer = self.timers.iter().map(|(at, _)| *at).min();
        let timer = timer.map(|at| clock.instant(at));
        let window = match &self.record {
            Record::Window(window) => Some(window.until),
            Record::Nowhere | Record::Call(_) | Record::Task(_) => None,
        };
        let tells = match &self.record {
            Record::Task(_) => true,
            Record::Call(call) => call.can_tell(),
            Record::Nowhere | Record::Window(_) => false,
        };
        let status = (tells && self.context.has_status()).then(|| self.status_due());
        let alarm = [timer, window, status, self.cleared_at]
            .into_iter()
            .flatten()
            .min();
        let park = (waits && self.can_park()).then(|| {
            let since = *self.waits_since.get_or_insert_with(Instant::now);
            // What a burst takes of memory, the allocator may keep for good.
            let is_crowded = self.shared.known.resident() > self.shared.limits.resident;
            let patience = (!is_crowded).then_some(self.shared.park_after);
            since + patience.unwrap_or_default()
        });
        match (alarm, park) {
            (Some(alarm), Some(park)) if park < alarm => Some((park, Wake::Park)),
            (None, Some(park)) => Some((park, Wake::Park)),
            (alarm, _) => alarm.map(|at| (at, Wake::Alarm)),
        }
    }

    pub(super) fn can_park(&self) -> bool {
        matches!(self.record, Record::Task(_)) && self.replayable && self.shared.lease.is_needed()
    }

    pub(super) fn status_due(&self) -> Instant {
        let interval = match self.record {
            Record::Call(_) => NOTICE_INTERVAL,
            _ => STATUS_INTERVAL,
        };
        self.status_written
            .map_or_else(Instant::now, |written| written + interval)
    }
}
