//! Dots after which something is still to be typed.
//!
//! An editor knows what may follow one if it finds what stands before it where
//! it will stand later. So nothing but the dot is taken away.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote_spanned;

/// The tokens without dots that nothing follows: `f(fleet.)` is `f(fleet)`.
pub(crate) fn without_dangling(tokens: TokenStream) -> TokenStream {
    without(tokens, false)
}

fn without(tokens: TokenStream, is_block: bool) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut kept = TokenStream::new();
    for (index, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => {
                let is_block = group.delimiter() == Delimiter::Brace;
                let mut inner = Group::new(group.delimiter(), without(group.stream(), is_block));
                inner.set_span(group.span());
                kept.extend([TokenTree::Group(inner)]);
            }
            dot if is_dot(dot) && is_dangling(&trees, index) => {
                if is_block && index + 1 == trees.len() {
                    // Borrows what stands before it; then whatever the block is to give.
                    kept.extend([dot.clone()]);
                    kept.extend(ours!(__unfinished(); ::core::unimplemented!()));
                }
            }
            other => kept.extend([other.clone()]),
        }
    }
    kept
}

fn is_dangling(trees: &[TokenTree], index: usize) -> bool {
    let is_range = index > 0 && is_dot(&trees[index - 1]);
    match trees.get(index + 1) {
        _ if is_range => false,
        None => true,
        Some(TokenTree::Punct(next)) if next.as_char() == '.' => {
            matches!(trees.get(index + 2), Some(TokenTree::Ident(ident)) if ident == "await")
        }
        Some(TokenTree::Punct(next)) => matches!(next.as_char(), ';' | ',' | '?'),
        Some(_) => false,
    }
}

fn is_dot(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '.')
}
