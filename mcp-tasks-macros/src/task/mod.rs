//! `#[mcp_task]`, stage by stage: parse, check, rewrite, expand; and on the same
//! ground `#[mcp_task_flow]` and `#[mcp_task_impl]`.
//!
//! Every stage reports into one collector and carries on, so that a person
//! sees all mistakes at once, and the function is always emitted, so that an
//! editor keeps its types and one mistake stays one error.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

/// Tokens of ours: locals among them are no names of the user's.
macro_rules! ours {
    ($($tokens:tt)*) => { quote_spanned!(Span::mixed_site()=> $($tokens)*) };
}

mod arg;
mod arguments;
mod associated;
mod attribute;
mod check;
mod dots;
mod duration;
mod expand;
mod flow;
mod forms;
mod half_written;
mod keys;
mod lifetimes;
mod listing;
mod marks;
mod messages;
mod methods;
mod parse;
mod report;
mod rewrite;
#[cfg(test)]
mod tests;

use attribute::Attribute;
pub(crate) use flow::mcp_task_flow;
use half_written::Read;
use marks::Mark;
pub(crate) use methods::mcp_task_impl;
use parse::TaskFn;
use report::Report;
use rewrite::Rules;

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
    let Some(Read { item, is_whole }) = half_written::function(item) else {
        let item = marks::refuse_item(item, Mark::Task, &report);
        let errors = report.into_compile_errors();
        return quote!(#item #errors);
    };
    let mut function = item;
    if function.sig.ident == "main" {
        // `main` cannot return a call: it is left without what is in it.
        let span = function.sig.ident.span();
        let error = syn::Error::new(span, messages::MAIN).into_compile_error();
        return quote_spanned!(span=> fn main() {} #error);
    }

    let attribute = Attribute::parse(attribute, &report);
    marks::refuse_others(&mut function.attrs, Mark::Task, &report);
    marks::refuse_takeovers(&mut function, &report);
    marks::refuse_logged_results(&mut function.attrs, &report);
    let shape = check::signature(&function, &report);
    check::tool_name(&attribute, &function.sig.ident, &report);
    marks::drop_instrumented(&mut function, messages::INSTRUMENTED, &report);
    // Before calls become tokens.
    let asked = forms::asked(&function.block);
    let found = rewrite::body(
        &mut function.block,
        Rules::of(&attribute, is_whole),
        &report,
    );
    let name = &function.sig.ident;
    let refusal = (!is_whole).then(|| half_written::refuse_unless_refused(&attribute.krate, name));
    let task = TaskFn::new(function, asked, found, None, &report);

    let output = expand::expand(&task, &attribute, shape);
    let errors = report.into_compile_errors();
    quote!(#output #refusal #errors)
}
