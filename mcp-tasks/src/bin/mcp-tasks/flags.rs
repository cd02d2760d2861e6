//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mcp_tasks::protocol::TaskStatus;

use crate::exit::CODES;

/// Calls MCP tools that run as tasks, answers their questions, and looks into
/// the stores of servers.
#[derive(Debug, Parser)]
#[command(name = "mcp-tasks", version, after_help = CODES, subcommand_required = true)]
#[command(arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Flags {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the tasks in a store, or what has happened to one
    Inspect(Inspect),
}

const INSPECT_EXAMPLES: &str = "\
Examples:
  mcp-tasks inspect deployer.db                     the tasks, open ones first
  mcp-tasks inspect deployer.db --status input-required
  mcp-tasks inspect deployer.db 63xfab2c9d          one task, and what happened to it
  mcp-tasks inspect deployer.db 63xfab2c9d --follow
  mcp-tasks inspect deployer.db --json | jq -r .id

The file is opened to be read and is never changed, nor is anything put beside
it; servers may be using it meanwhile. What a task was asked and told, its
arguments and its results are shown as the store has them. Times are in UTC.";

/// Shows the tasks in a store, or what has happened to one of them.
#[derive(Debug, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub(crate) struct Inspect {
    /// The SQLite file of a server
    #[arg(value_name = "FILE.db")]
    pub(crate) file: PathBuf,

    /// The task: its id, or how that begins
    #[arg(value_name = "TASK")]
    pub(crate) task: Option<String>,

    /// Go on showing what happens
    #[arg(long, short)]
    pub(crate) follow: bool,

    /// Only tasks in this state; may be repeated
    #[arg(long, value_name = "STATE", conflicts_with = "task")]
    pub(crate) status: Vec<State>,

    /// Only tasks of this tool
    #[arg(long, value_name = "TOOL", conflicts_with = "task")]
    pub(crate) tool: Option<String>,

    /// At most so many tasks
    #[arg(long, value_name = "N", default_value_t = 50, conflicts_with_all = ["task", "all"])]
    pub(crate) limit: usize,

    /// All tasks, however many there are
    #[arg(long, conflicts_with = "task")]
    pub(crate) all: bool,

    /// For programs: one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// A state, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    /// It runs, or waits for something other than its client
    Working,
    /// A question of its waits for an answer
    InputRequired,
    /// It returned
    Completed,
    /// It ended in an error
    Failed,
    /// It was cancelled
    Cancelled,
}

impl From<State> for TaskStatus {
    fn from(state: State) -> Self {
        match state {
            State::Working => Self::Working,
            State::InputRequired => Self::InputRequired,
            State::Completed => Self::Completed,
            State::Failed => Self::Failed,
            State::Cancelled => Self::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_makes_sense() {
        Flags::command().debug_assert();
    }
}
