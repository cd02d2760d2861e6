//! Several at once: `join!`, `try_join!`, `race!` and `join_all`.
//!
//! A branch is a scope of keys with a name of its own. An `async` block that
//! is a branch may suspend, as it is polled by the task itself.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut as _;
use syn::{Expr, ExprAsync, ExprCall, Ident, Macro, Stmt, Token};

use super::awaits::ends;
use super::calls::Spine;
use super::ours::OurCall;
use super::steps::with_run_time_key;
use super::{Place, Rewriter, Suspend, anything, branch_ident, flow_ident};
use crate::task::dots::without_dangling;
use crate::task::expand::statements;
use crate::task::{keys::unraw, messages};

/// How many branches the runtime's tuples have room for.
const MOST_BRANCHES: usize = 12;

/// `left: expression`, or the expression alone.
struct Branch {
    label: Option<Ident>,
    expr: Expr,
}

impl Parse for Branch {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let labelled =
            input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::]);
        let label = if labelled {
            let label = input.call(Ident::parse_any)?;
            input.parse::<Token![:]>()?;
            Some(label)
        } else {
            None
        };
        Ok(Self {
            label,
            expr: input.parse()?,
        })
    }
}

/// The macro's name, if it is one of ours that join branches.
pub(super) fn our_join(invocation: &Macro) -> Option<String> {
    let segments = &invocation.path.segments;
    let name = unraw(&segments.last()?.ident);
    let joins = matches!(name.as_str(), "join" | "try_join" | "race");
    let elsewhere = ["tokio", "futures", "futures_util", "futures_lite"]
        .iter()
        .any(|name| segments[0].ident == name);
    (joins && !elsewhere).then_some(name)
}

