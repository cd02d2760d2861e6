//! The names of suspension points: how they are derived, and that each is
//! used once in its scope.

use std::collections::{HashMap, HashSet};

use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, GenericArgument, Ident, Pat, PatIdent, PathArguments, Stmt, Type};

use super::messages;
use super::report::Report;

/// The keys that have been taken, by scope and key (`left/approval`).
#[derive(Default)]
pub(crate) struct Keys {
    taken: HashMap<String, Span>,
    /// Names that stand before keys, those of branches and flows.
    scopes: HashSet<String>,
}

impl Keys {
    /// Takes the name of a scope; false if another has it.
    pub(crate) fn take_scope(&mut self, scope: &str, name: &str) -> bool {
        self.scopes.insert(format!("{scope}{name}"))
    }

    /// Takes `key`, or reports that another site has it.
    pub(crate) fn take(&mut self, scope: &str, key: &str, span: Span, report: &Report) {
        let full = format!("{scope}{key}");
        if let Some(first) = self.taken.get(&full) {
            let mut error = syn::Error::new(span, messages::repeated_key(&full));
            error.combine(syn::Error::new(*first, messages::key_first_taken(&full)));
            report.syn(error);
        } else {
            self.taken.insert(full, span);
        }
    }
}

/// The identifier as it reads, without `r#`.
pub(crate) fn unraw(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// `deploy_all` as `DeployAll`.
pub(crate) fn upper_camel(name: &str) -> String {
    name.split('_')
        .flat_map(|word| {
            let mut chars = word.chars();
            let first = chars.next().into_iter().flat_map(char::to_uppercase);
            first.chain(chars).collect::<Vec<_>>()
        })
        .collect()
}

/// `DeployWindow` as `deploy_window`; `HTTPMethod` as `http_method`.
pub(crate) fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (index, c) in chars.iter().enumerate() {
        if c.is_uppercase() && index > 0 && chars[index - 1] != '_' {
            let after_lower = !chars[index - 1].is_uppercase();
            let before_lower = chars.get(index + 1).is_some_and(|next| next.is_lowercase());
            if after_lower || before_lower {
                out.push('_');
            }
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The name that a pattern binds, if it binds exactly one.
///
/// A leading `_` is left out, so that starting to use a value keeps its key.
pub(crate) fn single_binding(pat: &Pat) -> Option<String> {
    #[derive(Default)]
    struct Bindings(Vec<String>);
    impl<'ast> Visit<'ast> for Bindings {
        fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
            let name = unraw(&pat.ident);
            // `None` and constants parse as bindings.
            let constant = name.chars().next().is_some_and(char::is_uppercase);
            if !constant && !self.0.contains(&name) {
                self.0.push(name);
            }
            visit::visit_pat_ident(self, pat);
        }
        // A guard or a range binds nothing.
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut bindings = Bindings::default();
    bindings.visit_pat(pat);
    match bindings.0.as_slice() {
        [one] => {
            let name = one.trim_start_matches('_');
            (!name.is_empty()).then(|| name.to_owned())
        }
        _ => None,
    }
}

/// What an ask is named after, if its answer is bound to nothing.
pub(crate) fn asked_for(call: &ExprCall, function: &str) -> String {
    match function {
        "ask_user_url" => "url".to_owned(),
        "ask_model" => "model".to_owned(),
        "list_roots" => "roots".to_owned(),
        _ => answer_type(call).unwrap_or_else(|| "answer".to_owned()),
    }
}

/// The answer type named in a turbofish: `ask_user::<Vec<Window>>` is `window`,
/// and so is `ask_user::<FromSchema<Window>>`.
fn answer_type(call: &ExprCall) -> Option<String> {
    let Expr::Path(function) = &*call.func else {
        return None;
    };
    let PathArguments::AngleBracketed(arguments) = &function.path.segments.last()?.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => type_name(ty),
        _ => None,
    })
}

fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(ty) => {
            let last = ty.path.segments.last()?;
            let around = ["Vec", "Option", "FromSchema"];
            if around.iter().any(|name| last.ident == name)
                && let PathArguments::AngleBracketed(arguments) = &last.arguments
                && let Some(GenericArgument::Type(inner)) = arguments.args.first()
            {
                return type_name(inner);
            }
            Some(snake_case(&unraw(&last.ident)))
        }
        Type::Group(group) => type_name(&group.elem),
        Type::Paren(paren) => type_name(&paren.elem),
        _ => None,
    }
}

