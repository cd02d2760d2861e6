//! What is seen of a task function while it runs, in all lives of all servers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::interpreter::Trace;
use super::program::Block;

/// What happened in all lives.
#[derive(Default)]
pub(crate) struct Observed(Mutex<Observations>);

#[derive(Default)]
pub(crate) struct Observations {
    pub(crate) runs: Vec<Run>,
    /// The keys of the steps that ran, each time that they did.
    pub(crate) effects: Vec<String>,
    /// Rules that were broken on the spot.
    pub(crate) broken: Vec<String>,
}

/// A function that was run from the top.
pub(crate) struct Run {
    pub(crate) life: usize,
    pub(crate) program: Arc<Block>,
    /// How many entries of the journal it was run through.
    pub(crate) loaded: usize,
    pub(crate) trace: Trace,
}

impl Observed {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Observations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a rule that was broken on the spot.
    pub(crate) fn broken(&self, words: String) {
        self.lock().broken.push(words);
    }

    /// Notes that a function is run.
    pub(crate) fn run(&self, run: Run) {
        self.lock().runs.push(run);
    }

    /// Notes that a step has an effect now; gives it a number, and says how
    /// often that step has had one.
    pub(crate) fn effect(&self, key: &str) -> (i64, usize) {
        let mut observed = self.lock();
        observed.effects.push(key.to_owned());
        let times = observed.effects.iter().filter(|its| *its == key).count();
        let number = observed.effects.len();
        (
            i64::try_from(number).expect("they are not that many"),
            times,
        )
    }
}
