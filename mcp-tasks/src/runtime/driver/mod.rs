//! Runs one function from its call to its end.
//!
//! A driver polls the function, records what the function has asked for, and
//! shows it outcomes: strictly in the order of the journal, exactly one between
//! two polls, and each only after it has been recorded.

mod end;
mod function;
mod open;
mod progress;
mod record;
mod requests;
mod session;
mod turn;
mod wake;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use self::function::{Alarm, Function};
pub(super) use self::open::OpenCall;
pub use self::progress::{ProgressSink, ProgressUpdate, Telling};
use self::record::Record;
pub(super) use self::record::Window;
pub use self::session::{Asking, SessionAnswer, SessionClient};
use self::wake::Wake;
use super::keeper::ResumePermit;
use super::output::to_json;
use super::{Mark, Shared};
use crate::flow::{Body, Context, Contradiction, Flow, ToolOutput};
use crate::observe::figures::Stopwatch;
use crate::observe::story;
use crate::protocol::ProtocolError;
use crate::store::Claim;
use crate::task::{Entry, Event, InputKey, Snapshot, Timestamp};

/// A status that nothing else carries is written, or told, this often at most.
const STATUS_INTERVAL: Duration = Duration::from_millis(250);

/// How often at most the client of a call is told of its progress, which costs a
/// line and no write.
const NOTICE_INTERVAL: Duration = Duration::from_millis(25);

/// A function under way.
pub(super) struct Driver {
    shared: Arc<Shared>,
    context: Arc<Context>,
    function: Function,
    record: Record,
    /// Outcomes that are recorded and wait to be shown, in order.
    outcomes: VecDeque<Entry>,
    /// How far the function is run through what was recorded before.
    replay: Option<Replaying>,
    /// Whether the function may be run again from the top.
    replayable: bool,
    /// Timers that are set and attempts that rest, and when each is due.
    timers: Vec<(Timestamp, InputKey)>,
    alarm: Alarm,
    status_written: Option<Instant>,
    /// Since when the function has waited.
    waits_since: Option<Instant>,
    /// When the function has run for long enough after a crash to be cleared of
    /// it, if it says nothing before.
    cleared_at: Option<Instant>,
    /// Woken when others have changed the task.
    poke: Arc<Notify>,
}

/// How long a function runs after a crash before it is cleared of it.
const CLEARED_AFTER: Duration = Duration::from_secs(10);

/// A function that has not caught up with its record.
struct Replaying {
    /// The task as it was recorded.
    task: Arc<Snapshot>,
    /// How many of the outcomes were recorded when it began.
    left: usize,
    /// Since when.
    since: Stopwatch,
    /// Given back when it has caught up, ends, or waits for something that runs
    /// again.
    permit: Option<ResumePermit>,
}

/// Why a driver stops before its function has returned.
enum Stop {
    /// The task has ended, or is another's by now.
    TaskOver,
    /// The call ends with this error.
    Fail(ProtocolError),
    /// The code does not fit the journal.
    Hold(Contradiction),
    /// The task waits, and is run again when something arrives for it.
    Parked,
    /// The call has asked its client something.
    AskClient,
}

impl Driver {
    pub(super) fn new(
        shared: Arc<Shared>,
        context: Arc<Context>,
        replayable: bool,
        body: Option<Body>,
    ) -> Box<Self> {
        let running = body.map(|body| body.start(Flow::new(context.clone())));
        let lanes = shared.seating.lanes(&context.tool, &context.caller);
        let function = Function::new(running, lanes, &context);
        // It goes from hand to hand before it runs.
        Box::new(Self {
            shared,
            context,
            function,
            record: Record::Nowhere,
            outcomes: VecDeque::new(),
            replay: None,
            replayable,
            timers: Vec::new(),
            alarm: Alarm::default(),
            status_written: None,
            waits_since: None,
            cleared_at: None,
            poke: Arc::new(Notify::new()),
        })
    }

    /// Runs a task that has just been created, after `mark`.
    ///
    /// Whatever the caller need not wait for is done when the future is polled.
    pub(super) async fn run_task(mut self: Box<Self>, claim: Claim, mark: Mark) {
        self.become_task(&claim, mark);
        drop(claim);
        self.run_to_end().await;
    }

