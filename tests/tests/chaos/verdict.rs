//! Whether all came to the end that it must come to.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use mcp_tasks_tests::trial::{Cancel, Effect, Effects, Journal, Record, Undisturbed, of_kind};

use crate::log::{Log, Pause};
use crate::plan::Counts;
use crate::trail::{Story, Trail};

/// Something that is not as it must be, and the tasks that it is about.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) tasks: Vec<String>,
    pub(crate) problem: String,
}

impl Finding {
    pub(crate) fn of(tasks: impl IntoIterator<Item = String>, problem: String) -> Self {
        Self {
            tasks: tasks.into_iter().collect(),
            problem,
        }
    }
}

impl From<String> for Finding {
    fn from(problem: String) -> Self {
        Self::of(None, problem)
    }
}

impl From<&str> for Finding {
    fn from(problem: &str) -> Self {
        problem.to_owned().into()
    }
}

/// What was looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) stormy: Duration,
    pub(crate) calm: Duration,
    /// What was done to replicas and the database.
    pub(crate) faults: Counts,
    /// Tasks, and calls that never came to one.
    pub(crate) tasks: usize,
    pub(crate) in_vain: usize,
    /// How tasks ended.
    pub(crate) ends: BTreeMap<String, usize>,
    /// Claims and entries of journals that were written.
    pub(crate) claims: usize,
    pub(crate) entries: usize,
    pub(crate) effects: usize,
    pub(crate) answers: usize,
    /// Effects of a process that was stopped between its right to run on and the
    /// effect, in the same breath.
    pub(crate) split: usize,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            faults,
            tasks,
            ends,
            ..
        } = self;
        writeln!(
            f,
            "in {:.0?}: {} kills, {} pauses and {} shorter ones, {} told to end, {} restarts of the \
             database, {} cuts of connections; everything came to rest {:.1?} after that",
            self.stormy,
            faults.kills,
            faults.pauses,
            faults.naps,
            faults.leaves,
            faults.restarts,
            faults.cuts,
            self.calm
        )?;
        let ends: Vec<String> = ends.iter().map(|(end, n)| format!("{n} {end}")).collect();
        writeln!(
            f,
            "{tasks} tasks ({}) and {} calls that came to none",
            ends.join(", "),
            self.in_vain
        )?;
        write!(
            f,
            "{} claims, {} entries, {} answers, {} effects of steps, of which a pause tore off {}",
            self.claims, self.entries, self.answers, self.effects, self.split
        )
    }
}

/// After its pause, how long a process may take for what it had begun.
const BREATH_MS: u64 = 20;

/// Judges everything.
///
/// # Errors
///
/// The first thing that is not as it must be.
pub(crate) fn judge(
    records: &[Record],
    models: &[Undisturbed],
    trail: &Trail,
    effects: &Effects,
    log: &Log,
) -> Result<Tally, Finding> {
    let mut tally = Tally {
        claims: trail.claims(),
        entries: trail.entries(),
        ..Tally::default()
    };
    if let Some(problem) = trail.buried_alive() {
        return Err(problem.as_str().into());
    }
    let known: HashMap<&str, &Record> = records
        .iter()
        .filter_map(|record| Some((record.id.as_deref()?, record)))
        .collect();
    for (id, story) in trail.tasks() {
        let found = |problem| Finding::of(Some(id.clone()), problem);
        story.judge().map_err(found)?;
        let record = known
            .get(id.as_str())
            .ok_or_else(|| found(format!("nobody called for this task: {:?}", story.label())))?;
        outcome(record, story, models, effects).map_err(found)?;
        acknowledged(record, story).map_err(found)?;
        given(record, &story.journal).map_err(found)?;
        at_most_once(id, &story.journal, effects).map_err(found)?;
        let split = steps(id, story, effects, &log.pauses()).map_err(found)?;
        for effect in &split {
            println!("torn off by a pause: {id} {effect:?}");
        }
        tally.split += split.len();
        tally.effects += effects.of(id).len();
        tally.answers += of_kind(&story.journal, "answered").count();
    }
    for record in records {
        match &record.id {
            None => tally.in_vain += 1,
            Some(id) if trail.task(id).is_none() => {
                let problem = "a task that its client knows was never written".to_owned();
                return Err(Finding::of(Some(id.clone()), problem));
            }
            Some(_) => {
                tally.tasks += 1;
                let end = record.end.as_ref().and_then(|end| end["status"].as_str());
                let end = end.unwrap_or_default().to_owned();
                *tally.ends.entry(end).or_default() += 1;
            }
        }
    }
    if tally.split > 2 {
        let problem = format!(
            "{} effects were not where the task was: too many for chance",
            tally.split
        );
        return Err(problem.into());
    }
    Ok(tally)
}

/// The task ended, as its client saw, and as it must.
fn outcome(
    record: &Record,
    story: &Story,
    models: &[Undisturbed],
    effects: &Effects,
) -> Result<(), String> {
    let seen = record.end.as_ref().ok_or("its client never saw it end")?;
    let end = story.end.as_ref().ok_or("it has not ended")?;
    let is_same = match seen["status"].as_str() {
        Some("cancelled") => end.outcome == "cancelled",
        Some(status) => end.outcome.get(status).is_some(),
        None => false,
    };
    if !is_same {
        return Err(format!(
            "it ended {}, and its client saw {seen}",
            end.outcome
        ));
    }
    let model = models.iter().find(|model| model.is_of(record.case));
    let model = model.ok_or("nobody has tried this case undisturbed")?;
    let mut record = record.clone();
    // A replica on a busy machine can lose its lease without a fault.
    record.faults += u32::from(story.is_passed_on());
    model.judge(&record, &story.journal, effects)
}

