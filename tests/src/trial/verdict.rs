//! How a task ended, held against what its client did and against a run that
//! nobody disturbed.

use serde_json::Value;

use super::{Cancel, Case, Effects, Journal, Order, Policy, Record, Sent, of_kind};

/// How a case goes when nothing is killed.
#[derive(Clone, Debug)]
pub struct Undisturbed {
    case: Case,
    status: String,
    report: Vec<String>,
    asked: Vec<String>,
    done: Vec<String>,
}

/// A line of a report, without what is another in every run.
fn shape(line: &str) -> String {
    match line.split_once(' ') {
        Some(("drew", _)) => "drew".to_owned(),
        Some(("signal", _)) => "signal".to_owned(),
        _ => line.split('@').next().unwrap_or_default().to_owned(),
    }
}

fn shapes(report: &[String]) -> Vec<String> {
    report.iter().map(|line| shape(line)).collect()
}

impl Undisturbed {
    /// Takes down a run.
    pub fn of(record: &Record, effects: &Effects) -> Self {
        let (status, report) = outcome(record);
        let id = record.id.as_deref().unwrap_or_default();
        Self {
            case: record.case,
            status,
            report: shapes(&report),
            asked: record.asked.clone(),
            done: effects.keys(id),
        }
    }

    /// Whether the run is the model of a case.
    pub fn is_of(&self, case: Case) -> bool {
        // One that is cancelled at some time is a model of nothing.
        let policy = match case.policy {
            Policy::Waver => Policy::Answer,
            policy => policy,
        };
        self.case.tool == case.tool && self.case.policy == policy
    }

    /// Judges a task that has ended.
    ///
    /// # Errors
    ///
    /// What is not as it must be.
    pub fn judge(
        &self,
        record: &Record,
        journal: &Journal,
        effects: &Effects,
    ) -> Result<(), String> {
        let (status, report) = outcome(record);
        if status == "cancelled" {
            return cancelled(record);
        }
        self.compare(record, &status, &report)?;
        let id = record.id.as_deref().ok_or("the task has no id")?;
        for line in &report {
            let (what, which) = line.split_once(' ').unwrap_or((line, ""));
            match what {
                "answer" => counts(record, journal, which)?,
                "timeout" => was_late(journal, which)?,
                "step" if which != "skipped" => {
                    let (key, process) = which.split_once('@').unwrap_or((which, ""));
                    if !effects.did(id, key, process) {
                        return Err(format!("`{which}` was never done"));
                    }
                }
                "drew" if !asked(record, which) => {
                    return Err(format!("{which} was never in a question"));
                }
                "early" if !declined(record) => {
                    return Err("nothing was declined".to_owned());
                }
                "cancelled" if record.cancel == Cancel::NotSent => {
                    return Err("nobody cancelled".to_owned());
                }
                "ambiguous" if record.faults == 0 => {
                    return Err(format!(
                        "nothing happened to a server, and {which} is ambiguous"
                    ));
                }
                _ => {}
            }
        }
        letters(record, &report)?;
        self.compare_keys(record, effects.keys(id))
    }

    fn compare(&self, record: &Record, status: &str, report: &[String]) -> Result<(), String> {
        let mut got = shapes(report);
        if record.case.is_patched() {
            let expected = before_change(&self.report, &got);
            if status == self.status && got == expected {
                return Ok(());
            }
        }
        if got.len() == self.report.len() {
            for (got, expected) in got.iter_mut().zip(&self.report) {
                if is_as_good(got, expected) {
                    got.clone_from(expected);
                }
            }
        }
        if tidied(record) || (status == self.status && got == self.report) {
            return Ok(());
        }
        Err(format!(
            "the result is {status} {report:?}; undisturbed it is {} {:?}",
            self.status, self.report
        ))
    }

    fn compare_keys(&self, record: &Record, done: Vec<String>) -> Result<(), String> {
        let sorted = |mut keys: Vec<String>| {
            keys.sort();
            keys
        };
        let of = |asked: &[String], done: Vec<String>| match record.case.order {
            Order::Exact if record.case.is_patched() => (asked.to_vec(), Vec::new()),
            Order::Exact => (asked.to_vec(), done),
            Order::Branches => (sorted(asked.to_vec()), sorted(done)),
            Order::Clock => (Vec::new(), Vec::new()),
        };
        let got = of(&record.asked, done);
        let expected = of(&self.asked, self.done.clone());
        if got == expected {
            return Ok(());
        }
        Err(format!(
            "asked and done was {got:?}; undisturbed it is {expected:?}"
        ))
    }
}

