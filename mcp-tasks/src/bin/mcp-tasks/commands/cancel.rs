//! `cancel`: asks a server to cancel a task.

use mcp_tasks::client::{CallState, ClientError, TaskBook, TaskClient};
use mcp_tasks::protocol::{ErrorCode, TaskStatus};
use serde_json::json;

use super::call::unknown;
use super::{close, json_line};
use crate::book;
use crate::exit::{Exit, Stop};
use crate::flags;
use crate::screen::{Look, Screen};
use crate::target::{Log, Target};
use crate::words;

pub(super) async fn cancel(flags: flags::Cancel) -> Result<Exit, Stop> {
    let book = book::open()?;
    let (id, entry) = book::find(&book, &flags.id)?;
    let target = Target::find(&flags.server, entry.as_ref()).map_err(|stop| unknown(stop, &id))?;
    let (log, _) = Log::new(false);
    let client = target.connect(None, None, log).await?;
    let state = cancelled(&client, &id).await;
    close(client).await;
    if let Err(ClientError::Refused { error, .. }) = &state
        && error.code == ErrorCode::INVALID_PARAMS
        && book.remove(&id)?
    {
        let words =
            format!("the server knows no such task (any more): {id} is struck out of the list");
        return Err(Stop::new(Exit::CallFailed, words));
    }
    let state = state?;
    report(&book, &id, &state, flags.json)?;
    Ok(Exit::Done)
}

/// The task after it was told to end.
async fn cancelled(client: &TaskClient, id: &str) -> Result<CallState, ClientError> {
    client.cancel(id).await?;
    client.get(id).await
}

fn report(book: &TaskBook, id: &str, state: &CallState, json: bool) -> Result<(), Stop> {
    let status = state.status;
    if status.is_terminal() {
        book.remove(id)?;
    }
    if json {
        json_line(&json!({
            "event": "cancelled", "task": id, "status": status, "exit": Exit::Done as u8,
        }))?;
        return Ok(());
    }
    let screen = Screen::stdout();
    match status {
        TaskStatus::Cancelled => screen.prose(0, Look::Good, "✓ cancelled")?,
        status if status.is_terminal() => {
            let words = format!("The task had ended before: {}.", words::status(status));
            screen.prose(0, Look::Notable, &words)?;
        }
        _ => screen.prose(
            0,
            Look::Plain,
            "The server has taken note; the task cleans up and then ends.",
        )?,
    }
    Ok(())
}
