//! Calls of flows, functions marked `#[mcp_task_flow]`: they may have any name,
//! so that only the type of what is awaited says whether it is one.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::{Expr, ExprCall, ExprMethodCall, LitStr};

use super::awaits::{ends, parenthesised};
use super::calls::{is_run_time_key, key_literal_of};
use super::{Rewriter, Suspend};
use crate::task::keys::{called_function, check_literal, unraw};

/// What is awaited, and the key that it has if it is a flow.
pub(super) struct Awaited {
    key: String,
    /// Whether no other flow may have the key, as far as can be seen here: not
    /// where a key takes its place when it runs, nor where what is awaited is
    /// often no flow. The rest is found when it runs.
    is_taken: bool,
    ends: (Span, Span),
}

impl Rewriter<'_> {
    /// Looks at what is awaited, before it is rewritten; `None` if it is no flow.
    pub(super) fn awaited(&self, expr: &Expr, binding: Option<&str>) -> Option<Awaited> {
        let ours = self.suspending_call_below(expr).is_some();
        if ours || self.place.suspend != Suspend::Here {
            return None;
        }
        let (call, explicit) = without_key(expr);
        let is_call = matches!(call, Expr::Call(_) | Expr::MethodCall(_));
        let is_taken = self.rules.replayable && is_call && !matches!(explicit, Explicit::AtRunTime);
        let key = match (explicit, binding) {
            (Explicit::Literal(literal), _) => {
                if let Some(message) =
                    check_literal(&literal.value()).filter(|_| self.rules.replayable)
                {
                    self.report.error(literal.span(), message);
                }
                literal.value()
            }
            (_, Some(binding)) => binding.to_owned(),
            (_, None) => called_function(call),
        };
        let ends = ends(expr);
        Some(Awaited {
            key,
            is_taken,
            ends,
        })
    }

    /// `BindFlow(expr).bind(flow, site, place)`, which gives back what is no
    /// flow.
    pub(super) fn bind_flow(&mut self, expr: &Expr, awaited: &Awaited) -> TokenStream {
        let Awaited { key, ends, .. } = awaited;
        let is_new = !awaited.is_taken || self.keys.take_scope(&self.scope, key);
        self.joins += 1;
        let place = self.joins;
        let flow = self.use_flow();
        let binder = self.call("BindFlow", expr.to_token_stream(), *ends);
        let (first, last) = *ends;
        let span = Span::mixed_site().located_at(first);
        let runtime = self.runtime_at(first);
        let site = LitStr::new(key, span);
        let arguments = quote_spanned!(span=> #flow, #runtime::Site::new(#site), #place);
        let arguments = parenthesised(arguments, last);
        let bind = Ident::new(if is_new { "bind" } else { "bind_again" }, first);
        quote_spanned!(first=> #binder.#bind #arguments)
    }

    /// Whether a value that is dropped or put to `?` is written like the call of
    /// a flow. To be asked before it is rewritten.
    pub(super) fn may_be_unawaited_flow(&self, expr: &Expr) -> bool {
        self.place.suspend == Suspend::Here && self.may_be_flow(expr)
    }

    /// Whether an expression is written as the call of a flow usually is: of a
    /// function by its name, or of a method of `self`.
    fn may_be_flow(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(inner) => self.may_be_flow(&inner.expr),
            Expr::Group(inner) => self.may_be_flow(&inner.expr),
            Expr::Call(call) => is_function(call) && self.our_call(call).is_none(),
            Expr::MethodCall(call) if call.method == "key" || is_timeout(call) => {
                self.may_be_flow(&call.receiver)
            }
            Expr::MethodCall(call) => is_self(&call.receiver),
            _ => false,
        }
    }
}

/// `expr.__dropped()`, which refuses a flow by its type, and gives back anything
/// else; a method of the value itself, as a function that never returns has none
/// to hand on.
pub(super) fn dropped(expr: &Expr) -> Expr {
    let (first, last) = ends(expr);
    let method = Ident::new("__dropped", first);
    let nothing = parenthesised(TokenStream::new(), last);
    Expr::Verbatim(quote_spanned!(first=> #expr.#method #nothing))
}

/// The key that a call is given by `.key(..)`.
enum Explicit<'e> {
    None,
    Literal(&'e LitStr),
    AtRunTime,
}

/// The expression before `.key(..)` and `.timeout(..)`, and the key.
fn without_key(expr: &Expr) -> (&Expr, Explicit<'_>) {
    match expr {
        Expr::Paren(inner) => without_key(&inner.expr),
        Expr::Group(inner) => without_key(&inner.expr),
        Expr::MethodCall(call) => match key_literal_of(call) {
            Some(literal) => (&call.receiver, Explicit::Literal(literal)),
            None if is_run_time_key(call) => (&call.receiver, Explicit::AtRunTime),
            None if is_timeout(call) => without_key(&call.receiver),
            None => (expr, Explicit::None),
        },
        _ => (expr, Explicit::None),
    }
}

fn is_timeout(call: &ExprMethodCall) -> bool {
    call.method == "timeout" && call.args.len() == 1
}

fn is_function(call: &ExprCall) -> bool {
    let Expr::Path(function) = &*call.func else {
        return false;
    };
    let name = function.path.segments.last().map(|last| unraw(&last.ident));
    // `drop(guard);` is written often, and is no flow.
    name.is_some_and(|name| name.starts_with(char::is_lowercase) && name != "drop")
}

fn is_self(receiver: &Expr) -> bool {
    matches!(receiver, Expr::Path(path) if path.path.is_ident("self"))
}
