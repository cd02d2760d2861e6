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
mod half_written;
mod inner;
mod macros;
mod misplaced;
mod ours;
mod place;
mod replay;
mod steps;
mod visit;

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::visit_mut::VisitMut as _;
use syn::{Block, Expr, Ident, Path, Stmt};

pub(crate) use self::awaits::ends;
use self::place::{Place, Suspend};
use super::attribute::Attribute;
use super::keys::Keys;
use super::messages;
use super::report::Report;

/// The name under which the body knows its task. Hygienic: a user's `__flow`
/// is another one.
pub(crate) fn flow_ident() -> Ident {
    Ident::new("__flow", Span::mixed_site())
}

/// The name by which code of ours knows `::mcp_tasks::__private`, so that an
/// expansion can be read.
pub(crate) fn alias() -> TokenStream {
    quote_spanned!(Span::mixed_site()=> __tasks)
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
    /// Whether all of it could be read.
    pub(crate) is_whole: bool,
    /// The methods beside it that are tools.
    pub(crate) tools: &'a [Ident],
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
    pub(crate) fn of(attribute: &'a Attribute, is_whole: bool) -> Self {
        Self {
            krate: &attribute.krate,
            replayable: attribute.replay,
            cancel_grace: attribute.cancel_grace.is_some(),
            no_start: attribute.no_start(),
            is_whole,
            tools: &[],
        }
    }
}

/// Rewrites the body of a task or of a flow in place.
pub(crate) fn body(block: &mut Block, rules: Rules<'_>, report: &Report) -> Found {
    if rules.is_whole {
        rewrite(block, rules, report)
    } else {
        // Of a body that is not read as it is meant, only rustc's words are true.
        let report = Report::default();
        let found = rewrite(block, rules, &report);
        report.discard();
        found
    }
}

fn rewrite(block: &mut Block, rules: Rules<'_>, report: &Report) -> Found {
    let krate = rules.krate;
    let mut rewriter = Rewriter {
        report,
        krate: krate.segments.last().map(|last| last.ident.clone()),
        runtime: alias(),
        rules,
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
        is_refused: false,
        refusals: 0,
    };
    if let Some(Stmt::Expr(value, None)) = block.stmts.last_mut() {
        rewriter.refuse_ask_not_awaited(value);
    }
    rewriter.visit_block_mut(block);
    rewriter.found
}

struct Rewriter<'a> {
    report: &'a Report,
    /// The first name of a path that leads to this crate.
    krate: Option<Ident>,
    /// The runtime as the body calls it.
    runtime: TokenStream,
    rules: Rules<'a>,
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
    /// Whether the place is in a call of another library that waits for several
    /// at once, and has been refused.
    is_refused: bool,
    /// How often something could not suspend where it stands.
    refusals: u32,
}

impl Rewriter<'_> {
    /// Does `visit` as the inside of one more join.
    fn in_join<R>(&mut self, visit: impl FnOnce(&mut Self) -> R) -> R {
        self.joins += 1;
        let outer = std::mem::replace(&mut self.join, self.joins);
        let result = visit(self);
        self.join = outer;
        result
    }

    /// The path to the runtime, as if it were written at `span`: what rustc has
    /// to say about a call of it then lies on the user's code, not on the
    /// attribute.
    fn runtime_at(&self, span: Span) -> TokenStream {
        located_at(&self.runtime, span)
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
