//! The attribute and derive macros of mcp-tasks.
//!
//! Use them through the `mcp_tasks` crate, whose documentation shows them at
//! work. The macros stay thin: they parse, check, rewrite and emit little; the
//! logic lives in ordinary functions of the runtime crate.

use proc_macro::TokenStream;

mod elicit;
mod literal;
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
/// | `support` | `"optional"`: a task for a client that declares the extension, else a call that asks in rounds, or while it is open; `"required"`: without the extension it is refused before the body runs; `"forbidden"`: never a task | `"optional"`; `"required"` with `sleep` or `signal` in the body |
/// | `inline` | a plain result if done within this time | off |
/// | `replay` | `false`: the body is never run again | `true` |
/// | `cancel_grace` | time to clean up after a cancellation | none |
/// | `concurrency` | how many functions of the tool, in whichever version, run at once, in all processes on the store together; those that wait for a person, a timer or a signal do not count, and the others wait their turn as `working`; costs two small writes to the store each time that one runs | no limit |
/// | `state_ttl` | how long a state is good for that a call gives its client in rounds, at most `"7d"` | 1 hour |
/// | `once` | `false`: such a state is accepted again and again; plays no part without a durable store | `true` |
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
/// `#[schemars(extend("x-mcp-header" = "Region"))]` on an argument that is a text,
/// a whole number or a `bool` has clients repeat it in the HTTP header
/// `Mcp-Param-Region`, by which proxies may route. A call whose header and argument
/// differ is refused with `-32020`.
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

/// Makes a struct with named fields a form that a person can be asked to fill
/// in, or an enum without data a choice (P24).
///
/// The form has the fields in the order of the struct, and the same bytes in
/// every run and build. What is wrong is said when it is compiled, all at once.
///
/// # Fields
///
/// | type | in the form | keys |
/// |---|---|---|
/// | `String` | `string` | `min_len`, `max_len`, `format` |
/// | `i8` to `i128`, `u8` to `u128`, `isize`, `usize` | `integer` within the type's range, and within ±(2^53 - 1) | `min`, `max` |
/// | `f32`, `f64` | `number` | `min`, `max` |
/// | `bool` | `boolean` | |
/// | an enum with `#[derive(Elicit)]` | `string` with `enum`, or with `oneOf` if a variant has a title | |
/// | `Vec` of such an enum | `array` with `items.enum` or `items.anyOf`, each at most once | `min_items`, `max_items` |
/// | `Option` of any of these | the same, not `required` | those of the type |
///
/// # `#[elicit(..)]`
///
/// | on | key | meaning | default |
/// |---|---|---|---|
/// | a field | `title = ".."` | the name that is shown | none; clients show the field's name |
/// | | `description = ".."` | the explanation that is shown | the doc comment |
/// | | `default = ..` | what the field starts with, and has if it is left empty; it is then not `required`. A literal of the field's type, `Variant`, `[First, Second]`, or any expression; without `Some` for an `Option` | none |
/// | | `rename = ".."` | the name on the wire | the field's name |
/// | | `min = .., max = ..` | the range of a number, as literals | that of the type |
/// | | `min_len = .., max_len = ..` | the length of a text, in Unicode characters | any |
/// | | `format = ".."` | `email`, `uri`, `date` or `date-time` | none |
/// | | `min_items = .., max_items = ..` | how many may be chosen | any |
/// | | `not_secret` | the name looks like a secret's, but the value is none (P25) | |
/// | a variant | `title = ".."` | what is shown | the doc comment's first paragraph; if any variant has a title, the name in words |
/// | | `rename = ".."` | what is sent | the name in `snake_case` |
/// | the struct or enum | `rename_all = ".."` | how all names on the wire are written: `lowercase`, `UPPERCASE`, `PascalCase`, `camelCase`, `snake_case`, `SCREAMING_SNAKE_CASE`, `kebab-case` or `SCREAMING-KEBAB-CASE`, each as serde has it | |
/// | | `crate = ".."` | the path of `mcp_tasks`, if it is renamed | `::mcp_tasks` |
///
/// # `#[serde(..)]`
///
/// On a type that serde knows as well, `rename` and `rename_all` are the form's
/// too, as serde reads by them; `#[elicit(..)]` overrules them. What makes serde
/// read something else than the form asks for (`flatten`, `skip`, `with`, `tag`
/// and the like, `default` on a field that the form requires) is a compile
/// error, and what concerns writing only is let be. Without any of them, note
/// that serde writes an enum's variants as they are, and a form in
/// `snake_case`.
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
