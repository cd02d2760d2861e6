//! The body: awaits are made durable, calls of ours are bound to the task
//! under a key, and what cannot be replayed is refused.
//!
//! Calls are bound by value. `ask_user(..)` becomes
//! `Bind(ask_user(..)).bind(flow, site)`, and rustc resolves both the path and
//! which `bind` is meant, so that a user's own function of the same name is
//! left as it is.

mod awaits;
mod branches;
mod calls;
mod flows;
mod inner;
mod macros;
mod ours;
mod replay;
mod steps;

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprLet, ExprMacro, Ident, Item, Local, LocalInit, Pat, Path, Stmt, StmtMacro,
    Type,
};

pub(crate) use self::awaits::ends;
use self::calls::Spine;
use self::flows::dropped;
use super::attribute::Attribute;
use super::keys::{Keys, single_binding};
use super::messages;
use super::report::Report;

/// The name under which the body knows its task. Hygienic: a user's `__flow`
/// is another one.
pub(crate) fn flow_ident() -> Ident {
    Ident::new("__flow", Span::mixed_site())
}

/// The same, for an expression that is a branch: it must not shadow the
/// body's, which status calls go on using.
fn branch_ident() -> Ident {
    Ident::new("__branch", Span::mixed_site())
}

/// What holds for all of a body.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    /// Where the crate is.
    pub(crate) krate: &'a Path,
    /// Whether it may be run again from the top.
    pub(crate) replayable: bool,
    /// Whether `cancelled()` may resolve.
    pub(crate) cancel_grace: bool,
    /// Why it may not have a `start_task()`.
    pub(crate) no_start: Option<&'static str>,
}

/// What a body turned out to have.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    /// A `start_task()`.
    pub(crate) start: Option<Span>,
    /// A wait for something that only a task should wait for: a timer, a signal.
    pub(crate) waits_long: bool,
}

impl<'a> Rules<'a> {
    /// Those of a task with this attribute.
    pub(crate) fn of(attribute: &'a Attribute) -> Self {
        Self {
            krate: &attribute.krate,
            replayable: attribute.replay,
            cancel_grace: attribute.cancel_grace.is_some(),
            no_start: attribute.no_start(),
        }
    }
}

/// Rewrites the body of a task or of a flow in place.
pub(crate) fn body(block: &mut Block, rules: Rules<'_>, report: &Report) -> Found {
    let krate = rules.krate;
    let mut rewriter = Rewriter {
        report,
        krate: krate.segments.last().map(|last| last.ident.clone()),
        runtime: quote!(#krate::__private),
        replayable: rules.replayable,
        cancel_grace: rules.cancel_grace,
        no_start: rules.no_start,
        found: Found::default(),
        own: inner::functions(block),
        keys: Keys::default(),
        scope: String::new(),
        joins: 0,
        join: 0,
        flow: flow_ident(),
        flow_used: false,
        place: Place {
            suspend: Suspend::Here,
            replayed: rules.replayable,
            spawned: false,
            looped: false,
            argument: None,
        },
    };
    rewriter.visit_block_mut(block);
    rewriter.found
}

/// Whether a task may suspend at the place in question, or why not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Suspend {
    /// In the task's own body, or in a branch.
    Here,
    Closure,
    AsyncBlock,
    Spawned,
    Step,
    Unrecorded,
}

/// What surrounds the expression in question.
#[derive(Clone, Copy)]
struct Place {
    suspend: Suspend,
    /// Runs again on every replay, with nothing recorded about it.
    replayed: bool,
    /// Is an argument of something called `spawn`.
    spawned: bool,
    /// Is inside a loop of the body.
    looped: bool,
    /// Stands directly in the argument of a step or of `unrecorded`, this many
    /// loops deep.
    argument: Option<u32>,
}

impl Place {
    /// Whether it is inside a step or `unrecorded`, however deep.
    fn is_in_leaf(&self) -> bool {
        matches!(self.suspend, Suspend::Step | Suspend::Unrecorded)
    }
}

struct Rewriter<'a> {
    report: &'a Report,
    /// The first name of a path that leads to this crate.
    krate: Option<Ident>,
    /// `::mcp_tasks::__private`.
    runtime: TokenStream,
    replayable: bool,
    cancel_grace: bool,
    no_start: Option<&'static str>,
    found: Found,
    /// Functions that the body defines itself; never ours.
    own: HashSet<String>,
    keys: Keys,
    /// The branches around the current place: `left/`.
    scope: String,
    /// How many joins and calls of flows there have been in the body.
    joins: u32,
    /// The join around the current place. Passes through a branch are counted
    /// for each join, so that keys do not depend on joins elsewhere.
    join: u32,
    /// What suspending calls are bound to.
    flow: Ident,
    flow_used: bool,
    place: Place,
}

