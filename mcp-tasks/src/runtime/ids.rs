//! Where the ids of tasks come from.

use std::sync::{Mutex, PoisonError};

use crate::protocol::ProtocolError;
use crate::task::{ENTROPY, TaskId};

/// Draws ids.
///
/// The operating system is asked for random bytes by the lot: asking takes
/// longer than everything else that an id takes.
#[derive(Default)]
pub(super) struct Ids {
    lot: Mutex<Vec<[u8; ENTROPY]>>,
}

const LOT: usize = 32;

impl Ids {
    /// A new id.
    ///
    /// # Errors
    ///
    /// `-32603` if the operating system gives no random bytes.
    pub(super) fn draw(&self) -> Result<TaskId, ProtocolError> {
        let mut lot = self.lot.lock().unwrap_or_else(PoisonError::into_inner);
        if lot.is_empty() {
            let mut drawn = [[0; ENTROPY]; LOT];
            getrandom::fill(drawn.as_flattened_mut()).map_err(|error| {
                tracing::error!(%error, "the operating system gives no random bytes");
                ProtocolError::internal("internal error")
            })?;
            lot.extend(drawn);
        }
        let entropy = lot.pop().expect("the lot has just been filled");
        drop(lot);
        Ok(TaskId::from_entropy(entropy))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_id_comes_twice() {
        let ids = Ids::default();
        let drawn: HashSet<TaskId> = (0..LOT * 3).map(|_| ids.draw().unwrap()).collect();
        assert_eq!(drawn.len(), LOT * 3);
    }
}
