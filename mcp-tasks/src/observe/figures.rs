//! Counters and histograms, by way of the facade `metrics`; without the feature
//! of that name, nothing.

use std::sync::Arc;
#[cfg(feature = "metrics")]
use std::time::Instant;

#[cfg(feature = "metrics")]
use metrics::{Unit, counter, gauge, histogram};

/// Whether what takes an effort to find out should be.
pub(crate) const ARE_WANTED: bool = cfg!(feature = "metrics");

/// Says what the figures are, to recorders that show it.
#[cfg(feature = "metrics")]
pub(crate) fn describe() {
    for (name, words) in COUNTERS {
        metrics::describe_counter!(name, words);
    }
    for (name, words) in GAUGES {
        metrics::describe_gauge!(name, words);
    }
    for (name, words) in HISTOGRAMS {
        metrics::describe_histogram!(name, Unit::Seconds, words);
    }
}

#[cfg(feature = "metrics")]
const COUNTERS: [(&str, &str); 11] = [
    ("mcp_tasks_calls_total", "Calls, by how they were answered"),
    ("mcp_tasks_refused_total", "Requests answered with an error"),
    (
        "mcp_tasks_limits_reached_total",
        "Times that a limit was reached",
    ),
    ("mcp_tasks_created_total", "Tasks created"),
    ("mcp_tasks_ended_total", "Tasks ended, by outcome"),
    ("mcp_tasks_held_total", "Times that a task was held"),
    (
        "mcp_tasks_resumed_total",
        "Times that a task was run again from its journal",
    ),
    (
        "mcp_tasks_steps_total",
        "Steps and their attempts, by what became of them",
    ),
    ("mcp_tasks_asked_total", "Questions asked"),
    ("mcp_tasks_answered_total", "Questions answered"),
    ("mcp_tasks_commits_total", "Commits of running functions"),
];

#[cfg(feature = "metrics")]
const GAUGES: [(&str, &str); 3] = [
    ("mcp_tasks_live", "Tasks that have not ended"),
    ("mcp_tasks_resident", "Tasks in the memory of this process"),
    ("mcp_tasks_subscriptions", "Open subscriptions"),
];

#[cfg(feature = "metrics")]
const HISTOGRAMS: [(&str, &str); 4] = [
    (
        "mcp_tasks_answer_seconds",
        "From a question of a task to its answer",
    ),
    (
        "mcp_tasks_commit_seconds",
        "How long the store takes for a commit",
    ),
    (
        "mcp_tasks_wake_seconds",
        "From the record of an outcome to the poll that is shown it",
    ),
    (
        "mcp_tasks_resume_seconds",
        "From a claim until the function has caught up",
    ),
];

/// Functions that do something only with the feature.
macro_rules! figures {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        $(#[$attribute])*
        #[cfg_attr(not(feature = "metrics"), allow(unused_variables, reason = "there is nothing to do"))]
        #[inline]
        pub(crate) fn $name($($argument: $type),*) {
            #[cfg(feature = "metrics")]
            $body
        }
    )*};
}

figures! {
    fn called(tool: &Arc<str>, path: &'static str) {
        counter!("mcp_tasks_calls_total", "tool" => tool.clone(), "path" => path).increment(1);
    }

    fn refused(reason: &'static str) {
        counter!("mcp_tasks_refused_total", "reason" => reason).increment(1);
    }

    fn limit_reached(limit: &'static str) {
        counter!("mcp_tasks_limits_reached_total", "limit" => limit).increment(1);
    }

    fn created(tool: &Arc<str>) {
        counter!("mcp_tasks_created_total", "tool" => tool.clone()).increment(1);
    }

    fn ended(tool: &Arc<str>, outcome: &'static str) {
        let tool = tool.clone();
        counter!("mcp_tasks_ended_total", "tool" => tool, "outcome" => outcome).increment(1);
    }

    fn held(tool: &Arc<str>) {
        counter!("mcp_tasks_held_total", "tool" => tool.clone()).increment(1);
    }

    fn resumed(tool: &Arc<str>, after: &'static str) {
        let tool = tool.clone();
        counter!("mcp_tasks_resumed_total", "tool" => tool, "after" => after).increment(1);
    }

    fn step(tool: &Arc<str>, outcome: &'static str) {
        let tool = tool.clone();
        counter!("mcp_tasks_steps_total", "tool" => tool, "outcome" => outcome).increment(1);
    }

    fn asked(tool: &Arc<str>) {
        counter!("mcp_tasks_asked_total", "tool" => tool.clone()).increment(1);
    }

    fn answered(tool: &Arc<str>, after_ms: Option<u64>) {
        counter!("mcp_tasks_answered_total", "tool" => tool.clone()).increment(1);
        if let Some(after) = after_ms {
            let after = std::time::Duration::from_millis(after);
            histogram!("mcp_tasks_answer_seconds", "tool" => tool.clone()).record(after);
        }
    }

    fn live(tasks: u64) {
        gauge!("mcp_tasks_live").set(as_float(tasks));
    }

    /// One task more, where this process alone has tasks.
    fn one_more_is_live() {
        gauge!("mcp_tasks_live").increment(1.0);
    }

    fn one_less_is_live() {
        gauge!("mcp_tasks_live").decrement(1.0);
    }

    fn resident(tasks: usize) {
        gauge!("mcp_tasks_resident").set(as_float(tasks as u64));
    }

    fn committed(since: Stopwatch) {
        counter!("mcp_tasks_commits_total").increment(1);
        histogram!("mcp_tasks_commit_seconds").record(since.0.elapsed());
    }

    fn shown(after_ms: u64) {
        let after = std::time::Duration::from_millis(after_ms);
        histogram!("mcp_tasks_wake_seconds").record(after);
    }

    fn caught_up(since: Stopwatch) {
        histogram!("mcp_tasks_resume_seconds").record(since.0.elapsed());
    }
}

#[cfg(feature = "metrics")]
fn as_float(count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "nobody has so many tasks")]
    let count = count as f64;
    count
}

/// Measures how long something takes, if anybody wants to know.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(#[cfg(feature = "metrics")] Instant);

impl Stopwatch {
    #[inline]
    pub(crate) fn start() -> Self {
        Self(
            #[cfg(feature = "metrics")]
            Instant::now(),
        )
    }
}

/// Counts as an open subscription until it is dropped.
pub(crate) struct Subscribed(());

impl Subscribed {
    pub(crate) fn new() -> Self {
        #[cfg(feature = "metrics")]
        gauge!("mcp_tasks_subscriptions").increment(1.0);
        Self(())
    }
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        #[cfg(feature = "metrics")]
        gauge!("mcp_tasks_subscriptions").decrement(1.0);
    }
}
