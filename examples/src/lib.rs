//! What the examples share: a terminal.
//!
//! - [`answers`] gets the answers to a task's questions, from a person or from a
//!   file, for `mcp_tasks::client`;
//! - [`screen`] and [`wire`] show what happens.

pub mod answers;
pub mod screen;
pub mod wire;
