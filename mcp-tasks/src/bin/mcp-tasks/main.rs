//! `mcp-tasks`: calls MCP tools that run as tasks from a terminal, puts their
//! questions to whoever sits there, and looks into the stores of servers.

mod exit;
mod flags;
mod inspect;
mod screen;
mod words;

use std::process::ExitCode;

use clap::Parser as _;

use self::exit::{Exit, Stop};
use self::flags::{Command, Flags};
use self::screen::{Look, Screen};

fn main() -> ExitCode {
    let flags = Flags::parse();
    let run = match &flags.command {
        Command::Inspect(flags) => inspect::run(flags),
    };
    run.unwrap_or_else(|stop| told(&stop)).into()
}

/// Tells why nothing more is done.
fn told(stop: &Stop) -> Exit {
    let screen = Screen::stderr();
    let told = screen.prose(0, Look::Bad, &format!("mcp-tasks: {}", stop.words));
    // If nobody listens any more, the code still tells.
    drop(told);
    stop.exit
}
