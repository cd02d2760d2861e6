//! What the client of one task knows: what it sent, what was acknowledged, what
//! it saw. It outlives all servers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::case::Case;

/// One task, from the side of its client.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) case: Case,
    /// Unlike any other call's.
    pub(crate) label: String,
    /// Whether the call was sent.
    pub(crate) called: bool,
    /// The task's id, once it is known.
    pub(crate) id: Option<String>,
    /// Questions by key, as they were first seen.
    pub(crate) questions: BTreeMap<String, Value>,
    /// Their keys in the order in which they were seen.
    pub(crate) asked: Vec<String>,
    /// Answers by key.
    pub(crate) answers: BTreeMap<String, Vec<Sent>>,
    /// Signals.
    pub(crate) letters: Vec<Sent>,
    pub(crate) cancel: Cancel,
    /// The task when it was first seen to have ended.
    pub(crate) end: Option<Value>,
    /// How many servers died under it.
    pub(crate) deaths: u32,
    /// Numbers what is sent.
    sent: u32,
}

/// Something that was sent, perhaps in vain.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// What was sent, unlike anything else; `None` for a no.
    pub(crate) value: Option<String>,
    pub(crate) acknowledged: bool,
}

/// How far a cancellation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancel {
    NotSent,
    Sent,
    Acknowledged,
}

impl Record {
    pub(crate) fn new(case: Case, label: String) -> Self {
        Self {
            case,
            label,
            called: false,
            id: None,
            questions: BTreeMap::new(),
            asked: Vec::new(),
            answers: BTreeMap::new(),
            letters: Vec::new(),
            cancel: Cancel::NotSent,
            end: None,
            deaths: 0,
            sent: 0,
        }
    }

    /// Whether nobody knows if its call has come to a task.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.called && self.id.is_none()
    }

    /// A value that was never sent before.
    pub(crate) fn fresh(&mut self, of: &str) -> String {
        self.sent += 1;
        format!("{of}@{}", self.sent)
    }

    /// Whether an answer to a question was acknowledged.
    pub(crate) fn has_acknowledged(&self, key: &str) -> bool {
        let mut sent = self.answers.get(key).into_iter().flatten();
        sent.any(|sent| sent.acknowledged)
    }

    /// How many letters were acknowledged.
    pub(crate) fn delivered(&self) -> usize {
        self.letters.iter().filter(|sent| sent.acknowledged).count()
    }

    /// Whether a value may be the answer to a question: it was sent, and
    /// nothing before it was acknowledged, for the first answer counts.
    ///
    /// # Errors
    ///
    /// Why it cannot be.
    pub(crate) fn may_count(&self, key: &str, value: Option<&str>) -> Result<(), String> {
        for sent in self.answers.get(key).into_iter().flatten() {
            if sent.value.as_deref() == value {
                return Ok(());
            }
            if sent.acknowledged {
                return Err(format!(
                    "the answer {:?} to `{key}` was acknowledged first, and {value:?} counts",
                    sent.value
                ));
            }
        }
        Err(format!("{value:?} was never sent as an answer to `{key}`"))
    }

    /// Remembers the task as a client saw it.
    ///
    /// # Errors
    ///
    /// What it should not have seen.
    pub(crate) fn see(&mut self, task: &Value) -> Result<(), String> {
        let message = task["statusMessage"].as_str().unwrap_or_default();
        if message.starts_with("held") {
            return Err(format!("the task is held: {message}"));
        }
        if let Some(end) = &self.end {
            if end != task {
                return Err(format!(
                    "a task that has ended has changed: {end} is now {task}"
                ));
            }
            return Ok(());
        }
        let requests = task["inputRequests"].as_object();
        for (key, request) in requests.into_iter().flatten() {
            if self.has_acknowledged(key) {
                return Err(format!(
                    "`{key}` is asked, though an answer to it was acknowledged"
                ));
            }
            let first = self.questions.entry(key.clone()).or_insert_with(|| {
                self.asked.push(key.clone());
                request.clone()
            });
            if first != request {
                return Err(format!(
                    "`{key}` asked {first} before, and asks {request} now"
                ));
            }
        }
        if self.case.tool == "words" && !requests.is_none_or(serde_json::Map::is_empty) {
            self.see_words(task, message)?;
        }
        if matches!(
            task["status"].as_str(),
            Some("completed" | "failed" | "cancelled")
        ) {
            self.end = Some(task.clone());
        } else if self.cancel == Cancel::Acknowledged && !self.case.has_grace() {
            return Err(format!(
                "a cancellation was acknowledged, and the task lives: {task}"
            ));
        }
        Ok(())
    }

    /// A question and the status that goes with it are seen together.
    fn see_words(&self, task: &Value, message: &str) -> Result<(), String> {
        const HOUR_MS: u64 = 3_600_000;
        let (heard, ttl) = if self.asked.len() == 1 {
            ("nothing", HOUR_MS)
        } else {
            let heard = message.split_once("heard ").map_or("", |(_, heard)| heard);
            self.may_count("first", Some(heard))?;
            (heard, 2 * HOUR_MS)
        };
        let expected = format!("{}/2 heard {heard}", self.asked.len() - 1);
        if message != expected {
            return Err(format!(
                "the status is {message:?} and not {expected:?}: {task}"
            ));
        }
        if task["ttlMs"] != ttl {
            return Err(format!("the ttl is not {ttl}: {task}"));
        }
        Ok(())
    }
}
