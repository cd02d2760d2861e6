//! Functions inside the body: they are left alone, but a task cannot suspend
//! in them.

use std::collections::HashSet;

use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, ExprAwait, Item, ItemFn};

use super::{Rewriter, anything, messages};
use crate::task::keys::unraw;

/// The names of all functions that the body defines.
pub(super) fn functions(block: &Block) -> HashSet<String> {
    #[derive(Default)]
    struct Names(HashSet<String>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_item_fn(&mut self, function: &'ast ItemFn) {
            self.0.insert(unraw(&function.sig.ident));
        }
    }
    let mut names = Names::default();
    names.visit_block(block);
    names.0
}

/// Reports calls of ours that an inner function awaits.
pub(super) fn refuse_awaited_calls(item: &mut Item, rewriter: &Rewriter<'_>) {
    // A task function inside another has an attribute, and a body, of its own.
    if let Item::Fn(function) = item
        && !function.attrs.iter().any(is_task)
    {
        Awaited(rewriter).visit_item_fn_mut(function);
    }
}

fn is_task(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|last| last.ident == "mcp_task" || last.ident == "mcp_task_flow")
}

struct Awaited<'r, 'a>(&'r Rewriter<'a>);

impl VisitMut for Awaited<'_, '_> {
    fn visit_expr_await_mut(&mut self, expr: &mut ExprAwait) {
        if let Some((call, name)) = self.0.suspending_call_below(&expr.base) {
            let report = self.0.report;
            report.error_spanned(call, messages::in_inner_function(&format!("{name}(..)")));
            self.bind_to_nothing(&mut expr.base);
        }
        visit_mut::visit_expr_await_mut(self, expr);
    }
}

impl Awaited<'_, '_> {
    /// Gives the refused call the type of a bound one, so that it stays one
    /// error.
    fn bind_to_nothing(&self, expr: &mut Expr) {
        match expr {
            Expr::Paren(inner) => self.bind_to_nothing(&mut inner.expr),
            Expr::Group(inner) => self.bind_to_nothing(&mut inner.expr),
            Expr::Try(inner) => self.bind_to_nothing(&mut inner.expr),
            Expr::MethodCall(inner) => self.bind_to_nothing(&mut inner.receiver),
            Expr::Call(call) => {
                if let Some(ours) = self.0.our_call(call) {
                    let site = self.0.site(&ours, &ours.name);
                    let call = self.0.bound(&*call, &ours, &anything(), &site);
                    *expr = Expr::Verbatim(call);
                }
            }
            _ => {}
        }
    }
}
