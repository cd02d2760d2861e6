//! What a function asks for, as events of its journal.

use tokio::time::Instant;

use super::record::Record;
use super::{Driver, Stop};
use crate::flow::Request;
use crate::protocol::ProtocolError;
use crate::task::{Event, InputKey, Timestamp, millis};

impl Driver {
    pub(super) async fn ring(&mut self) -> Result<(), Stop> {
        let now = self.shared.now();
        let mut due: Vec<_> = self.timers.extract_if(.., |(at, _)| *at <= now).collect();
        due.sort();
        // A step that tries again is polled; nothing is recorded for that.
        due.retain(|(_, key)| {
            let tries_again = self.context.retry(key);
            if tries_again {
                self.function.wake_up();
            }
            !tries_again
        });
        let fired: Vec<Event> = due
            .into_iter()
            .map(|(_, key)| Event::TimerFired { key })
            .collect();
        if matches!(&self.record, Record::Window(window) if window.until <= Instant::now()) {
            self.promote().await?;
        }
        if self.status_due() <= Instant::now() {
            self.tell();
        }
        let mut events = fired;
        if self.cleared_at.is_some_and(|at| at <= Instant::now()) {
            events.push(Event::Resumed);
        }
        if events.is_empty() && !(self.context.has_status() && self.status_due() <= Instant::now())
        {
            return Ok(());
        }
        self.commit(events).await
    }

    /// Records what the function has asked for.
    pub(super) async fn take_requests(&mut self) -> Result<(), Stop> {
        if matches!(self.record, Record::Window(_)) {
            // Whatever must be recorded makes the call a task.
            Box::pin(self.promote()).await?;
        }
        self.context.check_late().map_err(Stop::Hold)?;
        let now = self.shared.now();
        let mut events = Vec::new();
        let mut starts = false;
        for request in self.context.take_requests() {
            starts |= matches!(request, Request::StartTask);
            events.extend(self.event_of(request, now)?);
        }
        if !events.is_empty() {
            self.commit(events).await?;
        }
        if starts {
            Box::pin(self.start_task()).await?;
        }
        Ok(())
    }

    fn event_of(&mut self, request: Request, now: Timestamp) -> Result<Option<Event>, Stop> {
        Ok(Some(match request {
            // Leave is given with the task; the function asks again.
            Request::StartStep | Request::StartTask | Request::Late { .. } => return Ok(None),
            Request::Misuse(words) => {
                tracing::error!(task = %self.context.id, "{words}");
                return Err(Stop::Fail(ProtocolError::internal(words)));
            }
            Request::Ask { key, request } => {
                if self.is_in_rounds() && !self.replayable {
                    // It would have to be run again with the answers.
                    let why = "this tool has a question to ask, and is marked `replay = false`";
                    return Err(self.fail_without_task(why));
                }
                Event::Asked { key, request }
            }
            Request::Timer { key, due } => {
                let at = due.resolve(now);
                self.timers.push((at, key.clone()));
                Event::TimerSet { key, at }
            }
            Request::Intend { key, function } => {
                if self.is_in_rounds() && !self.shared.store.is_durable() {
                    // A client may send a state again, and then it would.
                    let why = format!(
                        "the step `{key}` must not run twice, which this server can only promise for \
                         tasks"
                    );
                    return Err(self.fail_without_task(&why));
                }
                Event::StepIntended {
                    key,
                    function: function.into(),
                }
            }
            Request::Attempt {
                key,
                function,
                n,
                after,
            } => {
                let retry_at = now.plus_millis(millis(after));
                self.timers.push((retry_at, key.clone()));
                Event::StepAttempt {
                    key,
                    function: function.into(),
                    n,
                    retry_at,
                }
            }
            Request::StepDone {
                key,
                function,
                outcome,
            } => Event::StepDone {
                key,
                function: function.into(),
                outcome,
            },
            Request::Ran { key } => Event::Ran { key },
            Request::Withdraw { key } => {
                self.forget_timer(&key);
                Event::Withdrawn { key }
            }
            Request::Patched { id } => Event::Patched { id },
            Request::Ttl { ttl_ms } => Event::TtlChanged { ttl_ms },
        }))
    }

    fn is_in_rounds(&self) -> bool {
        matches!(&self.record, Record::Call(call) if call.is_in_rounds())
    }

    pub(super) fn forget_timer(&mut self, key: &InputKey) {
        self.timers.retain(|(_, timer)| timer != key);
    }
}
