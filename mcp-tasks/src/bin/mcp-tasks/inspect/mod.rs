//! `mcp-tasks inspect`: what is in a store, without touching it.

mod event;
mod list;
mod timeline;
mod waits;

use std::io::{self, Write as _};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use mcp_tasks::store::inspect::{Stamp, StoreFile};
use mcp_tasks::task::{TaskId, Timestamp};
use serde::Serialize;

use crate::exit::{Exit, Stop};
use crate::flags::Inspect;

/// How often `--follow` looks whether the file has changed.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Shows what there is to show.
pub(crate) fn run(flags: &Inspect) -> Result<Exit, Stop> {
    let file = StoreFile::new(&flags.file).map_err(Stop::file)?;
    match &flags.task {
        None => list::show(&file, flags)?,
        Some(task) => {
            let id = find(&file, task)?;
            timeline::show(&file, &id, flags)?;
        }
    }
    Ok(Exit::Done)
}

/// The one task that is meant.
fn find(file: &StoreFile, beginning: &str) -> Result<TaskId, Stop> {
    const SHOWN: usize = 5;
    let mut ids = file
        .look(|view| match view.task(&TaskId::from_text(beginning))? {
            Some(task) => Ok(vec![task.snapshot.id.clone()]),
            None => view.ids(beginning, SHOWN + 1),
        })
        .map_err(Stop::file)?;
    match ids.len() {
        1 => Ok(ids.remove(0)),
        0 => Err(Stop::usage(format_args!(
            "there is no task `{beginning}` in {}; what has ended is deleted after a while",
            file.path().display()
        ))),
        many => {
            let shown = ids.iter().take(SHOWN).map(|id| format!("\n  {id}"));
            let more = if many > SHOWN { "\n  ..." } else { "" };
            Err(Stop::usage(format_args!(
                "`{beginning}` is the beginning of more than one task:{}{more}",
                shown.collect::<String>()
            )))
        }
    }
}

fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Waits until the file may be another than at the time of the stamp, or until so much
/// time has gone by.
fn wait_for_change(file: &StoreFile, seen: &Stamp, limit: Option<Duration>) {
    let begun = Instant::now();
    // What was written a moment ago may have been written to once more in the
    // same step of the clock.
    if !seen.is_settled() {
        thread::sleep(LOOK_EVERY);
        return;
    }
    loop {
        thread::sleep(LOOK_EVERY);
        if file.stamp() != *seen || limit.is_some_and(|limit| begun.elapsed() >= limit) {
            return;
        }
    }
}

/// Writes one object for programs.
fn json_line(value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
