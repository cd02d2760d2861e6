//! What a store's operations return.
//!
//! Operations are called through `dyn TaskStore`, so that their futures have
//! one type. It holds an outcome that is there at once as it is: nothing is
//! allocated for a store, or a cache, that does not wait.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::StoreError;

/// The future of a store operation.
///
/// ```
/// use mcp_tasks::store::{StoreFuture, StoreStats};
///
/// let at_once: StoreFuture<StoreStats> = StoreFuture::ready(Ok(StoreStats::default()));
/// let later: StoreFuture<StoreStats> = StoreFuture::new(async { Ok(StoreStats::default()) });
/// ```
#[must_use = "a store operation does nothing until it is awaited"]
pub struct StoreFuture<'a, T>(Inner<'a, T>);

type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

enum Inner<'a, T> {
    Ready(Option<Result<T, StoreError>>),
    Boxed(Boxed<'a, T>),
}

/// An outcome that is there at once is not pinned, and the other is in a box.
impl<T> Unpin for StoreFuture<'_, T> {}

impl<'a, T> StoreFuture<'a, T> {
    /// An operation that waits.
    pub fn new(future: impl Future<Output = Result<T, StoreError>> + Send + 'a) -> Self {
        Self(Inner::Boxed(Box::pin(future)))
    }

    /// An operation that is done already.
    pub fn ready(result: Result<T, StoreError>) -> Self {
        Self(Inner::Ready(Some(result)))
    }
}

impl<T> Future for StoreFuture<'_, T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Inner::Ready(result) => {
                Poll::Ready(result.take().expect("a future is not polled after its end"))
            }
            Inner::Boxed(future) => future.as_mut().poll(cx),
        }
    }
}

impl<T> fmt::Debug for StoreFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreFuture").finish_non_exhaustive()
    }
}
