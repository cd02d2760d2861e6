//! Where the answers to a task's questions come from: implementations of
//! [`mcp_tasks::client::Answers`].

mod file;
mod keyboard;
mod prompt;
mod told;

pub use file::{AnswerFile, AnswerFileError};
pub use keyboard::Keyboard;
pub use prompt::Prompt;
pub use told::{Told, what_was_done};
