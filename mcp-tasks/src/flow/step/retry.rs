//! Steps that are tried again.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::{Evaluated, PollFn, StepFuture};
use crate::flow::NotInTask;
use crate::flow::draw;
use crate::task::{InputKey, Seed};

/// Runs a future that may fail until it succeeds, at most as often as `policy`
/// says, and records the result.
///
/// The closure makes the future of each attempt. It may borrow, but only what
/// is shared: the attempts are one after another, and none may leave traces in
/// the function. Awaiting it gives the first value, or the last attempt's error.
/// Key and methods are those of a [`step`](super::step); the function that
/// names it is the one that the closure calls.
///
/// ```
/// use mcp_tasks::prelude::*;
/// # struct Fleet;
/// # impl Fleet { async fn roll_out(&self, _: &str) -> std::io::Result<u32> { Ok(3) } }
///
/// # #[derive(Clone)] struct Shared(std::sync::Arc<Fleet>);
/// #[mcp_task]
/// async fn deploy(service: String, State(fleet): State<Shared>) -> Result<String, ToolError> {
///     let policy = Retry::attempts(5).first(Duration::from_secs(2));
///     let hosts = step_with(policy, || fleet.0.roll_out(&service)).await?;
///     Ok(format!("{service} runs on {hosts} hosts"))
/// }
/// ```
///
/// Where an attempt borrows something that is made for it alone, an `async` block
/// keeps it: `step_with(policy, || async { bank.pay(cents, &step_key()).await })`.
///
/// # Errors
///
/// [`StepError`](crate::StepError) with the words of the last error, when all
/// attempts have failed.
///
/// # Durability
///
/// Each failed attempt is recorded, with the time of the next. A restart goes
/// on counting, and waits for the rest of that time only. As with `step`, an
/// attempt under way when a process dies is made again, under the same number.
///
/// # Cancellation
///
/// Dropping it drops the attempt that runs, and makes no further.
pub fn step_with<M, F, O>(policy: Retry, attempt: M) -> StepWith<M, F, O, NotInTask>
where
    M: FnMut() -> F,
    F: StepFuture<Output = O>,
{
    StepWith {
        retries: Retries {
            policy,
            attempt,
            make: |attempt| Box::pin(attempt()),
            poll: F::poll,
            running: None,
        },
        state: NotInTask::NEW,
    }
}

/// A step that is tried again, made by [`step_with`].
#[must_use = "a step only runs when it is awaited"]
pub struct StepWith<M, F, O, S> {
    retries: Retries<M, F, O>,
    #[allow(dead_code, reason = "says in the type whether it is bound")]
    state: S,
}

impl<M, F, O> StepWith<M, F, O, NotInTask> {
    pub(super) fn into_retries(self) -> Retries<M, F, O> {
        self.retries
    }
}

/// How often a step is tried, and how long it rests in between.
///
/// The rest after the first failure is `first`; each further one is `factor`
/// times as long, up to `max`. With `jitter`, which is on unless you turn it
/// off, a rest is somewhere between half of that and all of it, so that tasks
/// that failed together do not come back together; where exactly comes from
/// the task's recorded seed.
///
/// ```
/// use mcp_tasks::Retry;
/// use std::time::Duration;
///
/// let policy = Retry::attempts(5)
///     .first(Duration::from_millis(200))
///     .factor(3.0)
///     .max(Duration::from_secs(10));
/// # let _ = policy;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "hand it to `step_with`"]
pub struct Retry {
    attempts: u32,
    first: Duration,
    factor: f64,
    max: Duration,
    jitter: bool,
}

impl Retry {
    /// So many attempts in all, the first one included; 0 counts as 1.
    ///
    /// The first rest is 1 second, the factor 2, the longest rest 1 minute, and
    /// jitter is on.
    pub const fn attempts(attempts: u32) -> Self {
        Self {
            attempts,
            first: Duration::from_secs(1),
            factor: 2.0,
            max: Duration::from_secs(60),
            jitter: true,
        }
    }

    /// How long to rest after the first failure.
    pub const fn first(mut self, rest: Duration) -> Self {
        self.first = rest;
        self
    }

    /// How many times as long each further rest is; less than 1, or no number
    /// at all, counts as 1.
    pub const fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// The longest rest.
    pub const fn max(mut self, rest: Duration) -> Self {
        self.max = rest;
        self
    }

    /// Whether rests are drawn from between their half and their whole.
    pub const fn jitter(mut self, jitter: bool) -> Self {
        self.jitter = jitter;
        self
    }

