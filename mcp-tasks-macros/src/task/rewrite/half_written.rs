//! What is not Rust yet: the calls of ours in it are bound all the same, so
//! that types are known around it and nothing is said of them.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::Expr;
use syn::visit_mut::VisitMut as _;

use super::Rewriter;
use super::ours::kind;
use crate::task::half_written::statements;
use crate::task::keys::unraw;

impl Rewriter<'_> {
    /// Rewrites the calls of ours among tokens.
    pub(super) fn half_written(&mut self, tokens: TokenStream) -> TokenStream {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rewritten = TokenStream::new();
        let mut index = 0;
        while let Some(tree) = trees.get(index) {
            index += 1;
            match tree {
                TokenTree::Ident(name) if !follows_a_dot(&trees[..index - 1]) => {
                    if let Some((call, length)) = call(name, &trees[index - 1..]) {
                        index += length - 1;
                        rewritten.extend(self.half_written_call(call));
                    } else {
                        rewritten.extend([tree.clone()]);
                    }
                }
                TokenTree::Group(group) => {
                    let stream = if group.delimiter() == Delimiter::Brace {
                        self.half_written_block(group.stream())
                    } else {
                        self.half_written(group.stream())
                    };
                    let mut inner = Group::new(group.delimiter(), stream);
                    inner.set_span(group.span());
                    rewritten.extend([TokenTree::Group(inner)]);
                }
                other => rewritten.extend([other.clone()]),
            }
        }
        rewritten
    }

    fn half_written_call(&mut self, mut call: Expr) -> TokenStream {
        self.visit_expr_mut(&mut call);
        call.to_token_stream()
    }

    fn half_written_block(&mut self, tokens: TokenStream) -> TokenStream {
        let mut statements = statements(tokens);
        for statement in &mut statements {
            self.visit_stmt_mut(statement);
        }
        quote!(#(#statements)*)
    }
}

/// A call of ours that the tokens begin with, and how many they are.
fn call(name: &Ident, trees: &[TokenTree]) -> Option<(Expr, usize)> {
    kind(&unraw(name))?;
    let is_arguments = |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
    let length = trees.iter().position(is_arguments)? + 1;
    let call: Expr = syn::parse2(trees[..length].iter().cloned().collect()).ok()?;
    matches!(call, Expr::Call(_)).then_some((call, length))
}

fn follows_a_dot(before: &[TokenTree]) -> bool {
    matches!(before.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '.')
}
