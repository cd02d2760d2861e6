//! How the program ends: one code for each way, so that scripts can tell them
//! apart, and words for people.

use std::fmt;
use std::process::ExitCode;

/// How a run ended that went as far as it could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// What was asked for is done.
    Done = 0,
    /// The tool ran and says that it failed.
    ToolFailed = 1,
    /// The command line does not make sense, or names what is not there.
    Usage = 2,
    /// The call ended in an error.
    CallFailed = 3,
    /// A question is open that nobody here could answer.
    Unanswered = 4,
    /// The task goes on without this program.
    Detached = 5,
    /// The task was cancelled.
    Cancelled = 6,
    /// The server cannot be reached, or not any more.
    NoConnection = 7,
    /// The time of `--timeout` is over.
    TimedOut = 8,
    /// A file cannot be read or written.
    File = 9,
}

/// What the codes mean, for `--help`.
pub(crate) const CODES: &str = "\
Exit codes:
  0  done
  1  the tool ran and says that it failed
  2  the command line does not make sense, or names what is not there
  3  the call ended in an error
  4  a question is open that nobody here could answer; the task waits
  5  detached; the task goes on
  6  cancelled, or interrupted
  7  the server cannot be reached, or not any more
  8  the time of --timeout is over
  9  a file cannot be read or written";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why the program stops, with the code that it exits with.
#[derive(Debug)]
pub(crate) struct Stop {
    /// How it ends.
    pub(crate) exit: Exit,
    /// What to tell people.
    pub(crate) words: String,
}

impl Stop {
    /// A stop with its reason.
    pub(crate) fn new(exit: Exit, words: impl fmt::Display) -> Self {
        Self {
            exit,
            words: words.to_string(),
        }
    }

    /// For a command line that does not make sense.
    pub(crate) fn usage(words: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, words)
    }

    /// For a file that cannot be read or written.
    pub(crate) fn file(words: impl fmt::Display) -> Self {
        Self::new(Exit::File, words)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        // Whoever read has seen enough, as `head` does.
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::new(Exit::Done, "");
        }
        Self::file(format_args!("cannot write what there is to show: {error}"))
    }
}
