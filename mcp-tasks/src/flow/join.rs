//! Several things at once.
//!
//! Branches are polled in the order in which they are written, each time, so
//! that keys are numbered and questions are asked in the same order on every
//! run.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::bind::{InTask, awaited_only_in_tasks};
use super::durable::durable;
use super::{Bind, Bound, DurableFuture, Flow, NotInTask, Site};

/// A future that keeps its output until the others are there too.
pub enum Arm<F: Future> {
    Running(Pin<Box<F>>),
    Done(Option<F::Output>),
}

impl<F: Future> Arm<F> {
    fn new(future: F) -> Self {
        Self::Running(Box::pin(future))
    }

    /// Polls until done; says whether it is.
    fn is_done(&mut self, cx: &mut Context<'_>) -> bool {
        if let Self::Running(future) = self {
            match future.as_mut().poll(cx) {
                Poll::Ready(output) => *self = Self::Done(Some(output)),
                Poll::Pending => return false,
            }
        }
        true
    }

    fn output(&mut self) -> F::Output {
        match self {
            Self::Done(output) => output.take().expect("polled again after it was ready"),
            Self::Running(_) => unreachable!("asked for the output of a branch that still runs"),
        }
    }
}

/// The branches of one `join!`, `try_join!` or `race!`. Generated code only.
pub trait JoinSet {
    /// What `join!` gives: all outputs, in order.
    type Outputs;

    /// Polls every branch; gives all outputs when all are done.
    fn poll_join(&mut self, cx: &mut Context<'_>) -> Poll<Self::Outputs>;
}

/// Branches that give a `Result` with the same error.
pub trait TryJoinSet {
    /// What `try_join!` gives: all values, in order.
    type Values;
    /// The branches' error.
    type Error;

    /// Polls branch after branch; stops at the first error.
    fn poll_try_join(&mut self, cx: &mut Context<'_>) -> Poll<Result<Self::Values, Self::Error>>;
}

/// Branches that give the same type.
pub trait RaceSet {
    /// What each branch gives.
    type Output;

    /// Polls branch after branch; stops at the first that is done.
    fn poll_race(&mut self, cx: &mut Context<'_>) -> Poll<Self::Output>;
}

/// Branches as they are written, to be turned into a set.
pub trait Branches {
    /// The set.
    type Set;

