//! About flows.

pub(crate) const FLOW_ATTRIBUTE: &str = "`#[mcp_task_flow]` takes nothing but `crate = path`: \
     everything else belongs to the task that awaits it, `#[mcp_task(..)]`";
pub(crate) const FLOW_INSTRUMENTED: &str = "`#[tracing::instrument]` stands above \
     `#[mcp_task_flow]` and has taken the body apart: put it below";
pub(crate) const FLOW_NOT_ASYNC: &str = "a flow must be `async`: write `async fn`";
pub(crate) const FLOW_CONST: &str =
    "a flow runs at run time: write `async fn` in place of `const fn`";
pub(crate) const FLOW_UNSAFE: &str = "a flow cannot be `unsafe`: its body runs where it is awaited, \
     not where it is called. Put an `unsafe` block into it";
pub(crate) const FLOW_EXTERN: &str = "a flow cannot have an ABI of its own: remove `extern`";
pub(crate) const FLOW_IMPL_TRAIT: &str = "an argument of a flow cannot be `impl Trait`: name the \
     type, or its parameter, as in `<T: Into<String> + Send>(what: T)`";
pub(crate) const FLOW_IMPL_TRAIT_RETURN: &str = "a flow cannot return `impl Trait`: name the type, \
     for example `Result<String, AskError>`";
pub(crate) const CFG_ON_FLOW_ARGUMENT: &str = "an argument of a flow cannot be conditional: put \
     `#[cfg]` on two versions of the function";