impl Rewriter<'_> {
    /// `join!(left: .., right: ..)` as a future of the runtime, awaited.
    pub(super) fn join(&mut self, invocation: &Macro, name: &str) -> TokenStream {
        let path = &invocation.path;
        let span = path
            .segments
            .last()
            .map_or_else(Span::call_site, |last| last.ident.span());
        if self.refuse_suspending(&format!("{name}!(..)"), span) {
            return anything();
        }

        let branches = Punctuated::<Branch, Token![,]>::parse_terminated;
        let branches = match branches.parse2(invocation.tokens.clone()) {
            Ok(branches) if branches.is_empty() => {
                self.report.error(span, messages::join_empty(name));
                return quote_spanned!(span=> ());
            }
            Ok(branches) => branches,
            Err(error) => {
                self.report.error(error.span(), messages::join_syntax(name));
                let mended = without_dangling(invocation.tokens.clone());
                match branches.parse2(mended) {
                    Ok(branches) => branches,
                    Err(_) => return anything(),
                }
            }
        };
        if branches.len() > MOST_BRANCHES {
            self.report
                .error(span, messages::join_too_many(name, MOST_BRANCHES));
            return anything();
        }

        let mut labels: Vec<String> = Vec::new();
        let mut futures = Vec::new();
        for (index, Branch { label, expr }) in branches.into_iter().enumerate() {
            let text = label.as_ref().map_or_else(|| index.to_string(), unraw);
            if let Some(label) = &label
                && labels.contains(&text)
            {
                self.report
                    .error(label.span(), messages::join_label_twice(&text));
            }
            futures.push((expr, text.clone()));
            labels.push(text);
        }

        let futures: Vec<TokenStream> = self.in_join(|this| {
            let branch = |(expr, label): (Expr, String)| this.branch(expr, &label);
            futures.into_iter().map(branch).collect()
        });

        let runtime = self.runtime_at(span);
        let flow = self.use_flow();
        let ours = Span::mixed_site().located_at(span);
        let function = Ident::new(name, ours);
        // The macro is gone: without this its import would count as unused.
        quote_spanned! {ours=> {
            #[allow(unused_imports, reason = "it is named to be used")]
            use #path as _;
            #runtime::#function(#flow, (#(#futures,)*)).await
        }}
    }

    /// One branch of a join, in a scope of its own.
    fn branch(&mut self, mut expr: Expr, label: &str) -> TokenStream {
        while let Expr::Paren(inner) = expr {
            expr = *inner.expr;
        }
        expr = self.refuse_await_of_branch(expr);
        if let Expr::Async(block) = &mut expr {
            return self.async_branch(block, label);
        }

        let ends = ends(&expr);
        let outer_flow = std::mem::replace(&mut self.flow, branch_ident());
        let outer_used = std::mem::replace(&mut self.flow_used, false);
        self.scoped(label, |this| {
            let awaited = this.awaited(&expr, None);
            this.visit_expr_mut(&mut expr);
            if let Some(awaited) = awaited {
                expr = Expr::Verbatim(this.bind_flow(&expr, &awaited));
            }
        });
        let branch = std::mem::replace(&mut self.flow, outer_flow);
        let branch_used = std::mem::replace(&mut self.flow_used, outer_used);

        let mut future = expr.to_token_stream();
        if self.place.suspend == Suspend::Here && self.rules.replayable {
            future = self.durable(future, ends);
        }
        if branch_used {
            let flow = self.use_flow();
            let join = self.join;
            quote_spanned!(Span::mixed_site()=> {
                let #branch = &#flow.branch(#label, #join);
                #future
            })
        } else {
            // A future from elsewhere has its keys already.
            future
        }
    }

    /// An `async` block in which the task goes on.
    fn async_branch(&mut self, block: &mut ExprAsync, label: &str) -> TokenStream {
        let outer = self.use_flow();
        let inner = flow_ident();
        let replaced = std::mem::replace(&mut self.flow, inner.clone());
        let place = Place {
            suspend: Suspend::Here,
            argument: None,
            spawned: false,
            ..self.place
        };
        self.scoped(label, |this| {
            this.at(place, |this| this.visit_block_mut(&mut block.block));
        });
        self.flow = replaced;

        let (runtime, join) = (&self.runtime, self.join);
        let (attrs, capture, body) = (&block.attrs, &block.capture, statements(&block.block));
        let async_token = &block.async_token;
        quote_spanned! {Span::mixed_site()=>
            #runtime::branch(#(#attrs)* #async_token #capture {
                let #inner = &#outer.branch(#label, #join);
                #body
            })
        }
    }

    /// Visits with the branch's name before every key.
    fn scoped(&mut self, label: &str, visit: impl FnOnce(&mut Self)) {
        self.keys.take_scope(&self.scope, label);
        let length = self.scope.len();
        self.scope.push_str(label);
        self.scope.push('/');
        visit(self);
        self.scope.truncate(length);
    }

    /// `join_all(items.map(|item| ..))`, whose closures give branches.
    pub(super) fn bind_join_all(
        &mut self,
        call: &mut ExprCall,
        ours: &OurCall,
        binding: Option<&str>,
    ) -> TokenStream {
        let key = binding.unwrap_or("each");
        self.in_join(|this| {
            for argument in &mut call.args {
                this.each_chain(argument, key, true);
            }
        });
        let site = self.site(ours, key);
        let flow = self.use_flow();
        self.bound(call, ours, &flow, &site)
    }

    /// The iterator's chain of method calls; the last of them gives the items.
    fn each_chain(&mut self, expr: &mut Expr, key: &str, is_last: bool) {
        match expr {
            Expr::MethodCall(call) if self.suspending_call_below(&call.receiver).is_none() => {
                self.each_chain(&mut call.receiver, key, false);
                for argument in &mut call.args {
                    match argument {
                        Expr::Closure(closure) if closure.asyncness.is_none() => {
                            self.each_value(&mut closure.body, key, is_last);
                        }
                        other => self.visit_expr_mut(other),
                    }
                }
            }
            Expr::Paren(inner) => self.each_chain(&mut inner.expr, key, is_last),
            Expr::Group(inner) => self.each_chain(&mut inner.expr, key, is_last),
            Expr::Reference(inner) => self.each_chain(&mut inner.expr, key, is_last),
            other => self.visit_expr_mut(other),
        }
    }

    /// What a closure of the chain gives: a branch, if it is one.
    fn each_value(&mut self, expr: &mut Expr, key: &str, is_item: bool) {
        let nested = self.nested(false);
        match expr {
            Expr::Paren(inner) => self.each_value(&mut inner.expr, key, is_item),
            Expr::Block(block) => {
                let (last, before) = match block.block.stmts.split_last_mut() {
                    Some((Stmt::Expr(last, None), before)) => (Some(last), before),
                    _ => (None, block.block.stmts.as_mut_slice()),
                };
                self.at(nested, |this| {
                    for statement in before {
                        this.visit_stmt_mut(statement);
                    }
                });
                match last {
                    Some(last) => self.each_value(last, key, is_item),
                    None => self.at(nested, |this| this.visit_expr_mut(expr)),
                }
            }
            Expr::Async(block) => *expr = Expr::Verbatim(self.async_branch(block, key)),
            other if self.suspending_call_below(other).is_some() => {
                let run_time_key = self.take_run_time_key(other);
                self.spine(other, Spine::each(key));
                if let Some(run_time_key) = run_time_key {
                    *other = with_run_time_key(&run_time_key, other);
                }
            }
            Expr::Call(_) | Expr::MethodCall(_) if is_item => {
                let awaited = self.awaited(expr, Some(key));
                self.at(nested, |this| this.visit_expr_mut(expr));
                if let Some(awaited) = awaited {
                    *expr = Expr::Verbatim(self.bind_flow(expr, &awaited));
                }
            }
            other => self.at(nested, |this| this.visit_expr_mut(other)),
        }
    }
}
