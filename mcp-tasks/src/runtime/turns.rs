//! Whose turn it is among many who wait: one caller after the other, and of
//! each the one who has waited longest. However many a caller has in the line,
//! every other waits for one of them at most.

use std::collections::{BTreeMap, HashMap};

use crate::task::Caller;

/// Those who wait, by caller.
pub(super) struct Turns<T> {
    callers: HashMap<Caller, Waiting<T>>,
    /// The callers in the order of their turns.
    order: BTreeMap<Number, Caller>,
    last: Number,
}

/// Those of one caller.
struct Waiting<T> {
    /// Where the caller stands in the order.
    turn: Number,
    line: BTreeMap<Number, T>,
}

/// Grows with everybody who comes, and with every turn.
type Number = u64;

/// A place in the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket(Number);

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self {
            callers: HashMap::new(),
            order: BTreeMap::new(),
            last: 0,
        }
    }
}

impl<T> Turns<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Puts somebody at the end of the caller's line.
    pub(super) fn join(&mut self, caller: &Caller, value: T) -> Ticket {
        self.last += 1;
        let number = self.last;
        let waiting = self.callers.entry(caller.clone()).or_insert_with(|| {
            self.order.insert(number, caller.clone());
            Waiting {
                turn: number,
                line: BTreeMap::new(),
            }
        });
        waiting.line.insert(number, value);
        Ticket(number)
    }

    /// Takes somebody out of the line, who may not be there any more.
    pub(super) fn leave(&mut self, caller: &Caller, ticket: Ticket) -> Option<T> {
        let waiting = self.callers.get_mut(caller)?;
        let value = waiting.line.remove(&ticket.0);
        if waiting.line.is_empty() {
            self.order.remove(&waiting.turn);
            self.forget(caller);
        }
        value
    }

    /// Takes out whose turn it is.
    pub(super) fn next(&mut self) -> Option<T> {
        let (caller, ticket, _) = self.first(|_| true)?;
        let caller = caller.clone();
        self.serve(&caller, ticket)
    }

    /// Whose turn it is among those who may have one now; of each caller the
    /// first is asked for.
    pub(super) fn first(&self, may: impl Fn(&T) -> bool) -> Option<(&Caller, Ticket, &T)> {
        self.order.values().find_map(|caller| {
            let (number, value) = self.callers.get(caller)?.line.first_key_value()?;
            may(value).then_some((caller, Ticket(*number), value))
        })
    }

    /// Takes somebody out whose turn it was, if they are still there.
    pub(super) fn serve(&mut self, caller: &Caller, ticket: Ticket) -> Option<T> {
        let waiting = self.callers.get_mut(caller)?;
        let value = waiting.line.remove(&ticket.0)?;
        self.order.remove(&waiting.turn);
        if waiting.line.is_empty() {
            self.forget(caller);
        } else {
            self.last += 1;
            waiting.turn = self.last;
            self.order.insert(self.last, caller.clone());
        }
        Some(value)
    }

    pub(super) fn get_mut(&mut self, caller: &Caller, ticket: Ticket) -> Option<&mut T> {
        self.callers.get_mut(caller)?.line.get_mut(&ticket.0)
    }

    pub(super) fn len(&self) -> usize {
        self.callers
            .values()
            .map(|waiting| waiting.line.len())
            .sum()
    }

    fn forget(&mut self, caller: &Caller) {
        self.callers.remove(caller);
        // A burst that is over should not hold on to its table.
        if self.callers.len() < self.callers.capacity() / 4 {
            let room = self.callers.len() * 2;
            self.callers.shrink_to(room);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_have_their_turns_one_after_the_other() {
        let mut turns = Turns::default();
        for (caller, value) in [
            ("alice", "a1"),
            ("alice", "a2"),
            ("alice", "a3"),
            ("bob", "b1"),
            ("bob", "b2"),
            ("carol", "c1"),
        ] {
            turns.join(&Caller::new(caller), value);
        }
        assert_eq!(turns.next(), Some("a1"));
        // Whoever comes again stands at the end.
        turns.join(&Caller::new("carol"), "c2");
        let rest: Vec<_> = std::iter::from_fn(|| turns.next()).collect();
        assert_eq!(rest, ["b1", "c1", "a2", "b2", "c2", "a3"]);
        assert!(turns.is_empty());
    }

    #[test]
    fn whoever_leaves_keeps_nobody_waiting() {
        let mut turns = Turns::default();
        let (alice, bob) = (Caller::new("alice"), Caller::new("bob"));
        let first = turns.join(&alice, "a1");
        turns.join(&bob, "b1");
        turns.join(&alice, "a2");
        assert_eq!(turns.leave(&alice, first), Some("a1"));
        assert_eq!(turns.leave(&alice, first), None);
        assert_eq!(turns.next(), Some("a2"));
        assert_eq!(turns.next(), Some("b1"));
        let last = turns.join(&alice, "a3");
        assert_eq!(turns.leave(&alice, last), Some("a3"));
        assert!(turns.is_empty());
        assert_eq!(turns.next(), None);
        assert!(turns.callers.is_empty());
    }
}
