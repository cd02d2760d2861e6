//! What was used not long ago.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::mem;

/// A bounded map that forgets what has not been used for a while.
///
/// Two generations stand in for an order of use: what is not touched while a
/// whole generation comes in is dropped with the one before.
pub(super) struct Recent<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    generation: usize,
}

impl<K: Eq + Hash, V> Recent<K, V> {
    /// A map that keeps between `generation` and twice as many values.
    pub(super) fn new(generation: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            generation,
        }
    }

    pub(super) fn put(&mut self, key: K, value: V) {
        if self.young.len() >= self.generation {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    /// Looks at a value, which does not count as use.
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    /// Takes a value out; whoever uses it puts it back.
    pub(super) fn take<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        // It may be in both; then the older one is out of date.
        let old = self.old.remove(key);
        self.young.remove(key).or(old)
    }

    pub(super) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_is_used_and_forgets_the_rest() {
        let mut recent = Recent::new(10);
        for n in 0..1000 {
            recent.put(n, n);
            let used = recent.take(&0).unwrap();
            recent.put(0, used);
        }
        assert_eq!(recent.take(&999), Some(999));
        assert_eq!(recent.take(&0), Some(0));
        assert_eq!(recent.take(&500), None);
        assert!(recent.young.len() + recent.old.len() <= 20);
    }

    #[test]
    fn never_gives_a_value_that_was_replaced() {
        let mut recent = Recent::new(1);
        recent.put("a", 1);
        recent.put("b", 1);
        recent.put("a", 2);
        assert_eq!(recent.take("a"), Some(2));
        assert_eq!(recent.take("a"), None);
    }
}
