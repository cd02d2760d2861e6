//! Journals of every released format, as they stand in stores: today's code
//! reads them, and writes those of its own format as they are.
//!
//! `golden/journal-1/*.jsonl` were written once. They are never renewed: what no
//! longer reads here holds somebody's task.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mcp_tasks::task::{Event, Journal, Response, TaskState};

/// The name of an event's kind; a new kind wants a line in a golden file.
fn kind(event: &Event) -> &'static str {
    match event {
        Event::Created(_) => "created",
        Event::Asked { .. } => "asked",
        Event::Answered { .. } => "answered",
        Event::StepIntended { .. } => "step_intended",
        Event::StepAttempt { .. } => "step_attempt",
        Event::StepDone { .. } => "step_done",
        Event::TimerSet { .. } => "timer_set",
        Event::TimerFired { .. } => "timer_fired",
        Event::Ran { .. } => "ran",
        Event::Signalled { .. } => "signalled",
        Event::Patched { .. } => "patched",
        Event::Withdrawn { .. } => "withdrawn",
        Event::Status { .. } => "status",
        Event::TtlChanged { .. } => "ttl_changed",
        Event::CancelRequested => "cancel_requested",
        Event::RecoveryStarted { .. } => "recovery_started",
        Event::Held(_) => "held",
        Event::Resumed => "resumed",
        Event::Finished(_) => "finished",
    }
}

/// The name of an answer's kind, if the event is an answer.
fn answer(event: &Event) -> Option<&'static str> {
    let Event::Answered { response, .. } = event else {
        return None;
    };
    Some(match &**response {
        Response::Elicited(_) => "elicited",
        Response::Model { .. } => "model",
        Response::Roots { .. } => "roots",
    })
}

/// How many kinds of answers there are.
const ANSWERS: usize = 3;

/// How many kinds there are.
const KINDS: usize = 19;

#[test]
fn journals_of_format_1_are_read_and_written_as_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/journal-1");
    let (mut kinds, mut answers) = (BTreeSet::new(), BTreeSet::new());
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let journal: Journal = text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(journal.to_string(), text, "{}", path.display());
        let events = journal.entries().iter().map(|entry| kind(&entry.event));
        kinds.extend(events);
        let given = journal.entries().iter();
        answers.extend(given.filter_map(|entry| answer(&entry.event)));
        TaskState::replay(journal.entries()).unwrap();
    }
    assert_eq!(kinds.len(), KINDS, "{kinds:?}");
    assert_eq!(answers.len(), ANSWERS, "{answers:?}");
}
