//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
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
    /// Call a tool, answer its questions, and print what it returns
    Call(Call),
    /// Go on with a task that was left, or that a crash has interrupted
    Resume(Resume),
    /// Answer a question of a task
    Answer(Answer),
    /// Cancel a task
    Cancel(Cancel),
    /// List the tasks that are open, as far as this program knows them
    List(List),
    /// List the tools of a server, with their arguments
    Tools(Tools),
    /// Show the tasks in a store, or what has happened to one
    Inspect(Inspect),
    /// Print a script by which a shell completes this program's flags
    Completions {
        /// The shell
        shell: Shell,
    },
}

impl Command {
    /// Whether events are wanted, of which there is always a last one.
    pub(crate) fn has_events(&self) -> bool {
        match self {
            Self::Call(flags) => flags.output.json,
            Self::Resume(flags) => flags.output.json,
            Self::Answer(flags) => flags.json,
            Self::Cancel(flags) => flags.json,
            Self::List(_) | Self::Tools(_) | Self::Inspect(_) | Self::Completions { .. } => false,
        }
    }
}

/// Which server.
#[derive(Args)]
pub(crate) struct Server {
    /// The server's URL, as in `http://localhost:8000/mcp`
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "command",
        help_heading = "Server"
    )]
    pub(crate) http: Option<String>,

    /// A header for each request, or @FILE with one per line; may be repeated.
    /// What is typed here can be seen in lists of processes: keep secrets in a file
    #[arg(long, value_name = "NAME: VALUE", help_heading = "Server")]
    pub(crate) header: Vec<String>,

    /// The variable of the environment that holds a bearer token
    #[arg(long, value_name = "VAR", help_heading = "Server")]
    pub(crate) bearer_token_env: Option<String>,

    /// After `--`: the command that starts a server on stdin and stdout
    #[arg(last = true, value_name = "COMMAND", help_heading = "Server")]
    pub(crate) command: Vec<String>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers may be secrets.
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

/// How questions are answered.
#[derive(Debug, Args)]
pub(crate) struct Asking {
    /// Answers in JSON: an object with, for each question's key, the object that is
    /// filled in, or "accept", "decline" or "dismiss"
    #[arg(long, value_name = "FILE", help_heading = "Questions")]
    pub(crate) answers: Option<PathBuf>,

    /// An answer, as in approval.percent=25 or approval=decline; may be repeated. Who asks
    /// the same again is told the same again, six times at most
    #[arg(long, value_name = "KEY.FIELD=VALUE", help_heading = "Questions")]
    pub(crate) answer: Vec<String>,

    /// Ask nobody: end when there is a question without an answer
    #[arg(long, help_heading = "Questions")]
    pub(crate) no_input: bool,

    /// Ask nobody: wait until somebody else has answered
    #[arg(long, conflicts_with = "no_input", help_heading = "Questions")]
    pub(crate) wait: bool,
}

/// What is shown.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// For programs: one JSON object per line on stdout; people are told on stderr
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Do not show how it gets on
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Show what a server that is started here writes to its stderr
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,

    /// Cancel what is not done after so long, as in 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Output")]
    pub(crate) timeout: Option<Duration>,
}

/// A length of time, as it is typed.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number and a unit, as in 90s, 10m or 2h".to_owned();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "ms" => return Ok(Duration::from_millis(number)),
        "s" | "" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    number
        .checked_mul(seconds)
        .map(Duration::from_secs)
        .ok_or_else(wrong)
}

const CALL_EXAMPLES: &str = r#"Examples:
  mcp-tasks call deploy service=billing env=production -- ./deployer
  mcp-tasks call deploy '{"service": "billing"}' --http http://localhost:8000/mcp
  mcp-tasks call deploy service=billing --answer approval.approve=yes -- ./deployer
  mcp-tasks call report text=@notes.txt --json --http URL --bearer-token-env TOKEN

Arguments:
  key=value    of the type that the tool's schema says; a list may be given by
               several key=value, one for each of its items
  key:=JSON    any value, in JSON
  key=@FILE    what is in the file
  {..}         all of them, as a JSON object; - reads it from stdin

On a terminal a question is put as a form. Esc there says no to it, closes it or
goes back; Ctrl-C leaves: the task is cancelled, or goes on while you are away, and
the command to come back with is printed.

"#;

/// Calls a tool, shows how it gets on, puts its questions to you, and prints what
/// it returns.
#[derive(Debug, Args)]
#[command(after_help = CALL_EXAMPLES.to_owned() + CODES)]
#[command(
    override_usage = "mcp-tasks call TOOL [ARGUMENT]... --http URL [OPTIONS]\n       \
    mcp-tasks call TOOL [ARGUMENT]... [OPTIONS] -- COMMAND..."
)]
pub(crate) struct Call {
    /// The tool's name; `mcp-tasks tools` lists them
    pub(crate) tool: String,

