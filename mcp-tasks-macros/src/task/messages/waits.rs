//! About waiting for several at once, and about what hides in macros.

pub(crate) const TASK_AWAIT_AFTER_JOIN: &str =
    "this macro awaits in place, and yields the values: remove the `.await`";

pub(crate) fn join_label_twice(label: &str) -> String {
    format!("two branches are called `{label}`: give each a name of its own")
}

pub(crate) fn join_syntax(name: &str) -> String {
    format!(
        "`{name}!` takes branches, each an expression with or without a name: `{name}!(left: .., right: ..)`"
    )
}

pub(crate) fn join_empty(name: &str) -> String {
    format!("`{name}!` needs at least one branch")
}

pub(crate) fn join_too_many(name: &str, most: usize) -> String {
    format!("`{name}!` takes at most {most} branches: use `join_all(..)` for more")
}

pub(crate) fn foreign_join(name: &str, ours: &str) -> String {
    format!(
        "`{name}!` cannot be replayed: what finishes first is not recorded. Use `{ours}` of \
         mcp_tasks, or put it inside a step: `step(async {{ .. }})`"
    )
}

pub(crate) fn await_in_macro(name: &str) -> String {
    format!(
        "this `.await` is hidden in `{name}!`, where it cannot be made durable: await before, \
         with a `let`, and hand the value in"
    )
}

pub(crate) fn call_in_macro(call: &str, name: &str) -> String {
    format!(
        "`{call}` is hidden in `{name}!`, where it cannot be bound to the task: call it before, \
         with a `let`, and hand the value in"
    )
}
