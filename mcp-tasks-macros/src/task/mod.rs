//! `#[mcp_task]`, stage by stage: parse, check, rewrite, expand; and on the same
//! ground `#[mcp_task_flow]` and `#[mcp_task_impl]`.
//!
//! Every stage reports into one collector and carries on, so that a person
//! sees all mistakes at once, and the function is always emitted, so that an
//! editor keeps its types and one mistake stays one error.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};

/// Tokens of ours: locals among them are no names of the user's.
macro_rules! ours {
    ($($tokens:tt)*) => { quote_spanned!(Span::mixed_site()=> $($tokens)*) };
}

mod arg;
mod arguments;
mod attribute;
mod check;
mod duration;
mod expand;
mod flow;
mod forms;
mod keys;
mod lifetimes;
mod listing;
mod messages;
mod methods;
mod parse;
mod report;
mod rewrite;
#[cfg(test)]
mod tests;

use attribute::Attribute;
pub(crate) use flow::mcp_task_flow;
pub(crate) use methods::mcp_task_impl;
use parse::TaskFn;
use report::Report;
use rewrite::Rules;

/// Whether `#[tracing::instrument]` stood above and has put the body into a
/// block of its own, in which nothing could suspend.
fn is_instrumented(block: &syn::Block) -> bool {
    block.stmts.iter().any(|statement| {
        let tokens = statement.to_token_stream().to_string();
        tokens.starts_with("let __tracing_")
    })
}

/// Takes out a second `#[mcp_task]`, which would get a function that is no
/// longer `async`.
fn refuse_repetition(function: &mut syn::ItemFn, report: &Report) {
    function.attrs.retain(|attribute| {
        let last = attribute.path().segments.last();
        let is_ours = last.is_some_and(|last| last.ident == "mcp_task");
        if is_ours {
            report.error_spanned(attribute, messages::REPEATED_ATTRIBUTE);
        }
        !is_ours
    });
}

/// Reports a body that has been taken apart, and leaves it out.
fn drop_instrumented(function: &mut syn::ItemFn, message: &str, report: &Report) {
    if is_instrumented(&function.block) {
        report.error(function.sig.ident.span(), message);
        *function.block = syn::parse_quote!({ ::core::unimplemented!() });
        let allow = syn::parse_quote!(#[allow(unused, reason = "the body was refused")]);
        function.attrs.push(allow);
    }
}

/// Reads the arguments of an attribute that takes none but `crate = path`.
fn crate_path(tokens: TokenStream, message: &str, report: &Report) -> syn::Path {
    let usual = || syn::parse_quote!(::mcp_tasks);
    if tokens.is_empty() {
        return usual();
    }
    let path = |input: syn::parse::ParseStream<'_>| {
        input.parse::<syn::Token![crate]>()?;
        input.parse::<syn::Token![=]>()?;
        let path = input.call(syn::Path::parse_mod_style)?;
        input.parse::<Option<syn::Token![,]>>()?;
        Ok(path)
    };
    syn::parse::Parser::parse2(path, tokens.clone()).unwrap_or_else(|_| {
        report.error_spanned(tokens, message);
        usual()
    })
}

/// The whole attribute, from its tokens and the item's to what is emitted.
pub(crate) fn mcp_task(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let report = Report::default();
    let Ok(mut function) = syn::parse2::<syn::ItemFn>(item.clone()) else {
        report.error_spanned(item, messages::NOT_A_FUNCTION);
        let errors = report.into_compile_errors();
        return quote!(#item #errors);
    };

    let attribute = Attribute::parse(attribute, &report);
    let shape = check::signature(&function, &report);
    check::tool_name(&attribute, &function.sig.ident, &report);
    drop_instrumented(&mut function, messages::INSTRUMENTED, &report);
    // Before calls become tokens.
    let asked = forms::asked(&function.block);
    refuse_repetition(&mut function, &report);
    let found = rewrite::body(&mut function.block, Rules::of(&attribute), &report);
    let task = TaskFn::new(function, asked, found, None, &report);

    let output = expand::expand(&task, &attribute, shape);
    let errors = report.into_compile_errors();
    quote!(#output #errors)
}
