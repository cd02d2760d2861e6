//! Task ids: opaque, unguessable, safe in URLs and headers.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A task's id.
///
/// Ids are made from 160 bits of the operating system's generator and written
/// in 32 lower-case letters and digits. Without authentication an id is a
/// bearer secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(Arc<str>);

/// Bytes of entropy in an id.
pub(crate) const ENTROPY: usize = 20;

const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

impl TaskId {
    /// Writes random bytes as an id.
    pub(crate) fn from_entropy(bytes: [u8; ENTROPY]) -> Self {
        // Twenty bytes are exactly 32 groups of five bits.
        let mut text = [0; ENTROPY * 8 / 5];
        let mut places = text.iter_mut();
        let (mut bits, mut held) = (0u32, 0u32);
        for byte in bytes {
            held = (held << 8 | u32::from(byte)) & 0xfff;
            bits += 8;
            while bits >= 5 {
                bits -= 5;
                if let Some(place) = places.next() {
                    *place = ALPHABET[(held >> bits & 31) as usize];
                }
            }
        }
        let text = std::str::from_utf8(&text).expect("the alphabet is ASCII");
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
/// Ids are random, so that this is hash enough. Clients may send any, but those
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

    #[test]
    fn every_bit_of_entropy_shows() {
        let zero = TaskId::from_entropy([0; ENTROPY]);
        assert_eq!(zero.as_str().len(), 32);
        for byte in 0..ENTROPY {
            for bit in 0..8 {
                let mut bytes = [0; ENTROPY];
                bytes[byte] = 1 << bit;
                assert_ne!(TaskId::from_entropy(bytes), zero, "byte {byte}, bit {bit}");
            }
        }
    }
}
