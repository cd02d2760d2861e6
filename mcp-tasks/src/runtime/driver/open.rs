//! Calls that are not tasks: their journal is in memory, and goes to the client
//! when they ask it something.

use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::progress::{ProgressSink, Teller};
use super::record::Record;
use super::session::{Answered, Session, SessionAnswer, SessionClient};
use super::{Driver, Replaying, Stop};
use crate::flow::Record as Recorded;
use crate::observe::figures::Stopwatch;
use crate::observe::story;
use crate::protocol::{Capabilities, InputRequest, ProtocolError};
use crate::runtime::limit_reached;
use crate::runtime::output::{Called, to_json};
use crate::runtime::rounds::{InputRequired, Round, code_has_changed};
use crate::task::{
    Action, Answer, Created, Entry, Event, IllegalTransition, KeyError, Refusal, Seq, Snapshot,
    TaskState, Timestamp,
};

/// The journal of a call that is no task.
pub(in super::super) struct OpenCall {
    entries: Vec<Entry>,
    /// What they add up to.
    state: TaskState,
    /// About how many bytes they take.
    weight: u64,
    /// How many states the call has given its client so far.
    round: u32,
    /// What was sealed, if it goes on.
    resumed: Option<Resumed>,
    /// What the client declares on this request.
    declared: Capabilities,
    /// Where its client can be asked at once; else it is asked in rounds.
    session: Option<Session>,
    /// Where its client wants to be told of its progress.
    teller: Option<Teller>,
    /// Takes the reply of a call that may become a task.
    pub(super) reply: Option<Reply>,
}

/// What a call knew when its client was asked last.
struct Resumed {
    /// How many of its entries.
    sealed: usize,
    /// What they add up to.
    task: Arc<Snapshot>,
}

/// Answers the call.
pub(super) type Reply = oneshot::Sender<Result<Called, ProtocolError>>;

impl OpenCall {
    /// A call that begins.
    pub(in super::super) fn new(created: Created, now: Timestamp, declared: Capabilities) -> Self {
        let entry = Entry::first(created, now);
        let state = TaskState::new(&entry).expect("this is how journals begin");
        Self {
            weight: entry.weight(),
            entries: vec![entry],
            state,
            round: 0,
            resumed: None,
            declared,
            session: None,
            teller: None,
            reply: None,
        }
    }

    /// A call whose client wants to be told of its progress, if there is a sink.
    pub(in super::super) fn telling(mut self, sink: Option<&Arc<dyn ProgressSink>>) -> Self {
        self.teller = sink.map(|sink| Teller::new(sink.clone()));
        self
    }

    /// A call whose client can be asked while it is open.
    pub(in super::super) fn in_session(mut self, client: Arc<dyn SessionClient>) -> Self {
        self.session = Some(Session::new(client));
        self
    }

    /// A call that goes on.
    pub(in super::super) fn resume(round: Round, declared: Capabilities) -> Self {
        Self {
            state: round.state,
            weight: round.journal.iter().map(Entry::weight).sum(),
            entries: round.journal,
            round: round.number,
            resumed: Some(Resumed {
                sealed: round.sealed,
                task: round.before,
            }),
            declared,
            session: None,
            teller: None,
            reply: None,
        }
    }

    /// Whether it asks its client in rounds.
    pub(super) fn is_in_rounds(&self) -> bool {
        self.session.is_none()
    }

    /// What the client of a session has answered.
    pub(super) fn poll_session(&mut self, cx: &mut Context<'_>) -> Poll<Answered> {
        match &mut self.session {
            Some(session) => session.poll(cx),
            None => Poll::Pending,
        }
    }

    /// Whether an update can be sent to the client now.
    pub(super) fn can_tell(&self) -> bool {
        self.teller.as_ref().is_some_and(|teller| !teller.is_busy())
    }

    /// Sends the update that is under way.
    pub(super) fn poll_teller(&mut self, cx: &mut Context<'_>) {
        if let Some(teller) = &mut self.teller {
            teller.poll(cx);
        }
    }

    pub(super) fn last(&self) -> Seq {
        self.state.seq()
    }

    /// Whether it has asked something that waits for an answer.
    pub(super) fn asks(&self) -> bool {
        !self.state.snapshot().input_requests.is_empty()
    }

    fn append(&mut self, events: &[Event], at: Timestamp) -> Result<(), IllegalTransition> {
        for event in events {
            let entry = Entry {
                seq: self.last() + 1,
                at,
                event: event.clone(),
            };
            self.state.apply(&entry)?;
            self.weight += entry.weight();
            self.entries.push(entry);
            if let Some(session) = &mut self.session {
                session.hear(event);
            }
        }
        Ok(())
    }

