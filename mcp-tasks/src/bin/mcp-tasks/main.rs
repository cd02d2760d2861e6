//! `mcp-tasks`: calls MCP tools that run as tasks from a terminal, puts their
//! questions to whoever sits there, and looks into the stores of servers.

mod arguments;
mod book;
mod commands;
mod exit;
mod flags;
mod form;
mod given;
mod inspect;
mod prompt;
mod screen;
mod session;
mod show;
mod signals;
mod target;
mod words;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory as _, Parser as _};

use self::exit::{Exit, Stop};
use self::flags::{Command, Flags};
use self::screen::{Look, Screen};

fn main() -> ExitCode {
    let command = Flags::parse().command;
    let has_events = command.has_events();
    let done = match command {
        Command::Inspect(flags) => inspect::run(&flags),
        Command::Completions { shell } => {
            let name = "mcp-tasks";
            clap_complete::generate(shell, &mut Flags::command(), name, &mut io::stdout());
            Ok(Exit::Done)
        }
        command => speak(command),
    };
    done.unwrap_or_else(|stop| {
        if has_events {
            // If nobody listens any more, the code still tells.
            drop(show::events::stopped(stop.exit, &stop.words));
        }
        told(&stop)
    })
    .into()
}

/// How long what is still under way may take to end.
const FAREWELL: Duration = Duration::from_millis(500);

/// Does what needs a server.
fn speak(command: Command) -> Result<Exit, Stop> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let done = runtime.block_on(commands::run(command));
    // A server that was started here does not live on; what else is under way, nobody
    // needs to know any more.
    runtime.shutdown_timeout(FAREWELL);
    done
}

/// Tells why nothing more is done.
fn told(stop: &Stop) -> Exit {
    if stop.words.is_empty() {
        return stop.exit;
    }
    let screen = Screen::stderr();
    let told = screen.prose(0, Look::Bad, &format!("mcp-tasks: {}", stop.words));
    // If nobody listens any more, the code still tells.
    drop(told);
    stop.exit
}
