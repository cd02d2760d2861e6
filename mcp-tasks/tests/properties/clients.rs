//! What clients, and other code, do to a task.

use mcp_tasks::Caller;
use mcp_tasks::task::{Answer, Event, InputKey};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::engine::value;
use super::random::Random;
use super::world::World;

impl World {
    /// Answers a question that waits, sometimes twice.
    pub(crate) fn answer(&mut self) {
        let asked = self.asked();
        let answered = |key: &InputKey| self.journal.any(|event| closes(event, key));
        let open: Vec<_> = asked.into_iter().filter(|key| !answered(key)).collect();
        if !open.is_empty() {
            let key = self.random.pick(&open).clone();
            self.send(&key);
            if self.random.percent(10) {
                self.send(&key);
            }
        }
    }

    pub(crate) fn signal(&mut self) {
        let name = *self.random.pick(&["x", "y"]);
        let number = i64::try_from(self.journal.len()).expect("a journal is not that long");
        let value = value(50_000 + number, &mut self.random);
        let (tasks, id) = (self.any_server().tasks(), self.id().clone());
        self.journal.log(format_args!("signal {name} = {value}"));
        tokio::spawn(async move { tasks.signal(&id, name, &value).await });
    }

    /// Answers any question that was ever asked.
    pub(crate) fn answer_late(&mut self) {
        let asked = self.asked();
        if !asked.is_empty() {
            let key = self.random.pick(&asked).clone();
            self.send(&key);
        }
    }

    pub(crate) fn asked(&self) -> Vec<InputKey> {
        let keys = self
            .journal
            .entries()
            .into_iter()
            .filter_map(|entry| match entry.event {
                Event::Asked { key, .. } => Some(key),
                _ => None,
            });
        keys.collect()
    }

    pub(crate) fn send(&mut self, key: &InputKey) {
        let response = response(&mut self.random, self.journal.len());
        let (runtime, id) = (self.any_server(), self.id().clone());
        let (key, journal) = (key.clone(), self.journal.clone());
        let observed = self.observed.clone();
        journal.log(format_args!("{key} = {response}"));
        // Whoever sent it may wait in vain, if the server dies.
        tokio::spawn(async move {
            let caller = Caller::anonymous();
            let answers = [Answer {
                key,
                response: &response,
            }];
            let updated = runtime.update(&id, &caller, &answers).await;
            let [Answer { key, .. }] = answers;
            if let Err(error) = updated {
                observed.broken(format!("the answer to {key} is refused: {error:?}"));
            } else if !journal.any(|event| closes(event, &key)) {
                observed.broken(format!("the answer to {key} was taken, and is lost"));
            }
        });
    }
}

/// Whether a question is no longer open after this.
fn closes(event: &Event, question: &InputKey) -> bool {
    match event {
        Event::Answered { key, .. } | Event::Withdrawn { key } => key == question,
        Event::Finished(_) => true,
        _ => false,
    }
}

/// A client's answer: a number of its own, most often.
pub(crate) fn response(random: &mut Random, number: usize) -> Box<RawValue> {
    let number = i64::try_from(number).expect("a journal is not that long");
    let response = match random.between(1, 10) {
        1 => json!({"action": "decline"}),
        2 => json!({"action": "cancel"}),
        _ => {
            let answer = value(10_000 + number, random);
            json!({"action": "accept", "content": {"answer": answer}})
        }
    };
    to_raw_value(&response).expect("JSON")
}
