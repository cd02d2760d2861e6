//! What every store must do, as tests to run against one.
//!
//! A store of your own belongs to the same company as those of this crate once
//! [`check`] passes for it:
//!
//! ```
//! use mcp_tasks::store::parity::{self, Place, Places};
//! use mcp_tasks::store::{MemoryStore, StoreFuture, TaskStore};
//!
//! struct Memory;
//!
//! impl Places for Memory {
//!     fn fresh(&self) -> StoreFuture<'_, Box<dyn Place>> {
//!         StoreFuture::ready(Ok(Box::new(OnePlace(MemoryStore::new()))))
//!     }
//! }
//!
//! struct OnePlace(MemoryStore);
//!
//! impl Place for OnePlace {
//!     fn holder(&self) -> StoreFuture<'_, Box<dyn TaskStore>> {
//!         StoreFuture::ready(Ok(Box::new(self.0.share())))
//!     }
//! }
//!
//! # #[tokio::main]
//! # async fn main() {
//! parity::check(Memory).await;
//! # }
//! ```
//!
//! [`Faulty`] wraps a store so that it fails at a call of your choice.

mod answers;
mod claims;
mod commits;
mod concurrency;
mod faulty;
mod held;
mod journals;
mod life;
mod lists;
mod news;
mod room;
mod sealing;
mod seats;
mod takeover;
mod time;

use std::sync::Arc;

pub use faulty::{Faulty, Moment};

use self::room::Room;
use super::{StoreFuture, TaskStore};

/// Where the suite gets room for tasks.
pub trait Places: Send + Sync + 'static {
    /// A place without any tasks, apart from all others.
    fn fresh(&self) -> StoreFuture<'_, Box<dyn Place>>;

    /// Whether stores go by a clock of their own and pass over the times that
    /// they are given. The suite then waits where it would turn the clock.
    fn has_a_clock(&self) -> bool {
        false
    }
}

/// A place for tasks. What is in it is gone when it is dropped, or later.
pub trait Place: Send + Sync + 'static {
    /// A new holder of the tasks in this place: a handle of the store, as
    /// another process would have it.
    fn holder(&self) -> StoreFuture<'_, Box<dyn TaskStore>>;
}

/// Checks every behaviour, each in a place of its own.
///
/// # Panics
///
/// When all of them have been tried, if any is missing; the message names them.
pub async fn check(places: impl Places) {
    let places: Arc<dyn Places> = Arc::new(places);
    let mut missing = Vec::new();
    for behaviours in [
        life::BEHAVIOURS,
        lists::BEHAVIOURS,
        journals::BEHAVIOURS,
        commits::BEHAVIOURS,
        answers::BEHAVIOURS,
        time::BEHAVIOURS,
        claims::BEHAVIOURS,
        takeover::BEHAVIOURS,
        news::BEHAVIOURS,
        held::BEHAVIOURS,
        concurrency::BEHAVIOURS,
        sealing::BEHAVIOURS,
        seats::BEHAVIOURS,
        faulty::BEHAVIOURS,
    ] {
        for Behaviour { name, check } in behaviours {
            let room = Room::fresh(&*places).await;
            // In a task of its own a panic is an outcome.
            if tokio::spawn(check(room)).await.is_err() {
                missing.push(*name);
            }
        }
    }
    assert!(
        missing.is_empty(),
        "the store lacks these behaviours: {missing:#?}"
    );
}

type Checking = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// One thing that a store must do.
struct Behaviour {
    /// A sentence.
    name: &'static str,
    check: fn(Room) -> Checking,
}

/// Lists the functions of a module as behaviours.
macro_rules! behaviours {
    ($($name:ident),* $(,)?) => {
        pub(super) const BEHAVIOURS: &[super::Behaviour] = &[$(super::Behaviour {
            name: stringify!($name),
            check: |room| Box::pin($name(room)),
        }),*];
    };
}
use behaviours;
