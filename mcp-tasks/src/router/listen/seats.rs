//! How many subscriptions there are at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::protocol::ProtocolError;
use crate::runtime::Limits;
use crate::task::Caller;

/// The subscriptions of one server.
#[derive(Default)]
pub(in crate::router) struct Seats(Mutex<Taken>);

#[derive(Default)]
struct Taken {
    total: usize,
    /// Of authenticated callers.
    by_caller: HashMap<Caller, usize>,
}

/// One of them; given back when it is dropped.
pub(super) struct Seat {
    seats: Arc<Seats>,
    caller: Caller,
}

impl Seats {
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a seat for a caller.
    ///
    /// # Errors
    ///
    /// `-32603` if there is none left.
    pub(super) fn take(
        self: &Arc<Self>,
        caller: &Caller,
        limits: &Limits,
    ) -> Result<Seat, ProtocolError> {
        let mut taken = self.lock();
        if taken.total >= limits.subscriptions {
            return Err(ProtocolError::internal(format!(
                "the server already serves {} subscriptions, its limit; try again later, or poll",
                limits.subscriptions
            )));
        }
        if !caller.is_anonymous() {
            let its = taken.by_caller.get(caller).copied().unwrap_or_default();
            if its >= limits.subscriptions_per_caller {
                return Err(ProtocolError::internal(format!(
                    "you already have {its} subscriptions, the limit; end one first, or name \
                     more tasks in one"
                )));
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
        let limits = Limits {
            subscriptions: 3,
            subscriptions_per_caller: 1,
            ..Limits::default()
        };
        let (alice, bob, nobody) = (
            Caller::new("alice"),
            Caller::new("bob"),
            Caller::anonymous(),
        );
        let hers = seats.take(&alice, &limits).unwrap();
        let refused = seats.take(&alice, &limits).err().unwrap();
        assert!(refused.message.contains("you already have 1"), "{refused}");
        let _his = seats.take(&bob, &limits).unwrap();
        let _anybodys = seats.take(&nobody, &limits).unwrap();
        let refused = seats.take(&nobody, &limits).err().unwrap();
        assert!(refused.message.contains("already serves 3"), "{refused}");
        drop(hers);
        let _again = seats.take(&nobody, &limits).unwrap();
        assert_eq!(seats.lock().by_caller.len(), 1);
    }
}
