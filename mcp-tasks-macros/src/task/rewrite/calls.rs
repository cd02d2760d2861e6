//! Calls of ours: how they are recognised, keyed and bound.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, ExprCall, ExprLit, ExprMethodCall, Lit, LitStr};

use super::awaits::{ends, is_await_of_join, parenthesised};
use super::{Place, Rewriter, Suspend, flow_ident};
use crate::task::keys::{answer_type, called_function, check_literal, unraw};
use crate::task::messages;

/// What kind of call of ours it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ask,
    Timer,
    Cancelled,
    Step,
    JoinAll,
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
        self.kind != Kind::Status
    }
}

/// `BINDER.bind(flow, site)`, which ends where the user's call does.
fn method_bind(
    binder: &TokenStream,
    ours: &OurCall,
    flow: &impl ToTokens,
    site: &TokenStream,
    (_, last): (Span, Span),
) -> TokenStream {
    let span = Span::mixed_site().located_at(ours.span);
    let arguments = parenthesised(quote_spanned!(span=> #flow, #site), last);
    let bind = Ident::new("bind", ours.span);
    quote_spanned!(span=> #binder.#bind #arguments)
}

/// The kind of call that goes by `name`.
pub(super) fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "ask_user" => Kind::Ask,
        "sleep" | "sleep_until" => Kind::Timer,
        "cancelled" => Kind::Cancelled,
        "step" | "step_value" => Kind::Step,
        "join_all" => Kind::JoinAll,
        "set_status" | "report_progress" | "set_ttl" | "extend_ttl" | "task_id" => Kind::Status,
        _ => return None,
    })
}

/// What the expressions around a call say about it.
#[derive(Default)]
pub(super) struct Spine {
    binding: Option<String>,
    /// `.key("..")`
    literal: Option<LitStr>,
    /// `.key(..)` of something that is known at run time only.
    at_run_time: bool,
    /// The call is the value of a `join_all` closure.
    each: bool,
}

impl Spine {
    pub(super) fn bound_to(binding: Option<String>) -> Self {
        Self {
            binding,
            ..Self::default()
        }
    }

    /// Notes `.key(..)`.
    fn note_key(&mut self, call: &ExprMethodCall) {
        if call.method != "key" || call.args.len() != 1 {
            return;
        }
        match &call.args[0] {
            Expr::Lit(ExprLit {
                lit: Lit::Str(literal),
                ..
            }) => self.literal = Some(literal.clone()),
            _ => self.at_run_time = true,
        }
    }

    /// What still holds of the call once its value is awaited.
    pub(super) fn before_await(self) -> Self {
        Self {
            literal: None,
            at_run_time: false,
            ..self
        }
    }

    /// The value of a closure of `join_all`, under the key of the whole.
    pub(super) fn each(key: &str) -> Self {
        Self {
            binding: Some(key.to_owned()),
            each: true,
            ..Self::default()
        }
    }
}

