//! Steps and `unrecorded` futures: what runs inside them is their own affair,
//! and no part of the task's way through its body.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::visit_mut::VisitMut as _;
use syn::{Expr, ExprAwait, ExprCall, ExprMethodCall};

use super::awaits::{ends, parenthesised};
use super::calls::{Spine, is_run_time_key};
use super::ours::{Kind, OurCall};
use super::{Place, Rewriter, Suspend};
use crate::task::keys::called_function;

impl Rewriter<'_> {
    pub(super) fn bind_step(
        &mut self,
        call: &mut ExprCall,
        ours: &OurCall,
        spine: &Spine,
    ) -> TokenStream {
        self.mend_arguments(call, ours);
        let function = called_by(call, ours);
        let derived = spine.binding.clone().unwrap_or_else(|| function.clone());
        let key = self.take_key(ours, spine, derived);
        self.visit_leaf(call, Suspend::Step);
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
        if spine.each && spine.at_run_time {
            let key = run_time_key();
            let arguments = quote_spanned!(span=> #flow, #site, &#key);
            let arguments = parenthesised(arguments, ends.1);
            let bind = Ident::new("bind_keyed", ours.span);
            return quote_spanned!(span=> #binder.#bind #arguments);
        }
        super::calls::method_bind(&binder, ours, &flow, &site, ends)
    }

    /// An `unrecorded` future is evaluated where it stands: it runs again
    /// whenever its function does.
    pub(super) fn bind_unrecorded(
        &mut self,
        call: &mut ExprCall,
        ours: &OurCall,
        spine: &Spine,
    ) -> TokenStream {
        let function = called_by(call, ours);
        let key = self.take_key(ours, spine, spine.binding.clone().unwrap_or(function));
        self.visit_leaf(call, Suspend::Unrecorded);
        let site = self.site(ours, &key);
        let flow = self.use_flow();
        self.bound(call, ours, &flow, &site)
    }

    /// Visits the arguments of a call inside of which a task cannot suspend.
    fn visit_leaf(&mut self, call: &mut ExprCall, suspend: Suspend) {
        let place = Place {
            suspend,
            replayed: false,
            spawned: false,
            argument: Some(0),
            ..self.place
        };
        self.at(place, |this| {
            for argument in &mut call.args {
                if let Some(awaited) = awaited(argument) {
                    this.refuse_await_in_argument(awaited);
                    // Without it, the argument is what it should be.
                    *argument = (*awaited.base).clone();
                }
                this.visit_expr_mut(argument);
            }
        });
    }

    /// Takes the key that a step in a closure of `join_all` gets at run time
    /// out of `.key(..)`, which goes on to name it.
    ///
    /// It must be known before the step's argument is evaluated, which it is
    /// not if the key has a result.
    pub(super) fn take_run_time_key(&mut self, expr: &mut Expr) -> Option<Expr> {
        let (_, name) = self.suspending_call_below(expr)?;
        if super::ours::kind(&name) != Some(Kind::Step) {
            return None;
        }
        let call = run_time_key_call(expr)?;
        let key = run_time_key();
        let mut argument = std::mem::replace(&mut call.args[0], syn::parse_quote!(#key));
        let place = self.nested(false);
        self.at(place, |this| this.visit_expr_mut(&mut argument));
        Some(argument)
    }
}

/// The `.await` that an argument ends with, if need be before a `?`, which is
/// gone when the `.await` is.
fn awaited(argument: &Expr) -> Option<&ExprAwait> {
    match argument {
        Expr::Await(awaited) => Some(awaited),
        Expr::Try(tried) => awaited(&tried.expr),
        Expr::Paren(inner) => awaited(&inner.expr),
        Expr::Group(inner) => awaited(&inner.expr),
        _ => None,
    }
}

/// The name of a key that is known at run time only.
fn run_time_key() -> Ident {
    Ident::new("__key", Span::mixed_site())
}

/// Puts a chain of calls where its key is known.
pub(super) fn with_run_time_key(key: &Expr, chain: &Expr) -> Expr {
    let name = run_time_key();
    Expr::Verbatim(quote_spanned!(Span::mixed_site()=> match #key { #name => #chain }))
}

/// The outermost `.key(..)` of a chain, if its argument is no literal.
fn run_time_key_call(expr: &mut Expr) -> Option<&mut ExprMethodCall> {
    match expr {
        Expr::MethodCall(call) => {
            if is_run_time_key(call) {
                Some(call)
            } else {
                run_time_key_call(&mut call.receiver)
            }
        }
        Expr::Paren(inner) => run_time_key_call(&mut inner.expr),
        Expr::Group(inner) => run_time_key_call(&mut inner.expr),
        _ => None,
    }
}

/// The function that a step calls: in its argument, or in the closure behind
/// the policy.
fn called_by(call: &ExprCall, ours: &OurCall) -> String {
    let argument = usize::from(ours.name == "step_with");
    match call.args.get(argument) {
        Some(Expr::Closure(attempt)) => called_function(&attempt.body),
        Some(argument) => called_function(argument),
        None => "block".to_owned(),
    }
}
