//! `call` and `resume`.

use mcp_tasks::client::{TaskBook, TaskClient, ToolInfo};

use super::{close, unless_interrupted};
use crate::arguments::{Arguments, arguments};
use crate::book;
use crate::exit::{Exit, Stop};
use crate::flags;
use crate::screen::{Look, Screen};
use crate::session::Session;
use crate::target::{Log, Target};

pub(super) async fn call(flags: flags::Call) -> Result<Exit, Stop> {
    let target = Target::find(&flags.server, None)?;
    let book = book_if_possible();
    let in_book = book.is_some();
    let (log, lines) = Log::new(flags.output.verbose);
    let heard = (log.clone(), lines);
    let mut session = Session::new(&target, in_book, &flags.asking, &flags.output, heard)?;
    session.live.begin("connecting");
    let client = unless_interrupted(target.connect(book, flags.output.timeout, log)).await?;
    let done = run(&client, &flags, session).await;
    close(client).await;
    done
}

async fn run(client: &TaskClient, flags: &flags::Call, session: Session<'_>) -> Result<Exit, Stop> {
    let tools = unless_interrupted(async { Ok(client.tools().await?) }).await?;
    let tool = find(&tools, &flags.tool)?;
    let known = Arguments::read(tool.input_schema.get());
    let arguments = arguments(&flags.tool, &known, &flags.arguments)?;
    let call = client.call(flags.tool.as_str(), arguments);
    session.follow(call).await
}

pub(super) async fn resume(flags: flags::Resume) -> Result<Exit, Stop> {
    let book = book::open()?;
    let (id, entry) = book::find(&book, &flags.id)?;
    let target = Target::find(&flags.server, entry.as_ref()).map_err(|stop| unknown(stop, &id))?;
    let (log, lines) = Log::new(flags.output.verbose);
    // An entry that the client makes for an id knows no server, and one that was made
    // before another than today's, if one is named.
    let named = flags.server.http.is_some() || !flags.server.command.is_empty();
    let in_book = !named && entry.is_some_and(|entry| entry.server.is_some());
    let heard = (log.clone(), lines);
    let mut session = Session::new(&target, in_book, &flags.asking, &flags.output, heard)?;
    session.live.begin("connecting");
    session.live.joins_late();
    let connected = target.connect(Some(book), flags.output.timeout, log);
    let client = unless_interrupted(connected).await?;
    let call = client.resume(id.as_str());
    let done = session.follow(call).await;
    close(client).await;
    done
}

/// Why no server is known for a task.
pub(super) fn unknown(mut stop: Stop, id: &str) -> Stop {
    stop.words = format!(
        "`{id}` is none of the tasks that `mcp-tasks list` lists; {}",
        stop.words
    );
    stop
}

/// A call is worth making without a book, too.
fn book_if_possible() -> Option<TaskBook> {
    match book::open() {
        Ok(book) => Some(book),
        Err(stop) => {
            let words = format!(
                "mcp-tasks: {}. The task will not be in `mcp-tasks list`.",
                stop.words
            );
            // Whoever has gone is told nothing.
            drop(Screen::stderr().prose(0, Look::Notable, &words));
            None
        }
    }
}

/// The tool of this name.
pub(super) fn find<'t>(tools: &'t [ToolInfo], name: &str) -> Result<&'t ToolInfo, Stop> {
    tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
        /// More are not read.
        const SHOWN: usize = 12;
        let names = tools.iter().map(|tool| tool.name.as_str());
        let shown: Vec<_> = names.take(SHOWN).collect();
        let there_is = match tools.len().saturating_sub(SHOWN) {
            _ if tools.is_empty() => "it has none".to_owned(),
            0 => format!("it has {}", shown.join(", ")),
            more => format!(
                "it has {} and {more} more, which `mcp-tasks tools` lists",
                shown.join(", ")
            ),
        };
        Stop::usage(format_args!("the server has no tool `{name}`; {there_is}"))
    })
}
