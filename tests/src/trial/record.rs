//! What the client of one task knows: what it sent, what was acknowledged, what
//! it saw. It outlives all servers.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde_json::Value;

use super::Case;

/// One task, from the side of its client.
#[derive(Clone, Debug)]
pub struct Record {
    /// What its client does with which tool.
    pub case: Case,
    /// Unlike any other call's.
    pub label: String,
    /// Whether the call was sent.
    pub called: bool,
    /// The task's id, once it is known.
    pub id: Option<String>,
    /// Questions by key, as they were first seen.
    pub questions: BTreeMap<String, Value>,
    /// Their keys in the order in which they were seen.
    pub asked: Vec<String>,
    /// Answers by key.
    pub answers: BTreeMap<String, Vec<Sent>>,
    /// Signals.
    pub letters: Vec<Sent>,
    /// Whether it was cancelled.
    pub cancel: Cancel,
    /// The task when it was first seen to have ended.
    pub end: Option<Value>,
    /// How often a server died under it, or was otherwise in trouble.
    pub faults: u32,
    /// Numbers what is sent.
    sent: u32,
}

/// Something that was sent, perhaps in vain.
#[derive(Clone, Debug)]
pub struct Sent {
    /// What was sent, unlike anything else; `None` for a no.
    pub value: Option<String>,
    /// Whether a server has said that it has it.
    pub acknowledged: bool,
    /// When it did, in milliseconds since the Unix epoch.
    pub at_ms: u64,
}

impl Sent {
    /// Something that is about to be sent.
    pub fn new(value: Option<String>) -> Self {
        Self {
            value,
            acknowledged: false,
            at_ms: 0,
        }
    }

    /// Notes that a server has it now.
    pub fn acknowledge(&mut self) {
        self.acknowledged = true;
        self.at_ms = now_ms();
    }
}

/// Now, in milliseconds since the Unix epoch.
pub fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.expect("it is later than 1970").as_millis();
    u64::try_from(now).expect("it is not that much later")
}

/// How far a cancellation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// Nobody has tried.
    NotSent,
    /// A server may know of it.
    Sent,
    /// A server knows of it.
    Acknowledged,
}

/// How many letters a task waits for.
pub const LETTERS: usize = 3;

impl Record {
    /// A task that nobody has called for yet.
    pub fn new(case: Case, label: String) -> Self {
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
            faults: 0,
            sent: 0,
        }
    }

    /// Whether nobody knows if its call has come to a task.
    pub fn is_in_doubt(&self) -> bool {
        self.called && self.id.is_none()
    }

    /// A value that was never sent before.
    pub fn fresh(&mut self, of: &str) -> String {
        self.sent += 1;
        format!("{of}@{}", self.sent)
    }

    /// Whether an answer to a question was acknowledged.
    pub fn has_acknowledged(&self, key: &str) -> bool {
        let mut sent = self.answers.get(key).into_iter().flatten();
        sent.any(|sent| sent.acknowledged)
    }

    /// How many letters were acknowledged.
    pub fn delivered(&self) -> usize {
        self.letters.iter().filter(|sent| sent.acknowledged).count()
    }

    /// Whether a value may be the answer to a question: it was sent, and
    /// nothing before it was acknowledged, for the first answer counts.
    ///
    /// # Errors
    ///
    /// Why it cannot be.
    pub fn may_count(&self, key: &str, value: Option<&str>) -> Result<(), String> {
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
    pub fn see(&mut self, task: &Value) -> Result<(), String> {
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
