//! How many of something there are at once: in all, and of one caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::task::Caller;

/// All of them.
#[derive(Default)]
pub(crate) struct Seats(Mutex<Taken>);

#[derive(Default)]
struct Taken {
    total: usize,
    /// Of authenticated callers.
    by_caller: HashMap<Caller, usize>,
}

/// One of them; given back when it is dropped.
pub(crate) struct Seat {
    seats: Arc<Seats>,
    caller: Caller,
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
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a seat for a caller.
    pub(crate) fn take(self: &Arc<Self>, caller: &Caller, room: Room) -> Result<Seat, Full> {
        let mut taken = self.lock();
        if taken.total >= room.total {
            return Err(Full::Server);
        }
        if !caller.is_anonymous() {
            let its = taken.by_caller.get(caller).copied().unwrap_or_default();
            if its >= room.per_caller {
                return Err(Full::Caller);
            }
            taken.by_caller.insert(caller.clone(), its + 1);
        }
        taken.total += 1;
        drop(taken);
        Ok(Seat {
            seats: self.clone(),
            caller: caller.clone(),
        })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.lock();
        taken.total -= 1;
        if let Some(its) = taken.by_caller.get_mut(&self.caller) {
            *its -= 1;
            if *its == 0 {
                taken.by_caller.remove(&self.caller);
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
        assert_eq!(seats.lock().by_caller.len(), 1);
    }
}
