//! What a task waits for, in words and for programs.

use mcp_tasks::store::inspect::StoredTask;
use mcp_tasks::task::Timestamp;
use serde::Serialize;

use crate::words;

/// One thing that a task waits for.
#[derive(Debug, Serialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub(crate) enum Wait {
    /// A person's, or the client's, answer.
    Answer { key: String },
    /// A point in time.
    Timer {
        at: String,
        #[serde(skip)]
        until: Timestamp,
    },
    /// A signal, or whatever else comes from outside.
    Signal,
    /// Code that fits its journal.
    Code { reason: String },
    /// Nothing: its function runs in a process.
    Running { process: u32 },
    /// A process that goes on with it.
    Process,
}

/// What the task waits for; nothing if it has ended.
pub(crate) fn waits(task: &StoredTask, now: Timestamp) -> Vec<Wait> {
    let snapshot = &task.snapshot;
    if snapshot.is_terminal() {
        return Vec::new();
    }
    if let Some(held) = &snapshot.held {
        let reason = held.reason.to_string();
        return vec![Wait::Code { reason }];
    }
    let keys = snapshot.input_requests.iter();
    let mut waits: Vec<_> = keys
        .map(|(key, _)| Wait::Answer {
            key: key.to_string(),
        })
        .collect();
    let holder = task.holder.as_ref();
    let alive = holder.filter(|holder| holder.lease_until >= now);
    if let Some(until) = task.wakes_at {
        let at = until.to_iso_8601();
        waits.push(Wait::Timer { at, until });
    } else if task.running {
        waits.push(match alive {
            Some(holder) => Wait::Running {
                process: holder.process,
            },
            None => Wait::Process,
        });
    }
    if waits.is_empty() {
        waits.push(Wait::Signal);
    }
    waits
}

impl Wait {
    /// In words that follow "waits for".
    pub(crate) fn words(&self, now: Timestamp) -> String {
        match self {
            Self::Answer { key } => format!("an answer to `{key}`"),
            Self::Timer { until, .. } if *until <= now => "a time that has come".to_owned(),
            // Of a timer, or of the timeout of whatever else is waited for.
            Self::Timer { until, .. } => {
                format!("a time in {}", words::duration(until.since(now)))
            }
            Self::Signal => "a signal".to_owned(),
            Self::Code { .. } => "code that fits (held)".to_owned(),
            Self::Running { process } => format!("its step (process {process})"),
            Self::Process => "a server to run it".to_owned(),
        }
    }
}

/// All of them in a line.
pub(crate) fn in_a_line(waits: &[Wait], now: Timestamp) -> String {
    let words: Vec<_> = waits.iter().map(|wait| wait.words(now)).collect();
    words.join(", ")
}
