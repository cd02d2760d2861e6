//! How many of something there are at once: in all, and of one caller.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::task::Caller;

/// All of them.
#[derive(Default)]
pub(crate) struct Seats {
    taken: AtomicUsize,
    /// Of authenticated callers.
    by_caller: Mutex<HashMap<Caller, usize>>,
}

/// One of them; given back when it is dropped.
pub(crate) struct Seat {
    seats: Arc<Seats>,
    /// None if it is anybody's.
    caller: Option<Caller>,
}

/// How many there may be.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub(crate) total: usize,
    /// Of one authenticated caller.
    pub(crate) per_caller: usize,
}

/// Whose room is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    Server,
    Caller,
}

impl Seats {
    fn by_caller(&self) -> MutexGuard<'_, HashMap<Caller, usize>> {
        let by_caller = self.by_caller.lock();
        by_caller.unwrap_or_else(PoisonError::into_inner)
    }

    /// How many are taken.
    #[cfg(feature = "http")]
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes a seat for a caller.
    pub(crate) fn take(self: &Arc<Self>, caller: &Caller, room: Room) -> Result<Seat, Full> {
        // It is given back by its end, whatever comes now.
        let mut seat = Seat {
            seats: self.clone(),
            caller: None,
        };
        if self.taken.fetch_add(1, Ordering::Relaxed) >= room.total {
            return Err(Full::Server);
        }
        if !caller.is_anonymous() {
            let mut by_caller = self.by_caller();
            let its = by_caller.get(caller).copied().unwrap_or_default();
            if its >= room.per_caller {
                return Err(Full::Caller);
            }
            by_caller.insert(caller.clone(), its + 1);
            seat.caller = Some(caller.clone());
        }
        Ok(seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.taken.fetch_sub(1, Ordering::Relaxed);
        let Some(caller) = &self.caller else { return };
        let mut by_caller = self.seats.by_caller();
        if let Some(its) = by_caller.get_mut(caller) {
            *its -= 1;
            if *its == 0 {
                by_caller.remove(caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_limited_by_caller_and_as_a_whole_and_given_back() {
        let seats = Arc::new(Seats::default());
        let room = Room {
            total: 3,
            per_caller: 1,
        };
        let (alice, bob, nobody) = (
            Caller::new("alice"),
            Caller::new("bob"),
            Caller::anonymous(),
        );
        let hers = seats.take(&alice, room).unwrap();
        assert_eq!(seats.take(&alice, room).err(), Some(Full::Caller));
        let _his = seats.take(&bob, room).unwrap();
        let _anybodys = seats.take(&nobody, room).unwrap();
        assert_eq!(seats.take(&nobody, room).err(), Some(Full::Server));
        drop(hers);
        let _again = seats.take(&nobody, room).unwrap();
        assert_eq!(seats.by_caller().len(), 1);
    }
}
