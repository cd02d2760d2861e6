//! Tools of which only so many run at once, and how many do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_tasks::prelude::*;

/// How many functions work, and how many have at most.
#[derive(Clone, Default)]
pub(crate) struct Gauge(Arc<[AtomicUsize; 2]>);

impl Gauge {
    /// Works for a while.
    pub(crate) async fn work(self, ms: u64) {
        let _at_work = AtWork::begin(self);
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    pub(crate) fn most(&self) -> usize {
        self.0[1].load(Ordering::Acquire)
    }

    pub(crate) fn now(&self) -> usize {
        self.0[0].load(Ordering::Acquire)
    }
}

struct AtWork(Gauge);

impl AtWork {
    fn begin(gauge: Gauge) -> Self {
        let [now, most] = &*gauge.0;
        most.fetch_max(now.fetch_add(1, Ordering::AcqRel) + 1, Ordering::AcqRel);
        Self(gauge)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.0[0].fetch_sub(1, Ordering::AcqRel);
    }
}

#[mcp_task(concurrency = 2)]
pub(crate) async fn deploy(ms: u64, State(gauge): State<Gauge>) -> String {
    step_value(gauge.work(ms)).await;
    "deployed".to_owned()
}

#[mcp_task]
pub(crate) async fn work(ms: u64, State(gauge): State<Gauge>) -> String {
    step_value(gauge.work(ms)).await;
    "done".to_owned()
}

#[mcp_task(concurrency = 1, ttl = "1h")]
pub(crate) async fn long(State(gauge): State<Gauge>) -> String {
    step_value(gauge.work(2 * 3_600_000)).await;
    "done".to_owned()
}

#[mcp_task(concurrency = 1)]
pub(crate) async fn greet(State(gauge): State<Gauge>) -> Result<String, ToolError> {
    step_value(gauge.work(1000)).await;
    Ok("hello".to_owned())
}