impl Rewriter<'_> {
    /// Does `visit` as if at `place`.
    fn at<R>(&mut self, place: Place, visit: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.place, place);
        let result = visit(self);
        self.place = outer;
        result
    }

    /// Does `visit` as the inside of one more join.
    fn in_join<R>(&mut self, visit: impl FnOnce(&mut Self) -> R) -> R {
        self.joins += 1;
        let outer = std::mem::replace(&mut self.join, self.joins);
        let result = visit(self);
        self.join = outer;
        result
    }

    /// The place inside a closure or an `async` block that is no branch.
    fn nested(&self, is_async: bool) -> Place {
        Place {
            suspend: match self.place.suspend {
                Suspend::Here | Suspend::Closure if self.place.spawned => Suspend::Spawned,
                Suspend::Here | Suspend::Closure if is_async => Suspend::AsyncBlock,
                Suspend::Here => Suspend::Closure,
                outer => outer,
            },
            // Only a step and its like accept such a block, once.
            replayed: self.place.replayed && !is_async,
            spawned: false,
            looped: self.place.looped,
            argument: None,
        }
    }

    /// Inside a loop, whose `break` leaves only the loop.
    fn in_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        let place = Place {
            argument: self.place.argument.map(|depth| depth + 1),
            looped: true,
            ..self.place
        };
        self.at(place, visit);
    }

    /// The path to the runtime, as if it were written at `span`: what rustc has
    /// to say about a call of it then lies on the user's code, not on the
    /// attribute.
    fn runtime_at(&self, span: Span) -> TokenStream {
        located_at(&self.runtime, span)
    }

    /// Whether it stands where it is evaluated only if nothing is recorded.
    fn is_in_step_argument(&self) -> bool {
        self.place.suspend == Suspend::Step && self.place.argument.is_some()
    }
}

/// Tokens that mean what they meant, as if they were written at `span`.
pub(crate) fn located_at(tokens: &TokenStream, span: Span) -> TokenStream {
    let moved = tokens.clone().into_iter().map(|mut token| {
        token.set_span(token.span().located_at(span));
        token
    });
    moved.collect()
}

/// An expression of any type, in place of one that has been refused.
fn anything() -> TokenStream {
    quote_spanned!(Span::mixed_site()=> (|| ::core::unimplemented!())())
}

/// An expression that leaves, in place of one that has been refused.
fn never(span: Span) -> Expr {
    Expr::Verbatim(quote_spanned!(span.resolved_at(Span::mixed_site())=> ::core::unimplemented!()))
}

impl VisitMut for Rewriter<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Await(_)
            | Expr::Try(_)
            | Expr::MethodCall(_)
            | Expr::Paren(_)
            | Expr::Group(_)
            | Expr::Call(_)
            | Expr::Macro(_) => self.spine(expr, Spine::default()),
            Expr::Closure(closure) => {
                let place = self.nested(closure.asyncness.is_some());
                self.at(place, |this| this.visit_expr_mut(&mut closure.body));
            }
            Expr::Async(block) => {
                let place = self.nested(true);
                self.at(place, |this| this.visit_block_mut(&mut block.block));
            }
            Expr::Match(inner) => {
                self.refuse_ask_not_awaited(&mut inner.expr);
                visit_mut::visit_expr_match_mut(self, inner);
            }
            Expr::Return(jump) => {
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
            Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => {
                self.in_loop(|this| visit_mut::visit_expr_mut(this, expr));
            }
            // Evaluated at compile time: nothing of a task can be in it.
            Expr::Const(_) => {}
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
        let is_try = matches!(**expr, Expr::Try(_));
        let refused = match &local.pat {
            Pat::Wild(_) => self.refuse_not_awaited(expr),
            _ if typed => self.refuse_ask_not_awaited(expr),
            _ => false,
        };
        let may_be_flow = matches!(local.pat, Pat::Wild(_)) && self.may_be_unawaited_flow(expr);
        self.spine(expr, Spine::bound_to(single_binding(&local.pat)));
        if may_be_flow {
            **expr = dropped(expr);
        }
        if refused && typed && !is_try {
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
                expr => *statement = Stmt::Expr(expr, semi_token.take()),
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
            self.visit_expr_mut(&mut guard.guard);
        }
    }
}
