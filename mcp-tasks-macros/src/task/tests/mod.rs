//! The attribute as a function over tokens: what it emits, what it says.

mod errors;
mod expansions;
mod forms;
mod keys;

use proc_macro2::TokenStream;

/// The expansion of source text, formatted.
fn expand(attribute: &str, item: &str) -> String {
    prettyplease::unparse(&file(attribute, item))
}

/// The expansion of `#[mcp_task_flow]`.
fn expand_flow(item: &str) -> String {
    let tokens = super::mcp_task_flow(TokenStream::new(), &tokens(item));
    prettyplease::unparse(&syn::parse2(tokens).expect("an expansion is a list of items"))
}

/// The expansion of `#[mcp_task_impl]`.
fn expand_impl(item: &str) -> String {
    let tokens = super::mcp_task_impl(TokenStream::new(), &tokens(item));
    prettyplease::unparse(&syn::parse2(tokens).expect("an expansion is a list of items"))
}

fn file(attribute: &str, item: &str) -> syn::File {
    let tokens = super::mcp_task(tokens(attribute), &tokens(item));
    syn::parse2(tokens).expect("an expansion is a list of items")
}

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("the test's text is Rust")
}

/// A function around a body.
fn function(body: &str) -> String {
    format!(
        "async fn deploy(service: String) -> Result<String, ToolError> {{ {body} Ok(service) }}"
    )
}

/// The messages of all `compile_error!`s, in order.
fn errors(attribute: &str, item: &str) -> Vec<String> {
    let mut messages = Vec::new();
    for item in file(attribute, item).items {
        if let syn::Item::Macro(item) = item
            && item
                .mac
                .path
                .segments
                .last()
                .is_some_and(|last| last.ident == "compile_error")
        {
            let message: syn::LitStr = item.mac.parse_body().expect("a message is a literal");
            messages.push(message.value());
        }
    }
    messages
}