/// How a task ended, and what its function reported.
fn outcome(record: &Record) -> (String, Vec<String>) {
    let end = record.end.as_ref().unwrap_or(&Value::Null);
    let status = end["status"].as_str().unwrap_or("nothing");
    let is_error = end["result"]["isError"] == true;
    let text = end["result"]["content"][0]["text"].as_str();
    let text = text
        .or(end["error"]["message"].as_str())
        .unwrap_or_default();
    let status = if is_error { "an error" } else { status };
    (status.to_owned(), text.lines().map(str::to_owned).collect())
}

/// Whether a question had these words.
fn asked(record: &Record, words: &str) -> bool {
    let mut questions = record.questions.values();
    questions.any(|question| question.to_string().contains(words))
}

fn declined(record: &Record) -> bool {
    let mut answers = record.answers.values().flatten();
    answers.any(|sent| sent.value.is_none())
}

fn cancelled(record: &Record) -> Result<(), String> {
    if record.cancel == Cancel::NotSent {
        return Err("the task is cancelled, and nobody did that".to_owned());
    }
    Ok(())
}

/// Whether what a crash, or the time that it took, has made of a line is as
/// good as the line.
fn is_as_good(got: &str, expected: &str) -> bool {
    let split = |line: &str| {
        let (what, which) = line.split_once(' ').unwrap_or((line, ""));
        (what.to_owned(), which.to_owned())
    };
    let ((got, which), (expected, of)) = (split(got), split(expected));
    match (got.as_str(), expected.as_str()) {
        ("answer", "timeout") | ("timeout", "answer") | ("ambiguous", "step") => which == of,
        ("step", "step") => which == "skipped" && of == "skips",
        _ => false,
    }
}

/// The report of a task that began before the code changed: it may have taken
/// the old side of each change, and then always.
fn before_change(new: &[String], got: &[String]) -> Vec<String> {
    let has = |line: &str| got.iter().any(|got| got == line);
    new.iter()
        .filter(|line| *line != "step check" || has("step check"))
        .map(|line| match line.as_str() {
            "step sign" if has("step stamp") => "step stamp".to_owned(),
            "step sign#2" if has("step stamp") => "step stamp#2".to_owned(),
            line => line.to_owned(),
        })
        .collect()
}

/// Whether a task that may clean up did so, instead of taking an answer.
fn tidied(record: &Record) -> bool {
    let (status, report) = outcome(record);
    record.case.has_grace()
        && status == "completed"
        && shapes(&report) == ["step write", "cancelled by the client", "step tidy"]
}

/// An answer that the function got is one that counts, and came in time.
fn counts(record: &Record, journal: &Journal, answer: &str) -> Result<(), String> {
    let key = answer.split('@').next().unwrap_or_default();
    record.may_count(key, Some(answer))?;
    if comes_first(journal, key) == Some(First::Timer) {
        return Err(format!(
            "`{key}` timed out, and an answer that came later counts"
        ));
    }
    Ok(())
}

/// A question that timed out had no answer before.
fn was_late(journal: &Journal, key: &str) -> Result<(), String> {
    if comes_first(journal, key) == Some(First::Answer) {
        return Err(format!(
            "`{key}` was answered, and a timeout that came later counts"
        ));
    }
    Ok(())
}

#[derive(PartialEq)]
enum First {
    Answer,
    Timer,
}

/// Which outcome stands first in the journal: of a question with a deadline, or
/// of one that races with a clock.
fn comes_first(journal: &Journal, key: &str) -> Option<First> {
    let timer = match key.strip_suffix("/first") {
        Some(person) => format!("{}/sleep", person.replace("person", "clock")),
        None => format!("{key}#timeout"),
    };
    let answered = of_kind(journal, "answered").find(|(_, it)| it["key"] == key);
    let fired = of_kind(journal, "timer_fired").find(|(_, it)| it["key"] == timer.as_str());
    match (answered, fired) {
        (Some((answered, _)), Some((fired, _))) if fired < answered => Some(First::Timer),
        (Some(_), _) => Some(First::Answer),
        (None, Some(_)) => Some(First::Timer),
        (None, None) => None,
    }
}

/// Letters come once, each after those that were acknowledged before it was sent.
fn letters(record: &Record, report: &[String]) -> Result<(), String> {
    let got: Vec<&str> = report
        .iter()
        .filter_map(|line| line.strip_prefix("signal "))
        .collect();
    let place = |letter: &Sent| {
        let value = letter.value.as_deref().unwrap_or_default();
        got.iter().position(|got| *got == value)
    };
    let known = record.letters.iter().filter_map(place).count();
    if known < got.len() {
        return Err(format!("one of {got:?} was never sent, or came twice"));
    }
    for (index, sent) in record.letters.iter().enumerate() {
        let later = record.letters[index + 1..].iter().filter_map(place).min();
        let comes_late = place(sent) > later || place(sent).is_none();
        if sent.acknowledged && later.is_some() && comes_late {
            return Err(format!(
                "the acknowledged signal {:?} was passed over: {got:?}",
                sent.value
            ));
        }
    }
    Ok(())
}
