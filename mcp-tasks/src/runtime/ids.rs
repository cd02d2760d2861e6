//! Where the ids of tasks come from.

use std::sync::{Mutex, PoisonError};

use crate::protocol::ProtocolError;
use crate::task::{ENTROPY, Seed, TaskId, Timestamp};

/// Draws ids.
///
/// The operating system is asked for random bytes by the lot: asking takes
/// longer than everything else that an id takes.
#[derive(Default)]
pub(super) struct Ids {
    lot: Mutex<Vec<[u8; ENTROPY + SEED]>>,
}

const LOT: usize = 32;

/// Bytes of a task's seed.
const SEED: usize = 16;

impl Ids {
    /// The id of a task that is created now, and what its random values are made
    /// from.
    ///
    /// # Errors
    ///
    /// `-32603` if the operating system gives no random bytes.
    pub(super) fn draw(&self, now: Timestamp) -> Result<(TaskId, Seed), ProtocolError> {
        let mut lot = self.lot.lock().unwrap_or_else(PoisonError::into_inner);
        if lot.is_empty() {
            let mut drawn = [[0; ENTROPY + SEED]; LOT];
            getrandom::fill(drawn.as_flattened_mut()).map_err(|error| {
                tracing::error!(%error, "the operating system gives no random bytes");
                ProtocolError::internal("internal error")
            })?;
            lot.extend(drawn);
        }
        let drawn = lot.pop().expect("the lot has just been filled");
        drop(lot);
        let mut entropy = [0; ENTROPY];
        entropy.copy_from_slice(&drawn[..ENTROPY]);
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&drawn[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let seed = Seed([word(ENTROPY), word(ENTROPY + 8)]);
        Ok((TaskId::new(now, entropy), seed))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_id_comes_twice() {
        let ids = Ids::default();
        let draw = |_| ids.draw(Timestamp::from_millis(0)).unwrap().0;
        let drawn: HashSet<TaskId> = (0..LOT * 3).map(draw).collect();
        assert_eq!(drawn.len(), LOT * 3);
    }
}
