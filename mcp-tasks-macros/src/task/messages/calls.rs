//! About calls of ours: where they stand, and their keys.

pub(crate) const CANCELLED_WITHOUT_GRACE: &str = "`cancelled()` never resolves in this task, \
     which ends at once when it is cancelled: allow it time with \
     `#[mcp_task(cancel_grace = \"5s\")]`";
pub(crate) const START_TWICE: &str =
    "a call becomes a task once: this is the second `start_task()` of the function. Leave one";
pub(crate) const START_IN_LOOP: &str =
    "`start_task()` cannot stand in a loop: a call becomes a task once. Put it before or after";
pub(crate) const START_IN_BRANCH: &str = "`start_task()` cannot stand in a branch of a join: it \
     is the whole call that becomes a task. Put it before the join";
pub(crate) const START_IN_FLOW: &str = "`start_task()` cannot stand in a helper: it is the tool's \
     own function that says where its call becomes a task. Put it there";
pub(crate) const START_FORBIDDEN: &str = "`start_task()` in a tool that never becomes a task: \
     leave it out, or leave out `support = \"forbidden\"`";
pub(crate) const START_WITHOUT_REPLAY: &str = "`start_task()` needs replay: what is asked before it \
     is asked over several calls. Leave it out, or leave out `replay = false`";
pub(crate) const START_WITH_INLINE: &str = "`start_task()` and `inline` both say when a call \
     becomes a task: leave one out";
pub(crate) const EMPTY_KEY: &str =
    "a key cannot be empty: leave `.key(..)` out, and the call names itself";

pub(crate) fn not_awaited(call: &str) -> String {
    format!("`{call}` does nothing until it is awaited: add `.await`")
}

pub(crate) fn in_closure(call: &str) -> String {
    format!(
        "`{call}` cannot stand in a closure: a task suspends only in its own body. Use a loop, or \
         `join_all(items.map(|item| ..))`, whose closure may"
    )
}

pub(crate) fn in_async_block(call: &str) -> String {
    format!(
        "`{call}` cannot stand in a nested `async` block: a task suspends only in its own body. \
         Take it out of the block, or make the block a branch of `join!`, `try_join!`, `race!` or \
         `join_all`"
    )
}

pub(crate) fn in_spawn(call: &str) -> String {
    format!(
        "`{call}` cannot be spawned: what is spawned is not part of the task and is lost in a \
         restart. Use `join!(..)` to do several things at once"
    )
}

pub(crate) fn in_step(call: &str) -> String {
    format!(
        "`{call}` cannot stand inside a step: a step is recorded as a whole. Call it before the \
         step and hand the result in"
    )
}

pub(crate) fn in_unrecorded(call: &str) -> String {
    format!(
        "`{call}` cannot stand inside `unrecorded(..)`, which runs again with every replay: call \
         it before and hand the result in"
    )
}

pub(crate) fn in_inner_function(call: &str) -> String {
    format!(
        "`{call}` cannot stand in an inner function: a task suspends only in its own body. Call it \
         there, and hand the result over"
    )
}

pub(crate) fn repeated_key(key: &str) -> String {
    format!(
        "the key `{key}` is already taken in this function: the journal could not tell the two \
         apart. Give this one a name of its own with `.key(\"..\")`"
    )
}

pub(crate) fn key_first_taken(key: &str) -> String {
    format!("the key `{key}` is first taken here")
}

pub(crate) fn key_character(bad: char) -> String {
    format!(
        "a key cannot contain `{bad}`, which separates the parts of a full key: use `_`, `-` or `.`"
    )
}