    /// What of the questions this client cannot answer.
    fn undeclared(&self) -> Option<ProtocolError> {
        let requests = &self.state.snapshot().input_requests;
        requests
            .iter()
            .find_map(|(_, request)| missing_for(request, self.declared))
    }
}

/// The error for a question that a client without these capabilities cannot be
/// asked (P21).
fn missing_for(request: &InputRequest, declared: Capabilities) -> Option<ProtocolError> {
    let kind = request.kind();
    (!declared.client_can_be_asked(kind)).then(|| {
        ProtocolError::input_required(
            kind,
            format!(
                "this call has something to ask, and this request does not declare `{}` any more",
                kind.capability()
            ),
        )
    })
}

impl Driver {
    /// Runs a call as far as it can be answered, or as it says that it is a
    /// task.
    pub(in super::super) async fn answer(
        self: Box<Self>,
        mut call: OpenCall,
        may_become_task: bool,
    ) -> Result<Called, ProtocolError> {
        let lost = || ProtocolError::internal("internal error");
        if !may_become_task {
            return self.run_open(call).await.ok_or_else(lost)?;
        }
        self.context.may_start_task();
        // Soon it is in the task.
        call.teller = None;
        let (reply, replied) = oneshot::channel();
        call.reply = Some(reply);
        tokio::spawn(self.run_open(call));
        replied.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Runs a call to its end, to where it asks its client, or to where it
    /// becomes a task; then there is nothing left to say.
    async fn run_open(
        mut self: Box<Self>,
        call: OpenCall,
    ) -> Option<Result<Called, ProtocolError>> {
        self.open(call);
        let ended = self.run().await;
        self.tell_last().await;
        if matches!(self.record, Record::Task(_)) {
            self.end(ended).await;
            return None;
        }
        let called = match ended {
            Ok(output) => to_json(output, self.shared.limits.result).map(Called::Result),
            Err(Stop::AskClient) => self.ask_client().await,
            Err(Stop::Fail(error)) => Err(error),
            Err(Stop::Hold(contradiction)) => {
                let id = &self.context.id;
                tracing::error!(call = %id, "a call cannot go on: {}", contradiction.explanation);
                Err(code_has_changed())
            }
            Err(Stop::TaskOver | Stop::Parked) => Err(ProtocolError::internal("internal error")),
        };
        self.leave();
        match &mut self.record {
            Record::Call(call) if call.reply.is_some() => {
                call.reply.take().map(|reply| reply.send(called).ok());
                None
            }
            _ => Some(called),
        }
    }

    fn open(&mut self, call: OpenCall) {
        if let Some(Resumed { sealed, task }) = &call.resumed {
            let is_outcome = |entry: &&Entry| entry.event.is_outcome();
            let sealed = &call.entries[..*sealed];
            self.context.replay(Recorded::read(sealed));
            self.replay = Some(Replaying {
                task: task.clone(),
                left: sealed.iter().filter(is_outcome).count(),
                since: Stopwatch::start(),
                permit: None,
            });
            let outcomes = call.entries.iter().filter(is_outcome);
            self.outcomes.extend(outcomes.cloned());
        }
        self.record = Record::Call(Box::new(call));
    }

    /// Tells the client of a call what the function last said of itself.
    pub(super) fn tell(&mut self) {
        if let Record::Call(call) = &mut self.record
            && let Some(teller) = &mut call.teller
            && !teller.is_busy()
            && let Some((message, progress)) = self.context.take_status()
        {
            self.status_written = Some(Instant::now());
            teller.tell(message, progress);
        }
    }

    /// The same before the call is answered; waits until it is on its way.
    async fn tell_last(&mut self) {
        self.told().await;
        self.tell();
        self.told().await;
    }

    /// Waits until what the client is told is on its way.
    async fn told(&mut self) {
        if let Record::Call(call) = &mut self.record
            && let Some(teller) = &mut call.teller
        {
            teller.settled().await;
        }
    }

    /// Whether the call must go back to its client: nothing else can happen in
    /// it.
    pub(super) fn must_return(&self, waits: bool) -> bool {
        let Record::Call(call) = &self.record else {
            return false;
        };
        let asks_in_rounds = call.asks() && call.is_in_rounds();
        let is_stuck = !call.asks() && self.timers.is_empty();
        waits && self.replayable && (asks_in_rounds || is_stuck)
    }

    /// What to do when the call must go back to its client.
    pub(super) fn return_to_client(&self) -> Stop {
        match &self.record {
            Record::Call(call) if call.asks() => Stop::AskClient,
            _ => self.fail_without_task("this tool waits for what only a task can be told"),
        }
    }

    /// Ends a call that cannot go on without being a task, for the reason given.
    pub(super) fn fail_without_task(&self, why: &str) -> Stop {
        let is_declared = match &self.record {
            Record::Call(call) => call.declared.tasks,
            _ => self.context.capabilities.tasks,
        };
        Stop::Fail(if is_declared {
            // Nothing that the client could do would help.
            ProtocolError::internal(format!("{why}, and this call is no task"))
        } else {
            ProtocolError::tasks_required(format!(
                "{why}: declare the extension `{}` on the request",
                crate::protocol::TASKS_EXTENSION
            ))
        })
    }

    /// Records what the client of a session has said to a question.
    pub(super) async fn take_answer(&mut self, answered: Answered) -> Result<(), Stop> {
        let Record::Call(call) = &self.record else {
            return Ok(());
        };
        let Answered { key, answer } = answered;
        let events = match answer {
            Ok(SessionAnswer::Result(result)) => {
                let answer = Answer {
                    key,
                    response: &result,
                };
                let limits = &self.shared.limits;
                let fits = limits.check_answers(std::slice::from_ref(&answer));
                fits.map_err(Stop::Fail)?;
                // Unlike a task, nobody could be told to answer again.
                call.state
                    .snapshot()
                    .judge(&[answer])
                    .map_err(|Refusal(errors)| {
                        let words: Vec<String> = errors.iter().map(KeyError::to_string).collect();
                        Stop::Fail(ProtocolError::internal(format!(
                            "the client's answer cannot be used: {}",
                            words.join("; ")
                        )))
                    })?
            }
            Ok(SessionAnswer::Refused) => vec![Event::Answered {
                key,
                response: Arc::new(Action::Decline.into()),
            }],
            Err(error) => {
                let words = error.message;
                return Err(Stop::Fail(ProtocolError::internal(format!(
                    "the client did not answer the question `{key}`: {words}"
                ))));
            }
        };
        self.commit(events).await
    }

    async fn ask_client(&mut self) -> Result<Called, ProtocolError> {
        let Record::Call(call) = &mut self.record else {
            return Err(ProtocolError::internal("internal error"));
        };
        if let Some(error) = call.undeclared() {
            return Err(error);
        }
        let requests = call.state.snapshot().input_requests.clone();
        let journal = std::mem::take(&mut call.entries);
        let state = self.shared.seal(journal, call.round + 1).await?;
        Ok(Called::InputRequired(InputRequired { requests, state }))
    }

    /// Appends to the journal of a call.
    pub(super) fn append_to_call(&mut self, events: &[Event]) -> Result<Timestamp, Stop> {
        let now = self.shared.now();
        let limit = self.shared.limits.journal as u64;
        let Record::Call(call) = &mut self.record else {
            return Ok(now);
        };
        if let Err(illegal) = call.append(events, now) {
            tracing::error!(call = %self.context.id, %illegal, "a call cannot go on");
            return Err(Stop::Fail(ProtocolError::internal("internal error")));
        }
        for event in events {
            story::recorded(self.context.of(), event);
        }
        if call.weight > limit {
            let words = format!("the call's journal has reached its limit of {limit} bytes");
            let error = limit_reached("journal", ProtocolError::internal(words));
            return Err(Stop::Fail(error));
        }
        Ok(now)
    }

    /// Makes a task of a call that has said `start_task()`, with all that has
    /// happened so far.
    pub(super) async fn start_task(&mut self) -> Result<(), Stop> {
        let Record::Call(call) = &mut self.record else {
            return Ok(());
        };
        let Some(reply) = call.reply.take() else {
            return Ok(());
        };
        let journal = std::mem::take(&mut call.entries);
        let (claim, mark) = match self.shared.create(journal.clone()).await {
            Ok(created) => created,
            Err(error) => {
                reply.send(Err(error)).ok();
                return Err(Stop::TaskOver);
            }
        };
        self.become_task(&claim, mark);
        self.has_read(&journal);
        self.context.task_started();
        // Whoever called may have gone meanwhile; the task goes on (P52).
        reply.send(Ok(Called::Task(claim.snapshot))).ok();
        Ok(())
    }
}
