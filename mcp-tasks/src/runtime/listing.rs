//! Lists of tasks, for the server's own code.

use std::sync::Arc;

use super::{Shared, store_failed};
use crate::protocol::{ProtocolError, TaskStatus};
use crate::store::Listing;
use crate::task::{Access, Caller, Snapshot};

/// Which tasks to list, for [`Tasks::list`](super::Tasks::list): all, unless it
/// says otherwise, and no more than 100.
#[derive(Clone, Debug)]
#[must_use = "a filter lists nothing by itself"]
pub struct TaskFilter {
    caller: Option<Caller>,
    status: Option<TaskStatus>,
    limit: usize,
}

impl Default for TaskFilter {
    fn default() -> Self {
        Self {
            caller: None,
            status: None,
            limit: 100,
        }
    }
}

impl TaskFilter {
    /// Takes all tasks, up to 100 of them.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the tasks of one caller only.
    pub fn caller(mut self, caller: Caller) -> Self {
        self.caller = Some(caller);
        self
    }

    /// Takes tasks in this status only.
    pub fn status(mut self, status: TaskStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// Takes at most so many. Default: 100.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

impl Shared {
    pub(super) async fn list(
        &self,
        filter: &TaskFilter,
    ) -> Result<Vec<Arc<Snapshot>>, ProtocolError> {
        let listing = Listing {
            server: &self.server,
            access: filter
                .caller
                .as_ref()
                .map_or(Access::Server, Access::Caller),
            status: filter.status,
            limit: filter.limit,
        };
        let tasks = self.store.list(&listing).await;
        tasks.map_err(|error| store_failed(&error))
    }
}
