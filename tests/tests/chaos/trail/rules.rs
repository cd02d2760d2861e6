//! What must be true of everything that is written about a task: one after
//! another, under the claim that there is, by whoever has it.

use serde_json::Value;

use mcp_tasks_tests::trial::kind;

use super::{Before, Claim, Line, Story, What};

/// What needs no claim, or is part of making one.
const FROM_ANYBODY: [&str; 5] = [
    "created",
    "answered",
    "signalled",
    "cancel_requested",
    "recovery_started",
];

/// Where a story has got to.
#[derive(Default)]
struct Place {
    /// The last entry, and the last claim.
    seq: u64,
    fencing: i64,
    ended: bool,
}

impl Story {
    /// Holds all that was written against the rules.
    ///
    /// # Errors
    ///
    /// What should not have been written.
    pub(crate) fn judge(&self) -> Result<(), String> {
        let mut place = Place::default();
        for line in &self.lines {
            let found = match &line.what {
                What::Entry {
                    seq,
                    fencing,
                    event,
                    ..
                } => self.entry(&mut place, line, *seq, *fencing, event),
                What::Row {
                    seq,
                    fencing,
                    outcome,
                    before,
                    ..
                } => self.row(
                    &mut place,
                    line,
                    *seq,
                    *fencing,
                    outcome.as_ref(),
                    before.as_ref(),
                ),
                What::Deleted { .. } => Err("it was deleted".to_owned()),
                What::Holder { .. } | What::Gone { .. } => Ok(()),
            };
            found.map_err(|problem| format!("line {} of the trail: {problem}", line.number))?;
        }
        Ok(())
    }

    fn claim(&self, fencing: i64) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.fencing == fencing)
    }

    fn entry(
        &self,
        place: &mut Place,
        line: &Line,
        seq: u64,
        fencing: i64,
        event: &Value,
    ) -> Result<(), String> {
        if place.ended {
            return Err(format!("the task had ended, and got {event}"));
        }
        if seq != place.seq + 1 {
            return Err(format!("entry {seq} comes after entry {}", place.seq));
        }
        place.seq = seq;
        if kind(event) == "held" {
            return Err(format!("the task is held: {event}"));
        }
        if FROM_ANYBODY.contains(&kind(event)) {
            return Ok(());
        }
        let claim = self.claim(fencing).ok_or("nobody has the task")?;
        if claim.fencing < place.fencing {
            return Err(format!(
                "entry {seq} was written under {fencing}, and the claim was {}",
                place.fencing
            ));
        }
        if claim.writer != line.writer {
            return Err(format!(
                "{:?} had the task, and {:?} wrote entry {seq}: {event}",
                claim.writer, line.writer
            ));
        }
        ran_it(claim, event)
    }

    fn row(
        &self,
        place: &mut Place,
        line: &Line,
        seq: u64,
        fencing: i64,
        outcome: Option<&Value>,
        before: Option<&Before>,
    ) -> Result<(), String> {
        if place.ended && outcome.is_none() {
            return Err("a task that had ended lives again".to_owned());
        }
        if fencing < place.fencing || fencing > place.fencing + 1 {
            return Err(format!("claim {fencing} comes after {}", place.fencing));
        }
        if let Some(before) = before
            && before.is_taken
            && before.lease_left.is_some_and(|left| left > 0)
        {
            return Err(format!(
                "claim {} was taken from holder {}, which had {:?} ms left",
                before.fencing, before.holder, before.lease_left
            ));
        }
        if let (false, Some(outcome)) = (place.ended, outcome)
            && is_of_function(outcome)
        {
            let claim = self.claim(fencing).ok_or("nobody has the task")?;
            if claim.writer != line.writer {
                return Err(format!(
                    "{:?} had the task, and {:?} ended it: {outcome}",
                    claim.writer, line.writer
                ));
            }
        }
        // With the end come entries that are never written.
        if seq < place.seq {
            return Err(format!("entry {} is lost, {seq} is the last", place.seq));
        }
        place.fencing = fencing;
        place.ended = outcome.is_some();
        Ok(())
    }
}

/// The result of a step says which process did it: whoever has the task.
fn ran_it(claim: &Claim, event: &Value) -> Result<(), String> {
    let done = &event["step_done"]["outcome"];
    let text = done.to_string();
    let Some((_, process)) = text.split_once('@') else {
        return Ok(());
    };
    let digits = process.find(|c: char| !c.is_ascii_digit());
    let process = &process[..digits.unwrap_or(process.len())];
    if process.parse() == Ok(claim.process) {
        return Ok(());
    }
    Err(format!(
        "process {} had the task, and {process} did its step: {event}",
        claim.process
    ))
}

/// Whether it was the task's function that ended like this, and not time or a
/// client.
fn is_of_function(outcome: &Value) -> bool {
    let is_expiry = outcome["failed"].to_string().contains("expired");
    outcome != "cancelled" && !is_expiry
}