/// What was acknowledged before the end is recorded.
fn acknowledged(record: &Record, story: &Story) -> Result<(), String> {
    let journal = &story.journal;
    let end_ms = story.end.as_ref().map_or(u64::MAX, |end| end.at_ms);
    for (key, answers) in &record.answers {
        let is_of_key = |it: &serde_json::Value| it["key"] == key.as_str();
        let is_known = of_kind(journal, "answered").any(|(_, it)| is_of_key(it))
            || of_kind(journal, "withdrawn").any(|(_, it)| is_of_key(it));
        let lost = answers
            .iter()
            .find(|sent| sent.acknowledged && sent.at_ms < end_ms);
        if let (false, Some(lost)) = (is_known, lost) {
            return Err(format!(
                "the acknowledged answer {lost:?} to `{key}` is lost"
            ));
        }
    }
    for letter in &record.letters {
        let value = letter.value.as_deref().unwrap_or_default();
        let is_known = of_kind(journal, "signalled").any(|(_, it)| it["value"] == value);
        if letter.acknowledged && letter.at_ms < end_ms && !is_known {
            return Err(format!("the acknowledged signal {value:?} is lost"));
        }
    }
    Ok(())
}

/// What is recorded was given, and the function got what is recorded.
fn given(record: &Record, journal: &Journal) -> Result<(), String> {
    for (_, answered) in of_kind(journal, "answered") {
        let key = answered["key"].as_str().unwrap_or_default();
        let content = answered["response"]["content"]["answer"].as_str();
        record.may_count(key, content)?;
        let count = of_kind(journal, "answered").filter(|(_, it)| it["key"] == key);
        if count.count() != 1 {
            return Err(format!("`{key}` was answered twice"));
        }
    }
    let mut letters = Vec::new();
    for (_, signalled) in of_kind(journal, "signalled") {
        let value = signalled["value"].as_str().unwrap_or_default();
        let is_sent = |sent: &&_| letter_is(sent, value);
        if record.letters.iter().find(is_sent).is_none() || letters.contains(&value) {
            return Err(format!("the signal {value:?} was not sent, or came twice"));
        }
        letters.push(value);
    }
    let end = record.end.as_ref().unwrap_or(&serde_json::Value::Null);
    let report = end["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default();
    let got = report
        .lines()
        .filter_map(|line| line.strip_prefix("signal "));
    if record.case.tool == "mailbox" && !got.eq(letters.iter().copied().take(3)) {
        return Err(format!(
            "the signals were {letters:?}, and it got {report:?}"
        ));
    }
    if of_kind(journal, "cancel_requested").next().is_some() && record.cancel == Cancel::NotSent {
        return Err("nobody cancelled it".to_owned());
    }
    Ok(())
}

fn letter_is(sent: &mcp_tasks_tests::trial::Sent, value: &str) -> bool {
    sent.value.as_deref() == Some(value)
}

/// What must not run twice runs only when that is recorded.
fn at_most_once(id: &str, journal: &Journal, effects: &Effects) -> Result<(), String> {
    let mut intended: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, intent) in of_kind(journal, "step_intended") {
        let key = intent["key"].as_str().unwrap_or_default();
        *intended.entry(key).or_default() += 1;
    }
    // By its own choice this one runs again when nobody knows whether it did.
    intended.remove("repeats");
    for (key, intended) in intended {
        let count = effects.count(id, key);
        if count > intended {
            return Err(format!(
                "the step `{key}` was intended {intended} times and had its effect {count} times"
            ));
        }
    }
    Ok(())
}

/// A step runs where the task is, and never after its result was recorded. Gives
/// the effects that a pause had torn off, and how long after it they came.
fn steps<'a>(
    id: &str,
    story: &Story,
    effects: &'a Effects,
    pauses: &[Pause],
) -> Result<Vec<(&'a Effect, u64)>, String> {
    let mut split = Vec::new();
    let done: HashMap<&str, u64> = story.done().collect();
    for effect in effects.of(id) {
        let at = effect.at_ms;
        let is_late = done
            .get(effect.key.as_str())
            .is_some_and(|done| at > done + 1);
        let is_elsewhere = !story.was_run_by(effect.process, at.saturating_sub(1), at + 1);
        if !is_late && !is_elsewhere {
            continue;
        }
        let pause = pauses.iter().find(|pause| {
            pause.process == effect.process
                && (pause.until_ms..=pause.until_ms + BREATH_MS).contains(&at)
        });
        match pause {
            Some(pause) => split.push((effect, at - pause.until_ms)),
            None if is_late => {
                return Err(format!(
                    "a step ran again after its result was recorded: {effect:?}"
                ));
            }
            None => return Err(format!("a step ran where the task was not: {effect:?}")),
        }
    }
    Ok(split)
}
