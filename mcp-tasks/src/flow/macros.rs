//! The names `join!`, `try_join!` and `race!`.
//!
//! Inside a task function the attribute replaces them; what is left of them
//! stands outside of one.

/// Waits for several questions, steps or timers at once; gives all outputs as a
/// tuple, in order.
///
/// It waits where it stands, like `tokio::join!`; no `.await` follows. Branches
/// may be named, and else are numbered from 0; the name stands before the keys
/// in the branch: `left/approval`. An `async` block that stands directly in it
/// is a branch that may ask and step by itself.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// #[mcp_task]
/// async fn survey() -> Result<String, ToolError> {
///     let (ops, dev) = join!(
///         ops: ask_user::<bool>("Ops: ready?"),
///         dev: async {
///             let ready: bool = ask_user("Dev: ready?").await?;
///             Ok::<_, AskError>(ready)
///         },
///     );
///     Ok(format!("{} {}", ops?, dev?))
/// }
/// ```
#[macro_export]
macro_rules! join {
    ($($branches:tt)*) => {
        ::core::compile_error!(
            "`join!` waits for parts of a task: use it inside a function marked `#[mcp_task]` or `#[mcp_task_flow]`"
        )
    };
}

/// Like [`join!`], for branches that give a `Result` with one type of error:
/// gives `Ok` of all values, or the first error; the other branches are dropped
/// then, which withdraws their questions.
#[macro_export]
macro_rules! try_join {
    ($($branches:tt)*) => {
        ::core::compile_error!(
            "`try_join!` waits for parts of a task: use it inside a function marked `#[mcp_task]` or `#[mcp_task_flow]`"
        )
    };
}

/// Waits for the first of several branches of one type; the others are dropped,
/// which withdraws their questions.
///
/// Written like [`join!`]. Where two are ready at once, the first one written
/// wins.
#[macro_export]
macro_rules! race {
    ($($branches:tt)*) => {
        ::core::compile_error!(
            "`race!` waits for parts of a task: use it inside a function marked `#[mcp_task]` or `#[mcp_task_flow]`"
        )
    };
}
