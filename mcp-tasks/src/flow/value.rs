//! Calls that give a value at once, which only a task has.

use super::{Bind, Flow, Site};

/// A value that only a task can give, in place of a `T`.
///
/// Inside a function marked `#[mcp_task]` a call of [`now`](super::now),
/// [`random`](super::random) and the like gives the value itself. Anywhere else
/// it gives this, which is no `T`: rustc names the type when somebody uses it as
/// one, so it is named for that.
#[must_use = "call it inside a function marked `#[mcp_task]`"]
pub struct OutsideOfTask<T>(Box<Value<T>>);

/// How a task gives the value.
type Value<T> = dyn FnOnce(&Flow, Site) -> T + Send;

impl<T> OutsideOfTask<T> {
    pub(super) fn new(value: impl FnOnce(&Flow, Site) -> T + Send + 'static) -> Self {
        Self(Box::new(value))
    }
}

impl<T> Bind<OutsideOfTask<T>> {
    /// Gives the value. Generated code only.
    pub fn bind(self, flow: &Flow, site: Site) -> T {
        (self.0.0)(flow, site)
    }
}
