//! What a run of a function does, as far as the function itself can tell.

use std::collections::BTreeMap;
use std::fmt;

use super::program::Name;

/// Something that a function did or saw, in order.
///
/// It is all a matter of the program and of the outcomes that it was shown: of
/// two runs that were shown the same outcomes both have done the same, and of
/// two runs of one task, the one that was shown less has done a beginning of
/// what the other has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    /// Waits for something under a key.
    Open(String, Want),
    /// Got the outcome under a key.
    Got(String, i64),
    /// Dropped whatever it waited for under keys that begin so.
    Closed(String),
    /// Took a signal.
    Took(Name, i64),
    /// Heard that it was cancelled.
    Cancelled,
    Now(u64),
    Drew(String, i64),
    /// Took one side of a change.
    Patched(Name, bool),
    Status(Name),
    Returned(i64),
}

/// What is waited for: the kind and the content.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Want {
    /// With its words.
    Ask(String),
    /// With its function.
    Step(Name),
    Timer,
    Unrecorded,
}

/// What a question that was declined gives.
pub(crate) const DECLINED: i64 = -1;
/// What a question that was dismissed gives.
pub(crate) const DISMISSED: i64 = -2;
/// What a question gives whose time was up.
pub(crate) const TIMED_OUT: i64 = 3;
/// What a step gives that failed.
pub(crate) const FAILED: i64 = -5;
/// What a step gives that may have run and is skipped.
pub(crate) const SKIPPED: i64 = -7;

/// The key of a question's own timer.
pub(crate) fn timeout_of(key: &str) -> String {
    format!("{key}#timeout")
}

/// What a function waits for after it has done this.
pub(crate) fn waiting(marks: &[Mark]) -> BTreeMap<&str, &Want> {
    let mut open = BTreeMap::new();
    for mark in marks {
        match mark {
            Mark::Open(key, want) => {
                open.insert(key.as_str(), want);
            }
            Mark::Got(key, _) => {
                open.remove(key.as_str());
                open.remove(timeout_of(key).as_str());
            }
            Mark::Closed(scope) => open.retain(|key, _| !key.starts_with(scope)),
            Mark::Returned(_) => open.clear(),
            _ => {}
        }
    }
    open
}

/// The questions among what it waits for.
pub(crate) fn questions(marks: &[Mark]) -> Vec<&str> {
    let open = waiting(marks).into_iter();
    open.filter(|(_, want)| matches!(want, Want::Ask(_)))
        .map(|(key, _)| key)
        .collect()
}

pub(crate) fn last_status(marks: &[Mark]) -> Option<Name> {
    marks.iter().rev().find_map(|mark| match mark {
        Mark::Status(words) => Some(*words),
        _ => None,
    })
}

pub(crate) fn returned(marks: &[Mark]) -> Option<i64> {
    marks.iter().find_map(|mark| match mark {
        Mark::Returned(value) => Some(*value),
        _ => None,
    })
}

/// Whether one of the two is a beginning of the other; if not, where they part.
pub(crate) fn compare(one: &[Mark], other: &[Mark]) -> Result<(), String> {
    match one.iter().zip(other).position(|(one, other)| one != other) {
        None => Ok(()),
        Some(at) => Err(format!("{} / {}", one[at], other[at])),
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(key, Want::Ask(words)) => write!(f, "asks {key} \"{words}\""),
            Self::Open(key, Want::Step(function)) => write!(f, "steps {key} {function}"),
            Self::Open(key, Want::Timer) => write!(f, "sleeps {key}"),
            Self::Got(key, value) => write!(f, "got {key} = {value}"),
            Self::Open(key, Want::Unrecorded) => write!(f, "looks {key}"),
            Self::Took(name, value) => write!(f, "took {name} = {value}"),
            Self::Cancelled => write!(f, "is cancelled"),
            Self::Drew(key, value) => write!(f, "drew {key} = {value}"),
            Self::Patched(id, new) => write!(f, "patched {id}: {new}"),
            Self::Closed(scope) => write!(f, "closed {scope}*"),
            Self::Now(now) => write!(f, "now {now}"),
            Self::Status(words) => write!(f, "says {words}"),
            Self::Returned(value) => write!(f, "returned {value}"),
        }
    }
}
