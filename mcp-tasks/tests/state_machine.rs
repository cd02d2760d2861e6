//! The state machine against a second, plainer telling of its rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcp_tasks::protocol::{InputRequest, ProtocolError, TaskStatus};
use mcp_tasks::task::{
    Action, Caller, Created, Entry, Event, Held, InputKey, Outcome, Seed, Snapshot, TaskId,
    TaskState, Timestamp,
};
use proptest::prelude::*;
use serde_json::value::RawValue;

fn raw(text: &str) -> Arc<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap().into()
}

fn created(cancel_grace_ms: Option<u64>) -> Event {
    Event::Created(Box::new(Created {
        id: TaskId::from_text("t"),
        tool: "tool".into(),
        version: 1,
        arguments: raw("{}"),
        caller: Caller::anonymous(),
        capabilities: mcp_tasks::protocol::Capabilities::default(),
        ttl_ms: Some(1000),
        poll_interval_ms: 100,
        cancel_grace_ms,
        seed: Seed::default(),
        client: None,
        meta: None,
        trace: None,
    }))
}

fn entry(seq: u64, event: Event) -> Entry {
    Entry {
        seq,
        at: Timestamp::from_millis(seq),
        event,
    }
}

fn key() -> impl Strategy<Value = InputKey> {
    (0..4u8).prop_map(|n| InputKey::new(format!("k{n}")))
}

