//! The main job: a tool call becomes a task, stops at a question, takes a
//! person's answer and goes on to its result, over real MCP.
//!
//! One program plays both sides. Started by a person it is the client, which
//! starts itself once more as the server, a child process that is spoken to
//! over stdin and stdout. The server is in `tool.rs`; what the client does with
//! a task is in this package's library.

mod fleet;
mod report;
mod tool;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mcp_tasks_examples::answers::{AnswerFile, Answers, Prompt};
use mcp_tasks_examples::client::{Called, Client};
use mcp_tasks_examples::connection::Connection;
use mcp_tasks_examples::drive::{Outcome, drive};
use mcp_tasks_examples::screen::{Screen, Style};
use mcp_tasks_examples::server_process::ServerProcess;
use mcp_tasks_examples::{Error, wire};
use serde::Serialize;
use tokio::process::Command;

/// Calls a tool of an MCP server and puts the task's questions to you.
///
/// The tool is `deploy`. The server is this program again, as a child process.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Option<Role>,

    /// Service to deploy
    #[arg(long, default_value = "billing")]
    service: String,

    /// Environment to deploy it to: staging or production
    #[arg(long, default_value = "production")]
    env: String,

    /// Take the answers from a JSON file instead of asking you
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,

    /// Show each message between client and server
    #[arg(long)]
    wire: bool,
}

const AFTER_HELP: &str = "\
A file of answers holds an object: for each question its key, and as value
the object that is filled in, or the word \"decline\" or \"cancel\":
  { \"approval\": { \"approve\": true, \"window\": \"tonight\" } }

Exit status: 0 if the tool did its work; 1 if it says that it did not, or the
task failed or was cancelled; 2 if there is no outcome.";

#[derive(Subcommand)]
enum Role {
    /// Be the server.
    #[command(hide = true)]
    Serve,
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Role::Serve) => tool::serve().await.map_err(|error| error.to_string()),
        None => call(&cli).await,
    };
    match done {
        Ok(code) => code,
        Err(words) => {
            let _ = Screen::stderr().show(0, Style::Bad, &format!("deploy: {words}"));
            ExitCode::from(2)
        }
    }
}

/// Starts a server, calls its tool and shows what comes of it.
async fn call(cli: &Cli) -> Result<ExitCode, String> {
    // A mistake in the file is found before anything is started.
    let mut answers = answers(cli).map_err(|error| error.to_string())?;
    let program = std::env::current_exe().map_err(|error| Error::Start(error).to_string())?;
    let (mut server, mut connection) =
        ServerProcess::start(Command::new(program).arg("serve"), |line| {
            // Nobody reading along is no reason to stop.
            let _ = Screen::stderr().show(2, Style::Dim, &format!("server: {line}"));
        })
        .map_err(|error| error.to_string())?;
    if cli.wire {
        connection.watch(|direction, message| {
            let message = wire::lay_out(direction, message);
            let _ = Screen::stdout().show_as_is(Style::Dim, &message);
        });
    }
    let outcome = converse(cli, connection, answers.as_mut()).await;
    let ended = server.ended().await;
    match (outcome, ended) {
        (Ok(outcome), _) => report::show(&mut Screen::stdout(), &outcome)
            .map_err(|error| Error::Io(error).to_string()),
        (Err(error @ Error::Gone { .. }), Some(status)) => Err(format!("{error} ({status})")),
        (Err(error), _) => Err(error.to_string()),
    }
}

/// All that is said between client and server. Ends with the connection closed.
async fn converse(
    cli: &Cli,
    connection: Connection,
    answers: &mut dyn Answers,
) -> Result<Outcome, Error> {
    #[derive(Serialize)]
    struct Arguments<'a> {
        service: &'a str,
        env: &'a str,
    }
    let mut screen = Screen::stdout();
    screen.show(
        0,
        Style::Plain,
        "Starting the server: this program again, as a child process, over stdio.",
    )?;
    let mut client = Client::new(
        connection,
        "mcp-tasks deploy example",
        env!("CARGO_PKG_VERSION"),
    );
    let server = client.discover().await?;
    let tasks = if server.has_tasks { "" } else { "out" };
    let heading = format!("Connected to {}, a server with{tasks} tasks.", server.name);
    screen.show(0, Style::Plain, &heading)?;

    let heading = format!("Calling its tool deploy: {} to {}.", cli.service, cli.env);
    screen.show(0, Style::Plain, &heading)?;
    let arguments = Arguments {
        service: &cli.service,
        env: &cli.env,
    };
    let task = match client.call_tool("deploy", arguments).await? {
        Called::Result(result) => return Ok(Outcome::Result(result)),
        Called::Task(task) => task,
    };
    screen.space()?;
    screen.show(
        0,
        Style::Bold,
        &format!("The call is task {}.", task.task_id),
    )?;
    let kept = match task.ttl_ms {
        Some(ttl) if ttl < 3_600_000 => format!("kept for {} s", ttl / 1000),
        Some(ttl) => format!("kept for {} h", ttl / 3_600_000),
        None => "kept for good".to_owned(),
    };
    let poll = task.poll_interval().as_millis();
    screen.show(2, Style::Dim, &format!("looked at every {poll} ms, {kept}"))?;
    drive(&mut client, *task, answers, &mut screen).await
}

fn answers(cli: &Cli) -> Result<Box<dyn Answers>, Error> {
    if let Some(path) = &cli.answers {
        return Ok(Box::new(AnswerFile::read(path)?));
    }
    let input = io::stdin();
    let echo = !input.is_terminal();
    let prompt = Prompt::new(io::BufReader::new(input), Screen::stdout());
    Ok(Box::new(prompt.echo(echo)))
}
