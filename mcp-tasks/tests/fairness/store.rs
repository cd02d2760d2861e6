//! A store that counts, or is slow, or fails now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_tasks::MemoryStore;
use mcp_tasks::store::{
    RunNumber, Seated, SeatsWanted, StoreError, StoreFuture, StoreLayer, TaskStore,
};
use mcp_tasks::task::Timestamp;

/// Counts what is asked about seats.
pub(crate) struct Counted {
    inner: MemoryStore,
    pub(crate) seats: Arc<AtomicUsize>,
}

impl Counted {
    pub(crate) fn new(inner: MemoryStore) -> Self {
        Self {
            inner,
            seats: Arc::default(),
        }
    }
}

impl StoreLayer for Counted {
    fn inner(&self) -> &dyn TaskStore {
        &self.inner
    }

    fn take_seats<'a>(
        &'a self,
        wanted: &'a SeatsWanted<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Seated> {
        self.seats.fetch_add(1, Ordering::Relaxed);
        self.inner.take_seats(wanted, now)
    }

    fn give_back_seats(&self, run: RunNumber) -> StoreFuture<'_, ()> {
        self.seats.fetch_add(1, Ordering::Relaxed);
        self.inner.give_back_seats(run)
    }
}

/// Takes its time over seats, and every third time nobody hears what it has
/// done, or it does nothing.
pub(crate) struct Unreliable {
    inner: MemoryStore,
    calls: AtomicUsize,
}

impl Unreliable {
    pub(crate) fn new(inner: MemoryStore) -> Self {
        Self {
            inner,
            calls: AtomicUsize::new(0),
        }
    }

    fn call<'a, T: Send + 'a>(&'a self, call: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        StoreFuture::new(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if number % 6 == 1 {
                return Err(StoreError::Unavailable("it was to fail".to_owned()));
            }
            let done = call.await;
            tokio::time::sleep(Duration::from_millis(20)).await;
            if number % 6 == 4 {
                return Err(StoreError::Unsure("it was to be lost".to_owned()));
            }
            done
        })
    }
}

impl StoreLayer for Unreliable {
    fn inner(&self) -> &dyn TaskStore {
        &self.inner
    }

    fn take_seats<'a>(
        &'a self,
        wanted: &'a SeatsWanted<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Seated> {
        self.call(StoreFuture::new(async move {
            self.inner.take_seats(wanted, now).await
        }))
    }

    fn give_back_seats(&self, run: RunNumber) -> StoreFuture<'_, ()> {
        self.call(StoreFuture::new(async move {
            self.inner.give_back_seats(run).await
        }))
    }
}
