//! The world outside: a file of effects.
//!
//! An effect is one line, written in one piece: the task and the step, as
//! `TASK/KEY`, the number of the attempt, and the process.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;

/// How long a step takes before its effect, and after it: a process that is
/// killed meanwhile has done the one and not recorded the other.
const MOMENT: Duration = Duration::from_millis(1);

/// The world; a cheap handle.
#[derive(Clone)]
pub(crate) struct World {
    effects: PathBuf,
}

impl World {
    pub(crate) fn new(effects: PathBuf) -> Self {
        Self { effects }
    }

    /// Does something; gives the name of the step.
    pub(crate) async fn act(&self, step: String) -> io::Result<String> {
        self.append(&step).await?;
        Ok(name(&step).to_owned())
    }

    /// Fails until it has been tried `enough` times, crashes included.
    pub(crate) async fn insist(&self, step: String, enough: usize) -> io::Result<String> {
        let tried = self.append(&step).await?;
        if tried < enough {
            return Err(io::Error::other("not yet"));
        }
        Ok(name(&step).to_owned())
    }

    /// Fails, with the name of the step as the error.
    pub(crate) async fn refuse(&self, step: String) -> Result<(), String> {
        self.append(&step)
            .await
            .map_err(|error| error.to_string())?;
        Err(name(&step).to_owned())
    }

    /// Does what may be done again and again.
    pub(crate) async fn peek(&self, task: String) {
        // It shows in the file that it did run; whether it is there is no
        // question that the task depends on.
        self.append(&format!("{task}/peek")).await.ok();
    }

    /// Appends an effect; gives the number of the attempt.
    async fn append(&self, step: &str) -> io::Result<usize> {
        sleep(MOMENT).await;
        let before = match std::fs::read_to_string(&self.effects) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let is_of_step = |line: &&str| line.split('\t').next() == Some(step);
        let attempt = before.lines().filter(is_of_step).count() + 1;
        let line = format!("{step}\t{attempt}\t{}\n", std::process::id());
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.effects)?;
        file.write_all(line.as_bytes())?;
        sleep(MOMENT).await;
        Ok(attempt)
    }
}

/// The step's key, without its task.
fn name(step: &str) -> &str {
    step.split_once('/').map_or(step, |(_, name)| name)
}
