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
/// # Keys of the attribute
///
/// | key | value | default |
/// |---|---|---|
/// | `name` | the tool's name | the function's name |
/// | `title` | what a person sees | none |
/// | `description` | what the model reads | the doc comment |
/// | `annotations(..)` | hints for clients, each alone or with `true` or `false`: `read_only`, `destructive`, `idempotent`, `open_world` | none; a client then takes the tool for destructive and open |
/// | `icons` | a list of `https:` addresses, or of `Icon`s: `["https://.."]` | none |
/// | `meta` | the `_meta` of the listing, as JSON: `{ "example.com/tier": 1 }` | none |
/// | `ttl` | how long a task lives, `"24h"`, or `"none"` | 24 hours |
/// | `poll_interval` | what clients are asked to wait | 1 second |
/// | `support` | `"optional"`: for a client that does not declare the extension the call runs inline, and fails at its first question; `"required"`: it is refused before the body runs; `"forbidden"`: never a task | `"optional"` |
/// | `inline` | a plain result if done within this time | off |
/// | `replay` | `false`: the body is never run again | `true` |
/// | `cancel_grace` | time to clean up after a cancellation | none |
/// | `version` | the version that the journal records | 1 |
/// | `crate` | the path of `mcp_tasks`, if it is renamed | `::mcp_tasks` |
///
/// # Parameters
///
/// Parameters are the tool's arguments: types with `serde::Deserialize` and
/// `schemars::JsonSchema`, described by their doc comments. The attributes of
/// serde and schemars work on a parameter as they do on a field (`rename`,
/// `default`, `flatten`, ..). An `Option` may be left out.
///
/// `#[arg(..)]` limits an argument; the type decides which limits there are
/// (`mcp_tasks::argument`), and an `Option` has those of what it holds.
///
/// | key of `#[arg(..)]` | on | value |
/// |---|---|---|
/// | `min`, `max` | numbers | the least and the greatest that is allowed |
/// | `min_len`, `max_len` | texts | how many characters |
/// | `min_items`, `max_items` | lists | how many items |
/// | `pattern` | texts | a regular expression that must match somewhere; `^` and `$` tie it to the ends |
/// | `default` | all | what it is when it is left out: a value, a variant's name, or with no value the type's own default; shown in the schema if the type is `Serialize` |
///
/// Whatever the tool's schema limits, the attributes of schemars in nested types
/// included, is enforced before a task exists. The call is refused with `-32602`
/// that names each argument with its path and the rule. A task that has begun
/// keeps its arguments when later code has narrower limits.
///
/// A parameter whose type is called `State`, `Caller`, `ClientInfo` or `Meta` is
/// not an argument: the server gives what was registered with `.state(..)`, who
/// called, with which program, and the `_meta` of the call. What a task is given
/// of its call is recorded, and the same after a restart.
///
/// # Results
///
/// Text, `Json<T>`, a `ContentBlock` or several, `(content, Json<T>)`, `()`,
/// `ToolResult`, the results and content of rmcp, or a `Result` of one of these.
/// Its error is anything that `?` turns into a `ToolError`.
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
