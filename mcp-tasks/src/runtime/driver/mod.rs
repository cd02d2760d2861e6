//! Runs one function from its call to its end.
//!
//! A driver polls the function, records what the function has asked for, and
//! shows it outcomes: strictly in the order of the journal, exactly one between
//! two polls, and each only after it has been recorded.

mod function;
mod record;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::time::Instant;

use self::function::{Alarm, Function, instant_of};
use self::record::Record;
pub(super) use self::record::Window;
use super::Shared;
use super::known::MissedCalls;
use super::output::{Called, to_json};
use crate::flow::{Body, Context, Flow, Request, ToolOutput};
use crate::protocol::ProtocolError;
use crate::store::Claim;
use crate::task::{Event, InputKey, Outcome, Timestamp};

/// A status that nothing else carries is written this often at most.
const STATUS_INTERVAL: Duration = Duration::from_millis(250);

/// A function under way.
pub(super) struct Driver {
    shared: Arc<Shared>,
    context: Arc<Context>,
    function: Function,
    record: Record,
    /// Outcomes that are recorded and wait to be shown, in order.
    outcomes: VecDeque<Event>,
    /// Timers that are set, and when each is due.
    timers: Vec<(Timestamp, InputKey)>,
    alarm: Alarm,
    status_written: Option<Instant>,
    /// Woken when others have changed the task.
    poke: Arc<Notify>,
}

/// Why a driver stops before its function has returned.
enum Stop {
    /// The task has ended, or is another's by now.
    TaskOver,
    /// The call ends with this error.
    Fail(ProtocolError),
}

/// Why a driver has something to do.
enum Wake {
    Returned(ToolOutput),
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
    /// Nobody waits for the call any more.
    Abandoned,
}

impl Driver {
    pub(super) fn new(shared: Arc<Shared>, context: Arc<Context>, body: Body) -> Self {
        let running = body.start(Flow::new(context.clone()));
        Self {
            shared,
            context,
            function: Function::new(running),
            record: Record::Inline,
            outcomes: VecDeque::new(),
            timers: Vec::new(),
            alarm: Alarm::default(),
            status_written: None,
            poke: Arc::new(Notify::new()),
        }
    }

    /// Runs a call that never becomes a task.
    pub(super) async fn run_inline(mut self) -> ToolOutput {
        let ended = self.run().await;
        self.leave();
        match ended {
            Ok(output) => output,
            Err(Stop::Fail(error)) => Err(error),
            Err(Stop::TaskOver) => Err(ProtocolError::internal("internal error")),
        }
    }

    /// Runs a task that has just been created; `calls` were missed before.
    ///
    /// Whatever the caller need not wait for is done when the future is polled.
    pub(super) async fn run_task(mut self, claim: Claim, calls: MissedCalls) {
        self.become_task(&claim, calls);
        drop(claim);
        self.run_to_end().await;
    }

    /// Runs a call that becomes a task unless it is over soon.
    pub(super) async fn run_window(mut self, window: Window) {
        self.record = Record::Window(window);
        self.run_to_end().await;
    }

    async fn run_to_end(&mut self) {
        let ended = self.run().await;
        let result = match ended {
            Ok(output) => to_json(output, self.shared.limits.result),
            Err(Stop::Fail(error)) => Err(error),
            Err(Stop::TaskOver) => {
                self.leave();
                return;
            }
        };
        self.finish(result).await;
        self.leave();
    }

    fn leave(&mut self) {
        self.context.detach();
        self.function.let_go(&self.context.id);
        if let Record::Task(journal) = &self.record {
            self.shared.known.leave(&journal.id);
        }
    }

    async fn run(&mut self) -> Result<ToolOutput, Stop> {
        loop {
            match self.wake().await {
                Wake::Returned(output) => return Ok(output),
                Wake::Abandoned => return Err(Stop::TaskOver),
                Wake::Requests => self.take_requests().await?,
                Wake::News => self.read_journal().await?,
                Wake::Alarm => self.ring().await?,
                Wake::Resume => self.get_permit().await?,
                Wake::Outcome => {}
            }
        }
    }

    /// Waits for room to run the function. Meanwhile the window may close, or
    /// nobody may want the function any more.
    async fn get_permit(&mut self) -> Result<(), Stop> {
        if self.function.permit.is_some() {
            return Ok(());
        }
        let running = &self.shared.running;
        self.function.permit = running.clone().try_acquire_owned().ok();
        let poke = self.poke.clone();
        let mut permit = pin!(running.clone().acquire_owned());
        while self.function.permit.is_none() {
            tokio::select! {
                biased;
                // The semaphore is never closed.
                permit = &mut permit => self.function.permit = permit.ok(),
                () = poke.notified() => self.read_journal().await?,
                over = self.record.window_over() => {
                    over?;
                    self.promote().await?;
                }
            }
        }
        Ok(())
    }

