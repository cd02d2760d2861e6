//! Calls that ask their client in rounds (P60 to P63).
//!
//! A call that is no task has its journal in memory. When its function waits
//! for answers, the call returns the questions and, as `requestState`, the
//! sealed journal; the client calls again with both the state and the answers,
//! and the function is run through the journal to where it was.

mod digest;
mod seal;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use self::digest::digest;
pub(super) use self::seal::Sealer;
use super::call::arguments;
use super::{CallRequest, Shared, limit_reached, store_failed};
use crate::observe::story;
use crate::protocol::{InputRequest, ProtocolError};
use crate::task::{
    Answer, Created, Entry, Event, FORMAT, InputKey, Snapshot, StateId, TaskState, Timestamp,
};

/// A client's further call of a tool that has asked it something.
#[derive(Clone, Debug)]
pub struct Retry<'a> {
    /// The `requestState` that the tool gave.
    pub state: Cow<'a, str>,
    /// The `inputResponses`, in the order in which they were sent.
    pub answers: Vec<Answer<'a>>,
}

/// What a call asks of its client, and the state with which it goes on.
#[derive(Clone, Debug)]
pub struct InputRequired {
    /// The questions that wait for an answer, in the order of asking.
    pub requests: Vec<(InputKey, InputRequest)>,
    /// To be sent back with the answers.
    pub state: String,
}

/// A call that goes on.
pub(super) struct Round {
    /// What was sealed, and what has happened since: timers that went off, and
    /// the answers.
    pub(super) journal: Vec<Entry>,
    /// How many of these were sealed.
    pub(super) sealed: usize,
    /// What was sealed adds up to.
    pub(super) before: Arc<Snapshot>,
    /// What all of it adds up to.
    pub(super) state: TaskState,
    /// How many states the call has given so far.
    pub(super) number: u32,
}

/// How a further call finds its function.
pub(super) enum Opened {
    GoesOn(Round),
    /// Nothing that it waits for has come.
    AsksAgain(InputRequired),
}

/// What is sealed.
#[derive(Serialize, Deserialize)]
struct State {
    /// That of the journal's entries.
    format: u32,
    server: Cow<'static, str>,
    scope: Cow<'static, str>,
    /// The arguments themselves come with every round.
    arguments: String,
    round: u32,
    issued_at: Timestamp,
    journal: Vec<Entry>,
}

/// Stands for the arguments in a sealed journal.
const ELSEWHERE: &str = "null";

impl Shared {
    /// Seals the journal of a call that asks its client.
    pub(super) async fn seal(
        &self,
        mut journal: Vec<Entry>,
        round: u32,
    ) -> Result<String, ProtocolError> {
        let now = self.now();
        let mut arguments = String::new();
        if let Some(Event::Created(created)) = journal.first_mut().map(|entry| &mut entry.event) {
            arguments = digest(Some(&created.arguments));
            created.arguments = elsewhere();
        }
        let state = State {
            format: FORMAT,
            server: self.server.name.to_string().into(),
            scope: self.server.scope.to_string().into(),
            arguments,
            round,
            issued_at: now,
            journal,
        };
        let text = serde_json::to_vec(&state).expect("a journal is JSON");
        let sealed = self.sealer.seal(&text, &*self.store, now).await;
        let sealed = sealed.map_err(|error| store_failed(&error))?;
        if sealed.len() > self.limits.state {
            let words = format!(
                "what this call has asked and done so far takes {} bytes, and {} is the limit for \
                 what goes through a client that does not declare the extension `{}`",
                sealed.len(),
                self.limits.state,
                crate::protocol::TASKS_EXTENSION
            );
            return Err(limit_reached("state", ProtocolError::internal(words)));
        }
        Ok(sealed)
    }

