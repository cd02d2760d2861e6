//! What is kept for calls whose state travels through their clients.

use std::collections::HashMap;

use crate::task::{KeyRing, StateId, Timestamp};

#[derive(Default)]
pub(super) struct Sealing {
    pub(super) keys: KeyRing,
    /// Until when each is remembered.
    spent: HashMap<StateId, Timestamp>,
}

/// When this many are remembered, those that are too old are looked for.
const MANY: usize = 1024;

impl Sealing {
    pub(super) fn spend(&mut self, state: &StateId, until: Timestamp, now: Timestamp) -> bool {
        if self.spent.len() == self.spent.capacity() && self.spent.len() >= MANY {
            self.spent.retain(|_, until| *until >= now);
        }
        self.spent.insert(state.clone(), until).is_none()
    }
}