    /// The tool's arguments: key=value, key:=JSON, or one JSON object
    #[arg(value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,

    /// The server
    #[command(flatten)]
    pub(crate) server: Server,

    /// The questions
    #[command(flatten)]
    pub(crate) asking: Asking,

    /// What is shown
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Goes on with a task: shows how it gets on, puts its open questions to you, and
/// prints what it returns. A question that was answered before is not put again.
#[derive(Debug, Args)]
#[command(after_help = CODES)]
pub(crate) struct Resume {
    /// The task: its id, or how that begins if it is listed by `mcp-tasks list`
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// The server, if it is not that of `mcp-tasks list`
    #[command(flatten)]
    pub(crate) server: Server,

    /// The questions
    #[command(flatten)]
    pub(crate) asking: Asking,

    /// What is shown
    #[command(flatten)]
    pub(crate) output: Output,
}

const ANSWER_EXAMPLES: &str = "\
Examples:
  mcp-tasks answer 63xfab2c9d approve=yes percent=25
  mcp-tasks answer 63xfab2c9d --question left/approval --decline
  mcp-tasks answer 63xfab2c9d          on a terminal: as a form

";

/// Answers a question of a task, and does not wait for what becomes of it.
#[derive(Debug, Args)]
#[command(after_help = ANSWER_EXAMPLES.to_owned() + CODES)]
pub(crate) struct Answer {
    /// The task: its id, or how that begins if it is listed by `mcp-tasks list`
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// The fields of the answer: field=value, or field:=JSON
    #[arg(value_name = "FIELD=VALUE", conflicts_with_all = ["decline", "dismiss"])]
    pub(crate) fields: Vec<String>,

    /// The question's key, if there are several
    #[arg(long, value_name = "KEY")]
    pub(crate) question: Option<String>,

    /// Say no to the question
    #[arg(long, conflicts_with = "dismiss")]
    pub(crate) decline: bool,

    /// Close the question without an answer
    #[arg(long)]
    pub(crate) dismiss: bool,

    /// The server, if it is not that of `mcp-tasks list`
    #[command(flatten)]
    pub(crate) server: Server,

    /// For programs: one JSON object per line on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Cancels a task.
#[derive(Debug, Args)]
#[command(after_help = CODES)]
pub(crate) struct Cancel {
    /// The task: its id, or how that begins if it is listed by `mcp-tasks list`
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// The server, if it is not that of `mcp-tasks list`
    #[command(flatten)]
    pub(crate) server: Server,

    /// For programs: one JSON object per line on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

const LIST_HELP: &str = "\
These are the tasks that `mcp-tasks call` has begun and not seen the end of. They are
kept in $MCP_TASKS_BOOK, or else in $XDG_STATE_HOME/mcp-tasks, or else in
~/.local/state/mcp-tasks.";

/// Lists the tasks that are open, as far as this program knows them.
#[derive(Debug, Args)]
#[command(after_help = LIST_HELP)]
pub(crate) struct List {
    /// Strike this task out, whatever has become of it
    #[arg(long, value_name = "ID")]
    pub(crate) forget: Option<String>,

    /// For programs: one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the tools of a server, with their arguments, and whether their calls
/// become tasks.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcp-tasks tools [TOOL] --http URL [OPTIONS]\n       \
    mcp-tasks tools [TOOL] [OPTIONS] -- COMMAND..."
)]
pub(crate) struct Tools {
    /// Only this tool
    #[arg(value_name = "TOOL")]
    pub(crate) tool: Option<String>,

    /// The server
    #[command(flatten)]
    pub(crate) server: Server,

    /// For programs: one JSON object per line, with the schemas
    #[arg(long)]
    pub(crate) json: bool,
}

const INSPECT_EXAMPLES: &str = "\
Examples:
  mcp-tasks inspect deployer.db                     the tasks, open ones first
  mcp-tasks inspect deployer.db --status input-required
  mcp-tasks inspect deployer.db 63xfab2c9d          one task, and what happened to it
  mcp-tasks inspect deployer.db 63xfab2c9d --follow
  mcp-tasks inspect deployer.db --json | jq -r .task

The file is opened to be read and is never changed, nor is anything put beside
it; servers may be using it meanwhile. What a task was asked and told, its
arguments, answers and results are shown; --json has them whole. Times are in UTC.";

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

    #[test]
    fn times_have_units() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("2h"), Ok(Duration::from_secs(7200)));
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        for text in ["", "soon", "5 weeks", "-1s", "99999999999999999999h"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
