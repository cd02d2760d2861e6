//! What was recorded at each kill, held against what clients and the world know:
//! nothing acknowledged is missing, nothing recorded changes or happens again.

use std::collections::{BTreeMap, HashSet};

use mcp_tasks_tests::trial::{Cancel, Effects, Journal, Record, kind, of_kind};
use serde_json::Value;

use crate::remains::{Remains, Stored};

/// Everything that was ever seen in the store, by task.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    tasks: BTreeMap<String, Known>,
}

/// A task as the store has shown it.
#[derive(Debug, Default)]
struct Known {
    journal: Journal,
    ended: bool,
    /// How often each step whose result is recorded had its effect by then.
    settled: BTreeMap<String, usize>,
}

/// Something that is not as it must be, and the task that it is about.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) task: Option<String>,
    pub(crate) problem: String,
}

impl Evidence {
    /// Takes in what a dead server has left, and judges it.
    pub(crate) fn take(
        &mut self,
        remains: &Remains,
        effects: &Effects,
        records: &mut [Record],
    ) -> Result<(), Finding> {
        for (id, stored) in remains {
            let found = |problem| Finding {
                task: Some(id.clone()),
                problem,
            };
            let known = self.tasks.entry(id.clone()).or_default();
            known.compare(stored).map_err(found)?;
            known.settle(id, effects).map_err(found)?;
        }
        let gone = self.tasks.keys().find(|id| !remains.contains_key(*id));
        if let Some(id) = gone {
            return Err(Finding {
                task: Some(id.clone()),
                problem: "the task is not in the store any more".to_owned(),
            });
        }
        adopt(records, remains);
        for record in records {
            if let Some(id) = &record.id {
                let held = holds(record, remains.get(id));
                held.map_err(|problem| Finding {
                    task: Some(id.clone()),
                    problem,
                })?;
            }
        }
        Ok(())
    }

    /// All that was ever seen of a task's journal.
    pub(crate) fn journal(&self, id: &str) -> Journal {
        let known = self.tasks.get(id);
        known.map_or_else(Journal::new, |known| known.journal.clone())
    }
}

impl Known {
    /// A journal only grows, until its task ends; then only its end is left.
    fn compare(&mut self, stored: &Stored) -> Result<(), String> {
        if self.ended && !stored.ended {
            return Err("a task that had ended lives again".to_owned());
        }
        self.ended = stored.ended;
        for (seq, event) in &self.journal {
            match stored.journal.get(seq) {
                Some(now) if now != event => {
                    return Err(format!("entry {seq} was {event} and is {now}"));
                }
                // The last status takes the place of those before.
                None if !stored.ended && kind(event) != "status" => {
                    return Err(format!("entry {seq} is gone: {event}"));
                }
                _ => {}
            }
        }
        let held = of_kind(&stored.journal, "held").next();
        if let Some((seq, held)) = held {
            return Err(format!("entry {seq} holds the task: {}", held["reason"]));
        }
        let entries = stored
            .journal
            .iter()
            .map(|(seq, event)| (*seq, event.clone()));
        self.journal.extend(entries);
        Ok(())
    }

    /// A recorded step does not run again, and a step that must not run twice
    /// only ever runs when that is recorded.
    fn settle(&mut self, id: &str, effects: &Effects) -> Result<(), String> {
        for (_, done) in of_kind(&self.journal, "step_done") {
            let key = text(&done["key"]);
            let count = effects.count(id, &key);
            let then = *self.settled.entry(key.clone()).or_insert(count);
            if count > then {
                return Err(format!(
                    "the step `{key}` had its effect {then} times when its result was recorded, \
                     and {count} times now"
                ));
            }
        }
        if self.ended {
            return Ok(());
        }
        let mut intended: BTreeMap<String, usize> = BTreeMap::new();
        for (_, intent) in of_kind(&self.journal, "step_intended") {
            *intended.entry(text(&intent["key"])).or_default() += 1;
        }
        // By its own choice this one runs again when nobody knows whether it did.
        intended.remove("repeats");
        for (key, intended) in intended {
            let count = effects.count(id, &key);
            if count > intended {
                return Err(format!(
                    "the step `{key}` was intended {intended} times and had its effect {count} times"
                ));
            }
        }
        Ok(())
    }
}

/// Finds the tasks of calls whose replies never came.
fn adopt(records: &mut [Record], remains: &Remains) {
    let is_its = |record: &Record, stored: &Stored| {
        of_kind(&stored.journal, "created")
            .any(|(_, created)| created["arguments"]["label"] == record.label.as_str())
    };
    for record in records.iter_mut().filter(|record| record.is_in_doubt()) {
        let found = remains.iter().find(|(_, stored)| is_its(record, stored));
        record.id = found.map(|(id, _)| id.clone());
    }
    // One that has ended meanwhile does not tell any more what it was called
    // with.
    let known: HashSet<String> = records.iter().filter_map(|it| it.id.clone()).collect();
    let mut unknown = remains
        .iter()
        .filter(|(id, stored)| stored.ended && !known.contains(*id))
        .collect::<Vec<_>>();
    for record in records.iter_mut().filter(|record| record.is_in_doubt()) {
        let tool = record.case.tool;
        let found = unknown.iter().position(|(_, stored)| stored.tool == tool);
        record.id = found.map(|index| unknown.swap_remove(index).0.clone());
    }
}

/// Everything that was acknowledged to a client is recorded.
fn holds(record: &Record, stored: Option<&Stored>) -> Result<(), String> {
    let stored = stored.ok_or("a task that a client knows is not in the store")?;
    let Stored { ended, journal, .. } = stored;
    if record.end.is_some() && !ended {
        return Err("a client saw the task end, and it lives".to_owned());
    }
    if record.cancel == Cancel::Acknowledged && !ended {
        let is_recorded = journal
            .values()
            .any(|event| kind(event) == "cancel_requested");
        if !record.case.has_grace() || !is_recorded {
            return Err("a cancellation was acknowledged and has no effect".to_owned());
        }
    }
    if *ended {
        // Questions, answers and signals are gone with the journal.
        return Ok(());
    }
    for key in record.answers.keys() {
        let answered = of_kind(journal, "answered").find(|(_, it)| it["key"] == key.as_str());
        if let Some((_, answered)) = answered {
            let content = answered["response"]["content"]["answer"].as_str();
            record.may_count(key, content)?;
        } else if record.has_acknowledged(key) {
            let withdrawn = of_kind(journal, "withdrawn").any(|(_, it)| it["key"] == key.as_str());
            if !withdrawn {
                return Err(format!(
                    "the acknowledged answer to `{key}` is not recorded"
                ));
            }
        }
    }
    for letter in record.letters.iter().filter(|sent| sent.acknowledged) {
        let value = letter.value.as_deref().unwrap_or_default();
        if !of_kind(journal, "signalled").any(|(_, it)| it["value"] == value) {
            return Err(format!("the acknowledged signal {value:?} is not recorded"));
        }
    }
    Ok(())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
