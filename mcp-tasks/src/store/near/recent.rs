//! What was used not long ago.

use std::mem;

use crate::task::{ByTask, TaskId};

/// A bounded map by task that forgets what has not been used for a while.
///
/// Two generations stand in for an order of use: what is not touched while a
/// whole generation comes in is dropped with the one before.
pub(in crate::store) struct Recent<T> {
    young: ByTask<T>,
    old: ByTask<T>,
    generation: usize,
}

impl<T> Recent<T> {
    /// A map that keeps between `generation` and twice as many values.
    pub(in crate::store) fn new(generation: usize) -> Self {
        Self {
            young: ByTask::default(),
            old: ByTask::default(),
            generation,
        }
    }

    pub(in crate::store) fn put(&mut self, id: TaskId, value: T) {
        if self.young.len() >= self.generation {
            mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        self.young.insert(id, value);
    }

    /// Looks at a value, which does not count as use.
    pub(in crate::store) fn get(&self, id: &TaskId) -> Option<&T> {
        self.young.get(id).or_else(|| self.old.get(id))
    }

    /// Takes a value out; whoever uses it puts it back.
    pub(in crate::store) fn take(&mut self, id: &TaskId) -> Option<T> {
        // It may be in both; then the older one is out of date.
        let old = self.old.remove(id);
        self.young.remove(id).or(old)
    }

    pub(in crate::store) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u32) -> TaskId {
        TaskId::from_text(&n.to_string())
    }

    #[test]
    fn keeps_what_is_used_and_forgets_the_rest() {
        let mut recent = Recent::new(10);
        for n in 0..1000 {
            recent.put(id(n), n);
            let used = recent.take(&id(0)).unwrap();
            recent.put(id(0), used);
        }
        assert_eq!(recent.take(&id(999)), Some(999));
        assert_eq!(recent.take(&id(0)), Some(0));
        assert_eq!(recent.take(&id(500)), None);
        assert!(recent.young.len() + recent.old.len() <= 20);
    }

    #[test]
    fn never_gives_a_value_that_was_replaced() {
        let mut recent = Recent::new(1);
        recent.put(id(0), 1);
        recent.put(id(1), 1);
        recent.put(id(0), 2);
        assert_eq!(recent.take(&id(0)), Some(2));
        assert_eq!(recent.take(&id(0)), None);
    }
}
