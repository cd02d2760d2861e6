//! How a description of what is wanted meets the running task.
//!
//! The attribute wraps the value of each call that looks like one of ours and
//! calls `bind` on it. For our types that is an inherent method; for any other
//! value it is a method of a trait, which gives the value back untouched. So a
//! user's own function of the same name keeps its meaning.

use std::future::{Future, Ready, ready};
use std::panic::Location;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::{Flow, Request};
use crate::task::InputKey;

/// The state of a description that is not bound to a task: it cannot be
/// awaited. rustc names it when somebody tries, so it is named for that.
#[derive(Debug)]
pub struct NotInTask(());

impl NotInTask {
    pub(super) const NEW: Self = Self(());
}

/// A description that is bound to the running task and has its key.
pub struct Bound {
    pub(super) flow: Flow,
    pub(super) key: InputKey,
    pub(super) site: Site,
    /// Where in the code the call stands.
    pub(super) place: &'static Location<'static>,
}

impl Bound {
    #[track_caller]
    pub(super) fn new(flow: &Flow, site: Site) -> Self {
        Self {
            flow: flow.clone(),
            key: flow.pass(site.key),
            site,
            place: Location::caller(),
        }
    }

    /// For what goes by no key: it does not count as a pass.
    #[track_caller]
    pub(super) fn unkeyed(flow: &Flow, site: Site) -> Self {
        Self {
            flow: flow.clone(),
            key: flow.scoped(site.key),
            site,
            place: Location::caller(),
        }
    }
}

/// Where in the source a call stands.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    pub(super) key: &'static str,
    pub(super) function: &'static str,
}

impl Site {
    /// A place with its key.
    pub const fn new(key: &'static str) -> Self {
        Self {
            key,
            function: "block",
        }
    }

    /// The function that a step calls.
    #[must_use]
    pub const fn function(mut self, function: &'static str) -> Self {
        self.function = function;
        self
    }
}

/// Gives a description a key that is known at run time only. Keys of the
/// source are taken as they are.
pub(super) trait Keyed: Sized {
    /// The state, if it is bound.
    fn bound(&mut self) -> Option<&mut Bound>;
}

impl Keyed for NotInTask {
    fn bound(&mut self) -> Option<&mut Bound> {
        None
    }
}

impl Keyed for Bound {
    fn bound(&mut self) -> Option<&mut Bound> {
        Some(self)
    }
}

/// The state of what has been bound to a task, so that it can be awaited.
#[diagnostic::on_unimplemented(
    message = "this call is not part of a task: only the body of a function marked `#[mcp_task]` or `#[mcp_task_flow]` can ask, sleep and take steps",
    label = "not part of a task",
    note = "mark a function that does so for a task, and that only tasks call, with `#[mcp_task_flow]`",
    note = "the attribute does not see a call that was renamed on import, or that a macro of your own makes: write it out, by its own name"
)]
pub trait InTask {
    #[doc(hidden)]
    fn into_bound(self) -> Bound;
}

/// The state in which a description can be polled: there is none.
///
/// Descriptions are futures for it all the same. So rustc, which looks for what
/// is lacking, finds that one outside of a task is lacking its task, rather than
/// that it is no future. What is bound is made into a future that can be polled.
#[diagnostic::on_unimplemented(
    message = "only a function marked `#[mcp_task]` or `#[mcp_task_flow]` can await this, in its own body",
    label = "not awaited by a task",
    note = "mark a function that does so for a task, and that only tasks call, with `#[mcp_task_flow]`",
    note = "wait for several at once with `join!`, `try_join!`, `race!` or `join_all` of mcp_tasks",
    note = "the attribute does not see a call that was renamed on import, or that a macro of your own makes: write it out, by its own name"
)]
pub trait Polled {}