    /// Shows the function the next outcome, polls it, and waits until there is
    /// something to do.
    async fn wake(&mut self) -> Wake {
        let poke = self.poke.clone();
        let mut poked = pin!(poke.notified());
        poll_fn(|cx| {
            // Most often it is an outcome that ends the waiting: it is fetched
            // and shown without asking the function first.
            let next = self.function.has_seen.then(|| self.outcomes.pop_front());
            if let Some(outcome) = next.flatten() {
                self.context.deliver(&outcome);
                self.function.has_seen = false;
            } else if poked.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Wake::News);
            }
            if !self.function.has_permit(&self.shared) {
                return Poll::Ready(Wake::Resume);
            }
            if let Poll::Ready(output) = self.function.poll(&self.context.id, cx) {
                return Poll::Ready(Wake::Returned(output));
            }
            if self.context.has_requests() {
                return Poll::Ready(Wake::Requests);
            }
            if !self.outcomes.is_empty() {
                return Poll::Ready(Wake::Outcome);
            }
            if poked.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Wake::News);
            }
            if let Record::Window(window) = &mut self.record
                && window.reply.poll_closed(cx).is_ready()
            {
                return Poll::Ready(Wake::Abandoned);
            }
            if self
                .next_alarm()
                .is_some_and(|at| self.alarm.poll(at, cx).is_ready())
            {
                return Poll::Ready(Wake::Alarm);
            }
            if !self.context.has_running_steps() {
                self.function.permit = None;
            }
            Poll::Pending
        })
        .await
    }

    /// When the driver must do something of its own accord.
    fn next_alarm(&self) -> Option<Instant> {
        let timer = self.timers.iter().map(|(at, _)| *at).min().map(instant_of);
        let window = match &self.record {
            Record::Window(window) => Some(window.until),
            Record::Inline | Record::Task(_) => None,
        };
        let status = (matches!(self.record, Record::Task(_)) && self.context.has_status())
            .then(|| self.status_due());
        [timer, window, status].into_iter().flatten().min()
    }

    fn status_due(&self) -> Instant {
        self.status_written
            .map_or_else(Instant::now, |written| written + STATUS_INTERVAL)
    }

    async fn ring(&mut self) -> Result<(), Stop> {
        let now = Shared::now();
        let fired: Vec<Event> = self
            .timers
            .iter()
            .filter(|(at, _)| *at <= now)
            .map(|(_, key)| Event::TimerFired { key: key.clone() })
            .collect();
        if matches!(&self.record, Record::Window(window) if window.until <= Instant::now()) {
            self.promote().await?;
        }
        if fired.is_empty() && !(self.context.has_status() && self.status_due() <= Instant::now()) {
            return Ok(());
        }
        self.commit(fired).await
    }

    /// Records what the function has asked for.
    async fn take_requests(&mut self) -> Result<(), Stop> {
        if matches!(self.record, Record::Window(_)) {
            // Whatever must be recorded makes the call a task.
            self.promote().await?;
        }
        let now = Shared::now();
        let mut events = Vec::new();
        for request in self.context.take_requests() {
            events.push(match request {
                // Leave is given with the task; the function asks again.
                Request::StartStep => continue,
                Request::Misuse(words) => {
                    tracing::error!(task = %self.context.id, "{words}");
                    return Err(Stop::Fail(ProtocolError::internal(words)));
                }
                Request::Ask { key, request } => {
                    if matches!(self.record, Record::Inline) {
                        return Err(Stop::Fail(self.cannot_ask()));
                    }
                    Event::Asked { key, request }
                }
                Request::Timer { key, due } => {
                    let at = due.resolve(now);
                    self.timers.push((at, key.clone()));
                    Event::TimerSet { key, at }
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
                Request::Withdraw { key } => {
                    self.forget_timer(&key);
                    Event::Withdrawn { key }
                }
                Request::Ttl { ttl_ms } => Event::TtlChanged { ttl_ms },
            });
        }
        if events.is_empty() {
            return Ok(());
        }
        self.commit(events).await
    }

    fn cannot_ask(&self) -> ProtocolError {
        if self.context.capabilities.tasks {
            return ProtocolError::internal(
                "this tool never becomes a task, and cannot ask a question on a plain call yet",
            );
        }
        ProtocolError::tasks_required(format!(
            "this tool has a question to ask, and can only ask it as a task: \
             declare the extension `{}` on the request",
            crate::protocol::TASKS_EXTENSION
        ))
    }

    fn forget_timer(&mut self, key: &InputKey) {
        self.timers.retain(|(_, timer)| timer != key);
    }

    /// Records the end of the call, or answers it.
    async fn finish(&mut self, result: Result<Arc<RawValue>, ProtocolError>) {
        match std::mem::replace(&mut self.record, Record::Inline) {
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
