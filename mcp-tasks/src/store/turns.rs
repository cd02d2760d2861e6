//! In which order tasks are claimed when there are more than one claim takes:
//! callers have their turns, one after the other in the order of their names.

use std::collections::HashMap;

/// Puts what stands in the order of its need into that of turns: the first of
/// each caller, beginning with the one that comes after `last`, then the second
/// of each, and so on.
pub(super) fn in_turns<T>(all: Vec<T>, last: &str, caller: impl Fn(&T) -> &str) -> Vec<T> {
    let mut turns: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<_> = all
        .into_iter()
        .map(|one| {
            let caller = caller(&one).to_owned();
            let turn = turns.entry(caller.clone()).or_default();
            *turn += 1;
            ((*turn, *caller <= *last, caller), one)
        })
        .collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_take_turns_and_each_goes_by_its_own_order() {
        let in_turns = |last| {
            in_turns(vec!["c1", "a1", "a2", "b1", "a3", "c2"], last, |one| {
                &one[..1]
            })
        };
        assert_eq!(in_turns(""), ["a1", "b1", "c1", "a2", "c2", "a3"]);
        assert_eq!(in_turns("a"), ["b1", "c1", "a1", "c2", "a2", "a3"]);
        assert_eq!(in_turns("c"), ["a1", "b1", "c1", "a2", "c2", "a3"]);
    }
}
