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

/// Lets an `async fn` be a part of tasks: it may ask, sleep and take steps like
/// their own bodies, and they await it.
///
/// Calling it builds a `FlowCall`, which does nothing until it is awaited, in the
/// body of a task or of another flow, or in a branch. Its keys stand behind that of
/// the call: the variable that its value is bound to, else the function's name
/// (`confirm/approval`); a second pass is `confirm#2/approval`. Two calls of one
/// name in one function need `.key("..")`.
///
/// It may borrow its arguments, have a `self` and type parameters (which must be
/// `Send`), and call itself. Its body is held to the same rules as a task's.
///
/// | key | value | default |
/// |---|---|---|
/// | `crate` | the path of `mcp_tasks`, if it is renamed | `::mcp_tasks` |
#[proc_macro_attribute]
pub fn mcp_task_flow(attribute: TokenStream, item: TokenStream) -> TokenStream {
    task::mcp_task_flow(attribute.into(), &item.into()).into()
}

/// Makes those methods of an `impl` block MCP tools that are marked `#[mcp_task]`;
/// what they share is in `self`.
///
/// `.tasks_of(value)` gives all of them to a server, with the value that they are
/// called on. A marked method takes `&self`, and arguments like a task function; the
/// keys of `#[mcp_task(..)]` are those of a function. Calling it, on an `Arc` of the
/// value, builds a named call value (`DeployerDeployCall`) that a test drives.
///
/// What is not marked stays as it is; a method marked `#[mcp_task_flow]` is a part of
/// the tasks that await it. One block of each type can have the attribute.
///
/// | key | value | default |
/// |---|---|---|
/// | `crate` | the path of `mcp_tasks`, if it is renamed | `::mcp_tasks` |
#[proc_macro_attribute]
pub fn mcp_task_impl(attribute: TokenStream, item: TokenStream) -> TokenStream {
    task::mcp_task_impl(attribute.into(), &item.into()).into()
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
