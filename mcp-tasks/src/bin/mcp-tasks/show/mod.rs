//! What is shown of a call: how it gets on, and what it comes to.

pub(crate) mod events;
mod json;
mod live;
pub(crate) mod result;

pub(crate) use live::Live;