    fn rest_after(&self, attempt: u32) -> Option<Rest> {
        if attempt >= self.attempts {
            return None;
        }
        // `max` also turns what is no number into 1.
        let factor = self.factor.max(1.0);
        let times = factor.powi(i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX));
        let seconds = self.first.as_secs_f64() * times;
        // What does not fit into a duration is longer than any longest rest;
        // nothing times infinity is still nothing.
        let whole = if self.first.is_zero() {
            Duration::ZERO
        } else {
            Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
        };
        Some(Rest {
            whole: whole.min(self.max),
            jitter: self.jitter,
        })
    }
}

/// How long a step rests between two attempts.
pub struct Rest {
    whole: Duration,
    jitter: bool,
}

impl Rest {
    /// The rest after this attempt of this step in particular.
    pub(super) fn drawn(&self, seed: Seed, key: &InputKey, attempt: u32) -> Duration {
        if !self.jitter {
            return self.whole;
        }
        // `#` stands in no key that an attempt could be mistaken for.
        let bits = draw::bits(seed, &format!("{key}#attempt/{attempt}"));
        let part = 0.5 + draw::fraction(bits) / 2.0;
        Duration::try_from_secs_f64(self.whole.as_secs_f64() * part).unwrap_or(self.whole)
    }
}

/// The attempts at a step.
///
/// How attempts are made and polled is kept as functions. As bounds, rustc
/// would have to see them hold for any lifetimes to know that a body with a
/// step in a `join_all` is `Send`, and they only hold for those that it has.
pub struct Retries<M, F, O> {
    policy: Retry,
    attempt: M,
    make: fn(&mut M) -> Pin<Box<F>>,
    poll: PollFn<F, O>,
    running: Option<Pin<Box<F>>>,
}

impl<M, F, O> Evaluated for Retries<M, F, O> {
    type Outcome = O;

    fn poll_attempt(&mut self, cx: &mut Context<'_>) -> Poll<O> {
        let running = self
            .running
            .get_or_insert_with(|| (self.make)(&mut self.attempt));
        let polled = (self.poll)(running.as_mut(), cx);
        if polled.is_ready() {
            self.running = None;
        }
        polled
    }

    fn rest_after(&self, attempt: u32) -> Option<Rest> {
        self.policy.rest_after(attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rests(policy: Retry, attempts: std::ops::Range<u32>) -> Vec<Option<Duration>> {
        let rest = |attempt| Some(policy.rest_after(attempt)?.whole);
        attempts.map(rest).collect()
    }

    #[test]
    fn rests_grow_up_to_the_longest_and_end_with_the_attempts() {
        let policy = Retry::attempts(5).max(Duration::from_secs(5));
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(
            rests(policy, 1..7),
            [seconds(1), seconds(2), seconds(4), seconds(5), None, None]
        );
        assert_eq!(rests(Retry::attempts(0), 1..2), [None]);
    }

    #[test]
    fn no_policy_overflows() {
        let long = Retry::attempts(u32::MAX).max(Duration::MAX);
        for policy in [
            long,
            long.first(Duration::MAX),
            long.factor(f64::MAX),
            long.factor(f64::INFINITY),
        ] {
            let rest = rests(policy, u32::MAX - 1..u32::MAX);
            assert_eq!(rest, [Some(Duration::MAX)], "{policy:?}");
        }
        for policy in [long.factor(f64::NAN), long.factor(-3.0), long.factor(0.0)] {
            let rest = rests(policy, 900..901);
            assert_eq!(rest, [Some(Duration::from_secs(1))], "{policy:?}");
        }
        let none = long.first(Duration::ZERO).factor(f64::INFINITY);
        assert_eq!(rests(none, 7..8), [Some(Duration::ZERO)]);
    }

    #[test]
    fn jitter_is_between_half_and_whole_and_the_same_in_every_run() {
        let rest = Rest {
            whole: Duration::from_secs(10),
            jitter: true,
        };
        let (seed, key) = (Seed([1, 2]), InputKey::new("push"));
        let drawn: Vec<Duration> = (1..100).map(|n| rest.drawn(seed, &key, n)).collect();
        for rest in &drawn {
            assert!((5..=10).contains(&rest.as_secs()), "{rest:?}");
        }
        let mut different = drawn.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), drawn.len());
        assert_eq!(drawn[0], rest.drawn(seed, &key, 1));
        assert_ne!(drawn[0], rest.drawn(seed, &InputKey::new("pull"), 1));
    }
}
