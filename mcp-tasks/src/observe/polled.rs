//! What code that is run by a task function can know of it, wherever it stands.

use std::cell::RefCell;
use std::sync::Arc;

use super::TraceContext;

thread_local! {
    static NOW: RefCell<Option<Now>> = const { RefCell::new(None) };
}

struct Now {
    replays: bool,
    trace: Option<Arc<TraceContext>>,
}

/// Stands for a function that is being polled, as long as it is.
pub(crate) struct Polled(Option<Now>);

impl Polled {
    pub(crate) fn enter(replays: bool, trace: Option<&Arc<TraceContext>>) -> Self {
        let now = Now {
            replays,
            trace: trace.cloned(),
        };
        Self(NOW.with(|current| current.replace(Some(now))))
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        let before = self.0.take();
        NOW.with(|current| current.replace(before));
    }
}

/// Whether the code that calls this is part of a task function that is being run
/// through what is recorded of it: then it was run before, and whatever it logs
/// was logged before.
///
/// A subscriber that passes over what is logged meanwhile is silent during replays:
///
/// ```
/// use tracing_subscriber::filter::dynamic_filter_fn;
/// use tracing_subscriber::prelude::*;
///
/// let log = tracing_subscriber::fmt::layer()
///     .with_filter(dynamic_filter_fn(|_, _| !mcp_tasks::is_replaying()));
/// let subscriber = tracing_subscriber::registry().with(log);
/// # drop(subscriber);
/// ```
///
/// It is true until the last recorded outcome has been shown. What comes after it
/// may have been run before too, by a process that died before it could record
/// more; that is logged again, rather than perhaps never.
pub fn is_replaying() -> bool {
    NOW.with_borrow(|now| now.as_ref().is_some_and(|now| now.replays))
}

/// The trace that the running task function belongs to: that of the call that
/// began it, also after a restart. `None` outside of a task function, and if the
/// call carried none.
///
/// Send it on with requests to other services:
///
/// ```
/// # struct Request;
/// # impl Request { fn header(self, _: &str, _: &str) -> Self { self } }
/// fn traced(request: Request) -> Request {
///     match mcp_tasks::trace_context() {
///         Some(trace) => request.header("traceparent", trace.traceparent()),
///         None => request,
///     }
/// }
/// ```
///
/// What is spawned is not part of the function: ask before, and take it along.
pub fn trace_context() -> Option<TraceContext> {
    NOW.with_borrow(|now| now.as_ref()?.trace.as_deref().cloned())
}
