//! What the examples share: a small MCP client that drives tasks, written to be
//! read and copied.
//!
//! - [`connection`] sends JSON-RPC requests over lines and reads the replies;
//! - [`server_process`] starts a server as a child process;
//! - [`client`] knows the requests of MCP `2026-07-28` and its Tasks extension;
//! - [`drive`] polls a task to its end and has its questions answered;
//! - [`answers`] gets the answers, from a person or from a file;
//! - [`screen`] and [`wire`] show what happens.

pub mod answers;
pub mod client;
pub mod connection;
pub mod drive;
mod error;
pub mod screen;
pub mod server_process;
pub mod wire;

pub use error::Error;