fn event() -> impl Strategy<Value = Event> {
    let asked = |key| Event::Asked {
        key,
        request: InputRequest::new("elicitation/create", raw("{}")),
    };
    let answered = |key| Event::Answered {
        key,
        response: Arc::new(Action::Decline.into()),
    };
    let step = |key| Event::StepDone {
        key,
        function: "f".into(),
        outcome: raw(r#"{"ok":1}"#),
    };
    let intended = |key| Event::StepIntended {
        key,
        function: "f".into(),
    };
    let attempt = |key| Event::StepAttempt {
        key,
        function: "f".into(),
        n: 1,
        retry_at: Timestamp::from_millis(7),
    };
    let held = || {
        Event::Held(Held {
            build: "b".into(),
            reason: "r".into(),
            poisonous: false,
        })
    };
    let set = |key| Event::TimerSet {
        key,
        at: Timestamp::from_millis(5),
    };
    prop_oneof![
        4 => key().prop_map(asked),
        4 => key().prop_map(answered),
        2 => key().prop_map(step),
        2 => key().prop_map(intended),
        2 => key().prop_map(attempt),
        1 => key().prop_map(|key| Event::Ran { key }),
        1 => Just(Event::Signalled { name: "s".into(), value: raw("1") }),
        1 => Just(Event::Patched { id: "p".into() }),
        1 => Just(Event::RecoveryStarted { alone: true }),
        1 => Just(held()),
        1 => Just(Event::Resumed),
        2 => key().prop_map(set),
        2 => key().prop_map(|key| Event::TimerFired { key }),
        3 => key().prop_map(|key| Event::Withdrawn { key }),
        1 => Just(Event::Status { message: Some("x".into()), progress: None }),
        1 => Just(Event::TtlChanged { ttl_ms: None }),
        1 => Just(Event::CancelRequested),
        1 => Just(created(None)),
        1 => prop_oneof![
            Just(Outcome::Cancelled),
            Just(Outcome::Completed { result: raw("{}") }),
            Just(Outcome::Failed { error: ProtocolError::internal("x") }),
        ].prop_map(Event::Finished),
    ]
}

/// The rules once more, as sets of names.
#[derive(Default)]
struct Plain {
    used: BTreeSet<InputKey>,
    asked: Vec<InputKey>,
    timers: BTreeSet<InputKey>,
    steps: BTreeSet<InputKey>,
    /// Steps that have begun and have no result.
    begun: BTreeSet<InputKey>,
    /// Those of them whose last attempt is known to have failed.
    resting: BTreeSet<InputKey>,
    held: bool,
    cancelled: bool,
    ended: bool,
}

impl Plain {
    fn allows(&mut self, event: &Event) -> bool {
        if self.ended {
            return false;
        }
        match event {
            Event::Created(_) => false,
            Event::Asked { key, .. } => {
                let fresh = self.used.insert(key.clone());
                if fresh {
                    self.asked.push(key.clone());
                }
                fresh
            }
            Event::Answered { key, .. } => self.take_question(key),
            Event::StepIntended { key, .. } => {
                self.resting.remove(key)
                    || (self.used.insert(key.clone()) && self.begun.insert(key.clone()))
            }
            Event::StepAttempt { key, .. } => {
                let begins = self.begins(key);
                if begins {
                    self.resting.insert(key.clone());
                }
                begins
            }
            Event::StepDone { key, .. } => {
                self.resting.remove(key);
                self.begins(key) && self.begun.remove(key) && self.steps.insert(key.clone())
            }
            Event::Ran { key } => self.used.insert(key.clone()),
            Event::TimerSet { key, .. } => {
                self.used.insert(key.clone()) && self.timers.insert(key.clone())
            }
            Event::TimerFired { key } => self.timers.remove(key),
            Event::Withdrawn { key } => {
                self.resting.remove(key);
                self.take_question(key)
                    || self.timers.remove(key)
                    || self.steps.remove(key)
                    || self.begun.remove(key)
            }
            Event::Held(_) => {
                self.held = true;
                true
            }
            Event::Resumed => {
                self.held = false;
                true
            }
            Event::Status { .. }
            | Event::TtlChanged { .. }
            | Event::Signalled { .. }
            | Event::Patched { .. }
            | Event::RecoveryStarted { .. } => true,
            Event::CancelRequested => !std::mem::replace(&mut self.cancelled, true),
            Event::Finished(_) => {
                self.ended = true;
                self.asked.clear();
                true
            }
        }
    }

    /// Whether a step is under way, or may begin.
    fn begins(&mut self, key: &InputKey) -> bool {
        if self.used.insert(key.clone()) {
            self.begun.insert(key.clone());
        }
        self.begun.contains(key)
    }

    fn take_question(&mut self, key: &InputKey) -> bool {
        let before = self.asked.len();
        self.asked.retain(|asked| asked != key);
        self.asked.len() < before
    }
}

proptest! {
    #[test]
    fn events_in_any_order_are_taken_exactly_where_the_rules_allow(
        grace in proptest::option::of(1..10u64),
        events in proptest::collection::vec(event(), 0..60),
    ) {
        let mut state = TaskState::new(&entry(1, created(grace))).unwrap();
        let mut plain = Plain::default();
        let mut ended: Option<TaskStatus> = None;
        let mut first_use: BTreeMap<InputKey, u32> = BTreeMap::new();
        for event in events {
            let before = (state.seq(), format!("{:?}", state.snapshot()));
            let next = entry(state.seq() + 1, event.clone());
            let taken = state.apply(&next).is_ok();
            prop_assert_eq!(taken, plain.allows(&event), "{:?}", event);
            if !taken {
                prop_assert_eq!(before, (state.seq(), format!("{:?}", state.snapshot())));
                continue;
            }
            if let Event::Asked { key, .. } | Event::TimerSet { key, .. } | Event::Ran { key } = &event {
                let uses = first_use.entry(key.clone()).or_default();
                *uses += 1;
                prop_assert_eq!(*uses, 1, "{} came twice", key);
            }
            let status = state.snapshot().status();
            if let Some(ended) = ended {
                prop_assert_eq!(status, ended);
            }
            if status.is_terminal() {
                ended = Some(status);
                prop_assert!(state.snapshot().input_requests.is_empty());
                prop_assert!(state.cancel().is_empty());
                prop_assert!(state.elapse(Timestamp::from_millis(u64::MAX)).is_empty());
            } else {
                let outstanding: Vec<_> =
                    state.snapshot().input_requests.iter().map(|(key, _)| key.clone()).collect();
                prop_assert_eq!(&outstanding, &plain.asked);
                let asks = !plain.asked.is_empty() && !plain.held;
                prop_assert_eq!(status == TaskStatus::InputRequired, asks);
            }
        }
    }

    #[test]
    fn states_that_look_alike_say_the_same_but_for_the_time(
        events in proptest::collection::vec(event(), 0..30),
    ) {
        let mut state = TaskState::new(&entry(1, created(Some(5)))).unwrap();
        let mut states = vec![state.snapshot().clone()];
        for event in events {
            if state.apply(&entry(state.seq() + 1, event)).is_ok() {
                states.push(state.snapshot().clone());
            }
        }
        let at_once = |task: &Snapshot| {
            let task = Snapshot { updated_at: Timestamp::default(), ..task.clone() };
            task.to_detailed_json(&serde_json::Value::Null)
        };
        for (n, later) in states.iter().enumerate() {
            for earlier in &states[..=n] {
                if later.looks_like(earlier) {
                    prop_assert_eq!(at_once(later), at_once(earlier));
                }
            }
            if later.looks_new(Some(1000)) {
                prop_assert_eq!(at_once(later), at_once(&states[0]));
            }
        }
    }

    #[test]
    fn entries_only_follow_one_another(seq in 0..5u64) {
        let mut state = TaskState::new(&entry(1, created(None))).unwrap();
        let status = Event::Status { message: None, progress: None };
        prop_assert_eq!(state.apply(&entry(seq, status)).is_ok(), seq == 2);
    }

    #[test]
    fn cancelling_and_time_add_only_what_is_legal_and_end_every_task(
        grace in proptest::option::of(1..10u64),
        events in proptest::collection::vec(event(), 0..20),
        now in 0..3000u64,
    ) {
        let mut state = TaskState::new(&entry(1, created(grace))).unwrap();
        for event in events {
            state.apply(&entry(state.seq() + 1, event)).ok();
        }
        for event in state.cancel() {
            prop_assert!(state.apply(&entry(state.seq() + 1, event)).is_ok());
        }
        for now in [now, u64::MAX] {
            for event in state.elapse(Timestamp::from_millis(now)) {
                prop_assert!(state.apply(&entry(state.seq() + 1, event)).is_ok());
            }
        }
        prop_assert!(state.snapshot().is_terminal(), "a cancelled task ends in time");
    }
}

#[test]
fn a_journal_starts_with_created_and_only_with_it() {
    assert!(TaskState::new(&entry(1, Event::CancelRequested)).is_err());
    assert!(TaskState::new(&entry(2, created(None))).is_err());
}

#[test]
fn what_a_client_cannot_see_leaves_a_task_as_it_looks() {
    let mut state = TaskState::new(&entry(1, created(None))).unwrap();
    let new = state.snapshot().clone();
    for event in [
        Event::TimerSet {
            key: InputKey::new("timer"),
            at: Timestamp::from_millis(5),
        },
        Event::Signalled {
            name: "s".into(),
            value: raw("1"),
        },
        Event::Ran {
            key: InputKey::new("ran"),
        },
    ] {
        state.apply(&entry(state.seq() + 1, event)).unwrap();
        assert!(state.snapshot().looks_like(&new));
        assert!(state.snapshot().looks_new(Some(1000)));
    }
    assert!(!state.snapshot().looks_new(None));
}
