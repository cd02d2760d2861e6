//! The attribute and derive macros of mcp-tasks.
//!
//! Use them through the `mcp_tasks` crate, whose documentation shows them at
//! work. The macros stay thin: they parse, check, rewrite and emit little; the
//! logic lives in ordinary functions of the runtime crate.

use proc_macro::TokenStream;

mod elicit;
mod task;

/// Turns an `async fn` into an MCP tool that can run as a task.
///
/// The function keeps its name, parameters and documentation; calling it
/// builds a named call value (`DeployCall`) that a server or a test drives.
///
/// | key | value | default |
/// |---|---|---|
/// | `name` | the tool's name | the function's name |
/// | `title` | what a person sees | none |
/// | `description` | what the model reads | the doc comment |
/// | `ttl` | how long a task lives, `"24h"`, or `"none"` | 24 hours |
/// | `poll_interval` | what clients are asked to wait | 1 second |
/// | `support` | `"optional"`: for a client that does not declare the extension the call runs inline, and fails at its first question; `"required"`: it is refused before the body runs; `"forbidden"`: never a task | `"optional"` |
/// | `inline` | a plain result if done within this time | off |
/// | `replay` | `false`: the body is never run again | `true` |
/// | `cancel_grace` | time to clean up after a cancellation | none |
/// | `version` | the version that the journal records | 1 |
/// | `crate` | the path of `mcp_tasks`, if it is renamed | `::mcp_tasks` |
#[proc_macro_attribute]
pub fn mcp_task(attribute: TokenStream, item: TokenStream) -> TokenStream {
    task::mcp_task(attribute.into(), &item.into()).into()
}

/// Makes a struct a form that a person can be asked to fill in, or an enum
/// without data a choice.
///
/// The module `mcp_tasks::elicit` describes the types that fields may have and
/// the keys of `#[elicit(..)]`.
#[proc_macro_derive(Elicit, attributes(elicit))]
pub fn derive_elicit(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    elicit::derive(input.into()).into()
}

/// The functions by which a derived form knows the name of a secret, for forms
/// that are not derived. For `mcp_tasks` itself.
#[doc(hidden)]
#[proc_macro]
pub fn secret_names(_: TokenStream) -> TokenStream {
    let source = include_str!("elicit/secrets.rs");
    source.parse().expect("the file is compiled here as well")
}
