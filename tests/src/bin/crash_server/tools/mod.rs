//! The tools. Each gives a report of what its function saw, in order: a word
//! for what it was, and what came of it, one on a line.
//!
//! `label` makes a call unlike any other; it stands in the questions.

mod asks;
mod branches;
mod changes;
mod lives;
mod steps;

use mcp_tasks::TaskServer;
use mcp_tasks::prelude::*;

/// What a function saw.
#[derive(Default)]
pub(crate) struct Report(Vec<String>);

impl Report {
    pub(crate) fn saw(&mut self, what: &str, which: impl std::fmt::Display) {
        self.0.push(format!("{what} {which}"));
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub(crate) fn into_text(self) -> String {
        self.0.join("\n")
    }

    /// An answer, or why there is none.
    pub(crate) fn outcome(&mut self, key: &str, answer: Result<String, AskError>) {
        match answer {
            Ok(answer) => self.saw("answer", answer),
            Err(AskError::TimedOut) => self.saw("timeout", key),
            Err(error) => self.saw("error", error),
        }
    }
}

/// Gives a server all tools.
pub(crate) fn register(server: TaskServer) -> TaskServer {
    server
        .task(asks::interview)
        .task(asks::deadlines)
        .task(asks::rounds)
        .task(asks::words)
        .task(branches::branches)
        .task(branches::early)
        .task(branches::crowd)
        .task(steps::stubborn)
        .task(steps::once)
        .task(steps::naps)
        .task(steps::peeks)
        .task(changes::patchwork)
        .task(changes::dice)
        .task(lives::mailbox)
        .task(lives::post)
        .task(lives::count)
        .task(lives::tidy)
        .task(lives::brief)
}

/// The key of a call that is made for the `n`th time.
fn nth(key: &str, n: u32) -> String {
    if n == 1 {
        key.to_owned()
    } else {
        format!("{key}#{n}")
    }
}
