//! The names of what a function waits for.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Names one question, step or timer of a task.
///
/// A key is used once in the life of a task, across restarts too (P20). It is
/// readable: `approval`, `approval#2` for the second pass through one place,
/// `left/approval` inside a branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputKey(Arc<str>);

impl InputKey {
    /// A key with this text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key of the timer behind this question's timeout.
    #[must_use]
    pub(crate) fn timeout(&self) -> Self {
        Self(format!("{}#timeout", self.0).into())
    }
}

impl Borrow<str> for InputKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InputKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
