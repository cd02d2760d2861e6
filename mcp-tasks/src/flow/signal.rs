//! Signals: what other code of the server tells a task.

use std::future::{Future, IntoFuture};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::bind::{Awaited, InTask, Unawaited, awaited_only_in_tasks};
use super::timer::Sleeping;
use super::{Bind, Bound, DurableFuture, Flow, NotInTask, SignalError, Site};

/// Waits for a signal: a value that other code of the server, such as a webhook
/// or a job system, sends to this task by [`Tasks::signal`](crate::Tasks::signal).
///
/// A signal may be sent before it is awaited, or after. Each wait takes the
/// oldest signal of that name that no other has taken; a wait that is dropped
/// takes none. It has no key: its name is what it goes by. The task is `working`
/// meanwhile.
///
/// ```
/// use mcp_tasks::prelude::*;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Built {
///     artifact: String,
/// }
///
/// async fn start_build(callback: String) -> std::io::Result<()> {
///     # let _ = callback; Ok(())
/// }
///
/// #[mcp_task]
/// async fn build() -> Result<String, ToolError> {
///     // The build server calls back, and the callback says
///     // `tasks.signal(&id, "built", &built)`.
///     step(start_build(task_id().to_string())).await?;
///     let built: Built = signal("built").await?;
///     Ok(built.artifact)
/// }
/// ```
///
/// # Errors
///
/// [`SignalError`]: the value does not fit the type, and counts as taken; or it
/// has not come within [`timeout`](Signal::timeout).
///
/// # Durability
///
/// A signal is recorded before the sender is told that it was sent, and comes
/// again, in the same order, whenever the function is run again.
///
/// # Cancellation
///
/// Dropping the future takes nothing.
pub fn signal<T: SignalValue>(name: impl Into<String>) -> Signal<T, NotInTask> {
    Signal {
        name: name.into(),
        timeout: None,
        read: |value| serde_json::from_str(value.get()),
        state: NotInTask::NEW,
    }
}

/// What a signal can be read as: anything that serde can read.
#[diagnostic::on_unimplemented(
    message = "a signal cannot be read as `{Self}`",
    label = "cannot be read from JSON",
    note = "derive `serde::Deserialize` for it; it must own what it holds"
)]
pub trait SignalValue: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> SignalValue for T {}

/// A wait for a signal, made by [`signal`].
#[must_use = "a signal is only taken when it is awaited"]
pub struct Signal<T, S> {
    name: String,
    timeout: Option<(Duration, &'static Location<'static>)>,
    read: Read<T>,
    state: S,
}

type Read<T> = fn(&RawValue) -> serde_json::Result<T>;

impl<T, S> Signal<T, S> {
    /// Gives up after `timeout`, counted from when the function gets here: the
    /// outcome is [`SignalError::TimedOut`], and a signal that comes later is
    /// left to the next wait.
    #[track_caller]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some((timeout, Location::caller()));
        self
    }
}

impl<T> Bind<Signal<T, NotInTask>> {
    /// Binds the wait to the running task. Generated code only.
    #[track_caller]
    pub fn bind(self, flow: &Flow, site: Site) -> Signal<T, Bound> {
        Signal {
            name: self.0.name,
            timeout: self.0.timeout,
            read: self.0.read,
            state: Bound::unkeyed(flow, site),
        }
    }
}

impl<T> Unawaited<Signal<T, Bound>> {
    /// Says that the signal is not awaited. Generated code only.
    pub fn finished(self) -> Result<T, SignalError>
    where
        Signal<T, Bound>: Awaited,
    {
        unreachable!("no signal can be used without being awaited")
    }
}

awaited_only_in_tasks! {
    <T> Signal<T, S> => Result<T, SignalError>;
}

#[diagnostic::do_not_recommend]
impl<T> IntoFuture for Signal<T, Bound> {
    type Output = Result<T, SignalError>;
    type IntoFuture = Listening<T>;

    fn into_future(self) -> Listening<T> {
        let (name, flow) = (self.name, self.state.flow);
        let timer = self.timeout.map(|(timeout, place)| {
            // No other key can have this one's form.
            let key = flow.pass(&format!("{name}#signal#timeout"));
            Sleeping::new(flow.clone(), key, place, timeout)
        });
        Listening {
            flow,
            name,
            timer,
            read: self.read,
            waits: false,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T, S> DurableFuture for Signal<T, S> {
    type Output = Result<T, SignalError>;
    type State = S;
    type Future = Listening<T>;

    fn into_durable(self) -> Listening<T>
    where
        S: InTask,
    {
        let signal = Signal {
            name: self.name,
            timeout: self.timeout,
            read: self.read,
            state: self.state.into_bound(),
        };
        signal.into_future()
    }
}

/// The future of a [`Signal`].
pub struct Listening<T> {
    flow: Flow,
    name: String,
    /// Until it is over.
    timer: Option<Sleeping>,
    read: Read<T>,
    /// Whether the context knows of the wait.
    waits: bool,
}

impl<T> Listening<T> {
    fn waits_no_more(&mut self) {
        if std::mem::take(&mut self.waits) {
            self.flow.listens_no_more();
        }
    }
}

impl<T> Drop for Listening<T> {
    fn drop(&mut self) {
        self.waits_no_more();
    }
}

impl<T> Future for Listening<T> {
    type Output = Result<T, SignalError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = if let Some(value) = self.flow.take_signal(&self.name) {
            (self.read)(&value).map_err(|error| SignalError::Unfit {
                name: self.name.clone(),
                message: error.to_string(),
            })
        } else {
            let timer = self.timer.as_mut().map(|timer| Pin::new(timer).poll(cx));
            let Some(Poll::Ready(())) = timer else {
                if !std::mem::replace(&mut self.waits, true) {
                    self.flow.listens();
                }
                return Poll::Pending;
            };
            let name = self.name.clone();
            Err(SignalError::TimedOut { name })
        };
        // Withdrawn, if it still runs.
        self.timer = None;
        self.waits_no_more();
        Poll::Ready(outcome)
    }
}
