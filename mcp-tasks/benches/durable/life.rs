//! What the life of one task writes, commit by commit: the sizes to which the
//! raw figure is held.

use mcp_tasks::MemoryStore;
use mcp_tasks::task::{Answer, Entry, Event, InputKey, TaskState};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::engine::{ANSWER, Engine, KEY};

/// What one commit writes.
pub(crate) struct Written {
    pub(crate) event: String,
    pub(crate) snapshot: String,
}

/// The commits of a task that asks once: created, asked, answered, finished.
pub(crate) struct Life {
    pub(crate) commits: Vec<Written>,
}

impl Life {
    /// Runs one task and looks on.
    pub(crate) async fn observe() -> Self {
        let engine = Engine::start(MemoryStore::new(), |builder| builder);
        let id = engine.create().await;
        engine.asked(&id).await;
        let journal = engine.journal(&id).await;
        let mut state = TaskState::new(&journal[0]).expect("it starts with its creation");
        let mut commits = vec![Written::of(&journal[0], &state)];
        let mut take = |state: &mut TaskState, entry: &Entry| {
            state.apply(entry).expect("it has happened");
            commits.push(Written::of(entry, state));
        };
        take(&mut state, &journal[1]);
        let response: &RawValue = serde_json::from_str(ANSWER).expect("this is JSON");
        let key = InputKey::new(KEY);
        let answered = state.snapshot().judge(&[Answer { key, response }]);
        engine.answer(&id).await;
        let outcome = engine.finished(&id).await;
        let outcome = outcome.outcome.clone().expect("it has ended");
        let rest = answered.expect("the answer fits").into_iter();
        for event in rest.chain([Event::Finished(outcome)]) {
            let (seq, at) = (state.seq() + 1, journal[0].at);
            take(&mut state, &Entry { seq, at, event });
        }
        Self { commits }
    }

    /// Bytes of a commit's texts, on average.
    pub(crate) fn mean(&self) -> usize {
        let bytes = |written: &Written| written.event.len() + written.snapshot.len();
        self.commits.iter().map(bytes).sum::<usize>() / self.commits.len()
    }
}

impl Written {
    fn of(entry: &Entry, state: &TaskState) -> Self {
        Self {
            event: json(&entry.event),
            snapshot: json(&state.snapshot()),
        }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("events and snapshots are JSON")
}
