//! How many functions run at once, over all processes on a store.
//!
//! A run of a function takes a seat in each lane that it counts towards, and
//! gives them back when it waits or ends. Seats are a holder's: they are free
//! as soon as it is no more.
//!
//! Who gets the next seat is a question of fairness among holders, as each has
//! its own line of runs that wait. A holder that was refused waits in that
//! lane; once it has for [`PATIENCE_MS`], free seats are kept for it before
//! those who came later.

use crate::task::Caller;

/// A run of a function, by a number that its holder has given no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunNumber(pub u64);

/// What runs are counted by. Each server, by name and scope, has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane<'a> {
    /// Functions of one tool, in whichever version.
    Tool(&'a str),
    /// Functions of one caller.
    Caller(&'a Caller),
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl<'a> Lane<'a> {
    /// What a database keeps of it: its kind, and its name.
    pub(crate) fn kept(self) -> (i32, &'a str) {
        match self {
            Self::Tool(tool) => (0, tool),
            Self::Caller(caller) => (1, caller.as_str()),
        }
    }
}

/// The seats that a run needs.
#[derive(Clone, Copy, Debug)]
pub struct SeatsWanted<'a> {
    /// The run.
    pub run: RunNumber,
    /// Its lanes, each with the number of its seats.
    pub lanes: &'a [(Lane<'a>, usize)],
}

/// Whether a run has got its seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seated {
    /// It has them all.
    Yes,
    /// It has none: of its lanes, this one is full.
    Full(usize),
}

/// For how long a holder that waits in a lane may be passed by others who come
/// later, in milliseconds.
///
/// As long as seats change hands faster than that, whoever gives one back may
/// take it again: nobody has to hear of it first.
pub const PATIENCE_MS: u64 = 1000;

/// A holder waits in a lane until it has a seat there, or for so many
/// milliseconds after it last asked for one.
pub const WAITS_MS: u64 = 3000;

/// A holder that waits in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingHolder {
    /// Since when, in milliseconds of the store's clock.
    pub since: u64,
    /// When it last asked, as far as that was written down: a store may pass over
    /// up to half of [`WAITS_MS`].
    pub asked: u64,
}

impl WaitingHolder {
    /// Whether a free seat is kept for this holder rather than given to another,
    /// which has waited since `others`, if it has at all.
    #[must_use]
    pub fn goes_before(self, others: Option<u64>, now: u64) -> bool {
        let is_there = self.asked.saturating_add(WAITS_MS) >= now;
        let is_patient = self.since.saturating_add(PATIENCE_MS) > now;
        is_there && !is_patient && others.is_none_or(|others| self.since < others)
    }
}
