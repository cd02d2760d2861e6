//! Crashes after a chosen commit, and after each in turn.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// When the server under a [`TestTask`](super::TestTask) crashes by itself: see
/// [`StartTask::crash_after`](super::StartTask::crash_after).
///
/// Made from a number of commits, or given by [`crash_everywhere`].
#[derive(Clone, Debug)]
pub struct CrashPoint(Arc<Point>);

#[derive(Debug)]
struct Point {
    /// After which commit; after none for `usize::MAX`.
    after: usize,
    commits: AtomicUsize,
    /// What that commit recorded, once it is made.
    reached: OnceLock<String>,
}

impl From<usize> for CrashPoint {
    fn from(commits: usize) -> Self {
        assert!(
            commits > 0,
            "commits are counted from 1: the first is the task's creation"
        );
        Self(Arc::new(Point {
            after: commits,
            commits: AtomicUsize::new(0),
            reached: OnceLock::new(),
        }))
    }
}

impl CrashPoint {
    pub(super) fn never() -> Self {
        Self::from(usize::MAX)
    }

    /// Counts a commit; says whether this is the one.
    pub(super) fn is_reached(&self, recorded: impl FnOnce() -> String) -> bool {
        let Point {
            after,
            commits,
            reached,
        } = &*self.0;
        let is_here = commits.fetch_add(1, Ordering::Relaxed) + 1 == *after;
        is_here && reached.set(recorded()).is_ok()
    }

    fn describe(&self) -> String {
        let recorded = self.0.reached.get().map_or("not made", String::as_str);
        format!("commit {} ({recorded})", self.0.after)
    }
}

/// Plays a scenario once without a crash and then once for every commit of it,
/// with a crash after that commit; gives the outcome, which must be the same
/// each time.
///
/// The scenario is what else would be the body of a test. It hands what it is
/// given to [`crash_after`](super::StartTask::crash_after), makes afresh whatever
/// the function changes outside of its task, and returns what must not depend on
/// crashes.
///
/// ```
/// use mcp_tasks::prelude::*;
/// use mcp_tasks::testing::{TestTask, crash_everywhere};
/// use serde_json::json;
/// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
///
/// /// Counts how often somebody was charged.
/// #[derive(Clone, Default)]
/// struct Bank(Arc<AtomicU32>);
///
/// impl Bank {
///     async fn charge(&self, cents: u32) -> std::io::Result<u32> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Ok(cents)
///     }
/// }
///
/// #[mcp_task]
/// async fn pay(cents: u32, State(bank): State<Bank>) -> Result<String, ToolError> {
///     let sure: bool = ask_user(format!("Pay {cents} cents?")).await?;
///     if !sure {
///         return Err(ToolError::new("not paid"));
///     }
///     let charged = step(bank.charge(cents)).await?;
///     sleep(Duration::from_secs(3600)).await;
///     let address: String = ask_user("Where shall the receipt go?").await?;
///     Ok(format!("{charged} cents, receipt to {address}"))
/// }
///
/// # /*
/// #[tokio::test(start_paused = true)]
/// # */
/// async fn paying_survives_a_crash_after_every_commit() {
///     let (text, charges) = crash_everywhere(async |crash| {
///         let bank = Bank::default();
///         let task = TestTask::start(pay(500, State(bank.clone()))).crash_after(crash).await;
///         task.answer("sure", json!({"answer": true})).await;
///         task.answer("address", json!({"answer": "ada@example.com"})).await;
///         (task.result().await.text(), bank.0.load(Ordering::Relaxed))
///     })
///     .await;
///     assert_eq!(text, "500 cents, receipt to ada@example.com");
///     assert_eq!(charges, 1);
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// #     tokio::time::pause();
/// #     paying_survives_a_crash_after_every_commit().await;
/// # }
/// ```
///
/// It finds functions that are not fit to be run again from the top: those that
/// ask or do something else the second time, and those that change something
/// outside of a step. A step whose result is not recorded yet runs again, which
/// is lawful: where a crash can come upon one that waits, count what it has done
/// by its [`step_key`](crate::step_key).
///
/// # Panics
///
/// If an outcome differs, or if the scenario panics; then stderr says after
/// which commit the server had crashed.
pub async fn crash_everywhere<T: PartialEq + Debug>(scenario: impl AsyncFn(CrashPoint) -> T) -> T {
    let undisturbed = CrashPoint::never();
    let expected = scenario(undisturbed.clone()).await;
    assert!(
        undisturbed.0.commits.load(Ordering::Relaxed) > 0,
        "the scenario has started no task that crashes: hand what it is given to \
         `TestTask::start(..).crash_after(..)`"
    );
    for commits in 1.. {
        let crash = CrashPoint::from(commits);
        let told = TellOnPanic(&crash);
        let outcome = scenario(crash.clone()).await;
        drop(told);
        if outcome != expected {
            let again = scenario(CrashPoint::never()).await;
            assert!(
                again == expected,
                "the scenario ends in another way each time, also without a crash; it must make \
                 afresh what it and the function change\n  at first: {expected:?}\n      then: {again:?}"
            );
            let after = crash.describe();
            panic!(
                "a crash after {after} changes the outcome\n  without: {expected:?}\n     with: {outcome:?}"
            );
        }
        if crash.0.reached.get().is_none() {
            break;
        }
    }
    expected
}

/// Says where the server had crashed, beside the words of whoever panics.
struct TellOnPanic<'a>(&'a CrashPoint);

impl Drop for TellOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && self.0.0.reached.get().is_some() {
            eprintln!(
                "the scenario failed when the server had crashed after {}",
                self.0.describe()
            );
        }
    }
}
