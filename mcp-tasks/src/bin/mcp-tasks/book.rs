//! Where the book of open tasks is.

use std::env;
use std::path::PathBuf;

use mcp_tasks::client::{BookEntry, TaskBook};

use crate::exit::Stop;

/// The folder: `MCP_TASKS_BOOK`, or one in the platform's place for state.
fn folder() -> Option<PathBuf> {
    let set = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(folder) = set("MCP_TASKS_BOOK") {
        return Some(folder);
    }
    let state = if cfg!(windows) {
        set("LOCALAPPDATA")?
    } else if let Some(state) = set("XDG_STATE_HOME").filter(|path| path.is_absolute()) {
        state
    } else if cfg!(target_os = "macos") {
        set("HOME")?.join("Library/Application Support")
    } else {
        set("HOME")?.join(".local/state")
    };
    Some(state.join("mcp-tasks"))
}

/// Opens the book.
pub(crate) fn open() -> Result<TaskBook, Stop> {
    let folder = folder().ok_or_else(|| {
        Stop::file("there is no home directory to keep the book of tasks in; set MCP_TASKS_BOOK")
    })?;
    Ok(TaskBook::open(folder)?)
}

/// The task whose id is this or begins like this. An id that is not in the book is
/// taken as it is.
pub(crate) fn find(book: &TaskBook, beginning: &str) -> Result<(String, Option<BookEntry>), Stop> {
    if let Some(entry) = book.entry(beginning)? {
        return Ok((beginning.to_owned(), Some(entry)));
    }
    let mut entries = book.entries()?;
    entries.retain(|entry| entry.id.starts_with(beginning));
    match entries.len() {
        0 => Ok((beginning.to_owned(), None)),
        1 => {
            let entry = entries.remove(0);
            Ok((entry.id.to_string(), Some(entry)))
        }
        _ => {
            let ids = entries.iter().map(|entry| format!("\n  {}", entry.id));
            Err(Stop::usage(format_args!(
                "`{beginning}` is the beginning of more than one task:{}",
                ids.collect::<String>()
            )))
        }
    }
}
