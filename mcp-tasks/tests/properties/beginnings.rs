//! What must hold of each beginning of a journal: a server may find any of them.

use std::sync::Arc;

use mcp_tasks::task::{Entry, Event};

use super::check::astray;
use super::oracle::{Draws, Prophecy, foresee};
use super::prefix::{Arrival, arrive};
use super::program::Block;
use super::trace::{compare, questions, returned};

/// Whether each beginning of a journal, from a length on, leads where it
/// should; it must not be held.
pub(crate) async fn beginnings(
    program: &Arc<Block>,
    journal: &[Entry],
    draws: &Draws,
    grace: bool,
    from: usize,
) -> Vec<String> {
    let mut broken = Vec::new();
    for length in from..=journal.len() {
        let beginning = &journal[..length];
        let (arrival, foreseen) = arrive_as_foreseen(program, beginning, draws, grace).await;
        if let Some(reason) = &arrival.held {
            broken.push(format!("the first {length} entries are held: {reason}"));
        }
        if let Some(reason) = &foreseen.held {
            broken.push(format!(
                "the oracle holds the first {length} entries: {reason}"
            ));
        }
        broken.extend(differences(&arrival, &foreseen, beginning));
    }
    broken
}

/// Whether changed code that is run through each beginning of a journal is
/// held where it should be.
pub(crate) async fn changed(
    program: &Arc<Block>,
    journal: &[Entry],
    draws: &Draws,
    grace: bool,
) -> Vec<String> {
    let mut broken = Vec::new();
    for length in 1..=journal.len() {
        let beginning = &journal[..length];
        let (arrival, foreseen) = arrive_as_foreseen(program, beginning, draws, grace).await;
        if arrival.held.is_some() != foreseen.held.is_some() {
            broken.push(format!(
                "the first {length} entries: held for {:?}, should be for {:?}",
                arrival.held, foreseen.held
            ));
        }
        broken.extend(differences(&arrival, &foreseen, beginning));
    }
    broken
}

async fn arrive_as_foreseen(
    program: &Arc<Block>,
    journal: &[Entry],
    draws: &Draws,
    grace: bool,
) -> (Arrival, Prophecy) {
    let arrival = arrive(program, journal, draws.clone(), grace).await;
    let foreseen = foresee(program, journal, &arrival.draws);
    (arrival, foreseen)
}

/// What a server did with a journal that it should not have.
fn differences(arrival: &Arrival, foreseen: &Prophecy, journal: &[Entry]) -> Vec<String> {
    let length = journal.len();
    let mut broken = arrival.broken.clone();
    if arrival.marks != foreseen.marks {
        let parted = compare(&arrival.marks, &foreseen.marks);
        broken.push(format!(
            "the first {length} entries lead to {} things done, not {}: {parted:?}",
            arrival.marks.len(),
            foreseen.marks.len()
        ));
    }
    broken.extend(astray(&arrival.marks, journal));
    if arrival.held.is_some() {
        if !arrival.effects.is_empty() || !arrival.shown.is_empty() {
            broken.push(format!(
                "held after the first {length} entries, it shows {:?} and has run {:?}",
                arrival.shown, arrival.effects
            ));
        }
        for event in arrival
            .recorded
            .iter()
            .filter(|event| event.is_the_holders())
        {
            if !matches!(event, Event::Held(_)) {
                broken.push(format!("held after {length} entries and {event:?}"));
            }
        }
    } else if returned(&foreseen.marks).is_none() {
        let waits = questions(&foreseen.marks);
        if arrival.shown != waits {
            broken.push(format!(
                "after the first {length} entries it shows {:?}, not {waits:?}",
                arrival.shown
            ));
        }
    }
    let done = |key: &str| {
        journal.iter().any(
            |entry| matches!(&entry.event, Event::StepDone { key: its, .. } if its.as_str() == key),
        )
    };
    for key in arrival.effects.iter().filter(|key| done(key)) {
        broken.push(format!("after the first {length} entries {key} runs again"));
    }
    broken
}
