//! Calls of ours that are handed to what cannot take them, or written the way
//! other libraries have it. Each is refused once, and read as it was meant.

use proc_macro2::{Ident, Span};
use quote::{ToTokens as _, quote_spanned};
use syn::visit::{self, Visit};
use syn::visit_mut::VisitMut as _;
use syn::{Expr, ExprAwait, ExprCall, ExprMethodCall, Lit};

use super::awaits::ends;
use super::ours::{Kind, OurCall, is_common};
use super::{Rewriter, Suspend, anything};
use crate::literal::literal;
use crate::task::keys::unraw;
use crate::task::messages;
use crate::task::methods::method_body_ident;

/// Libraries that wait for several futures in their own way.
const LIBRARIES: [&str; 4] = ["tokio", "futures", "futures_util", "futures_lite"];

/// Whether a method says more about a call of ours, before it is awaited.
pub(super) fn says_more(method: &Ident) -> bool {
    const METHODS: [&str; 6] = [
        "key",
        "timeout",
        "any_wording",
        "optional",
        "typed",
        "at_most_once",
    ];
    METHODS.iter().any(|name| method == name)
}

impl Rewriter<'_> {
    /// Whether a function of another library is to wait for calls of ours.
    pub(super) fn is_foreign_wait(&self, call: &ExprCall) -> bool {
        self.place.suspend == Suspend::Here
            && self.rules.replayable
            && foreign_wait(call).is_some()
            && call.args.iter().any(|argument| self.has_ours(argument))
    }

    pub(super) fn refuse_foreign_wait(&mut self, call: &mut ExprCall) {
        if let Some((path, instead)) = foreign_wait(call) {
            self.report
                .error_spanned(&call.func, messages::foreign_wait(&path, instead));
        }
        let outer = std::mem::replace(&mut self.is_refused, true);
        for argument in &mut call.args {
            self.visit_expr_mut(argument);
        }
        self.is_refused = outer;
    }

    /// Whether there is something in an expression that suspends.
    fn has_ours(&self, expr: &Expr) -> bool {
        struct Found<'r, 'a>(&'r Rewriter<'a>, bool);
        impl<'ast> Visit<'ast> for Found<'_, '_> {
            fn visit_expr_call(&mut self, call: &'ast ExprCall) {
                let ours = self.0.our_call(call);
                self.1 |= ours.is_some_and(|ours| ours.plain && ours.suspends());
                visit::visit_expr_call(self, call);
            }
        }
        let mut found = Found(self, false);
        found.visit_expr(expr);
        found.1
    }

    /// Whether a step is handed something that the task itself waits for.
    pub(super) fn has_ours_as_step(&self, call: &ExprCall) -> bool {
        let is_step = |ours: OurCall| ours.kind == Kind::Step && ours.plain;
        self.place.suspend == Suspend::Here
            && self.our_call(call).is_some_and(is_step)
            && self.ours_as_step(call).is_some()
    }

    /// Reports it, and gives what the step was handed.
    pub(super) fn refuse_ours_as_step(&mut self, call: &ExprCall) -> Expr {
        let Some((inner, ours)) = self.ours_as_step(call) else {
            return Expr::Call(call.clone());
        };
        let message = messages::in_step(&format!("{}(..)", ours.name));
        self.report.error(ours.span, message);
        inner.clone()
    }

    fn ours_as_step<'e>(&self, call: &'e ExprCall) -> Option<(&'e Expr, OurCall)> {
        let mut inner = call.args.last()?;
        if let Expr::Closure(closure) = inner {
            inner = &closure.body;
        }
        let Expr::Call(found) = self.suspending_call_below(inner)?.0 else {
            return None;
        };
        let ours = self.our_call(found)?;
        // The others give no `Result`, as a step is expected to.
        matches!(ours.kind, Kind::Ask | Kind::Signal | Kind::Step).then_some((inner, ours))
    }

    /// Reports a step's arguments that are written as elsewhere, and puts them
    /// as they should be.
    pub(super) fn mend_arguments(&self, call: &mut ExprCall, ours: &OurCall) {
        if !ours.plain {
            return;
        }
        let is_closure = |index: usize| matches!(call.args.get(index), Some(Expr::Closure(_)));
        if ours.name == "step_with" {
            if call.args.len() == 2 && is_closure(0) && !is_closure(1) {
                self.report
                    .error_spanned(&call.args[1], messages::POLICY_FIRST);
                call.args = call.args.iter().rev().cloned().collect();
            }
            return;
        }
        if call.args.len() != 2 {
            return;
        }
        let Some(Lit::Str(name)) = literal(&call.args[0]) else {
            return;
        };
        let message = messages::step_named(&ours.name, &name.value());
        self.report.error(name.span(), message);
        let future = match &call.args[1] {
            Expr::Closure(closure) if closure.asyncness.is_some() => {
                let body = &closure.body;
                syn::parse_quote!(async { #body })
            }
            Expr::Closure(closure) => (*closure.body).clone(),
            other => other.clone(),
        };
        call.args = std::iter::once(future).collect();
    }

    /// Reports an `.await` after a call of ours that gives its value at once.
    pub(super) fn refuse_await_of_value(&self, awaited: &ExprAwait) -> bool {
        let Expr::Call(call) = &*awaited.base else {
            return false;
        };
        let Some(ours) = self.our_call(call) else {
            return false;
        };
        if ours.suspends() || !ours.plain || is_common(&ours.name) {
            return false;
        }
        let message = messages::nothing_to_await(&ours.name);
        self.report.error(awaited.await_token.span, message);
        true
    }

    /// Reports `.key(..)` and the like behind the `.await`.
    pub(super) fn refuse_after_await(&self, call: &ExprMethodCall) -> bool {
        let Expr::Await(awaited) = &*call.receiver else {
            return false;
        };
        let below = self.suspending_call_below(&awaited.base);
        // These give a `Result`, which has no such methods.
        let gives_result =
            below.is_some_and(|(_, name)| ["ask_user", "step", "step_with"].contains(&&*name));
        if !gives_result || !says_more(&call.method) {
            return false;
        }
        let message = messages::before_await(&call.method.to_string());
        self.report.error(call.method.span(), message);
        true
    }

    /// Reports an `.await` where a branch is to be waited for, and takes it away.
    pub(super) fn refuse_await_of_branch(&self, expr: Expr) -> Expr {
        match expr {
            Expr::Await(awaited) => {
                self.report
                    .error(awaited.await_token.span, messages::BRANCH_AWAIT);
                *awaited.base
            }
            Expr::Try(tried) if matches!(*tried.expr, Expr::Await(_)) => {
                self.refuse_await_of_branch(*tried.expr)
            }
            other => other,
        }
    }

    /// Whether a method of `self` is a tool.
    pub(super) fn is_tool(&self, call: &ExprMethodCall) -> bool {
        let is_self = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self"));
        is_self && self.rules.tools.contains(&call.method)
    }

    /// Reports it, and has the tool's body waited for, as was meant.
    pub(super) fn refuse_tool(&self, call: &ExprMethodCall) -> Expr {
        let name = call.method.to_string();
        self.report
            .error(call.method.span(), messages::tool_called(&name));
        let (runtime, this, arguments) = (&self.runtime, &call.receiver, &call.args);
        let (body, flow) = (method_body_ident(&call.method), anything());
        Expr::Verbatim(quote_spanned! {Span::mixed_site()=>
            #runtime::branch(Self::#body(#this, #flow, #arguments))
        })
    }

    /// Reports a question that is a condition without having been asked.
    pub(super) fn refuse_condition_not_awaited(&self, expr: &mut Expr) {
        let condition = match expr {
            Expr::Unary(not) => &mut *not.expr,
            other => other,
        };
        if self.refuse_ask_not_awaited(condition) && matches!(condition, Expr::Await(_)) {
            let answer = quote_spanned!(Span::mixed_site()=> (#condition).unwrap());
            if let Ok(answer) = syn::parse2(answer) {
                *condition = answer;
            }
        }
    }

    /// What awaiting would give, where it is impossible and has been refused.
    pub(super) fn never_awaited(&self, expr: &Expr) -> Expr {
        let ends = ends(expr);
        Expr::Verbatim(self.call("never_awaited", expr.to_token_stream(), ends))
    }
}

/// A function of another library that waits, and what there is in its place.
fn foreign_wait(call: &ExprCall) -> Option<(String, &'static str)> {
    let Expr::Path(function) = &*call.func else {
        return None;
    };
    let segments = &function.path.segments;
    let library = &segments.first()?.ident;
    if !LIBRARIES.iter().any(|name| library == name) {
        return None;
    }
    let last = unraw(&segments.last()?.ident);
    let instead = match last.as_str() {
        "join" | "join3" | "join4" | "join5" => "`join!(..)` of mcp_tasks",
        "try_join" | "try_join3" | "try_join4" | "try_join5" => "`try_join!(..)` of mcp_tasks",
        "join_all" | "try_join_all" => "`join_all(..)` of mcp_tasks",
        "select" | "select_all" | "select_ok" | "race" => "`race!(..)` of mcp_tasks",
        "timeout" | "timeout_at" => "`.timeout(..)` of a question, a signal or a flow",
        "block_on" => "`.await`",
        _ => return None,
    };
    let path = function.path.to_token_stream().to_string().replace(' ', "");
    Some((path, instead))
}
