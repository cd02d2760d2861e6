//! Macro invocations: ours, those of std whose arguments can be read, and
//! all others, in which nothing of a task may hide.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut as _;
use syn::{Expr, Ident, Macro, Token};

use super::branches::our_join;
use super::ours::{is_common, kind};
use super::{Rewriter, Suspend, anything, messages};
use crate::task::keys::unraw;

/// Macros whose arguments are expressions, separated by commas.
const READABLE: [&str; 33] = [
    "format",
    "format_args",
    "vec",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "todo",
    "unreachable",
    "unimplemented",
    "write",
    "writeln",
    "print",
    "println",
    "eprint",
    "eprintln",
    "dbg",
    "matches",
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "event",
    "log",
    "bail",
    "ensure",
    "anyhow",
    "concat",
    "env",
];

/// Something of a task in tokens that are not understood.
enum Hidden {
    Await(Span),
    Call(String, Span),
}

impl Rewriter<'_> {
    pub(super) fn expr_macro(&mut self, expr: &mut Expr) {
        let Expr::Macro(invocation) = expr else {
            return;
        };
        if let Some(name) = our_join(&invocation.mac) {
            let joined = self.join(&invocation.mac.clone(), &name);
            *expr = Expr::Verbatim(joined);
            return;
        }
        let mac = &mut invocation.mac;
        let Some(name) = mac.path.segments.last().map(|last| unraw(&last.ident)) else {
            return;
        };
        if self.place.replayed && matches!(name.as_str(), "print" | "println") {
            self.report
                .error_spanned(&mac.path, messages::prints(&name));
        }
        if self.is_foreign_join(mac) {
            if !hidden(&mac.tokens).is_empty() {
                // What it would say of calls of ours is beside the point.
                let (path, anything) = (&mac.path, anything());
                *expr = Expr::Verbatim(quote_spanned! {Span::mixed_site()=> {
                    #[allow(unused_imports, reason = "it is named to be used")]
                    use #path as _;
                    #anything
                }});
            }
            return;
        }
        let readable = READABLE.contains(&name.as_str()) && self.read(mac, &name);
        if !readable {
            mac.tokens = self.refuse_hidden(std::mem::take(&mut mac.tokens), &name);
        }
    }

    /// `tokio::join!` and the like; true if it was reported.
    fn is_foreign_join(&self, mac: &Macro) -> bool {
        let path: String = mac.path.to_token_stream().to_string().replace(' ', "");
        let name = path.rsplit("::").next().unwrap_or_default();
        let ours = match name {
            "join" => "join!",
            "try_join" => "try_join!",
            "select" | "select_biased" => "race!",
            _ => return false,
        };
        if self.place.suspend != Suspend::Here || !self.rules.replayable {
            return false;
        }
        self.report
            .error_spanned(&mac.path, messages::foreign_join(&path, ours));
        true
    }

    /// Rewrites the arguments of a macro that is known; true if they could
    /// be read.
    fn read(&mut self, mac: &mut Macro, name: &str) -> bool {
        let commas = Punctuated::<Expr, Token![,]>::parse_terminated;
        let has_something = !hidden(&mac.tokens).is_empty();
        if let Ok(mut arguments) = commas.parse2(mac.tokens.clone()) {
            for argument in &mut arguments {
                self.visit_expr_mut(argument);
            }
            // What needs no change keeps its tokens as they are.
            if has_something {
                mac.tokens = arguments.to_token_stream();
            }
            return true;
        }
        // `vec![value; count]`.
        if name == "vec" {
            let pair = |input: ParseStream<'_>| {
                let value: Expr = input.parse()?;
                let semicolon: Token![;] = input.parse()?;
                let count: Expr = input.parse()?;
                Ok((value, semicolon, count))
            };
            if let Ok((mut value, semicolon, mut count)) = pair.parse2(mac.tokens.clone()) {
                self.visit_expr_mut(&mut value);
                self.visit_expr_mut(&mut count);
                if has_something {
                    mac.tokens = quote!(#value #semicolon #count);
                }
                return true;
            }
        }
        // `matches!(value, pattern)` begins with an expression.
        if name == "matches" {
            let head = |input: ParseStream<'_>| {
                let head: Expr = input.parse()?;
                let rest: TokenStream = input.parse()?;
                Ok((head, rest))
            };
            if let Ok((mut head, rest)) = head.parse2(mac.tokens.clone()) {
                self.visit_expr_mut(&mut head);
                let rest = self.refuse_hidden(rest, name);
                if has_something {
                    mac.tokens = quote!(#head #rest);
                }
                return true;
            }
        }
        false
    }

    /// Reports what is hidden in tokens that are not understood, and gives them
    /// back with the calls of ours bound, so that nothing more is said of these.
    fn refuse_hidden(&mut self, tokens: TokenStream, name: &str) -> TokenStream {
        let refused = self.report.len();
        for found in hidden(&tokens) {
            match found {
                Hidden::Await(span) => {
                    if self.place.suspend == Suspend::Here && self.rules.replayable {
                        self.report.error(span, messages::await_in_macro(name));
                    }
                }
                Hidden::Call(call, span) => {
                    // Inside a step, other libraries are at home.
                    let is_others = is_common(&call) && self.place.is_in_leaf();
                    if !self.own.contains(&call) && !is_others {
                        self.report
                            .error(span, messages::call_in_macro(&format!("{call}(..)"), name));
                    }
                }
            }
        }
        let reported = self.report.len();
        if reported == refused {
            return tokens;
        }
        let tokens = self.half_written(tokens);
        self.report.forget_after(reported);
        tokens
    }
}

/// Awaits and calls of ours, wherever they are in the tokens.
fn hidden(tokens: &TokenStream) -> Vec<Hidden> {
    let mut found = Vec::new();
    let mut is_in_call = false;
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (index, tree) in trees.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| &trees[index]);
        match tree {
            TokenTree::Ident(ident) if ident == "await" && is_punct(before, '.') => {
                // That of a call of ours is as hidden as the call.
                let is_of_call = std::mem::take(&mut is_in_call);
                found.extend((!is_of_call).then(|| Hidden::Await(ident.span())));
            }
            TokenTree::Ident(ident) if is_call(ident, before, &trees[index + 1..]) => {
                is_in_call = true;
                found.push(Hidden::Call(ident.to_string(), ident.span()));
            }
            TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => is_in_call = false,
            TokenTree::Group(group) => found.extend(hidden(&group.stream())),
            _ => {}
        }
    }
    found
}

fn is_punct(tree: Option<&TokenTree>, char: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == char)
}

/// Whether something of ours is called here.
fn is_call(ident: &Ident, before: Option<&TokenTree>, after: &[TokenTree]) -> bool {
    // A method or a field, or a path that leads elsewhere.
    if is_punct(before, '.') || is_punct(before, ':') {
        return false;
    }
    let joins = ["join", "try_join", "race"]
        .iter()
        .any(|name| ident == name);
    if joins && is_punct(after.first(), '!') {
        return true;
    }
    let called = match after.first() {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
        Some(TokenTree::Punct(punct)) => {
            punct.as_char() == ':' && is_punct(after.get(1), ':') && is_punct(after.get(2), '<')
        }
        _ => false,
    };
    called && kind(&ident.to_string()).is_some()
}