    /// Makes the set.
    fn into_set(self) -> Self::Set;
}

/// A set of branches in boxes of their own.
pub struct Arms<T>(T);

macro_rules! arities {
    ($($future:ident $value:ident $index:tt,)+) => {
        impl<$($future: IntoFuture),+> Branches for ($($future,)+) {
            type Set = Arms<($(Arm<$future::IntoFuture>,)+)>;

            fn into_set(self) -> Self::Set {
                Arms(($(Arm::new(self.$index.into_future()),)+))
            }
        }

        impl<$($future: Future),+> JoinSet for Arms<($(Arm<$future>,)+)> {
            type Outputs = ($($future::Output,)+);

            fn poll_join(&mut self, cx: &mut Context<'_>) -> Poll<Self::Outputs> {
                let mut all = true;
                $(all &= self.0.$index.is_done(cx);)+
                if all {
                    Poll::Ready(($(self.0.$index.output(),)+))
                } else {
                    Poll::Pending
                }
            }
        }

        impl<Err, $($value,)+ $($future: Future<Output = Result<$value, Err>>),+> TryJoinSet
            for Arms<($(Arm<$future>,)+)>
        {
            type Values = ($($value,)+);
            type Error = Err;

            fn poll_try_join(&mut self, cx: &mut Context<'_>) -> Poll<Result<Self::Values, Err>> {
                let mut all = true;
                $(
                    all &= self.0.$index.is_done(cx);
                    if let Arm::Done(output) = &mut self.0.$index {
                        if let Some(Err(_)) = output {
                            if let Some(Err(error)) = output.take() {
                                return Poll::Ready(Err(error));
                            }
                        }
                    }
                )+
                if !all {
                    return Poll::Pending;
                }
                Poll::Ready(Ok(($(
                    match self.0.$index.output() {
                        Ok(value) => value,
                        Err(error) => return Poll::Ready(Err(error)),
                    },
                )+)))
            }
        }

        impl<Out, $($future: Future<Output = Out>),+> RaceSet for Arms<($(Arm<$future>,)+)> {
            type Output = Out;

            fn poll_race(&mut self, cx: &mut Context<'_>) -> Poll<Out> {
                $(
                    if self.0.$index.is_done(cx) {
                        return Poll::Ready(self.0.$index.output());
                    }
                )+
                Poll::Pending
            }
        }
    };
}

arities!(A Va 0,);
arities!(A Va 0, B Vb 1,);
arities!(A Va 0, B Vb 1, C Vc 2,);
arities!(A Va 0, B Vb 1, C Vc 2, D Vd 3,);
arities!(A Va 0, B Vb 1, C Vc 2, D Vd 3, E Ve 4,);
arities!(A Va 0, B Vb 1, C Vc 2, D Vd 3, E Ve 4, F Vf 5,);
arities!(A Va 0, B Vb 1, C Vc 2, D Vd 3, E Ve 4, F Vf 5, G Vg 6,);
arities!(A Va 0, B Vb 1, C Vc 2, D Vd 3, E Ve 4, F Vf 5, G Vg 6, H Vh 7,);
arities!(A Va 0, B Vb 1, C Vc 2, D Vd 3, E Ve 4, F Vf 5, G Vg 6, H Vh 7, I Vi 8,);
arities!(A Va 0, B Vb 1, C Vc 2, D Vd 3, E Ve 4, F Vf 5, G Vg 6, H Vh 7, I Vi 8, J Vj 9,);
arities!(A Va 0, B Vb 1, C Vc 2, D Vd 3, E Ve 4, F Vf 5, G Vg 6, H Vh 7, I Vi 8, J Vj 9, K Vk 10,);
arities!(
    A Va 0, B Vb 1, C Vc 2, D Vd 3, E Ve 4, F Vf 5, G Vg 6, H Vh 7, I Vi 8, J Vj 9, K Vk 10,
    L Vl 11,
);

/// Waits for all branches. Generated code only.
pub fn join<B: Branches<Set: JoinSet + Unpin>>(
    _flow: &Flow,
    branches: B,
) -> impl Future<Output = <B::Set as JoinSet>::Outputs> + use<B> {
    let mut set = branches.into_set();
    poll_fn(move |cx| set.poll_join(cx))
}

/// A future whose type does not repeat that its branches agree on a type.
///
/// With the branches' own types in it, rustc cannot see that a body is `Send`
/// where the type on which they agree holds a reference.
type Agreed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Waits for all branches, or the first error. Generated code only.
#[allow(clippy::type_complexity, reason = "named by inference alone")]
pub fn try_join<'a, B: Branches<Set: TryJoinSet + Unpin + Send + 'a>>(
    _flow: &Flow,
    branches: B,
) -> Agreed<'a, Result<<B::Set as TryJoinSet>::Values, <B::Set as TryJoinSet>::Error>> {
    let mut set = branches.into_set();
    Box::pin(poll_fn(move |cx| set.poll_try_join(cx)))
}

/// Waits for the first branch; the others are dropped. Generated code only.
pub fn race<'a, B: Branches<Set: RaceSet + Unpin + Send + 'a>>(
    _flow: &Flow,
    branches: B,
) -> Agreed<'a, <B::Set as RaceSet>::Output> {
    let mut set = branches.into_set();
    Box::pin(poll_fn(move |cx| set.poll_race(cx)))
}

/// Waits for all of any number of questions, steps or timers; their outputs
/// come in the order in which they were given.
///
/// The closure that makes the questions, steps, timers or flows stands in the
/// argument itself, not in a variable before it: there it is seen to be part of
/// the task.
///
/// A step in the iterator's closure is called where it stands, unless its result
/// is recorded, and its future is run when it may: call something there that
/// does nothing until it is awaited, like any `async fn`.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// #[mcp_task]
/// async fn poll_teams(teams: Vec<String>) -> Result<String, ToolError> {
///     let votes = join_all(teams.iter().map(|team| ask_user::<bool>(format!("{team}: ship it?"))));
///     let yes = votes.await.into_iter().filter(|vote| matches!(vote, Ok(true))).count();
///     Ok(format!("{yes} of {} teams say yes", teams.len()))
/// }
/// ```
pub fn join_all<I: IntoIterator>(all: I) -> JoinAll<I, NotInTask> {
    JoinAll {
        all,
        state: NotInTask::NEW,
    }
}

/// Any number of things to wait for, made by [`join_all`].
#[must_use = "nothing is waited for until it is awaited"]
pub struct JoinAll<I, S> {
    all: I,
    #[allow(dead_code, reason = "says in the type whether it is bound")]
    state: S,
}

awaited_only_in_tasks! {
    <I: IntoIterator<Item: DurableFuture>> JoinAll<I, S> => Vec<<I::Item as DurableFuture>::Output>;
}

impl<I: IntoIterator> Bind<JoinAll<I, NotInTask>> {
    /// Binds to the running task. Generated code only.
    // Bounds are the method's, and the future is a parameter: so that an item
    // that is not durable is named as such.
    pub fn bind<F>(self, _flow: &Flow, _site: Site) -> JoiningAll<F>
    where
        F: Future,
        I::Item: DurableFuture<Future = F, State: InTask>,
    {
        let arms = self.0.all.into_iter().map(|one| Arm::new(durable(one)));
        JoiningAll {
            arms: arms.collect(),
        }
    }
}

/// The future of a [`JoinAll`].
#[must_use = "nothing is waited for until it is awaited"]
pub struct JoiningAll<F: Future> {
    arms: Vec<Arm<F>>,
}

// The running futures have boxes of their own, and outputs are not pinned.
impl<F: Future> Unpin for JoiningAll<F> {}

impl<F: Future> Future for JoiningAll<F> {
    type Output = Vec<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut all = true;
        for arm in &mut self.arms {
            all &= arm.is_done(cx);
        }
        if all {
            Poll::Ready(self.arms.iter_mut().map(Arm::output).collect())
        } else {
            Poll::Pending
        }
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future> DurableFuture for JoiningAll<F> {
    type Output = Vec<F::Output>;
    type State = Bound;
    type Future = Self;

    fn into_durable(self) -> Self {
        self
    }
}
