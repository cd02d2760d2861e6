//! How many functions run at once in this process, and which is next.
//!
//! As long as there is room, coming and going is one atomic operation. When
//! there is none, callers have their turns one after the other: a burst of one
//! does not keep the others from running.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::turns::{Ticket, Turns};
use crate::task::Caller;

/// The room for functions that run rather than wait.
pub(super) struct Running {
    /// How many more may run, or [`AWAITED`]. It becomes that, and anything else
    /// again, under the lock on those who wait.
    room: AtomicUsize,
    waiting: Mutex<Turns<oneshot::Sender<Permit>>>,
}

/// There is no room, and somebody waits for it.
const AWAITED: usize = usize::MAX;

/// Leave for one function to run; given back when it is dropped.
pub(super) struct Permit(Option<Arc<Running>>);

impl Running {
    pub(super) fn new(room: usize) -> Arc<Self> {
        Arc::new(Self {
            room: AtomicUsize::new(room.min(AWAITED - 1)),
            waiting: Mutex::default(),
        })
    }

    fn waiting(&self) -> MutexGuard<'_, Turns<oneshot::Sender<Permit>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes how much room there is, unless it is awaited.
    fn change(&self, mut change: impl FnMut(usize) -> Option<usize>) -> bool {
        self.room
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |room| {
                (room != AWAITED).then(|| change(room)).flatten()
            })
            .is_ok()
    }

    /// Takes a permit if one is free, and nobody waits for it.
    pub(super) fn try_enter(self: &Arc<Self>) -> Option<Permit> {
        self.change(|room| room.checked_sub(1))
            .then(|| Permit(Some(self.clone())))
    }

    /// Waits for a permit.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the place in the line; a permit that it was
    /// given meanwhile goes to the next.
    pub(super) async fn enter(self: &Arc<Self>, caller: &Caller) -> Permit {
        let (give, given) = oneshot::channel();
        let ticket = {
            let mut waiting = self.waiting();
            loop {
                if let Some(permit) = self.try_enter() {
                    return permit;
                }
                if !waiting.is_empty() || self.await_room() {
                    break waiting.join(caller, give);
                }
            }
        };
        let place = Place {
            running: self,
            caller,
            ticket,
        };
        let permit = given.await;
        // Whoever gives it has taken it out of the line.
        std::mem::forget(place);
        permit.expect("nobody leaves the line by itself")
    }

    /// Says that somebody waits; false if there is room by now.
    fn await_room(&self) -> bool {
        let exchange = self
            .room
            .compare_exchange(0, AWAITED, Ordering::AcqRel, Ordering::Acquire);
        exchange.is_ok()
    }

    fn leave(self: Arc<Self>) {
        let mut running = self;
        while !running.change(|room| Some(room + 1)) {
            let Some(next) = running.next() else { continue };
            match next.send(Permit(Some(running))) {
                Ok(()) => return,
                // It has just gone away.
                Err(mut permit) => match permit.0.take() {
                    Some(again) => running = again,
                    None => return,
                },
            }
        }
    }

    /// Whose turn it is; nobody if none waits any more.
    fn next(&self) -> Option<oneshot::Sender<Permit>> {
        let mut waiting = self.waiting();
        let next = waiting.next();
        self.note_if_empty(&waiting);
        next
    }

    fn note_if_empty(&self, waiting: &Turns<oneshot::Sender<Permit>>) {
        if waiting.is_empty() {
            // Under the lock nobody else changes it to or from this.
            let _ = self
                .room
                .compare_exchange(AWAITED, 0, Ordering::AcqRel, Ordering::Acquire);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            running.leave();
        }
    }
}

/// A place in the line, given up when it is dropped.
struct Place<'a> {
    running: &'a Running,
    caller: &'a Caller,
    ticket: Ticket,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut waiting = self.running.waiting();
        let gone = waiting.leave(self.caller, self.ticket);
        self.running.note_if_empty(&waiting);
        drop(waiting);
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::task::{JoinSet, yield_now};
    use tokio::time::timeout;

    use super::*;

    fn free(running: &Running) -> usize {
        running.room.load(Ordering::Relaxed)
    }

    #[tokio::test]
    async fn a_burst_of_one_caller_does_not_keep_the_others_waiting() {
        let running = Running::new(1);
        let held = running.try_enter().expect("there is room");
        let entered = Arc::new(Mutex::new(Vec::new()));
        let mut functions = JoinSet::new();
        for name in ["alice", "alice", "alice", "bob", "carol", "bob"] {
            let (running, entered) = (running.clone(), entered.clone());
            functions.spawn(async move {
                let _permit = running.enter(&Caller::new(name)).await;
                entered.lock().unwrap().push(name);
            });
            yield_now().await;
        }
        drop(held);
        assert!(running.try_enter().is_none(), "others have waited for it");
        functions.join_all().await;
        assert_eq!(
            *entered.lock().unwrap(),
            ["alice", "bob", "carol", "alice", "bob", "alice"]
        );
        assert_eq!(free(&running), 1);
    }

    #[tokio::test]
    async fn a_permit_that_nobody_wants_any_more_goes_to_the_next() {
        let running = Running::new(1);
        let (alice, bob) = (Caller::new("alice"), Caller::new("bob"));
        let held = running.try_enter().expect("there is room");
        let mut first = Box::pin(running.enter(&alice));
        let mut second = Box::pin(running.enter(&alice));
        let mut third = Box::pin(running.enter(&bob));
        for waiting in [&mut first, &mut second, &mut third] {
            assert!(timeout(Duration::ZERO, waiting).await.is_err());
        }
        // One goes before it is given anything, one when it has been.
        drop(second);
        drop(held);
        drop(first);
        drop(
            timeout(Duration::ZERO, third)
                .await
                .expect("it is its turn"),
        );
        assert_eq!(free(&running), 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn whoever_comes_and_goes_there_is_never_more_room_nor_less() {
        const ROOM: usize = 3;
        let running = Running::new(ROOM);
        let inside = Arc::new(AtomicUsize::new(0));
        let mut functions = JoinSet::new();
        for number in 0..2000_u64 {
            let (running, inside) = (running.clone(), inside.clone());
            functions.spawn(async move {
                let caller = Caller::new((number % 7).to_string());
                let patience = Duration::from_micros(number % 5 * 200);
                let entered = timeout(patience, running.enter(&caller)).await;
                let Ok(_permit) = entered else { return };
                assert!(inside.fetch_add(1, Ordering::AcqRel) < ROOM);
                yield_now().await;
                inside.fetch_sub(1, Ordering::AcqRel);
            });
        }
        functions.join_all().await;
        assert_eq!(free(&running), ROOM);
        assert!(running.waiting().is_empty());
    }
}
