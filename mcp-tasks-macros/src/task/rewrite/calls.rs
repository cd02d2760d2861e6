//! Calls of ours: how they are found, keyed and bound.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, ExprCall, ExprLit, ExprMethodCall, Lit, LitStr};

use super::awaits::{ends, is_await_of_join, parenthesised};
use super::ours::{Kind, OurCall};
use super::{Place, Rewriter, Suspend, flow_ident};
use crate::task::keys::{asked_for, check_literal};
use crate::task::messages;

/// `BINDER.bind(flow, site)`, which ends where the user's call does.
pub(super) fn method_bind(
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

/// What the expressions around a call say about it.
#[derive(Default)]
pub(super) struct Spine {
    pub(super) binding: Option<String>,
    /// `.key("..")`
    literal: Option<LitStr>,
    /// `.key(..)` of something that is known at run time only.
    pub(super) at_run_time: bool,
    /// The call is the value of a `join_all` closure.
    pub(super) each: bool,
}

/// Whether `.key(..)` is called with something that is no literal.
pub(super) fn is_run_time_key(call: &ExprMethodCall) -> bool {
    is_key(call) && key_literal(call).is_none()
}

/// The literal of `.key("..")`.
pub(super) fn key_literal_of(call: &ExprMethodCall) -> Option<&LitStr> {
    key_literal(call).filter(|_| is_key(call))
}

fn is_key(call: &ExprMethodCall) -> bool {
    call.method == "key" && call.args.len() == 1
}

fn key_literal(call: &ExprMethodCall) -> Option<&LitStr> {
    match call.args.first() {
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(literal),
            ..
        })) => Some(literal),
        _ => None,
    }
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
        match key_literal(call) {
            _ if !is_key(call) => {}
            Some(literal) => self.literal = Some(literal.clone()),
            None => self.at_run_time = true,
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
            Expr::Await(inner) if self.refuse_await_of_value(inner) => {
                *expr = (*inner.base).clone();
                self.spine(expr, spine);
            }
            Expr::Await(inner) => {
                let refusals = self.refusals;
                let is_ours = self.suspending_call_below(&inner.base).is_some();
                self.expr_await(inner, spine);
                if is_ours && self.refusals > refusals && self.place.suspend == Suspend::Closure {
                    *expr = self.never_awaited(&inner.base);
                }
            }
            Expr::Try(inner) => {
                self.refuse_ask_not_awaited(&mut inner.expr);
                let unfinished = self.suspending_call_below(&inner.expr).is_some();
                let ends = ends(&inner.expr);
                let may_be_flow = self.may_be_unawaited_flow(&inner.expr);
                self.spine(&mut inner.expr, spine);
                if unfinished || may_be_flow {
                    *inner.expr = self.finished(&inner.expr.to_token_stream(), ends);
                }
                if self.is_in_step_argument() {
                    let span = inner.question_token.spans[0];
                    self.report.error(span, messages::STEP_QUESTION_MARK);
                    let value = &inner.expr;
                    *expr = Expr::Verbatim(quote_spanned!(span=> #value.unwrap()));
                }
            }
            Expr::Field(inner) if self.suspending_call_below(&inner.base).is_some() => {
                self.spine(&mut inner.base, spine);
            }
            Expr::Paren(inner) => self.spine(&mut inner.expr, spine),
            Expr::Group(inner) => self.spine(&mut inner.expr, spine),
            Expr::MethodCall(call) if self.is_tool(call) => *expr = self.refuse_tool(call),
            Expr::MethodCall(call) if self.refuse_after_await(call) => {
                *expr = (*call.receiver).clone();
                self.spine(expr, spine);
            }
            Expr::MethodCall(call) => {
                spine.note_key(call);
                self.spine(&mut call.receiver, spine);
                self.arguments(call.method == "spawn", call.args.iter_mut());
            }
            Expr::Call(call) if self.is_foreign_wait(call) => self.refuse_foreign_wait(call),
            Expr::Call(call) if self.has_ours_as_step(call) => {
                *expr = self.refuse_ours_as_step(call);
                self.spine(expr, spine);
            }
            Expr::Call(call) => match self.our_call(call) {
                Some(mut ours) => {
                    if let (false, Expr::Path(function)) = (ours.plain, &*call.func) {
                        self.refuse_unrepeatable(&function.path);
                    }
                    // What is refused takes no key from what is not.
                    ours.plain &= !self.refuse_here(&ours);
                    *expr = Expr::Verbatim(self.bind(call, &ours, &spine));
                }
                None => self.foreign_call(call),
            },
            Expr::Macro(_) => self.expr_macro(expr),
            // No spine: an expression like any other.
            other => syn::visit_mut::VisitMut::visit_expr_mut(self, other),
        }
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
        match ours.kind {
            Kind::Status | Kind::Patched | Kind::StepKey => {
                self.arguments(false, call.args.iter_mut());
                let key = &ours.name;
                let site = self.site(ours, key);
                // They belong to the task, not to a branch of it.
                self.bound(call, ours, &flow_ident(), &site)
            }
            Kind::Draw => {
                self.arguments(false, call.args.iter_mut());
                // Its keys are not those of the journal: several sites may
                // share one.
                let key = spine.binding.as_ref().unwrap_or(&ours.name);
                let site = self.site(ours, key);
                self.bound(call, ours, &flow_ident(), &site)
            }
            Kind::Signal => {
                self.found.waits_long |= ours.plain;
                self.arguments(false, call.args.iter_mut());
                let site = self.site(ours, &ours.name);
                let flow = self.use_flow();
                self.bound(call, ours, &flow, &site)
            }
            Kind::Step => self.bind_step(call, ours, spine),
            Kind::Unrecorded => self.bind_unrecorded(call, ours, spine),
            Kind::JoinAll => self.bind_join_all(call, ours, spine.binding.as_deref()),
            Kind::Ask | Kind::Timer | Kind::Cancelled | Kind::Start => {
                self.found.waits_long |= ours.plain && ours.kind == Kind::Timer;
                let derived = spine.binding.clone().unwrap_or_else(|| match ours.kind {
                    Kind::Ask => asked_for(call, &ours.name),
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
    pub(super) fn take_key(&mut self, ours: &OurCall, spine: &Spine, derived: String) -> String {
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
}