/// Makes descriptions futures as far as rustc's messages are concerned; see
/// [`Polled`].
macro_rules! awaited_only_in_tasks {
    ($(<$($parameter:ident $(: $bound:path)?),*> $description:ty => $output:ty;)*) => {$(
        #[doc(hidden)]
        impl<$($parameter $(: $bound)?,)* S> ::std::future::Future for $description
        where
            S: $crate::flow::bind::Polled,
        {
            type Output = $output;

            fn poll(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<Self::Output> {
                unreachable!("nothing implements `Polled`")
            }
        }
    )*};
}
pub(super) use awaited_only_in_tasks;

#[diagnostic::do_not_recommend]
impl InTask for Bound {
    fn into_bound(self) -> Bound {
        self
    }
}

/// Stands in a function that the attribute cannot read. Generated code only.
#[must_use = "this is syntax that mcp_tasks does not know yet: write it otherwise, or put it into a function without the attribute"]
pub fn not_understood() -> NotInTask {
    NotInTask::NEW
}

/// Applies `.key(..)`: a key equal to the place's own changes nothing; any
/// other must be valid, and fresh.
pub(super) fn rename(state: &mut impl Keyed, key: &str) {
    let Some(bound) = state.bound() else { return };
    if key == bound.site.key || bound.flow.scoped(key) == bound.key {
        return;
    }
    if let Err(words) = super::key::check(key) {
        bound.flow.request(Request::Misuse(words));
    }
    bound.key = bound.flow.scoped(key);
}

/// A value that may or may not be one of ours.
#[derive(Debug)]
pub struct Bind<T>(pub T);

/// What is not ours is given back.
pub trait BindOther {
    /// The value.
    type Value;

    /// Gives the value back.
    fn bind(self, flow: &Flow, site: Site) -> Self::Value;

    /// The same, with a key that is known at run time only.
    fn bind_keyed<K: ?Sized>(self, flow: &Flow, site: Site, _key: &K) -> Self::Value
    where
        Self: Sized,
    {
        self.bind(flow, site)
    }
}

impl<T> BindOther for Bind<T> {
    type Value = T;

    fn bind(self, _flow: &Flow, _site: Site) -> T {
        self.0
    }
}

/// What `?` is put to without an `.await` before it.
#[derive(Debug)]
pub struct Unawaited<T>(pub T);

/// What is not ours is given back.
pub trait UnawaitedOther {
    /// The value.
    type Value;

    /// Gives the value back.
    fn finished(self) -> Self::Value;
}

impl<T> UnawaitedOther for Unawaited<T> {
    type Value = T;

    fn finished(self) -> T {
        self.0
    }
}

/// What can be used without being awaited: nothing of ours.
#[diagnostic::on_unimplemented(
    message = "this does nothing until it is awaited: add `.await`",
    label = "not awaited"
)]
pub trait Awaited {}

/// A step, or a call of the same name that is none, in an `async` block that
/// makes the call when it is polled.
///
/// So the argument of a step is evaluated only if nothing is recorded for it,
/// and what it borrows lives until the step is done.
#[derive(Debug)]
pub struct BindLazy<F>(pub F);

/// A step, or a call of the same name that is none, in a closure.
///
/// For the closures of `join_all`, whose parameters an `async` block would
/// outlive.
#[derive(Debug)]
pub struct BindHere<F>(pub F);

/// What a call of ours by name turned out to give, if it is not ours.
#[derive(Debug)]
pub struct Other<T>(T);

/// The value of a call that is not a step, inside of [`BindLazy`].
pub trait EvaluateOther {
    /// The value.
    type Value;

    /// Wraps the value.
    fn evaluated(self) -> Ready<Other<Self::Value>>;
}

impl<T> EvaluateOther for Bind<T> {
    type Value = T;

    fn evaluated(self) -> Ready<Other<T>> {
        ready(Other(self.0))
    }
}

impl<T, F: Future<Output = Other<T>>> BindOther for BindLazy<F> {
    type Value = T;

    fn bind(self, _flow: &Flow, _site: Site) -> T {
        let call = pin!(self.0);
        let mut cx = Context::from_waker(Waker::noop());
        match call.poll(&mut cx) {
            Poll::Ready(Other(value)) => value,
            Poll::Pending => unreachable!("the call's value is wrapped, not awaited"),
        }
    }
}

impl<T, F: FnOnce() -> T> BindOther for BindHere<F> {
    type Value = T;

    fn bind(self, _flow: &Flow, _site: Site) -> T {
        (self.0)()
    }
}
