//! Where a test ends the process: beside a commit, as a crash would.
//!
//! With the feature `fail-points`, `MCP_TASKS_FAIL_AT=N` aborts the process at
//! the N-th transaction that appends to a journal: with `MCP_TASKS_FAIL=before`
//! just before its commit, with `after` just after it, before anybody is told.

#[cfg(feature = "fail-points")]
pub(super) struct FailPoint {
    /// How many transactions are left, and whether the commit comes first.
    at: Option<(u64, bool)>,
    reached: bool,
}

#[cfg(feature = "fail-points")]
impl FailPoint {
    pub(super) fn from_environment() -> Self {
        let at = std::env::var("MCP_TASKS_FAIL_AT").ok();
        let after = std::env::var("MCP_TASKS_FAIL").is_ok_and(|when| when == "after");
        Self {
            at: at.and_then(|at| Some((at.parse().ok()?, after))),
            reached: false,
        }
    }

    pub(super) fn before_commit(&mut self, appends: bool) {
        if let (Some((left, after)), true) = (&mut self.at, appends) {
            *left = left.saturating_sub(1);
            self.reached = *left == 0;
            if self.reached && !*after {
                std::process::abort();
            }
        }
    }

    pub(super) fn after_commit(&self) {
        if self.reached {
            std::process::abort();
        }
    }
}

#[cfg(not(feature = "fail-points"))]
pub(super) struct FailPoint;

#[cfg(not(feature = "fail-points"))]
#[expect(clippy::unused_self, reason = "the shape of the other one")]
impl FailPoint {
    pub(super) fn from_environment() -> Self {
        Self
    }

    pub(super) fn before_commit(&self, _appends: bool) {}

    pub(super) fn after_commit(&self) {}
}
