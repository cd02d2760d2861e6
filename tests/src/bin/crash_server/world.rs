//! The world outside: a folder of effects, with a file for each task.
//!
//! An effect is one line, written in one piece: the step's key, the number of the
//! attempt, the process, and when it went on to do it.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tokio::time::sleep;

/// The world, and the time things take in it; a cheap handle.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) effects: PathBuf,
    /// How long a step takes before its effect, and after it: a process that is
    /// killed meanwhile has done the one and not recorded the other.
    pub(crate) moment: Duration,
    /// How long a question or a clock is given.
    pub(crate) soon: Duration,
}

impl World {
    /// Does something; gives the name of the step, and who did it.
    pub(crate) async fn act(&self, step: String) -> io::Result<String> {
        self.append(&step).await?;
        Ok(signed(&step))
    }

    /// Fails until it has been tried `enough` times, crashes included.
    pub(crate) async fn insist(&self, step: String, enough: usize) -> io::Result<String> {
        let tried = self.append(&step).await?;
        if tried < enough {
            return Err(io::Error::other("not yet"));
        }
        Ok(signed(&step))
    }

    /// Fails, with the name of the step as the error.
    pub(crate) async fn refuse(&self, step: String) -> Result<(), String> {
        self.append(&step)
            .await
            .map_err(|error| error.to_string())?;
        Err(parts(&step).1.to_owned())
    }

    /// Does what may be done again and again.
    pub(crate) async fn peek(&self, task: String) {
        // It shows in the file that it did run; whether it is there is no
        // question that the task depends on.
        self.append(&format!("{task}/peek")).await.ok();
    }

    /// Appends an effect; gives the number of the attempt.
    async fn append(&self, step: &str) -> io::Result<usize> {
        sleep(self.moment).await;
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let at = at.map_or(0, |at| at.as_millis());
        let (task, key) = parts(step);
        std::fs::create_dir_all(&self.effects)?;
        let path = self.effects.join(task);
        let before = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let is_of_step = |line: &&str| line.split('\t').next() == Some(key);
        let attempt = before.lines().filter(is_of_step).count() + 1;
        let line = format!("{key}\t{attempt}\t{}\t{at}\n", std::process::id());
        let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
        file.write_all(line.as_bytes())?;
        sleep(self.moment).await;
        Ok(attempt)
    }
}

fn signed(step: &str) -> String {
    format!("{}@{}", parts(step).1, std::process::id())
}

/// The task and the key of a step.
fn parts(step: &str) -> (&str, &str) {
    step.split_once('/').unwrap_or(("", step))
}
