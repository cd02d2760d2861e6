//! What a server tells `tracing` and counts, and what it keeps to itself.

#![expect(clippy::unused_async, reason = "what a step calls is a future")]

mod content;
#[cfg(feature = "metrics")]
mod figures;
mod heard;
mod server;
mod spans;
mod story;
mod traces;
