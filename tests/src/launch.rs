//! How a fixture server, or an example, is started: the same way again after it was
//! killed, or a second time beside the first.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::postgres::Database;
use crate::stdio::StdioWire;
use crate::{Fixture, Gone, Mortal, PATIENCE, StoreFile};

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Streamable HTTP.
    Http,
    /// Lines on stdin and stdout.
    Stdio,
}

impl Transport {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Http, Self::Stdio];

    /// The one that this is not.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Http => Self::Stdio,
            Self::Stdio => Self::Http,
        }
    }
}

/// A command line of the fixture server.
#[derive(Clone, Debug)]
#[must_use = "nothing is started yet"]
pub struct Launch {
    binary: PathBuf,
    transport: Transport,
    /// What it takes to have it speak over stdio.
    stdio: &'static [&'static str],
    flags: Vec<String>,
    environment: Vec<(&'static str, String)>,
    place: Option<Place>,
}

/// What servers keep their tasks in.
#[derive(Clone, Debug)]
pub enum Place {
    /// A SQLite file.
    File(StoreFile),
    /// A PostgreSQL database.
    Database(Database),
}

impl From<&StoreFile> for Place {
    fn from(file: &StoreFile) -> Self {
        Self::File(file.clone())
    }
}

impl From<&Database> for Place {
    fn from(database: &Database) -> Self {
        Self::Database(database.clone())
    }
}

impl Place {
    /// What `--store` is given.
    pub fn flag(&self) -> String {
        match self {
            Self::File(file) => file.flag(),
            Self::Database(database) => database.url().to_owned(),
        }
    }
}

/// A server that would not start.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The code that it exited with.
    pub code: Option<i32>,
    /// What it said on stderr.
    pub said: String,
}

impl Launch {
    /// The binary, without flags but the transport's.
    pub fn new(binary: &str, transport: Transport) -> Self {
        Self::of(binary.into(), transport, &["--stdio"])
    }

    /// The server of an example, which speaks over stdio unless it is told
    /// otherwise.
    pub fn example(binary: &str, transport: Transport) -> Self {
        Self::of(binary.into(), transport, &[])
    }

    fn of(binary: PathBuf, transport: Transport, stdio: &'static [&'static str]) -> Self {
        Self {
            binary,
            transport,
            stdio,
            flags: Vec::new(),
            environment: Vec::new(),
            place: None,
        }
    }

    /// With more flags.
    pub fn flags(mut self, flags: &[&str]) -> Self {
        self.flags.extend(flags.iter().map(|&flag| flag.to_owned()));
        self
    }

    /// Over another transport.
    pub fn over(mut self, transport: Transport) -> Self {
        self.transport = transport;
        self
    }

    /// With its tasks in this file, or in this database.
    pub fn on(mut self, place: impl Into<Place>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// With a variable in its environment.
    pub fn with(mut self, name: &'static str, value: &impl ToString) -> Self {
        self.environment.push((name, value.to_string()));
        self
    }

    /// What it keeps its tasks in, beside its memory.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The file that it keeps its tasks in, if any.
    pub fn file(&self) -> Option<&StoreFile> {
        match self.place.as_ref()? {
            Place::File(file) => Some(file),
            Place::Database(_) => None,
        }
    }

    /// The database that it keeps its tasks in, if any.
    pub fn database(&self) -> Option<&Database> {
        match self.place.as_ref()? {
            Place::File(_) => None,
            Place::Database(database) => Some(database),
        }
    }

    /// Starts a server and waits until it can be spoken to.
    pub async fn start(&self) -> Fixture {
        let mut mortal = self.spawn();
        let client = mortal.client().await;
        let client =
            client.unwrap_or_else(|gone| panic!("it did not start: {gone:?}, {}", mortal.said()));
        Fixture {
            child: mortal.child,
            client,
            said: mortal.said,
            launch: self.clone(),
        }
    }

    /// Starts a server that may end before it can be spoken to.
    pub fn spawn(&self) -> Mortal {
        let mut command = self.command();
        match self.transport {
            Transport::Http => command.stdin(Stdio::null()).stdout(Stdio::null()),
            Transport::Stdio => command.stdin(Stdio::piped()).stdout(Stdio::piped()),
        };
        let spawned = command.stderr(Stdio::piped()).spawn();
        let mut child = spawned.expect("the fixture server cannot be started");
        let (said, lines) = listen(child.stderr.take().expect("stderr is piped"));
        Mortal {
            child,
            transport: self.transport,
            said,
            lines,
        }
    }

    /// Starts a server that must not start.
    pub async fn refused(&self) -> Refusal {
        let output = self.command().stdin(Stdio::null()).output();
        let output = timeout(PATIENCE, output).await.expect("the server hangs");
        let output = output.expect("the fixture server cannot be started");
        assert!(!output.status.success(), "it started and ended");
        assert!(output.stdout.is_empty(), "{output:?}");
        Refusal {
            code: output.status.code(),
            said: String::from_utf8(output.stderr).expect("words are UTF-8"),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        match self.transport {
            Transport::Http => command.args(["--http", "127.0.0.1:0"]),
            Transport::Stdio => command.args(self.stdio),
        };
        command.args(&self.flags);
        if let Some(place) = &self.place {
            command.args(["--store", &place.flag()]);
        }
        command
            // What memory a test sees must not depend on the machine's cores.
            .env("TOKIO_WORKER_THREADS", "2")
            .env("MALLOC_ARENA_MAX", "2")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .kill_on_drop(true);
        command
    }
}

/// The address that the server says it listens on.
pub(crate) async fn url(lines: &mut mpsc::UnboundedReceiver<String>) -> Result<String, Gone> {
    let url = async {
        while let Some(line) = lines.recv().await {
            if let Some(url) = line.strip_prefix("listening on ") {
                return Ok(url.to_owned());
            }
        }
        Err(Gone::new(&"it ended before it listened"))
    };
    timeout(PATIENCE, url).await.expect("the server hangs")
}

/// The lines on stdin and stdout of a child that nobody speaks to yet.
pub(crate) fn stdio(child: &mut Child) -> StdioWire {
    let stdin = child.stdin.take().expect("stdin is piped");
    let stdout = child.stdout.take().expect("stdout is piped");
    StdioWire::new(stdin, stdout)
}

/// Keeps reading stderr, so that the server never waits for somebody to.
fn listen(stderr: ChildStderr) -> (Arc<Mutex<String>>, mpsc::UnboundedReceiver<String>) {
    let said = Arc::new(Mutex::new(String::new()));
    let (sender, receiver) = mpsc::unbounded_channel();
    let record = Arc::clone(&said);
    tokio::spawn(async move {
        let mut lines = BufReader::new(stderr).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let mut record = record.lock().expect("nobody panics with the lock");
            record.push_str(&line);
            record.push('\n');
            drop(record);
            // Only the start is waited for.
            drop(sender.send(line));
        }
    });
    (said, receiver)
}
