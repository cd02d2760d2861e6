//! About what a replay would do again, or differently.

pub(crate) fn reads_clock(call: &str) -> String {
    format!(
        "`{call}` gives another time when the task is replayed: use `now()` of mcp_tasks, which does \
         not, or take it in a step, which records it: `step_value(async {{ .. }}).await`"
    )
}

pub(crate) fn is_random(call: &str, instead: &str) -> String {
    format!(
        "`{call}` gives another value when the task is replayed: use `{instead}` of mcp_tasks, which \
         does not, or draw it in a step, which records it: `step_value(async {{ .. }}).await`"
    )
}

pub(crate) fn blocks(call: &str) -> String {
    format!(
        "`{call}` keeps the whole thread waiting, and again whenever the task is replayed: write \
         `sleep(..).await`"
    )
}

pub(crate) fn touches_files(call: &str) -> String {
    format!(
        "`{call}` touches the disk again when the task is replayed, and may find something else: do \
         it in a step, which records the result: `step(async {{ .. }}).await?`"
    )
}

pub(crate) fn reads_environment(call: &str) -> String {
    format!(
        "`{call}` may give another value when the task is replayed: read it when the server starts \
         and hand it in with `State(..)`, or take it in a step, which records it"
    )
}

pub(crate) fn prints(name: &str) -> String {
    format!(
        "`{name}!` prints again whenever the task is replayed, and over stdio it breaks the \
         protocol: use `set_status(..)` for the client or `tracing` for the log, or print inside a \
         step"
    )
}
