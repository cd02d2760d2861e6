//! What a call asks, and what has become of it here.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcp_tasks::client::Question;

use crate::form::Refusal;

/// The questions of a call, as far as they are this program's.
#[derive(Default)]
pub(super) struct Questions {
    pub(super) open: Vec<Question>,
    /// Those that have been answered here, or left to others.
    pub(super) settled: HashSet<Arc<str>>,
    /// Those that programs have been told of.
    pub(super) told: HashSet<Arc<str>>,
    /// Those whose last answer was not taken.
    pub(super) refusals: HashMap<Arc<str>, Refusal>,
}

impl Questions {
    /// Takes in what is open now.
    pub(super) fn update(&mut self, open: &[Question]) {
        self.open = open.to_vec();
        let is_open = |key: &Arc<str>| open.iter().any(|question| question.key == *key);
        self.settled.retain(&is_open);
        self.told.retain(is_open);
    }

    pub(super) fn unsettled(&self) -> impl Iterator<Item = &Question> {
        let is_settled = |question: &&Question| !self.settled.contains(&question.key);
        self.open.iter().filter(is_settled)
    }
}
