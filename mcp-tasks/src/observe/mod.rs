//! What can be seen of a server from outside: spans, events and figures.
//!
//! What is said here is said once, where it is recorded, so that a function
//! that is run again repeats nothing. Of what people and clients write (arguments,
//! answers, results, messages, tokens) nothing is said. The crate's documentation
//! lists it all.

pub(crate) mod figures;
mod polled;
pub(crate) mod story;
mod trace;

pub(crate) use self::polled::Polled;
pub use self::polled::{is_replaying, trace_context};
pub use self::trace::TraceContext;
