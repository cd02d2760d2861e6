//! What a journal says, read by the documented format alone.

use std::collections::{BTreeMap, HashSet};

use mcp_tasks::task::{Action, Entry, Event, Response};
use serde_json::Value;

use super::program::name;
use super::trace::{DECLINED, DISMISSED, FAILED, Want};

/// What was recorded.
#[derive(Default)]
pub(crate) struct Record {
    /// What was asked for, and whether it was dropped.
    pub(crate) keys: BTreeMap<String, (Want, bool)>,
    /// The sides that `patched` took.
    pub(crate) markers: HashSet<String>,
}

impl Record {
    pub(crate) fn read(journal: &[Entry]) -> Self {
        let mut record = Self::default();
        for entry in journal {
            match &entry.event {
                Event::Asked { key, request } => {
                    let params: Value =
                        serde_json::from_str(request.params.get()).expect("it is recorded JSON");
                    let words = params["message"].as_str().expect("a question has words");
                    record.note(key.as_str(), Want::Ask(words.to_owned()));
                }
                Event::TimerSet { key, .. } => record.note(key.as_str(), Want::Timer),
                Event::StepIntended { key, function }
                | Event::StepAttempt { key, function, .. }
                | Event::StepDone { key, function, .. } => {
                    let function = name(function);
                    record.note(key.as_str(), Want::Step(function));
                }
                Event::Ran { key } => record.note(key.as_str(), Want::Unrecorded),
                Event::Patched { id } => {
                    record.markers.insert(id.to_string());
                }
                Event::Withdrawn { key } => {
                    if let Some((_, withdrawn)) = record.keys.get_mut(key.as_str()) {
                        *withdrawn = true;
                    }
                }
                _ => {}
            }
        }
        record
    }

    fn note(&mut self, key: &str, want: Want) {
        self.keys.entry(key.to_owned()).or_insert((want, false));
    }
}

/// What the function makes of an answer.
pub(crate) fn answer_of(response: &Response) -> i64 {
    let Response::Elicited(response) = response else {
        panic!("the programs ask people only");
    };
    match response.action {
        Action::Accept => {
            let content = response
                .content
                .as_ref()
                .and_then(|content| content.get("answer"));
            content
                .and_then(Value::as_i64)
                .expect("an accepted answer is a number")
        }
        Action::Decline => DECLINED,
        Action::Cancel => DISMISSED,
    }
}

/// What the function makes of a step's recorded result.
pub(crate) fn result_of(outcome: &str) -> i64 {
    let outcome: Value = serde_json::from_str(outcome).expect("it is recorded JSON");
    outcome["ok"].as_i64().unwrap_or(FAILED)
}
