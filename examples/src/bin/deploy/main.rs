//! The main job: a tool call becomes a task, stops at a question, takes a
//! person's answer and goes on to its result, over real MCP.
//!
//! One program plays both sides. Started by a person it is the client, which
//! starts itself once more as the server, a child process that is spoken to
//! over stdin and stdout. The server is in `tool.rs`; the client is below, with
//! `mcp_tasks::client`, and what a person sees of it in `report.rs`.

mod fleet;
mod report;
mod tool;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};
use mcp_tasks::client::TaskClient;
use mcp_tasks_examples::answers::{AnswerFile, Prompt, Told};
use mcp_tasks_examples::screen::{Screen, Style};
use mcp_tasks_examples::wire;
use serde_json::json;

use self::report::Report;

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
    Serve {
        /// Keep tasks in this SQLite file, so that they outlive the server
        #[arg(long, value_name = "FILE")]
        db: Option<PathBuf>,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Role::Serve { db }) => tool::serve(db).await.map_err(anyhow::Error::from),
        None => call(&cli).await,
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            let words = format!("deploy: {error}");
            let _ = Screen::stderr().show(0, Style::Bad, &words);
            ExitCode::from(2)
        }
    }
}

/// Starts a server, calls its tool and shows what comes of it.
async fn call(cli: &Cli) -> anyhow::Result<ExitCode> {
    let screen = Screen::stdout();
    // A mistake in the file is found before anything is started.
    let file = cli.answers.as_deref().map(AnswerFile::read).transpose()?;

    let words = "Starting the server: this program again, as a child process, over stdio.";
    screen.show(0, Style::Plain, words)?;
    let client = connect(cli, file.clone(), &screen).await?;
    let server = client.server().await?;
    let tasks = if server.tasks { "" } else { "out" };
    let words = format!(
        "Connected to {} {}, a server with{tasks} tasks.",
        server.name, server.version
    );
    screen.show(0, Style::Plain, &words)?;

    let words = format!("Calling its tool deploy: {} to {}.", cli.service, cli.env);
    screen.show(0, Style::Plain, &words)?;
    let arguments = json!({ "service": cli.service, "env": cli.env });
    let mut call = client.call("deploy", arguments);

    // The call is driven, and its questions are answered, whether anybody
    // watches or not.
    let mut report = Report::new(&screen);
    let mut states = call.states();
    while let Some(state) = states.next().await {
        report.state(&state)?;
        if let Some(file) = &file {
            file.check(&state.questions)?;
        }
    }
    let outcome = (&mut call).await;
    client.close().await;
    report.outcome(call.id().is_some(), outcome)
}

/// A client with somebody to answer, connected to a server of its own.
async fn connect(
    cli: &Cli,
    file: Option<AnswerFile>,
    screen: &Screen,
) -> anyhow::Result<TaskClient> {
    let mut server = Command::new(std::env::current_exe()?);
    server.arg("serve");
    let mut builder = TaskClient::builder()
        .identity("mcp-tasks deploy example", env!("CARGO_PKG_VERSION"))
        .log(|line| {
            // Nobody reading along is no reason to stop.
            let _ = Screen::stderr().show(2, Style::Dim, &format!("server: {line}"));
        });
    builder = match file {
        Some(file) => builder.answers(Told::new(file, screen)),
        None => builder.answers(Told::new(Prompt::stdin(screen), screen)),
    };
    if cli.wire {
        let screen = screen.clone();
        builder = builder.messages(move |direction, message| {
            let message = wire::lay_out(direction, message);
            let _ = screen.show_as_is(Style::Dim, &message);
        });
    }
    Ok(builder.connect_stdio(server).await?)
}
