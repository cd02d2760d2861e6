//! Functions whose bodies are not Rust, as while somebody is typing.
//!
//! The item is read around what cannot be read, so that an editor keeps its
//! types, and rustc, which has seen the mistake before the attribute has, can
//! say it alone.

use std::collections::VecDeque;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{format_ident, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Block, Expr, Ident, ImplItem, ImplItemFn, ItemFn, ItemImpl, Path, Stmt};

use super::dots::without_dangling;
use super::keys::unraw;
use super::rewrite::located_at;

/// An item, and whether all of it could be read.
pub(crate) struct Read<T> {
    pub(crate) item: T,
    pub(crate) is_whole: bool,
}

pub(crate) fn function(item: &TokenStream) -> Option<Read<ItemFn>> {
    read(item, |item| {
        let (mut item, body): (ItemFn, _) = with_empty_body(item)?;
        item.block.stmts = statements(body);
        Some(item)
    })
}

pub(crate) fn impl_block(item: &TokenStream) -> Option<Read<ItemImpl>> {
    read(item, |item| {
        let (mut item, body): (ItemImpl, _) = with_empty_body(item)?;
        item.items = items.parse2(body).ok()?;
        Some(item)
    })
}

/// Reads an item: whole, else without its dangling dots, else in parts.
fn read<T: Parse>(
    item: &TokenStream,
    in_parts: impl FnOnce(&TokenStream) -> Option<T>,
) -> Option<Read<T>> {
    if let Ok(item) = syn::parse2(item.clone()) {
        return Some(Read {
            item,
            is_whole: true,
        });
    }
    let mended = without_dangling(item.clone());
    let item = syn::parse2(mended.clone()).ok();
    Some(Read {
        item: item.or_else(|| in_parts(&mended))?,
        is_whole: false,
    })
}

/// The item without what stands in its braces.
fn with_empty_body<T: Parse>(item: &TokenStream) -> Option<(T, TokenStream)> {
    let mut trees: Vec<TokenTree> = item.clone().into_iter().collect();
    let Some(TokenTree::Group(body)) = trees.pop() else {
        return None;
    };
    if body.delimiter() != Delimiter::Brace {
        return None;
    }
    let mut empty = Group::new(Delimiter::Brace, TokenStream::new());
    empty.set_span(body.span());
    trees.push(empty.into());
    let item = syn::parse2(trees.into_iter().collect()).ok()?;
    Some((item, body.stream()))
}

fn items(input: ParseStream<'_>) -> syn::Result<Vec<ImplItem>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(if input.fork().parse::<ImplItem>().is_ok() {
            input.parse()?
        } else {
            half_written_item(input)?
        });
    }
    Ok(items)
}

/// Goes up to where an item ends.
fn half_written_item(input: ParseStream<'_>) -> syn::Result<ImplItem> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        let is_last = ends(&token);
        tokens.extend([token]);
        if is_last {
            break;
        }
    }
    Ok(match with_empty_body::<ImplItemFn>(&tokens) {
        Some((mut method, body)) => {
            method.block.stmts = statements(body);
            ImplItem::Fn(method)
        }
        None => ImplItem::Verbatim(tokens),
    })
}

/// The statements of a block; what cannot be read is kept as it is.
pub(crate) fn statements(block: TokenStream) -> Vec<Stmt> {
    let mut statements = Vec::new();
    let mut rest: VecDeque<TokenTree> = block.into_iter().collect();
    while !rest.is_empty() {
        let mut statement = Vec::new();
        while let Some(token) = rest.pop_front() {
            let is_last = is_punct(&token, ';');
            statement.push(token);
            if is_last {
                break;
            }
        }
        let is_ended = statement.last().is_some_and(ends);
        match Block::parse_within.parse2(statement.iter().cloned().collect()) {
            Ok(read) => statements.extend(read),
            // Perhaps only what is in its braces is wrong.
            Err(_) if !is_ended && statement.iter().any(ends) => {
                let length = statement.iter().position(ends).map_or(0, |index| index + 1);
                for token in statement.drain(length..).rev() {
                    rest.push_front(token);
                }
                let statement = statement.into_iter().collect();
                statements.push(Stmt::Expr(Expr::Verbatim(statement), None));
            }
            Err(_) if is_ended => {
                let statement = statement.into_iter().collect();
                statements.push(Stmt::Expr(Expr::Verbatim(statement), None));
            }
            // rustc would miss the rest of it at our brace once more.
            Err(_) => {
                let never = ours!(::core::unimplemented!());
                statements.push(Stmt::Expr(Expr::Verbatim(never), None));
            }
        }
    }
    statements
}

/// Whether an item or a statement may end with a token.
fn ends(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is_punct(token, ';'),
    }
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

/// Has rustc refuse an item that it can read and we cannot: a function to stand
/// behind the item, where it moves nothing that an editor looks for.
pub(crate) fn refuse_unless_refused(krate: &Path, name: &Ident) -> TokenStream {
    let statement = not_understood(krate, name.span());
    let refuse = format_ident!(
        "__mcp_task_refuse_{}",
        unraw(name),
        span = Span::mixed_site()
    );
    ours! {
        #[allow(dead_code, reason = "it is only there to be refused")]
        fn #refuse() {
            #statement
        }
    }
}

/// An item that cannot be read at all, without what stands in its braces.
pub(crate) fn hollow(item: &TokenStream) -> TokenStream {
    let mut trees: Vec<TokenTree> = item.clone().into_iter().collect();
    if let Some(TokenTree::Group(body)) = trees.last_mut()
        && body.delimiter() == Delimiter::Brace
    {
        let statement = not_understood(&syn::parse_quote!(::mcp_tasks), Span::mixed_site());
        let span = body.span();
        let nothing = ours!(#statement ::core::unimplemented!());
        *body = Group::new(Delimiter::Brace, nothing);
        body.set_span(span);
    }
    trees.into_iter().collect()
}

/// An error by way of a lint, as rustc comes to these only where nothing else
/// is wrong.
fn not_understood(krate: &Path, span: Span) -> TokenStream {
    let runtime = located_at(&ours!(#krate::__private), span);
    quote_spanned! {span=>
        #[deny(unused_must_use, reason = "nothing else refuses the function")]
        #runtime::not_understood();
    }
}
