//! Calls of functions marked `#[mcp_task_flow]`: parts of a task that have a
//! function of their own.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::bind::{Awaited, InTask, Unawaited};
use super::timer::Sleeping;
use super::{Bind, Bound, DurableFuture, Flow, NotInTask, Request, Site, TimedOut};

/// A call of a function marked [`#[mcp_task_flow]`](crate::mcp_task_flow), which
/// gives a `T` when it is awaited.
///
/// It can be awaited in the body of a task or of another flow, may stand in a
/// branch of [`join!`](crate::join) and the like, and in the closure of
/// [`join_all`](crate::join_all). Until then nothing of it happens. It may be
/// boxed and kept in a variable like any other value, and it is always of this
/// type, so a flow may call itself.
///
/// # Cancellation
///
/// Dropping it drops the function where it stands, which withdraws what it has
/// asked for.
#[must_use = "a flow does nothing until it is awaited: add `.await`"]
pub struct FlowCall<'a, T, S = NotInTask> {
    key: Option<Box<str>>,
    stage: Stage<'a, T, S>,
}

enum Stage<'a, T, S> {
    Call(Start<'a, T>, S),
    Running(Running<'a, T>),
    Started,
}

type Start<'a, T> = Box<dyn FnOnce(Flow) -> Running<'a, T> + Send + 'a>;

type Running<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

// The running function has a box of its own.
impl<T, S> Unpin for FlowCall<'_, T, S> {}

impl<'a, T> FlowCall<'a, T> {
    /// A call of this function. Generated code only.
    #[doc(hidden)]
    pub fn new<F>(start: impl FnOnce(Flow) -> F + Send + 'a) -> Self
    where
        F: Future<Output = T> + Send + 'a,
    {
        let start: Start<'a, T> = Box::new(|flow| Box::pin(start(flow)));
        Self {
            key: None,
            stage: Stage::Call(start, NotInTask::NEW),
        }
    }

    /// Names the call; the name stands before the keys of all that the flow asks
    /// for, as that of a branch does: `name/approval`. See
    /// [`Ask::key`](super::Ask::key).
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        self.key = Some(key.as_ref().into());
        self
    }

    /// Gives up after `timeout`, counted from when the function gets here: the
    /// flow is dropped where it stands, which withdraws what it has asked for,
    /// and the outcome is [`TimedOut`].
    ///
    /// ```
    /// use mcp_tasks::prelude::*;
    ///
    /// #[mcp_task_flow]
    /// async fn interview() -> Result<String, AskError> {
    ///     let name: String = ask_user("What is your name?").await?;
    ///     let place: String = ask_user("Where are you from?").await?;
    ///     Ok(format!("{name} from {place}"))
    /// }
    ///
    /// #[mcp_task]
    /// async fn introduce() -> Result<String, ToolError> {
    ///     let guest = interview().timeout(Duration::from_secs(3600)).await;
    ///     Ok(match guest {
    ///         Ok(guest) => guest?,
    ///         Err(_) => "somebody in a hurry".to_owned(),
    ///     })
    /// }
    /// ```
    ///
    /// Where both end the task, `??` does for a flow that gives a `Result`.
    ///
    /// # Durability
    ///
    /// The time is that of one timer, which survives restarts as that of
    /// [`sleep`](crate::sleep) does; its key is that of the call with `/#timeout`
    /// after it.
    #[track_caller]
    pub fn timeout(self, timeout: Duration) -> FlowCall<'a, Result<T, TimedOut>>
    where
        T: Send + 'a,
    {
        let place = Location::caller();
        let Stage::Call(start, NotInTask { .. }) = self.stage else {
            unreachable!("what is not bound to a task has not started");
        };
        let start: Start<'a, Result<T, TimedOut>> = Box::new(move |flow: Flow| {
            let key = flow.pass("#timeout");
            let timer = Sleeping::new(flow.clone(), key, place, timeout);
            Box::pin(Timed {
                running: Some(start(flow)),
                timer,
                timeout,
            })
        });
        FlowCall {
            key: self.key,
            stage: Stage::Call(start, NotInTask::NEW),
        }
    }

    /// Says that the call is dropped. Generated code only.
    #[doc(hidden)]
    pub fn __dropped(self)
    where
        Self: Awaited,
    {
        unreachable!("no flow can be dropped without being awaited")
    }

    #[track_caller]
    fn bound(self, flow: &Flow, site: Site, place: u32) -> FlowCall<'a, T, Bound> {
        let name = self.key.as_deref().unwrap_or(site.key);
        if let Err(words) = super::key::check(name) {
            flow.request(Request::Misuse(words));
        }
        let place_of_key = (name == site.key).then_some(place);
        let scope = flow.call(name, place_of_key);
        let bound = Bound {
            key: flow.scoped(name),
            flow: scope,
            site,
            place: Location::caller(),
        };
        let stage = match self.stage {
            Stage::Call(start, NotInTask { .. }) => Stage::Call(start, bound),
            Stage::Running(_) | Stage::Started => Stage::Started,
        };
        FlowCall { key: None, stage }
    }
}

/// A flow, and the timer that ends it.
struct Timed<'a, T> {
    /// Until it is over.
    running: Option<Running<'a, T>>,
    timer: Sleeping,
    timeout: Duration,
}