/// Methods that dress a future up; the call below them is the one that matters.
const ADAPTERS: [&str; 12] = [
    "boxed",
    "boxed_local",
    "into_future",
    "map",
    "map_ok",
    "map_err",
    "err_into",
    "and_then",
    "or_else",
    "fuse",
    "instrument",
    "in_current_span",
];

/// The function that a step calls, which names it in the journal.
pub(crate) fn called_function(argument: &Expr) -> String {
    match argument {
        Expr::Paren(inner) => called_function(&inner.expr),
        Expr::Group(inner) => called_function(&inner.expr),
        Expr::Reference(inner) => called_function(&inner.expr),
        Expr::Await(inner) => called_function(&inner.base),
        Expr::Async(block) => awaited_by(&block.block.stmts),
        Expr::Try(inner) => called_function(&inner.expr),
        Expr::MethodCall(call) => {
            let name = unraw(&call.method);
            let receiver_calls = matches!(
                strip(&call.receiver),
                Expr::Call(_) | Expr::MethodCall(_) | Expr::Async(_)
            );
            if receiver_calls && ADAPTERS.contains(&name.as_str()) {
                called_function(&call.receiver)
            } else {
                name
            }
        }
        Expr::Call(call) => match &*call.func {
            Expr::Path(function) => {
                let name = function.path.segments.last().map(|last| unraw(&last.ident));
                match (name.as_deref(), call.args.first()) {
                    // `Box::pin(plan(..))` is a step that plans.
                    (Some("pin"), Some(inner)) if call.args.len() == 1 => called_function(inner),
                    (Some(name), _) => name.to_owned(),
                    (None, _) => "block".to_owned(),
                }
            }
            Expr::Field(field) => match &field.member {
                syn::Member::Named(name) => unraw(name),
                syn::Member::Unnamed(_) => "block".to_owned(),
            },
            Expr::Paren(inner) => match &*inner.expr {
                Expr::Field(field) => match &field.member {
                    syn::Member::Named(name) => unraw(name),
                    syn::Member::Unnamed(_) => "block".to_owned(),
                },
                _ => "block".to_owned(),
            },
            _ => "block".to_owned(),
        },
        Expr::Path(variable) => variable
            .path
            .segments
            .last()
            .map_or_else(|| "block".to_owned(), |last| unraw(&last.ident)),
        _ => "block".to_owned(),
    }
}

/// What a block calls that does nothing but await one call: it only keeps alive
/// what the call borrows.
fn awaited_by(statements: &[Stmt]) -> String {
    let [Stmt::Expr(value, None)] = statements else {
        return "block".to_owned();
    };
    match strip(value) {
        Expr::Await(_) => called_function(value),
        Expr::Try(inner) if matches!(strip(&inner.expr), Expr::Await(_)) => called_function(value),
        _ => "block".to_owned(),
    }
}

fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => strip(&inner.expr),
        Expr::Group(inner) => strip(&inner.expr),
        other => other,
    }
}

/// What is wrong with an explicit key, if anything is.
pub(crate) fn check_literal(key: &str) -> Option<String> {
    if key.is_empty() {
        return Some(messages::EMPTY_KEY.to_owned());
    }
    key.chars()
        .find(|c| matches!(c, '/' | '#'))
        .map(messages::key_character)
}
