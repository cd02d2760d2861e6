//! `.await`, and what should have had one.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, ExprAwait};

use super::branches::our_join;
use super::calls::Spine;
use super::misplaced::says_more;
use super::{Place, Rewriter, Suspend, messages};

impl Rewriter<'_> {
    pub(super) fn expr_await(&mut self, expr: &mut ExprAwait, spine: Spine) {
        self.refuse_await_in_argument(expr);
        let is_refused = matches!(&*expr.base, Expr::Call(call) if self.is_foreign_wait(call));
        let awaited = self.awaited(&expr.base, spine.binding.as_deref());
        // `.key(..)` after the await is a method of the answer.
        let spine = spine.before_await();
        let ends = ends(&expr.base);
        let place = Place {
            spawned: false,
            ..self.place
        };
        self.at(place, |this| this.spine(&mut expr.base, spine));
        if let Some(awaited) = awaited {
            *expr.base = Expr::Verbatim(self.bind_flow(&expr.base, &awaited));
        }
        if self.place.suspend == Suspend::Here && self.rules.replayable && !is_refused {
            let base = expr.base.to_token_stream();
            *expr.base = Expr::Verbatim(self.durable(base, ends));
        }
    }

    /// Reports an `.await` where the future itself is wanted.
    pub(super) fn refuse_await_in_argument(&self, expr: &ExprAwait) {
        if self.place.argument.is_some() {
            let message = match self.place.suspend {
                Suspend::Unrecorded => messages::UNRECORDED_AWAIT,
                _ => messages::STEP_AWAIT,
            };
            self.report.error(expr.await_token.span, message);
        }
    }

    /// `durable(expr)`, which takes durable futures only.
    pub(super) fn durable(&self, expr: TokenStream, ends: (Span, Span)) -> TokenStream {
        self.call("durable", expr, ends)
    }

    /// A call of the runtime's `function`.
    ///
    /// It is given the place of the user's expression, from its first token to
    /// its last. What rustc has to say of the call then lies on what it says
    /// of the argument, and is said once.
    pub(super) fn call(
        &self,
        function: &str,
        argument: TokenStream,
        (first, last): (Span, Span),
    ) -> TokenStream {
        let runtime = &self.runtime;
        let function = Ident::new(function, first);
        let callee: TokenStream = quote_spanned!(first=> #runtime::#function)
            .into_iter()
            .map(|mut token| {
                token.set_span(first);
                token
            })
            .collect();
        let argument = parenthesised(argument, last);
        quote_spanned!(first=> #callee #argument)
    }

    /// Reports an ask, a step or a timer that a statement drops; true if it is
    /// one.
    pub(super) fn refuse_not_awaited(&self, expr: &mut Expr) -> bool {
        if self.place.suspend != Suspend::Here || self.place.spawned {
            return false;
        }
        let Some((call, name)) = self.suspending_call_below(expr) else {
            return false;
        };
        // What has a field there is still being typed.
        if has_field(expr) {
            return false;
        }
        self.report
            .error_spanned(call, messages::not_awaited(&format!("{name}(..)")));
        await_here(expr);
        true
    }

    /// The same for an ask whose answer is used at once, by `?` or `match`.
    ///
    /// Only an ask: a user's own `step(..)?` is not told from ours here.
    pub(super) fn refuse_ask_not_awaited(&self, expr: &mut Expr) -> bool {
        let below = self.suspending_call_below(expr);
        let is_ask = |name: &str| matches!(name, "ask_user" | "ask_user_url" | "ask_model");
        below.is_some_and(|(_, name)| is_ask(&name)) && self.refuse_not_awaited(expr)
    }

    /// `Unawaited(expr).finished()` for what `?` is put to: a step is refused
    /// by its type, and anything else is given back.
    pub(super) fn finished(&self, expr: &TokenStream, ends: (Span, Span)) -> Expr {
        let value = self.call("Unawaited", expr.clone(), ends);
        let finished = Ident::new("finished", ends.0);
        let nothing = parenthesised(TokenStream::new(), ends.1);
        Expr::Verbatim(quote_spanned!(ends.0=> #value.#finished #nothing))
    }

    /// The call of ours whose unfinished value `expr` is, if it is one.
    pub(super) fn suspending_call_below<'e>(&self, expr: &'e Expr) -> Option<(&'e Expr, String)> {
        match expr {
            Expr::Paren(inner) => self.suspending_call_below(&inner.expr),
            Expr::Group(inner) => self.suspending_call_below(&inner.expr),
            Expr::Try(inner) => self.suspending_call_below(&inner.expr),
            Expr::MethodCall(inner) => self.suspending_call_below(&inner.receiver),
            // As while the name of a method is being typed.
            Expr::Field(inner) => self.suspending_call_below(&inner.base),
            Expr::Call(call) => self
                .our_call(call)
                .filter(|ours| ours.suspends() && ours.plain)
                .map(|ours| (expr, ours.name)),
            _ => None,
        }
    }
}

/// Tokens in parentheses that stand at `span`.
pub(super) fn parenthesised(tokens: TokenStream, span: Span) -> TokenTree {
    let mut group = Group::new(Delimiter::Parenthesis, tokens);
    group.set_span(span);
    group.into()
}

/// The spans of the first and the last token.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut tokens = tokens.to_token_stream().into_iter();
    let first = tokens.next();
    let last = tokens.last();
    let open = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.span_open(),
        other => other.span(),
    };
    let close = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    };
    let start = first.as_ref().map_or_else(Span::call_site, open);
    let end = last.as_ref().or(first.as_ref()).map_or(start, close);
    (start, end)
}

/// Whether `.await` follows a macro that awaits in place.
pub(super) fn is_await_of_join(expr: &ExprAwait) -> bool {
    matches!(&*expr.base, Expr::Macro(invocation) if our_join(&invocation.mac).is_some())
}

/// Whether a chain of calls has something in it that is no call.
fn has_field(expr: &Expr) -> bool {
    match expr {
        Expr::Field(_) => true,
        Expr::Paren(inner) => has_field(&inner.expr),
        Expr::Group(inner) => has_field(&inner.expr),
        Expr::Try(inner) => has_field(&inner.expr),
        Expr::MethodCall(inner) => has_field(&inner.receiver),
        _ => false,
    }
}

/// Adds the `.await` that is lacking, so that the lack stays one error: to the
/// call of ours, behind what is said of it.
fn await_here(expr: &mut Expr) {
    match expr {
        Expr::Try(inner) => await_here(&mut inner.expr),
        Expr::MethodCall(inner) if !says_more(&inner.method) => await_here(&mut inner.receiver),
        Expr::Paren(inner) => await_here(&mut inner.expr),
        Expr::Group(inner) => await_here(&mut inner.expr),
        _ => {
            let awaited = quote_spanned!(Span::mixed_site()=> #expr.await);
            if let Ok(awaited) = syn::parse2(awaited) {
                *expr = awaited;
            }
        }
    }
}
