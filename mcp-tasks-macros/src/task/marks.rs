//! Attributes that do not go together with ours, and items that ours do not go
//! on.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Ident, ImplItem, Item, ItemFn, ItemImpl, Meta, TraitItemFn};

use super::report::Report;
use super::{half_written, messages};

/// An attribute of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Task,
    Flow,
    Impl,
}

impl Mark {
    pub(crate) fn of(attribute: &Attribute) -> Option<Self> {
        let last = attribute.path().segments.last()?;
        [Self::Task, Self::Flow, Self::Impl]
            .into_iter()
            .find(|mark| last.ident == mark.name())
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Task => "mcp_task",
            Self::Flow => "mcp_task_flow",
            Self::Impl => "mcp_task_impl",
        }
    }
}

/// Takes out attributes of ours beside the one that is at work, which would get
/// an item that is no longer what it was.
pub(crate) fn refuse_others(attrs: &mut Vec<Attribute>, at_work: Mark, report: &Report) {
    attrs.retain(|attribute| {
        let Some(mark) = Mark::of(attribute) else {
            return true;
        };
        let message = match (at_work, mark) {
            (Mark::Task, Mark::Task) => messages::REPEATED_TASK.to_owned(),
            (Mark::Task, Mark::Flow) | (Mark::Flow, Mark::Task) => {
                messages::TASK_AND_FLOW.to_owned()
            }
            (Mark::Impl, Mark::Task | Mark::Flow) => messages::mark_on_impl(mark),
            (_, Mark::Impl) if at_work != Mark::Impl => messages::NOT_AN_IMPL.to_owned(),
            _ => messages::repeated(mark),
        };
        report.error_spanned(attribute, message);
        false
    });
}

/// Takes out `#[tracing::instrument]` if it is to log what the function gives:
/// below ours it is entered where the call is built.
pub(crate) fn refuse_logged_results(attrs: &mut Vec<Attribute>, report: &Report) {
    attrs.retain(|attribute| {
        let last = attribute.path().segments.last();
        let Some(log) = last
            .filter(|last| last.ident == "instrument")
            .and_then(|_| logged_result(attribute))
        else {
            return true;
        };
        report.error(log.span(), messages::logs_result(&log.to_string()));
        false
    });
}

/// The `err` or `ret` of an attribute.
fn logged_result(attribute: &Attribute) -> Option<Ident> {
    let Meta::List(list) = &attribute.meta else {
        return None;
    };
    let mut names = list
        .tokens
        .clone()
        .into_iter()
        .filter_map(|token| match token {
            TokenTree::Ident(ident) => Some(ident),
            _ => None,
        });
    names.find(|name| name == "err" || name == "ret")
}

/// Takes out attributes that make something else of the function, and the body
/// with them if they have already been at it.
pub(crate) fn refuse_takeovers(function: &mut ItemFn, report: &Report) {
    let mut refused = false;
    function.attrs.retain(|attribute| {
        let last = attribute.path().segments.last();
        let Some(message) = last.and_then(|last| messages::takeover(&last.ident.to_string()))
        else {
            return true;
        };
        report.error_spanned(attribute, message);
        refused = true;
        false
    });
    if refused && function.sig.asyncness.is_none() {
        function.sig.asyncness = Some(syn::Token![async](function.sig.fn_token.span));
        drop_body(function);
    }
}

/// Whether `#[tracing::instrument]` stood above and has put the body into a
/// block of its own, in which nothing could suspend.
fn is_instrumented(block: &syn::Block) -> bool {
    block.stmts.iter().any(|statement| {
        let tokens = statement.to_token_stream().to_string();
        tokens.starts_with("let __tracing_")
    })
}

/// Reports a body that has been taken apart, and leaves it out.
pub(crate) fn drop_instrumented(function: &mut ItemFn, message: &str, report: &Report) {
    if is_instrumented(&function.block) {
        report.error(function.sig.ident.span(), message);
        drop_body(function);
    }
}

fn drop_body(function: &mut ItemFn) {
    *function.block = syn::parse_quote!({ ::core::unimplemented!() });
    function.attrs.push(refused());
}

/// Reports an item that is no function, or for [`Mark::Impl`] no `impl` block,
/// and gives what is emitted of it. What cannot be read at all is rustc's to
/// report.
pub(crate) fn refuse_item(item: &TokenStream, mark: Mark, report: &Report) -> TokenStream {
    if let Ok(function) = syn::parse2::<TraitItemFn>(item.clone())
        && mark != Mark::Impl
    {
        // With a body it would be a function.
        report.error(function.sig.ident.span(), messages::without_body(mark));
        return item.clone();
    }
    let message = match syn::parse2::<Item>(item.clone()) {
        Err(_) => return half_written::hollow(item),
        Ok(Item::Impl(block)) => {
            report.error(block.impl_token.span, messages::mark_on_impl(mark));
            return without_bodies(block).into_token_stream();
        }
        Ok(Item::Trait(_)) => messages::mark_on_trait(mark),
        Ok(_) => messages::goes_on(mark),
    };
    report.error(keyword(item), message);
    item.clone()
}

/// An `impl` block whose methods were to be marked, without what stands in
/// them: calls of ours in there would be refused as well.
fn without_bodies(mut block: ItemImpl) -> ItemImpl {
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item
            && method.sig.asyncness.is_some()
        {
            method.block = syn::parse_quote!({ ::core::unimplemented!() });
            method.attrs.push(refused());
        }
    }
    block
}

fn refused() -> Attribute {
    syn::parse_quote!(#[allow(unused, reason = "the body was refused")])
}

/// The word that says what kind of item it is.
fn keyword(item: &TokenStream) -> Span {
    const WORDS: [&str; 12] = [
        "struct", "enum", "union", "mod", "trait", "impl", "const", "static", "type", "use",
        "extern", "fn",
    ];
    let mut tokens = item.clone().into_iter().peekable();
    let first = tokens.peek().map_or_else(Span::call_site, TokenTree::span);
    let mut words = tokens.filter_map(|token| match token {
        TokenTree::Ident(ident) if WORDS.iter().any(|word| ident == word) => Some(ident.span()),
        _ => None,
    });
    words.next().unwrap_or(first)
}