impl<T> Future for Timed<'_, T> {
    type Output = Result<T, TimedOut>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let running = this.running.as_mut().expect("polled again after its end");
        let outcome = match running.as_mut().poll(cx) {
            Poll::Ready(output) => Ok(output),
            Poll::Pending => match Pin::new(&mut this.timer).poll(cx) {
                Poll::Ready(()) => Err(TimedOut::new(this.timeout)),
                Poll::Pending => return Poll::Pending,
            },
        };
        // Dropped here, not when whoever awaits this comes to it: what it asked
        // for is withdrawn before anything else is asked.
        this.running = None;
        this.timer.close();
        Poll::Ready(outcome)
    }
}

/// What a statement drops and is no flow is given back.
pub trait DroppedOther: Sized {
    /// Gives the value back.
    #[doc(hidden)]
    #[allow(clippy::return_self_not_must_use, reason = "it is there to be dropped")]
    fn __dropped(self) -> Self {
        self
    }

    /// Stands behind what is still being typed.
    #[doc(hidden)]
    fn __unfinished(&self) {}
}

impl<T> DroppedOther for T {}

/// What is awaited, which may be the call of a flow.
#[derive(Debug)]
pub struct BindFlow<T>(pub T);

/// What is not a flow is given back.
pub trait BindFlowOther {
    /// The value.
    type Value;

    /// Gives the value back.
    fn bind(self, flow: &Flow, site: Site, place: u32) -> Self::Value;

    /// The same, where the key is that of another flow, if both are flows.
    fn bind_again(self, flow: &Flow, site: Site, place: u32) -> Self::Value;
}

impl<T> BindFlowOther for BindFlow<T> {
    type Value = T;

    fn bind(self, _flow: &Flow, _site: Site, _place: u32) -> T {
        self.0
    }

    fn bind_again(self, _flow: &Flow, _site: Site, _place: u32) -> T {
        self.0
    }
}

impl<'a, T> BindFlow<FlowCall<'a, T>> {
    /// Binds the call to the running task. Generated code only.
    #[track_caller]
    pub fn bind(self, flow: &Flow, site: Site, place: u32) -> FlowCall<'a, T, Bound> {
        self.0.bound(flow, site, place)
    }

    /// Says that the key is taken. Generated code only.
    #[track_caller]
    pub fn bind_again(self, flow: &Flow, site: Site, place: u32) -> FlowCall<'a, T, Bound>
    where
        FlowCall<'a, T>: NamedApart,
    {
        self.0.bound(flow, site, place)
    }
}

/// A boxed call, as a recursive function is used to be called.
impl<'a, T> BindFlow<Pin<Box<FlowCall<'a, T>>>> {
    /// Binds the call to the running task. Generated code only.
    #[track_caller]
    pub fn bind(self, flow: &Flow, site: Site, place: u32) -> FlowCall<'a, T, Bound> {
        let call = *Pin::into_inner(self.0);
        call.bound(flow, site, place)
    }

    /// Says that the key is taken. Generated code only.
    #[track_caller]
    pub fn bind_again(self, flow: &Flow, site: Site, place: u32) -> FlowCall<'a, T, Bound>
    where
        FlowCall<'a, T>: NamedApart,
    {
        self.bind(flow, site, place)
    }
}

impl<'a, T> Bind<FlowCall<'a, T>> {
    /// Binds a flow that has the name of a call of ours. Generated code only.
    #[track_caller]
    pub fn bind(self, flow: &Flow, site: Site) -> FlowCall<'a, T, Bound> {
        self.0.bound(flow, site, 0)
    }
}

/// What has a key that no other call in its function has.
#[diagnostic::on_unimplemented(
    message = "another flow in this function has the same key: the journal could not tell the two apart. Give this one a name of its own with `.key(\"..\")`, or bind its value by another `let`",
    label = "the same key as another flow"
)]
pub trait NamedApart {}

impl<'a, T> Unawaited<FlowCall<'a, T>> {
    /// Says that the flow is not awaited. Generated code only.
    pub fn finished(self) -> T
    where
        FlowCall<'a, T>: Awaited,
    {
        unreachable!("no flow can be used without being awaited")
    }
}

// A future by itself, and recommended: so that rustc says that an unbound one is
// not part of a task, rather than that it is no future.
impl<T, S: InTask> Future for FlowCall<'_, T, S> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        this.stage = match std::mem::replace(&mut this.stage, Stage::Started) {
            Stage::Call(start, state) => Stage::Running(start(state.into_bound().flow)),
            stage => stage,
        };
        match &mut this.stage {
            Stage::Running(function) => function.as_mut().poll(cx),
            Stage::Call(..) | Stage::Started => unreachable!("it was started above"),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T, S> DurableFuture for FlowCall<'a, T, S> {
    type Output = T;
    type State = S;
    type Future = FlowCall<'a, T, Bound>;

    fn into_durable(self) -> FlowCall<'a, T, Bound>
    where
        S: InTask,
    {
        let stage = match self.stage {
            Stage::Call(start, state) => Stage::Call(start, state.into_bound()),
            Stage::Running(function) => Stage::Running(function),
            Stage::Started => Stage::Started,
        };
        FlowCall { key: None, stage }
    }
}
