//! Task ids: opaque, unguessable, safe in URLs and headers.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::time::Timestamp;

/// A task's id.
///
/// An id is 34 lower-case letters and digits: eight that grow with the time of
/// its creation, so that what is stored by id is stored in the order in which
/// it came, and 26 that are 130 bits of the operating system's generator.
/// Clients know nothing of that; to them it is opaque. Without authentication
/// an id is a bearer secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(Arc<str>);

/// Random bytes that an id is made from; five bits of each show.
pub(crate) const ENTROPY: usize = 26;

/// Letters for the time, in milliseconds; after 34 years they start again.
const TIME: usize = 8;

/// In the order in which texts are sorted.
const ALPHABET: &[u8; 32] = b"23456789abcdefghijkmnpqrstuvwxyz";

impl TaskId {
    /// The id of a task that is created now, from random bytes.
    pub(crate) fn new(now: Timestamp, entropy: [u8; ENTROPY]) -> Self {
        let now = now.as_millis();
        let time = (0..TIME).rev().map(|place| now >> (5 * place));
        let letters = time.chain(entropy.map(u64::from));
        let text: String = letters
            .map(|bits| char::from(ALPHABET[(bits & 31) as usize]))
            .collect();
        Self(text.into())
    }

    /// An id as a client sent it; nothing says that such a task exists.
    pub fn from_text(text: &str) -> Self {
        Self(text.into())
    }

    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for TaskId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A map by task.
pub(crate) type ByTask<T> = HashMap<TaskId, T, BuildHasherDefault<IdHasher>>;

/// Folds the text of an id.
///
/// Ids are mostly random, so that this is hash enough. Clients may send any, but those
/// are only looked for: none of their choice is ever put into a map.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        // Odd, and its bits are as good as random.
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(SPREAD);
        }
    }

    fn finish(&self) -> u64 {
        // Multiplying mixes upwards only, and maps look at the low bits.
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn every_bit_of_entropy_shows() {
        let zero = TaskId::new(NOW, [0; ENTROPY]);
        assert_eq!(zero.as_str().len(), TIME + ENTROPY);
        for byte in 0..ENTROPY {
            for bit in 0..5 {
                let mut bytes = [0; ENTROPY];
                bytes[byte] = 1 << bit;
                assert_ne!(TaskId::new(NOW, bytes), zero, "byte {byte}, bit {bit}");
            }
        }
    }

    #[test]
    fn ids_are_sorted_by_the_millisecond_of_their_creation() {
        let ids = (0..100_000).map(|step| {
            let now = Timestamp::from_millis(NOW.as_millis() + step);
            TaskId::new(
                now,
                std::array::from_fn(|byte| step.to_le_bytes()[byte % 8]),
            )
        });
        assert!(ids.is_sorted());
    }
}
