//! What a task function takes and returns, as a client sees it.

mod arguments;
mod client;
mod extractors;
mod listings;
mod results;
