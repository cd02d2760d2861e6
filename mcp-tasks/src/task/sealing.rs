//! What a store keeps for calls whose state travels through their clients: the
//! keys that seal it, and which of it has been used.

use std::fmt;

use super::{TaskId, Timestamp};

/// The keys of one store, newest first.
///
/// A key seals for a day, and opens for a week longer, so that replacing it
/// makes no state invalid that is not too old anyway.
#[derive(Clone, Debug, Default)]
pub struct KeyRing(Vec<SealingKey>);

/// A key that seals states.
#[derive(Clone, PartialEq, Eq)]
pub struct SealingKey {
    /// Stands in whatever it seals.
    pub id: KeyId,
    /// Known to the servers on one store, and to nobody else.
    pub secret: [u8; 32],
    /// Since when it seals.
    pub made_at: Timestamp,
}

/// Tells keys apart.
pub type KeyId = [u8; 8];

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

const SEALS_FOR_MS: u64 = DAY_MS;

/// How long a state may be good for at most.
pub(crate) const LONGEST_STATE_TTL_MS: u64 = 7 * DAY_MS;

impl KeyRing {
    /// Keys, in any order.
    pub fn new(mut keys: Vec<SealingKey>) -> Self {
        keys.sort_by_key(|key| std::cmp::Reverse(key.made_at));
        Self(keys)
    }

    /// Whether a new key must take over from the newest by `now`.
    pub fn needs_a_key(&self, now: Timestamp) -> bool {
        let replaced = |key: &SealingKey| key.made_at.plus_millis(SEALS_FOR_MS) <= now;
        self.0.first().is_none_or(replaced)
    }

    /// Takes in a new key if one is due, and leaves out those that open
    /// nothing any more; says whether it did take it.
    pub fn renew(&mut self, fresh: SealingKey, now: Timestamp) -> bool {
        let due = self.needs_a_key(now);
        if due {
            self.0.insert(0, fresh);
        }
        let opens_for = SEALS_FOR_MS + LONGEST_STATE_TTL_MS;
        self.0
            .retain(|key| key.made_at.plus_millis(opens_for) > now);
        due
    }

    /// The key that seals.
    pub fn newest(&self) -> Option<&SealingKey> {
        self.0.first()
    }

    /// The key of this id.
    pub fn get(&self, id: KeyId) -> Option<&SealingKey> {
        self.0.iter().find(|key| key.id == id)
    }

    /// All of them, newest first.
    pub fn keys(&self) -> &[SealingKey] {
        &self.0
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealingKey")
            .field("made_at", &self.made_at)
            .finish_non_exhaustive()
    }
}

/// One state that a call gave to its client: which call, and its how manieth.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StateId {
    /// The id that the call was given when it began.
    pub run: TaskId,
    /// From 1.
    pub round: u32,
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.run, self.round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: u8, made_at: Timestamp) -> SealingKey {
        SealingKey {
            id: [id; 8],
            secret: [id; 32],
            made_at,
        }
    }

    #[test]
    fn a_key_seals_for_a_day_and_opens_whatever_it_sealed() {
        let start = Timestamp::from_millis(1_800_000_000_000);
        let mut ring = KeyRing::default();
        assert!(ring.renew(key(1, start), start));
        let next = start.plus_millis(SEALS_FOR_MS - 1);
        assert!(!ring.renew(key(2, next), next));
        let next = start.plus_millis(SEALS_FOR_MS);
        assert!(ring.renew(key(3, next), next));
        assert_eq!(ring.newest().map(|key| key.id), Some([3; 8]));
        assert!(ring.get([1; 8]).is_some());
        let late = next.plus_millis(LONGEST_STATE_TTL_MS);
        ring.renew(key(4, late), late);
        assert!(ring.get([1; 8]).is_none());
        assert!(ring.get([3; 8]).is_some());
    }

    #[test]
    fn a_secret_is_not_printed() {
        let key = key(7, Timestamp::default());
        assert!(!format!("{key:?}").contains('7'));
    }
}