impl Rewriter<'_> {
    /// Follows `?`, `.await`, receivers and parentheses down to a call.
    pub(super) fn spine(&mut self, expr: &mut Expr, mut spine: Spine) {
        match expr {
            Expr::Await(inner) if is_await_of_join(inner) => {
                self.report
                    .error(inner.await_token.span, messages::TASK_AWAIT_AFTER_JOIN);
                *expr = (*inner.base).clone();
                self.spine(expr, spine);
            }
            Expr::Await(inner) => self.expr_await(inner, spine),
            Expr::Try(inner) => {
                self.refuse_ask_not_awaited(&mut inner.expr);
                let unfinished = self.suspending_call_below(&inner.expr).is_some();
                let ends = ends(&inner.expr);
                self.spine(&mut inner.expr, spine);
                if unfinished {
                    *inner.expr = self.finished(&inner.expr.to_token_stream(), ends);
                }
                if self.place.argument.is_some() {
                    let span = inner.question_token.spans[0];
                    self.report.error(span, messages::STEP_QUESTION_MARK);
                    let value = &inner.expr;
                    *expr = Expr::Verbatim(quote_spanned!(span=> #value.unwrap()));
                }
            }
            Expr::Paren(inner) => self.spine(&mut inner.expr, spine),
            Expr::Group(inner) => self.spine(&mut inner.expr, spine),
            Expr::MethodCall(call) => {
                spine.note_key(call);
                self.spine(&mut call.receiver, spine);
                self.arguments(call.method == "spawn", call.args.iter_mut());
            }
            Expr::Call(call) => match self.our_call(call) {
                Some(ours) => *expr = Expr::Verbatim(self.bind(call, &ours, &spine)),
                None => self.foreign_call(call),
            },
            Expr::Macro(_) => self.expr_macro(expr),
            // No spine: an expression like any other.
            other => syn::visit_mut::VisitMut::visit_expr_mut(self, other),
        }
    }

    /// Recognises a call by the last segment of its path.
    pub(super) fn our_call(&self, call: &ExprCall) -> Option<OurCall> {
        let Expr::Path(function) = &*call.func else {
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
        let first = &segments[0].ident;
        Some(OurCall {
            kind,
            name,
            span: last.ident.span(),
            plain: segments.len() == 1
                || first == "mcp_tasks"
                || self.krate.as_ref() == Some(first),
        })
    }

    /// A call that is not ours: its parts, and what it does on a replay.
    fn foreign_call(&mut self, call: &mut ExprCall) {
        let mut spawns = false;
        if let Expr::Path(function) = &*call.func {
            self.refuse_unrepeatable(&function.path);
            spawns = function
                .path
                .segments
                .last()
                .is_some_and(|last| last.ident.to_string().starts_with("spawn"));
        } else {
            syn::visit_mut::VisitMut::visit_expr_mut(self, &mut call.func);
        }
        self.arguments(spawns, call.args.iter_mut());
    }

    fn arguments<'e>(&mut self, spawned: bool, arguments: impl Iterator<Item = &'e mut Expr>) {
        let place = Place {
            spawned,
            ..self.place
        };
        self.at(place, |this| {
            for argument in arguments {
                syn::visit_mut::VisitMut::visit_expr_mut(this, argument);
            }
        });
    }

    /// Binds a call of ours to the task.
    fn bind(&mut self, call: &mut ExprCall, ours: &OurCall, spine: &Spine) -> TokenStream {
        self.refuse_here(ours);
        match ours.kind {
            Kind::Status => {
                self.arguments(false, call.args.iter_mut());
                let key = &ours.name;
                let site = self.site(ours, key);
                // Status belongs to the task, not to a branch of it.
                self.bound(call, ours, &flow_ident(), &site)
            }
            Kind::Step => self.bind_step(call, ours, spine),
            Kind::JoinAll => self.bind_join_all(call, ours, spine.binding.as_deref()),
            Kind::Ask | Kind::Timer | Kind::Cancelled => {
                let derived = spine.binding.clone().unwrap_or_else(|| match ours.kind {
                    Kind::Ask => answer_type(call).unwrap_or_else(|| "answer".to_owned()),
                    Kind::Timer => "sleep".to_owned(),
                    _ => ours.name.clone(),
                });
                let key = self.take_key(ours, spine, derived);
                self.arguments(false, call.args.iter_mut());
                let site = self.site(ours, &key);
                let flow = self.use_flow();
                self.bound(call, ours, &flow, &site)
            }
        }
    }

    fn bind_step(&mut self, call: &mut ExprCall, ours: &OurCall, spine: &Spine) -> TokenStream {
        let function = call
            .args
            .first()
            .map_or_else(|| "block".to_owned(), called_function);
        let derived = spine.binding.clone().unwrap_or_else(|| function.clone());
        let key = self.take_key(ours, spine, derived);
        let place = Place {
            suspend: Suspend::Step,
            replayed: false,
            spawned: false,
            argument: Some(0),
        };
        self.at(place, |this| {
            for argument in &mut call.args {
                syn::visit_mut::VisitMut::visit_expr_mut(this, argument);
            }
        });
        let mut site = self.site(ours, &key);
        let span = Span::mixed_site().located_at(ours.span);
        site.extend(quote_spanned!(span=> .function(#function)));
        let flow = self.use_flow();
        let ends = ends(&call);
        let (binder, argument) = if spine.each {
            // Evaluated where it is written, as the closure's parameters do
            // not outlive it, and still only if nothing is recorded.
            ("BindHere", quote_spanned!(span=> || #call))
        } else {
            // An `async` block evaluates nothing until it is polled, and keeps
            // what the argument borrows alive until the step is done.
            let evaluated = self.call("Bind", call.to_token_stream(), ends);
            (
                "BindLazy",
                quote_spanned!(span=> async { #evaluated.evaluated().await }),
            )
        };
        let binder = self.call(binder, argument, ends);
        method_bind(&binder, ours, &flow, &site, ends)
    }

    /// `Bind(CALL).bind(flow, site)`.
    pub(super) fn bound(
        &self,
        call: &impl ToTokens,
        ours: &OurCall,
        flow: &impl ToTokens,
        site: &TokenStream,
    ) -> TokenStream {
        let ends = ends(call);
        let binder = self.call("Bind", call.to_token_stream(), ends);
        method_bind(&binder, ours, flow, site, ends)
    }

    /// `Site::new("key")`, at the call's place in the code.
    pub(super) fn site(&self, ours: &OurCall, key: &str) -> TokenStream {
        let runtime = self.runtime_at(ours.span);
        let span = Span::mixed_site().located_at(ours.span);
        let key = LitStr::new(key, span);
        quote_spanned!(span=> #runtime::Site::new(#key))
    }

    /// What the current call is bound to.
    pub(super) fn use_flow(&mut self) -> syn::Ident {
        self.flow_used = true;
        self.flow.clone()
    }

    /// The key of a site, taken in its scope.
    fn take_key(&mut self, ours: &OurCall, spine: &Spine, derived: String) -> String {
        let (key, span) = match &spine.literal {
            Some(literal) => (literal.value(), literal.span()),
            None => (derived, ours.span),
        };
        if let Some(literal) = &spine.literal
            && let Some(message) = check_literal(&key)
        {
            self.report.error(literal.span(), message);
            return key;
        }
        // A call by some other path may be the user's own, which has no key.
        if !spine.at_run_time && ours.plain {
            self.keys.take(&self.scope, &key, span, self.report);
        }
        key
    }

    /// Reports a suspending call where a task cannot suspend.
    fn refuse_here(&self, ours: &OurCall) {
        if !ours.suspends() || !ours.plain {
            return;
        }
        if ours.kind == Kind::Cancelled && !self.cancel_grace {
            self.report
                .error(ours.span, messages::CANCELLED_WITHOUT_GRACE);
        }
        self.refuse_suspending(&format!("{}(..)", ours.name), ours.span);
    }

    /// Reports `what` where a task cannot suspend; true if it was reported.
    pub(super) fn refuse_suspending(&self, what: &str, span: Span) -> bool {
        let message = match self.place.suspend {
            Suspend::Here if self.place.spawned => messages::in_spawn(what),
            Suspend::Here => return false,
            Suspend::Closure => messages::in_closure(what),
            Suspend::AsyncBlock => messages::in_async_block(what),
            Suspend::Spawned => messages::in_spawn(what),
            Suspend::Step => messages::in_step(what),
        };
        self.report.error(span, message);
        true
    }
}
