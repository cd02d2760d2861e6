//! Which calls are ours, and where they may stand.

use proc_macro2::Span;
use syn::{ExprCall, Path};

use super::{Rewriter, Suspend};
use crate::task::keys::unraw;
use crate::task::messages;

/// What kind of call of ours it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ask,
    Timer,
    Cancelled,
    /// From here on the call is a task.
    Start,
    Signal,
    Step,
    Unrecorded,
    JoinAll,
    /// No wait, and another value on each pass.
    Draw,
    /// The key of the step around it.
    StepKey,
    Patched,
    /// No wait and no key: may stand anywhere in the function.
    Status,
}

/// A call that is ours by its name.
pub(super) struct OurCall {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) span: Span,
    /// Written without a path, or with one that leads to this crate, so that
    /// it is ours as far as a macro can see. Others are bound all the same,
    /// which leaves them as they are if they are not ours.
    pub(super) plain: bool,
}

impl OurCall {
    pub(super) fn suspends(&self) -> bool {
        match self.kind {
            Kind::Ask
            | Kind::Timer
            | Kind::Cancelled
            | Kind::Start
            | Kind::Signal
            | Kind::Step
            | Kind::Unrecorded
            | Kind::JoinAll => true,
            Kind::Draw | Kind::StepKey | Kind::Patched | Kind::Status => false,
        }
    }
}

/// The kind of call that goes by `name`.
pub(super) fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "ask_user" | "ask_user_url" | "ask_model" | "list_roots" => Kind::Ask,
        "sleep" | "sleep_until" => Kind::Timer,
        "cancelled" => Kind::Cancelled,
        "start_task" => Kind::Start,
        "signal" => Kind::Signal,
        "step" | "step_value" | "step_with" => Kind::Step,
        "unrecorded" => Kind::Unrecorded,
        "join_all" => Kind::JoinAll,
        "random" | "uuid" => Kind::Draw,
        "step_key" => Kind::StepKey,
        "patched" => Kind::Patched,
        "set_status" | "report_progress" | "set_ttl" | "extend_ttl" | "task_id" | "now" => {
            Kind::Status
        }
        _ => return None,
    })
}

/// Names that functions of others have too: where nothing but the name says
/// that a call is ours, they are not taken for it.
pub(super) fn is_common(name: &str) -> bool {
    matches!(name, "list_roots" | "now" | "random" | "uuid" | "signal")
}

impl Rewriter<'_> {
    /// Recognises a call by the last segment of its path.
    pub(super) fn our_call(&self, call: &ExprCall) -> Option<OurCall> {
        let syn::Expr::Path(function) = &*call.func else {
            return None;
        };
        if function.qself.is_some() {
            return None;
        }
        let segments = &function.path.segments;
        let last = segments.last()?;
        let name = unraw(&last.ident);
        let kind = kind(&name)?;
        if segments.len() == 1 && self.own.contains(&name) {
            return None;
        }
        let plain = self.is_plain(&function.path);
        // `SystemTime::now()` and the like are somebody else's.
        if !plain && is_common(&name) {
            return None;
        }
        Some(OurCall {
            kind,
            name,
            span: last.ident.span(),
            plain,
        })
    }

    /// Whether a path is a name alone, or leads to this crate.
    fn is_plain(&self, path: &Path) -> bool {
        let first = &path.segments[0].ident;
        path.segments.len() == 1 || first == "mcp_tasks" || self.krate.as_ref() == Some(first)
    }

    /// Reports a call where it makes no sense; true if it was reported.
    pub(super) fn refuse_here(&mut self, ours: &OurCall) -> bool {
        if !ours.plain || self.is_refused {
            return false;
        }
        let what = || format!("{}(..)", ours.name);
        if ours.suspends() && self.refuse_suspending(&what(), ours.span) {
            return true;
        }
        let message = match (ours.kind, self.place.suspend) {
            (Kind::Start, _) => match self.refuse_start(ours.span) {
                Some(message) => message.to_owned(),
                None => return false,
            },
            (Kind::Cancelled, _) if !self.rules.cancel_grace => {
                messages::CANCELLED_WITHOUT_GRACE.to_owned()
            }
            (Kind::StepKey, Suspend::Step) => return false,
            (Kind::StepKey, _) => messages::STEP_KEY_OUTSIDE.to_owned(),
            (Kind::Patched, Suspend::Step) => messages::in_step(&what()),
            (Kind::Patched, Suspend::Unrecorded) => messages::in_unrecorded(&what()),
            _ => return false,
        };
        self.report.error(ours.span, message);
        true
    }

    /// Why a call cannot become a task here, if it cannot.
    fn refuse_start(&mut self, span: Span) -> Option<&'static str> {
        if let Some(message) = self.rules.no_start {
            return Some(message);
        }
        if self.place.looped {
            return Some(messages::START_IN_LOOP);
        }
        if !self.scope.is_empty() {
            return Some(messages::START_IN_BRANCH);
        }
        if self.found.start.is_some() {
            return Some(messages::START_TWICE);
        }
        self.found.start = Some(span);
        None
    }

    /// Reports `what` where a task cannot suspend; true if it was reported.
    pub(super) fn refuse_suspending(&mut self, what: &str, span: Span) -> bool {
        let message = match self.place.suspend {
            Suspend::Here if self.place.spawned => messages::in_spawn(what),
            Suspend::Here => return false,
            Suspend::Closure => messages::in_closure(what),
            Suspend::AsyncBlock => messages::in_async_block(what),
            Suspend::Spawned => messages::in_spawn(what),
            Suspend::Step => messages::in_step(what),
            Suspend::Unrecorded => messages::in_unrecorded(what),
        };
        self.report.error(span, message);
        self.refusals += 1;
        true
    }
}