    /// Opens the state of a further call, and adds the answers to it.
    ///
    /// # Errors
    ///
    /// `-32602` if the state is not one that this server gave to this caller
    /// for this tool and these arguments, if it is too old or was used before,
    /// and if an answer breaks the rules of its question; the state stays good
    /// in that case.
    pub(super) async fn open_round(
        &self,
        tool: &super::Tool,
        call: &CallRequest<'_>,
        retry: &Retry<'_>,
    ) -> Result<Opened, ProtocolError> {
        self.limits.check_answers(&retry.answers)?;
        let now = self.now();
        let state = self.open_state(tool, call, &retry.state, now).await?;
        let until = state.issued_at.plus_millis(tool.definition.state_ttl_ms);
        let task = TaskState::replay(&state.journal).map_err(|_| foreign())?;
        let mut round = Round {
            sealed: state.journal.len(),
            journal: state.journal,
            before: task.snapshot().clone(),
            state: task,
            number: state.round,
        };
        round.add(round.state.due_timers(now), now)?;
        let answered = round.state.snapshot().judge(&retry.answers)?;
        let heard = round.state.answered_by(&answered);
        round.add(answered, now)?;
        let task = round.state.snapshot();
        if round.journal.len() == round.sealed {
            return Ok(Opened::AsksAgain(InputRequired {
                requests: task.input_requests.clone(),
                state: retry.state.clone().into_owned(),
            }));
        }
        if self.store.is_durable() && tool.definition.once {
            let id = StateId {
                run: task.id.clone(),
                round: round.number,
            };
            let first = self.store.spend(&id, until, now).await;
            if !first.map_err(|error| store_failed(&error))? {
                return Err(ProtocolError::invalid_params(
                    "this `requestState` was used before, and each counts once: go on with the \
                     newest, or call the tool again without one",
                ));
            }
        }
        story::answers(task, &heard, now);
        Ok(Opened::GoesOn(round))
    }

    async fn open_state(
        &self,
        tool: &super::Tool,
        call: &CallRequest<'_>,
        sealed: &str,
        now: Timestamp,
    ) -> Result<State, ProtocolError> {
        if sealed.len() > self.limits.state {
            let words = format!(
                "`requestState` takes {} bytes; the limit is {}",
                sealed.len(),
                self.limits.state
            );
            return Err(limit_reached("state", ProtocolError::invalid_params(words)));
        }
        let opened = self.sealer.open(sealed, &*self.store, now).await;
        let text = opened
            .map_err(|error| store_failed(&error))?
            .map_err(|_| foreign())?;
        let mut state: State = serde_json::from_slice(&text).map_err(|_| foreign())?;
        let Some(Event::Created(created)) = state.journal.first_mut().map(|entry| &mut entry.event)
        else {
            return Err(foreign());
        };
        let is_ours = state.server == *self.server.name && state.scope == *self.server.scope;
        // The same words for all of these: a client is not told whose it is.
        if !is_ours || *created.tool != *tool.name() || created.caller != *call.caller {
            return Err(foreign());
        }
        if state.issued_at.plus_millis(tool.definition.state_ttl_ms) <= now {
            return Err(ProtocolError::invalid_params(format!(
                "`requestState` is too old: it is good for {:?}; call the tool again without it",
                Duration::from_millis(tool.definition.state_ttl_ms)
            )));
        }
        if state.arguments != digest(call.arguments) {
            return Err(ProtocolError::invalid_params(
                "the arguments are not those that `requestState` was given for: repeat them \
                 unchanged, or call the tool without it",
            ));
        }
        created.arguments = arguments(call.arguments);
        Ok(state)
    }
}

impl Round {
    /// The call as it was made first.
    pub(super) fn created(&self) -> (&Created, Timestamp) {
        match self.journal.first() {
            Some(Entry {
                event: Event::Created(created),
                at,
                ..
            }) => (created, *at),
            _ => unreachable!("a state is only opened if it begins with the call"),
        }
    }

    /// Adds what has happened since the state was sealed.
    fn add(&mut self, events: Vec<Event>, at: Timestamp) -> Result<(), ProtocolError> {
        for event in events {
            let seq = self.state.seq() + 1;
            let entry = Entry { seq, at, event };
            self.state.apply(&entry).map_err(|_| foreign())?;
            self.journal.push(entry);
        }
        Ok(())
    }
}

fn foreign() -> ProtocolError {
    ProtocolError::invalid_params(
        "`requestState` is not one that this tool gave to you: send it back as it was, with the \
         call that it was given for, or call the tool without it",
    )
}

pub(super) fn code_has_changed() -> ProtocolError {
    ProtocolError::invalid_params(
        "the server's code has changed since this call began: call the tool again without \
         `requestState`",
    )
}

fn elsewhere() -> Arc<RawValue> {
    RawValue::from_string(ELSEWHERE.to_owned())
        .expect("this is JSON")
        .into()
}