    /// Runs a call that becomes a task unless it is over soon.
    pub(super) async fn run_window(mut self: Box<Self>, window: Window) {
        self.record = Record::Window(window);
        self.run_to_end().await;
    }

    /// Takes over a task with its journal, to be run through it first.
    pub(super) fn take_over(
        &mut self,
        claim: &Claim,
        journal: Vec<Entry>,
        mark: Mark,
        permit: Option<ResumePermit>,
    ) {
        self.become_task(claim, mark);
        self.has_read(&journal);
        let recovering = |entry: &Entry| matches!(entry.event, Event::RecoveryStarted { .. });
        let after_a_crash = journal.last().is_some_and(recovering);
        story::resumed(self.context.of(), after_a_crash);
        if after_a_crash {
            self.cleared_at = Some(Instant::now() + CLEARED_AFTER);
        }
        let outcomes = journal.into_iter().filter(|entry| entry.event.is_outcome());
        self.outcomes.extend(outcomes);
        self.replay = Some(Replaying {
            task: claim.snapshot.clone(),
            left: self.outcomes.len(),
            since: Stopwatch::start(),
            permit,
        });
    }

    /// Runs the function through a journal, and stops before anything new.
    pub(super) async fn check(
        mut self: Box<Self>,
        task: Arc<Snapshot>,
        journal: Vec<Entry>,
    ) -> Result<(), Contradiction> {
        // Looking does not count as running.
        self.function.limited = None;
        let outcomes = journal.into_iter().filter(|entry| entry.event.is_outcome());
        self.outcomes.extend(outcomes);
        self.replay = Some(Replaying {
            task: task.clone(),
            left: self.outcomes.len(),
            since: Stopwatch::start(),
            permit: None,
        });
        let returned = loop {
            match self.wake().await {
                Wake::Returned(_) => break true,
                Wake::CaughtUp => break false,
                Wake::Contradiction(contradiction) => return Err(contradiction),
                Wake::Resume => {
                    self.get_permit().await.ok();
                }
                _ => {}
            }
        };
        let checked = self.context.end_replay(&task, returned);
        self.leave();
        checked
    }

    pub(super) async fn run_to_end(&mut self) {
        let ended = self.run().await;
        self.end(ended).await;
    }

    async fn end(&mut self, ended: Result<ToolOutput, Stop>) {
        match ended {
            Ok(output) => {
                let result = to_json(output, self.shared.limits.result);
                self.finish(result).await;
            }
            Err(Stop::Fail(error)) => self.finish(Err(error)).await,
            Err(Stop::Hold(contradiction)) => self.record_hold(&contradiction, false).await,
            Err(Stop::TaskOver | Stop::Parked | Stop::AskClient) => {}
        }
        self.leave();
    }

    fn leave(&mut self) {
        self.context.detach();
        self.function.let_go(&self.context.id);
        if let Record::Task(journal) = &self.record {
            self.shared.known.leave(&journal.id, &self.poke);
        }
    }

    /// A task that waits holds the future of this, which is as large as the
    /// largest part of it: so what seldom happens is in boxes.
    async fn run(&mut self) -> Result<ToolOutput, Stop> {
        loop {
            // A function whose steps never wait must let others run, such as
            // those who are told of it.
            tokio::task::coop::consume_budget().await;
            match self.wake().await {
                Wake::Returned(output) => {
                    if self.replay.is_some() {
                        Box::pin(self.end_replay(true)).await?;
                    }
                    return Ok(output);
                }
                Wake::CaughtUp => {
                    Box::pin(self.end_replay(false)).await?;
                    // What it asked for came before whatever it is shown next.
                    self.take_requests().await?;
                }
                Wake::Abandoned | Wake::PutDown => return Err(Stop::TaskOver),
                Wake::Requests => self.take_requests().await?,
                Wake::News => self.read_journal().await?,
                Wake::Alarm => Box::pin(self.ring()).await?,
                Wake::Resume => self.get_permit().await?,
                Wake::Rests => Box::pin(self.rest()).await?,
                Wake::Park => Box::pin(self.park()).await?,
                Wake::Answered(answered) => self.take_answer(answered).await?,
                Wake::Returns => return Err(self.return_to_client()),
                Wake::Contradiction(contradiction) => return Err(Stop::Hold(contradiction)),
                Wake::Lease => Box::pin(self.wait_for_lease()).await?,
                Wake::Outcome => {}
            }
        }
    }
}
