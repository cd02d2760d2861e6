//! The user's code, and the clock that its driver waits on.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep};
use tracing::Span;

use super::super::Shared;
use super::super::running::Permit;
use super::super::seating::Lanes;
use super::turn::Limited;
use crate::flow::{self, Running, ToolOutput};
use crate::observe::{Polled, TraceContext, story};
use crate::protocol::ProtocolError;
use crate::task::TaskId;

/// The user's code.
pub(super) struct Function {
    running: Running,
    /// Entered whenever it is polled or dropped.
    span: Span,
    /// The trace that it belongs to.
    trace: Option<Arc<TraceContext>>,
    /// Held while the function runs, given back while it waits.
    pub(super) permit: Option<Permit>,
    /// None for one of which any number may run.
    pub(super) limited: Option<Box<Limited>>,
    /// Whether it has been polled since it was last shown an outcome: then it
    /// may be shown the next.
    pub(super) has_seen: bool,
}

impl Function {
    /// `None` for a function that is not to run.
    pub(super) fn new(
        running: Option<Running>,
        lanes: Option<Arc<Lanes>>,
        context: &flow::Context,
    ) -> Self {
        let trace = context.trace.clone();
        Self {
            running: running.unwrap_or_else(|| Box::pin(pending())),
            span: story::task_span(context.of(), context.version, trace.as_deref()),
            trace,
            permit: None,
            limited: lanes.map(|lanes| Box::new(Limited::new(lanes))),
            has_seen: false,
        }
    }

    /// Whether the function may run; takes a permit if one is free.
    pub(super) fn has_permit(&mut self, shared: &Shared) -> bool {
        if self.permit.is_none() {
            let limited = self.limited.as_ref();
            if limited.is_some_and(|limited| limited.seats.is_none()) {
                return false;
            }
            self.permit = shared.running.try_enter();
        }
        self.permit.is_some()
    }

    /// Gives back what it needs to run, as it waits.
    pub(super) fn sit_back(&mut self) {
        self.permit = None;
        if let Some(limited) = &mut self.limited {
            limited.seats = None;
            limited.is_asleep = true;
        }
    }

    /// Whether it waits, and need not be polled to know that it still does.
    pub(super) fn sleeps(&self) -> bool {
        let limited = self.limited.as_ref();
        self.has_seen && limited.is_some_and(|limited| limited.sleeps())
    }

    /// Says that it must be polled, as something has changed for it.
    pub(super) fn wake_up(&mut self) {
        if let Some(limited) = &mut self.limited {
            limited.is_asleep = false;
        }
    }

    /// Drops what is left of the function, which is the user's code too.
    pub(super) fn let_go(&mut self, id: &TaskId) {
        let running = std::mem::replace(&mut self.running, Box::pin(pending()));
        let _entered = self.span.enter();
        if catch_unwind(AssertUnwindSafe(|| drop(running))).is_err() {
            tracing::error!(task = %id, "a task function panicked when it was dropped");
        }
    }

    /// Polls it; `replays` says whether it was run before, up to where it is
    /// after this.
    pub(super) fn poll(
        &mut self,
        id: &TaskId,
        replays: bool,
        cx: &mut Context<'_>,
    ) -> Poll<ToolOutput> {
        self.has_seen = true;
        let _entered = self.span.enter();
        let _polled = Polled::enter(replays, self.trace.as_ref());
        let limited = self.limited.as_mut();
        let bell = limited.map(|limited| limited.waker(cx.waker()));
        let running = &mut self.running;
        let mut poll =
            |cx: &mut Context<'_>| catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx)));
        let polled = match bell {
            None => poll(cx),
            Some(bell) => poll(&mut Context::from_waker(&bell)),
        };
        // After a panic the function is dropped and never polled again.
        polled.unwrap_or_else(|panic| {
            let words = panic
                .downcast_ref::<&str>()
                .copied()
                .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("no message");
            tracing::error!(task = %id, panic = words, "a task function panicked");
            Poll::Ready(Err(ProtocolError::internal("internal error")))
        })
    }
}

/// One clock for everything that the driver waits for by itself.
#[derive(Default)]
pub(super) struct Alarm {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Alarm {
    pub(super) fn poll(&mut self, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if at <= Instant::now() {
            return Poll::Ready(());
        }
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        sleep.as_mut().poll(cx)
    }
}
