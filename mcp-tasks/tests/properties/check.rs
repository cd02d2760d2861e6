//! What must hold when a task has ended, or is held.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use mcp_tasks::task::{Entry, Event, Outcome};
use serde_json::Value;

use super::beginnings::beginnings;
use super::oracle::foresee;
use super::program::Block;
use super::record::{Record, answer_of, result_of};
use super::trace::{Mark, TIMED_OUT, Want, compare, last_status, returned};
use super::world::World;

/// Everything that must hold of a task that has ended by the code of today.
pub(crate) async fn ended(world: &World, program: &Arc<Block>, from: usize) -> Vec<String> {
    let mut broken = Vec::new();
    let journal = world.journal.entries();
    let draws = world.journal.draws();
    if world.held() {
        broken.push(format!("it is held: {:?}", held(&journal)));
        return broken;
    }
    let Some(Event::Finished(outcome)) = journal.last().map(|entry| &entry.event) else {
        broken.push("it does not end".to_owned());
        return broken;
    };
    let live = before_the_end(&journal, world.grace());
    let foreseen = foresee(program, live, &draws);
    broken.extend(
        foreseen
            .held
            .iter()
            .map(|why| format!("the oracle holds it: {why}")),
    );
    for run in &world.observed.lock().runs {
        if Arc::ptr_eq(&run.program, program)
            && let Err(parted) = compare(&run.trace.marks(), &foreseen.marks)
        {
            broken.push(format!("a run of life {} went astray: {parted}", run.life));
        }
    }
    broken.extend(values(&foreseen.marks, live));
    match (outcome, returned(&foreseen.marks)) {
        (Outcome::Completed { result }, Some(value)) => {
            let result: Value = serde_json::from_str(result.get()).expect("it is recorded JSON");
            let text = &result["content"][0]["text"];
            if text.as_str() != Some(value.to_string().as_str()) {
                broken.push(format!("the result is {text}, not {value}"));
            }
            world.check_status(last_status(&foreseen.marks)).await;
        }
        (Outcome::Cancelled, _) => {}
        (outcome, value) => broken.push(format!("it ended with {outcome:?}, not {value:?}")),
    }
    broken.extend(beginnings(program, live, &draws, world.grace(), from).await);
    broken
}

/// Whether code fits the first entries of the journal.
pub(crate) fn fits(world: &World, program: &Arc<Block>, entries: usize) -> bool {
    let journal = world.journal.entries();
    let foreseen = foresee(program, &journal[..entries], &world.journal.draws());
    foreseen.held.is_none()
}

/// What must hold of a task that the code of today does not fit: nothing was
/// done, and nothing recorded by it.
pub(crate) fn untouched(world: &World, program: &Arc<Block>, from: usize) -> Vec<String> {
    let mut broken = Vec::new();
    let journal = world.journal.entries();
    for entry in &journal[from..] {
        let others = !entry.event.is_the_holders();
        if !others && !matches!(entry.event, Event::Held(_)) {
            broken.push(format!("before it was held it recorded {:?}", entry.event));
        }
    }
    for run in &world.observed.lock().runs {
        if Arc::ptr_eq(&run.program, program) {
            let read = &journal[..run.loaded];
            let foreseen = foresee(program, read, &world.journal.draws());
            if foreseen.held.is_none() {
                let loaded = run.loaded;
                broken.push(format!("held, and fits the first {loaded} entries"));
            }
            broken.extend(astray(&foreseen.marks, read));
        }
    }
    broken
}

/// The journal without what the function is not shown any more.
pub(crate) fn before_the_end(journal: &[Entry], grace: bool) -> &[Entry] {
    // A cancellation that the function is not shown is its end.
    let ends = |entry: &Entry| match entry.event {
        Event::CancelRequested => !grace,
        Event::Finished(_) => true,
        _ => false,
    };
    let end = journal.iter().position(ends);
    &journal[..end.unwrap_or(journal.len())]
}

/// Why a task is held.
pub(crate) fn held(journal: &[Entry]) -> Option<&str> {
    journal.iter().find_map(|entry| match &entry.event {
        Event::Held(held) => Some(&*held.reason),
        _ => None,
    })
}

/// Whether the function got what was recorded, all of it, and nothing else.
fn values(marks: &[Mark], journal: &[Entry]) -> Vec<String> {
    let mut recorded = HashMap::new();
    let mut signals: HashMap<&str, VecDeque<i64>> = HashMap::new();
    for entry in journal {
        let (key, value) = match &entry.event {
            Event::Answered { key, response } => (key.as_str(), answer_of(response)),
            Event::Signalled { name, value } => {
                let value: i64 = value.get().parse().expect("signals are numbers here");
                signals.entry(&**name).or_default().push_back(value);
                continue;
            }
            Event::Ran { key } => (key.as_str(), 0),
            Event::StepDone { key, outcome, .. } => (key.as_str(), result_of(outcome.get())),
            Event::TimerFired { key } => match key.as_str().strip_suffix("#timeout") {
                Some(question) => (question, TIMED_OUT),
                None => (key.as_str(), 0),
            },
            _ => continue,
        };
        // Of an answer and the time being up, what came first counts.
        recorded.entry(key).or_insert(value);
    }
    let mut broken = Vec::new();
    let mut open = HashMap::new();
    for mark in marks {
        match mark {
            Mark::Open(key, want) => {
                open.insert(key.as_str(), want);
            }
            Mark::Got(key, value) => {
                open.remove(key.as_str());
                if recorded.get(key.as_str()) != Some(value) {
                    let recorded = recorded.get(key.as_str());
                    broken.push(format!("{key} gave {value}, recorded is {recorded:?}"));
                }
            }
            Mark::Closed(scope) => open.retain(|key, _| !key.starts_with(scope)),
            Mark::Returned(_) => open.clear(),
            Mark::Took(name, value) => {
                let next = signals.get_mut(*name).and_then(VecDeque::pop_front);
                if next != Some(*value) {
                    broken.push(format!("the signal {name} was {value}, next is {next:?}"));
                }
            }
            _ => {}
        }
    }
    for (key, want) in open {
        // A question's own timer is not waited for on its own.
        if recorded.contains_key(key) && !(*want == Want::Timer && key.ends_with("#timeout")) {
            broken.push(format!("what is recorded for {key} never arrived"));
        }
    }
    broken
}

/// Whether anything got what was recorded for something else.
pub(crate) fn astray(marks: &[Mark], journal: &[Entry]) -> Vec<String> {
    let record = Record::read(journal);
    let (mut broken, mut open) = (Vec::new(), HashMap::new());
    for mark in marks {
        match mark {
            Mark::Open(key, want) => {
                open.insert(key, want);
            }
            Mark::Got(key, _) => {
                let recorded = record.keys.get(key).map(|(want, _)| want);
                if recorded != open.get(key).copied() {
                    broken.push(format!("{key} got what is recorded for {recorded:?}"));
                }
            }
            _ => {}
        }
    }
    broken
}

/// Whether a task takes the old side of a change that is older than the task.
pub(crate) fn old_sides(world: &World) -> Vec<String> {
    let mut broken = Vec::new();
    for run in &world.observed.lock().runs {
        for mark in run.trace.marks().iter() {
            if let Mark::Patched(id, false) = mark {
                broken.push(format!("a new task takes the old side of {id}"));
            }
        }
    }
    broken
}
