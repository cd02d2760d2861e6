//! The commands that speak to a server, or read the book.

mod answer;
mod call;
mod cancel;
mod list;
mod tools;

use std::future::Future;
use std::io::{self, Write as _};
use std::time::Duration;

use mcp_tasks::client::TaskClient;
use serde::Serialize;
use tokio::time::timeout;

use crate::exit::{Exit, Stop};
use crate::flags::Command;
use crate::prompt::restore_terminal;
use crate::signals::Signals;

/// How long a server may take to end.
const FAREWELL: Duration = Duration::from_secs(5);

/// Does what the command says.
pub(crate) async fn run(command: Command) -> Result<Exit, Stop> {
    match command {
        Command::Call(flags) => Box::pin(call::call(flags)).await,
        Command::Resume(flags) => Box::pin(call::resume(flags)).await,
        Command::Answer(flags) => unless_interrupted(Box::pin(answer::answer(flags))).await,
        Command::Cancel(flags) => unless_interrupted(Box::pin(cancel::cancel(flags))).await,
        Command::List(flags) => list::list(&flags),
        Command::Tools(flags) => unless_interrupted(Box::pin(tools::tools(flags))).await,
        // These need no server, and have been dealt with.
        Command::Inspect(_) | Command::Completions { .. } => Ok(Exit::Done),
    }
}

/// Does something for which nobody has to wait: a server that was started for it ends
/// with it.
async fn unless_interrupted<T>(work: impl Future<Output = Result<T, Stop>>) -> Result<T, Stop> {
    let mut signals = Signals::new()?;
    tokio::select! {
        done = work => done,
        _ = signals.next() => {
            if crossterm::terminal::is_raw_mode_enabled().unwrap_or(false) {
                restore_terminal();
            }
            Err(Stop::new(Exit::Cancelled, "interrupted"))
        }
    }
}

/// Ends the connection in good order.
async fn close(client: TaskClient) {
    // A server that does not end is killed with the client.
    drop(timeout(FAREWELL, client.close()).await);
}

/// Writes one object for programs.
fn json_line(value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
