//! Types whose methods are tasks.

use std::any::Any;
use std::sync::Arc;

use super::{TaskCall, Tool};

/// A type with an `impl` block marked
/// [`#[mcp_task_impl]`](crate::mcp_task_impl), which implements this.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no task methods",
    label = "not a type with task methods",
    note = "mark its `impl` block with `#[mcp_task_impl]` and the methods in it with `#[mcp_task]`"
)]
pub trait TaskMethods: Any {
    /// Adds every marked method. Generated code only.
    #[doc(hidden)]
    fn add_to(methods: Methods) -> Methods;
}

/// What a server takes task methods from: a value of a type with task methods,
/// or an `Arc` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no task methods",
    label = "not a value with task methods",
    note = "mark the `impl` block of its type with `#[mcp_task_impl]` and the methods in it with `#[mcp_task]`"
)]
pub trait TaskOwner {
    /// The type with the methods.
    #[doc(hidden)]
    type Owner: TaskMethods + Send + Sync;

    /// The value, to be shared by all calls.
    #[doc(hidden)]
    fn into_shared(self) -> Arc<Self::Owner>;
}

#[diagnostic::do_not_recommend]
impl<T: TaskMethods + Send + Sync> TaskOwner for T {
    type Owner = T;

    fn into_shared(self) -> Arc<T> {
        Arc::new(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: TaskMethods + Send + Sync> TaskOwner for Arc<T> {
    type Owner = T;

    fn into_shared(self) -> Self {
        self
    }
}

/// The tools of a type. Generated code only.
#[doc(hidden)]
#[derive(Default)]
pub struct Methods(pub(super) Vec<Arc<Tool>>);

impl Methods {
    /// Adds a method by the call that it builds.
    #[must_use]
    pub fn add<Args, C: TaskCall<Args>>(mut self) -> Self {
        self.0.push(Arc::new(Tool::new::<Args, C>()));
        self
    }
}
