//! The world outside: a ledger, which is a file of lines.
//!
//! Each entry says which process wrote it, so that everybody can see what was
//! done when, and how often.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::sleep;

/// How long it takes to set money aside.
const BOOKING: Duration = Duration::from_millis(50);

/// How long the bank takes for a transfer, before there is anything to see.
const BANKING: Duration = Duration::from_millis(1500);

/// The ledger; a cheap handle.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
}

/// A line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Which process wrote it.
    pub(crate) process: u32,
    /// What was done.
    pub(crate) done: String,
}

impl Ledger {
    pub(crate) fn in_directory(directory: &Path) -> Self {
        Self {
            path: directory.join("ledger.txt"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets money aside.
    pub(crate) async fn reserve(&self, euros: u32) -> io::Result<()> {
        sleep(BOOKING).await;
        self.append(&format!("reserved {euros} euros"))
    }

    /// Moves the money.
    pub(crate) async fn transfer(&self, euros: u32, to: &str, signature: &str) -> io::Result<()> {
        sleep(BANKING).await;
        self.append(&format!("paid {euros} euros to {to}, signed {signature}"))
    }

    fn append(&self, done: &str) -> io::Result<()> {
        let line = format!("process {}  {done}\n", std::process::id());
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)?;
        // In one piece: a killed process writes all of it, or nothing.
        file.write_all(line.as_bytes())
    }

    /// All that was done.
    ///
    /// # Errors
    ///
    /// Those of reading; a ledger that nobody has written to is empty.
    pub(crate) fn lines(&self) -> io::Result<Vec<Line>> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        text.lines().map(Line::read).collect()
    }
}

impl Line {
    fn read(line: &str) -> io::Result<Self> {
        line.strip_prefix("process ")
            .and_then(|rest| rest.split_once("  "))
            .and_then(|(process, done)| {
                let process = process.parse().ok()?;
                let done = done.to_owned();
                Some(Self { process, done })
            })
            .ok_or_else(|| {
                let words = format!("the ledger has a line that nobody here writes: {line}");
                io::Error::new(io::ErrorKind::InvalidData, words)
            })
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {}  {}", self.process, self.done)
    }
}
