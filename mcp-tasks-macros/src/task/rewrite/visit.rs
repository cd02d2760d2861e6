//! The way through a body.

use proc_macro2::Span;
use quote::{ToTokens as _, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, ExprLet, ExprMacro, Item, Local, LocalInit, MacroDelimiter, Pat, Path, Stmt, StmtMacro,
    Type,
};

use super::awaits::ends;
use super::calls::Spine;
use super::flows::dropped;
use super::{Rewriter, Suspend, inner, never};
use crate::task::keys::single_binding;
use crate::task::messages;

impl VisitMut for Rewriter<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Await(_)
            | Expr::Try(_)
            | Expr::MethodCall(_)
            | Expr::Paren(_)
            | Expr::Group(_)
            | Expr::Call(_)
            | Expr::Macro(_) => {
                let is_bare = self.is_refused && self.suspending_call_below(expr).is_some();
                let ends = is_bare.then(|| ends(&*expr));
                // In a closure a step must not outlive what the closure is given.
                let is_each = is_bare && self.place.suspend == Suspend::Closure;
                let spine = if is_each {
                    Spine::each("each")
                } else {
                    Spine::default()
                };
                self.spine(expr, spine);
                if let Some(ends) = ends {
                    // Other libraries take futures.
                    *expr = Expr::Verbatim(self.durable(expr.to_token_stream(), ends));
                }
            }
            Expr::Field(inner) if self.suspending_call_below(&inner.base).is_some() => {
                self.spine(expr, Spine::default());
            }
            Expr::Closure(closure) => {
                let place = self.nested(closure.asyncness.is_some());
                self.at(place, |this| this.visit_expr_mut(&mut closure.body));
            }
            Expr::Async(block) => {
                let (place, refusals) = (self.nested(true), self.refusals);
                self.at(place, |this| this.visit_block_mut(&mut block.block));
                if self.refusals > refusals && self.place.suspend == Suspend::Here {
                    // What is wrong with it has been said: it may be awaited.
                    let runtime = &self.runtime;
                    let block = quote_spanned!(Span::mixed_site()=> #runtime::branch(#block));
                    *expr = Expr::Verbatim(block);
                }
            }
            Expr::Match(inner) => {
                self.refuse_ask_not_awaited(&mut inner.expr);
                visit_mut::visit_expr_match_mut(self, inner);
            }
            Expr::If(inner) => {
                self.refuse_condition_not_awaited(&mut inner.cond);
                visit_mut::visit_expr_if_mut(self, inner);
            }
            Expr::Return(jump) => {
                if let Some(value) = &mut jump.expr {
                    self.refuse_ask_not_awaited(value);
                }
                visit_mut::visit_expr_return_mut(self, jump);
                if self.is_in_step_argument() {
                    let span = jump.return_token.span;
                    self.report.error(span, messages::STEP_RETURN);
                    *expr = never(span);
                }
            }
            Expr::Break(jump) => {
                visit_mut::visit_expr_break_mut(self, jump);
                if self.is_in_step_argument() && self.place.argument == Some(0) {
                    let span = jump.break_token.span;
                    self.report.error(span, messages::STEP_BREAK);
                    *expr = never(span);
                }
            }
            Expr::Continue(jump) => {
                if self.is_in_step_argument() && self.place.argument == Some(0) {
                    let span = jump.continue_token.span;
                    self.report.error(span, messages::STEP_CONTINUE);
                    *expr = never(span);
                }
            }
            Expr::While(inner) => {
                self.refuse_condition_not_awaited(&mut inner.cond);
                self.in_loop(|this| visit_mut::visit_expr_mut(this, expr));
            }
            Expr::Loop(_) | Expr::ForLoop(_) => {
                self.in_loop(|this| visit_mut::visit_expr_mut(this, expr));
            }
            // Evaluated at compile time: nothing of a task can be in it.
            Expr::Const(_) => {}
            Expr::Verbatim(tokens) if !self.rules.is_whole => {
                *tokens = self.half_written(std::mem::take(tokens));
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_expr_let_mut(&mut self, expr: &mut ExprLet) {
        self.refuse_ask_not_awaited(&mut expr.expr);
        let binding = single_binding(&expr.pat);
        self.spine(&mut expr.expr, Spine::bound_to(binding));
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        let Some(LocalInit { expr, diverge, .. }) = &mut local.init else {
            return;
        };
        // The type that a question has before it is awaited has no name.
        let typed = matches!(&local.pat, Pat::Type(typed) if !matches!(*typed.ty, Type::Infer(_)));
        let refused = match &local.pat {
            Pat::Wild(_) => self.refuse_not_awaited(expr),
            _ if typed => self.refuse_ask_not_awaited(expr),
            _ => false,
        };
        // Else what follows has taken the answer out of the result.
        let is_result = matches!(**expr, Expr::Await(_));
        let may_be_flow = matches!(local.pat, Pat::Wild(_)) && self.may_be_unawaited_flow(expr);
        self.spine(expr, Spine::bound_to(single_binding(&local.pat)));
        if may_be_flow {
            **expr = dropped(expr);
        }
        if refused && typed && is_result {
            // The type is most likely the answer's: it is not wrong as well.
            **expr = Expr::Verbatim(quote_spanned!(Span::mixed_site()=> (#expr).unwrap()));
        }
        if let Some((_, diverge)) = diverge {
            self.visit_expr_mut(diverge);
        }
    }

    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        if let Stmt::Macro(StmtMacro {
            attrs,
            mac,
            semi_token,
        }) = statement
        {
            let mut expr = Expr::Macro(ExprMacro {
                attrs: std::mem::take(attrs),
                mac: mac.clone(),
            });
            self.visit_expr_mut(&mut expr);
            match expr {
                // Left as a macro: it may expand to items or a `let`.
                Expr::Macro(ExprMacro {
                    attrs: kept,
                    mac: kept_mac,
                }) => {
                    *attrs = kept;
                    *mac = kept_mac;
                }
                expr => {
                    let is_block = matches!(mac.delimiter, MacroDelimiter::Brace(_));
                    let expr = match semi_token {
                        None if is_block => {
                            Expr::Verbatim(quote_spanned!(Span::mixed_site()=> { #expr }))
                        }
                        _ => expr,
                    };
                    *statement = Stmt::Expr(expr, semi_token.take());
                }
            }
            return;
        }
        if let Stmt::Expr(expr, Some(_)) = statement {
            self.refuse_not_awaited(expr);
            let may_be_flow = self.may_be_unawaited_flow(expr);
            self.visit_expr_mut(expr);
            if may_be_flow {
                let dropped = dropped(expr);
                *expr = Expr::Verbatim(quote_spanned! {Span::mixed_site()=>
                    #[allow(
                        unreachable_code,
                        clippy::diverging_sub_expression,
                        reason = "the function may never return"
                    )]
                    #dropped
                });
            }
            return;
        }
        visit_mut::visit_stmt_mut(self, statement);
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        inner::refuse_awaited_calls(item, self);
    }

    // Paths, types and patterns have no expressions that run.
    fn visit_path_mut(&mut self, _: &mut Path) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}

    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        if let Pat::Guard(guard) = pat {
            self.refuse_condition_not_awaited(&mut guard.guard);
            self.visit_expr_mut(&mut guard.guard);
        }
    }
}
