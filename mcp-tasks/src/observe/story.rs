//! What becomes of tasks and requests, told to `tracing` and counted.

use std::sync::Arc;

use tracing::field::{Empty, display};
use tracing::{Span, debug, debug_span, info, info_span, warn};

use super::{TraceContext, figures};
use crate::protocol::{ErrorCode, ProtocolError};
use crate::task::{Event, InputKey, Outcome, Snapshot, TaskId, Timestamp};

/// The target of everything that is told of tasks.
macro_rules! task {
    () => {
        "mcp_tasks::task"
    };
}

/// The same of requests.
macro_rules! request {
    () => {
        "mcp_tasks::request"
    };
}

/// Which task something is told of.
#[derive(Clone, Copy)]
pub(crate) struct Of<'a> {
    pub(crate) id: &'a TaskId,
    pub(crate) tool: &'a Arc<str>,
}

impl<'a> Of<'a> {
    fn task(snapshot: &'a Snapshot) -> Self {
        Self {
            id: &snapshot.id,
            tool: &snapshot.tool,
        }
    }
}

/// The span in which a function is polled.
pub(crate) fn task_span(of: Of<'_>, version: u32, trace: Option<&TraceContext>) -> Span {
    // A task outlives the request that began it: it is no part of that.
    let span = info_span!(
        target: task!(),
        parent: None,
        "task",
        id = %of.id,
        tool = &**of.tool,
        version,
        traceparent = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    if let Some(trace) = trace {
        span.record("traceparent", trace.traceparent());
    }
    span.follows_from(Span::current());
    span
}

/// The span of one request.
pub(crate) fn request_span(method: &'static str, tool: Option<&str>) -> Span {
    debug_span!(target: request!(), "request", method, tool, task = Empty, code = Empty)
}

/// The request whose span this is was answered with an error.
pub(crate) fn refused(error: &ProtocolError) {
    Span::current().record("code", error.code.0);
    // The words of an error may repeat what the client sent.
    debug!(target: request!(), code = error.code.0, "refused");
    figures::refused(match error.code {
        ErrorCode::MISSING_CAPABILITY => "capability",
        ErrorCode::INVALID_PARAMS => "parameters",
        ErrorCode::METHOD_NOT_FOUND => "method",
        ErrorCode::INTERNAL => "internal",
        _ => "request",
    });
}

/// A request came from nobody who is known.
#[cfg(feature = "http")]
pub(crate) fn unauthenticated() {
    debug!(target: request!(), "refused: not authenticated");
    figures::refused("unauthenticated");
}

/// Somebody has come to a limit.
pub(crate) fn limit_reached(limit: &'static str) {
    debug!(target: request!(), limit, "a limit is reached");
    figures::limit_reached(limit);
}

/// A task was created.
pub(crate) fn created(task: &Snapshot) {
    let of = Of::task(task);
    info!(target: task!(), task = %of.id, tool = &**of.tool, version = task.version, "created");
    figures::created(of.tool);
}

/// The holder of a task has recorded something.
pub(crate) fn recorded(of: Of<'_>, event: &Event) {
    let Of { id, tool } = of;
    match event {
        Event::Asked { key, .. } => {
            info!(target: task!(), task = %id, tool = &**tool, %key, "asked");
            figures::asked(tool);
        }
        Event::StepIntended { key, .. } => {
            debug!(target: task!(), task = %id, tool = &**tool, %key, "step about to run");
        }
        Event::StepAttempt { key, n, .. } => {
            info!(
                target: task!(),
                task = %id,
                tool = &**tool,
                %key,
                attempt = n,
                "step failed, and is tried again"
            );
            figures::step(tool, "retried");
        }
        Event::StepDone { key, outcome, .. } => {
            let has_failed = !outcome.get().starts_with(r#"{"ok""#);
            if has_failed {
                info!(target: task!(), task = %id, tool = &**tool, %key, "step failed");
            } else {
                debug!(target: task!(), task = %id, tool = &**tool, %key, "step done");
            }
            figures::step(tool, if has_failed { "failed" } else { "done" });
        }
        Event::TimerSet { key, .. } => {
            debug!(target: task!(), task = %id, tool = &**tool, %key, "timer set");
        }
        Event::TimerFired { key } => {
            debug!(target: task!(), task = %id, tool = &**tool, %key, "timer went off");
        }
        Event::Withdrawn { key } => {
            debug!(target: task!(), task = %id, tool = &**tool, %key, "withdrawn");
        }
        Event::Patched { id: patch } => {
            debug!(target: task!(), task = %id, tool = &**tool, patch = &**patch, "patched");
        }
        Event::Resumed => {
            info!(target: task!(), task = %id, tool = &**tool, "no longer held, or suspected");
        }
        Event::Answered { key, .. } => answered(of, key, None),
        Event::Finished(outcome) => ended(of, name_of(outcome)),
        // Of a status there is nothing to be told that is not its words; others
        // tell of the rest.
        Event::Created(_)
        | Event::Ran { .. }
        | Event::Signalled { .. }
        | Event::Status { .. }
        | Event::TtlChanged { .. }
        | Event::CancelRequested
        | Event::RecoveryStarted { .. }
        | Event::Held(_) => {}
    }
}

fn name_of(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed { .. } => "completed",
        Outcome::Failed { .. } => "failed",
        Outcome::Cancelled => "cancelled",
    }
}

/// A question was answered, if it is known when it was asked so long ago.
pub(crate) fn answered(of: Of<'_>, key: &InputKey, after_ms: Option<u64>) {
    info!(
        target: task!(),
        task = %of.id,
        tool = &**of.tool,
        %key,
        after_ms,
        "answered"
    );
    figures::answered(of.tool, after_ms);
}

/// Somebody has answered questions, each of which was asked at some time.
pub(crate) fn answers(task: &Snapshot, answered_now: &[(InputKey, Timestamp)], now: Timestamp) {
    let of = Of::task(task);
    for (key, asked_at) in answered_now {
        let after = now.as_millis().saturating_sub(asked_at.as_millis());
        answered(of, key, Some(after));
    }
}

/// Somebody wants a task cancelled.
pub(crate) fn cancel_requested(task: &Snapshot) {
    let of = Of::task(task);
    info!(target: task!(), task = %of.id, tool = &**of.tool, "cancellation requested");
}

/// The server's own code has sent a task a value.
pub(crate) fn signalled(task: &Snapshot, signal: &str) {
    let of = Of::task(task);
    info!(target: task!(), task = %of.id, tool = &**of.tool, signal, "signalled");
}

/// A task has ended by what somebody else than its function did.
pub(crate) fn ended_from_outside(task: &Snapshot) {
    let Some(outcome) = &task.outcome else { return };
    let name = match outcome {
        // Nobody else fails a task that is not theirs.
        Outcome::Failed { .. } => "expired",
        outcome => name_of(outcome),
    };
    ended(Of::task(task), name);
}

fn ended(of: Of<'_>, outcome: &'static str) {
    info!(target: task!(), task = %of.id, tool = &**of.tool, outcome, "ended");
    figures::ended(of.tool, outcome);
}

/// A task has left memory.
pub(crate) fn parked(of: Of<'_>) {
    debug!(target: task!(), task = %of.id, tool = &**of.tool, "parked");
}

/// A task is run again from its journal.
pub(crate) fn resumed(of: Of<'_>, after_a_crash: bool) {
    let Of { id, tool } = of;
    if after_a_crash {
        warn!(
            target: task!(),
            task = %id,
            tool = &**tool,
            "taken over: the process that ran it has died"
        );
    } else {
        debug!(target: task!(), task = %id, tool = &**tool, "resumed");
    }
    figures::resumed(tool, if after_a_crash { "crash" } else { "wait" });
}

/// The code does not fit the journal of a task.
pub(crate) fn held(of: Of<'_>, explanation: &str) {
    tracing::error!(
        target: task!(),
        task = %of.id,
        tool = &**of.tool,
        "the task is held: {explanation}"
    );
    figures::held(of.tool);
}

/// Which task a request is about, once it is known to be the caller's.
pub(crate) fn request_is_about(id: &TaskId) {
    Span::current().record("task", display(id));
}
