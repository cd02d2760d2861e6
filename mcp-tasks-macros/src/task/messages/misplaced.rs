//! About calls of ours that are written the way other libraries have it.

pub(crate) const POLICY_FIRST: &str = "`step_with` takes the policy first: write \
     `step_with(policy, || ..)`";
pub(crate) const BRANCH_AWAIT: &str =
    "a branch is what is to be waited for: remove the `.await`, the macro does it";

pub(crate) fn foreign_wait(function: &str, instead: &str) -> String {
    format!(
        "`{function}` knows nothing of the task, and what it waits for would not be recorded: use \
         {instead}"
    )
}

pub(crate) fn step_named(step: &str, name: &str) -> String {
    format!(
        "`{step}` takes the future alone. A step is named by what it calls, by its `let`, or by \
         `{step}(..).key(\"{}\")`",
        name.escape_debug()
    )
}

pub(crate) fn tool_called(method: &str) -> String {
    format!(
        "`{method}` is a tool, which only clients call: put what both do into a method marked \
         `#[mcp_task_flow]`, and await that"
    )
}

pub(crate) fn nothing_to_await(call: &str) -> String {
    format!("`{call}(..)` is done at once: remove the `.await`")
}

pub(crate) fn before_await(method: &str) -> String {
    format!("`.{method}(..)` comes before the `.await`, which ends the call: put it there")
}
