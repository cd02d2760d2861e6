//! How much of everything a server takes.

use std::sync::Arc;

use super::seats::{Full, Room, Seat, Seats};
use crate::observe::story;
use crate::protocol::{ProtocolError, shortened};
use crate::task::{Answer, Caller};

/// Limits that keep one client, or one mistake, from taking a server down.
///
/// At a limit the client gets a clear error, and nothing is lost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a call's arguments; 1 MiB by default.
    pub arguments: usize,
    /// Bytes of one answer; 256 KiB by default.
    pub answer: usize,
    /// Answers in one message; 1,000 by default.
    pub answers: usize,
    /// Bytes of a call's result; 8 MiB by default.
    pub result: usize,
    /// Bytes of a task's journal; 16 MiB by default.
    pub journal: usize,
    /// Bytes of the sealed state of a call that asks its client in rounds; 64 KiB
    /// by default.
    pub state: usize,
    /// Live tasks of one authenticated caller; 1,000 by default.
    pub live_per_caller: usize,
    /// Live tasks on the server; 1,000,000 by default.
    pub live: usize,
    /// Calls of one authenticated caller that have no reply yet; 1,000 by default.
    /// What is a task has one.
    pub calls_per_caller: usize,
    /// Calls on the server that have no reply yet; 10,000 by default.
    pub calls: usize,
    /// Older sessions over HTTP at once; 10,000 by default.
    pub sessions: usize,
    /// Subscriptions of one authenticated caller at once; 100 by default.
    pub subscriptions_per_caller: usize,
    /// Subscriptions on the server at once; 10,000 by default.
    pub subscriptions: usize,
    /// Tasks that one subscription names; 1,000 by default.
    pub subscribed_tasks: usize,
    /// Functions that run at once in this process, rather than wait; 64 per core
    /// by default. Of those that want to, callers have their turns one after the
    /// other.
    pub running: usize,
    /// Functions of one authenticated caller that run at once, rather than wait,
    /// in all processes of the server on its store together; any number by
    /// default. The others wait their turn: their tasks are `working`, and can be
    /// cancelled. A tool is limited in the same way by
    /// `#[mcp_task(concurrency = 4)]`.
    ///
    /// What waits for a person, a timer or a signal does not run; what is inside
    /// a step does. A call that is no task counts while it runs. What a process
    /// that dies had running counts until its lease is over, or until another
    /// process finds it dead.
    ///
    /// Each time that a function of an authenticated caller begins to run, the
    /// store is asked for a seat, and when it waits or ends, told that it is free:
    /// two small writes. Without a limit, neither is.
    pub running_per_caller: Option<usize>,
    /// Tasks in memory; 10,000 by default. Beside as many, one that waits is
    /// parked at once. Plays no part without a durable store.
    pub resident: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            arguments: 1 << 20,
            answer: 256 << 10,
            answers: 1000,
            result: 8 << 20,
            journal: 16 << 20,
            state: 64 << 10,
            live_per_caller: 1000,
            live: 1_000_000,
            calls_per_caller: 1000,
            calls: 10_000,
            sessions: 10_000,
            subscriptions_per_caller: 100,
            subscriptions: 10_000,
            subscribed_tasks: 1000,
            running: 64 * cores,
            running_per_caller: None,
            resident: 10_000,
        }
    }
}

impl Limits {
    /// Refuses answers that are too long, whichever way they came.
    pub(super) fn check_answers(&self, answers: &[Answer<'_>]) -> Result<(), ProtocolError> {
        let limit = self.answer;
        let size = |answer: &Answer<'_>| answer.response.get().len();
        let Some(answer) = answers.iter().find(|answer| size(answer) > limit) else {
            return Ok(());
        };
        let words = format!(
            "the answer to `{}` takes {} bytes; the limit is {limit}",
            shortened(answer.key.as_str()),
            size(answer)
        );
        Err(limit_reached(
            "answer",
            ProtocolError::invalid_params(words),
        ))
    }

    /// Lets a call begin; it counts until the seat is dropped.
    pub(super) fn admit(&self, calls: &Arc<Seats>, caller: &Caller) -> Result<Seat, ProtocolError> {
        let room = Room {
            total: self.calls,
            per_caller: self.calls_per_caller,
        };
        calls.take(caller, room).map_err(|full| match full {
            Full::Server => limit_reached(
                "calls",
                ProtocolError::internal(format!(
                    "the server already has {} calls to reply to, its limit; try again later",
                    self.calls
                )),
            ),
            Full::Caller => limit_reached(
                "calls_per_caller",
                ProtocolError::internal(format!(
                    "you already have {} calls without a reply, the limit; wait for one, or cancel \
                     it",
                    self.calls_per_caller
                )),
            ),
        })
    }
}

/// Takes note that somebody has come to a limit, by the name that it has in
/// [`Limits`]; `message` is that of the transports.
pub(crate) fn limit_reached(limit: &'static str, error: ProtocolError) -> ProtocolError {
    story::limit_reached(limit);
    error
}
