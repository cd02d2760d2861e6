//! What a crash costs a task: nothing.
//!
//! One program plays both sides. Started by a person it is the client, which
//! starts itself once more as the server, calls a tool, and then kills the
//! server with SIGKILL: once while a person is asked, and once right after
//! their answer was acknowledged. The server is in `tool.rs`; how it is started
//! and killed is in `lives.rs`, what happens, act by act, in `story.rs`, and
//! what must have come of it in `claims.rs`.

mod claims;
mod ledger;
mod lives;
mod stage;
mod story;
mod tool;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Error, bail};
use clap::{Parser, Subcommand};
use mcp_tasks_examples::screen::{Screen, Style};

use self::stage::Stage;

/// Kills a server with SIGKILL while its task waits for an answer, and again
/// right after the answer, and shows that the task does not notice.
///
/// The server is this program again, as a child process. It takes no input
/// unless you ask for that, and a few seconds.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Option<Role>,

    /// Put the task's question to you instead of signing as Ada
    #[arg(long)]
    ask: bool,

    /// Show each message between client and server
    #[arg(long)]
    wire: bool,

    /// Put the database and the ledger into this directory, and leave them
    /// there [default: one that is removed at the end]
    #[arg(long, value_name = "DIRECTORY")]
    dir: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Exit status: 0 if all that was promised was kept; 1 if not; 2 if it did not
come to that.";

#[derive(Subcommand)]
enum Role {
    /// Be the server.
    #[command(hide = true)]
    Serve {
        /// Where the database and the ledger are
        directory: PathBuf,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        Some(Role::Serve { directory }) => tool::serve(directory).await.map_err(Error::from),
        None => play(&cli).await,
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            let words = format!("crash: {error:#}");
            let _ = Screen::stderr().show(0, Style::Bad, &words);
            ExitCode::from(2)
        }
    }
}

/// Tells the story, and holds what came of it against what was promised.
async fn play(cli: &Cli) -> anyhow::Result<ExitCode> {
    let (directory, temporary) = directory(cli.dir.as_deref())?;
    let mut stage = Stage::new(directory, cli.ask, cli.wire);
    let played = story::play(&mut stage).await;
    let kept = match &played {
        Ok(played) => claims::show(&stage, played)?,
        Err(_) => false,
    };
    match temporary {
        // Whoever wants to know what went wrong needs the files.
        Some(temporary) if !kept => {
            let left = temporary.keep();
            let words = format!("The files are left in {}.", left.display());
            stage.screen.show(0, Style::Plain, &words)?;
        }
        _ => {}
    }
    played?;
    Ok(if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Where the files go, and what removes them again.
fn directory(named: Option<&Path>) -> anyhow::Result<(PathBuf, Option<tempfile::TempDir>)> {
    let Some(named) = named else {
        let temporary = tempfile::Builder::new()
            .prefix("mcp-tasks-crash-")
            .tempdir()
            .context("no temporary directory can be made")?;
        return Ok((temporary.path().to_owned(), Some(temporary)));
    };
    std::fs::create_dir_all(named)
        .with_context(|| format!("{} cannot be made", named.display()))?;
    for file in [
        named.join(tool::DATABASE),
        ledger::Ledger::in_directory(named).path().to_owned(),
    ] {
        if file.exists() {
            bail!(
                "{} is there already, from another run: remove it, or name another directory",
                file.display()
            );
        }
    }
    Ok((named.to_owned(), None))
}
