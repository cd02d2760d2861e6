//! The fixture server as a child process.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::PATIENCE;
use crate::client::{Client, Wire};
use crate::http::HttpWire;
use crate::stdio::StdioWire;

/// A running fixture server; killed when it is dropped.
pub struct Fixture {
    child: Child,
    client: Client,
    /// What the server said on stderr so far.
    said: Arc<Mutex<String>>,
}

impl Fixture {
    /// Starts the binary and speaks HTTP with it.
    pub async fn http(binary: &str, flags: &[&str]) -> Self {
        let mut command = Command::new(binary);
        command.args(["--http", "127.0.0.1:0"]).args(flags);
        let mut child = spawn(command.stdin(Stdio::null()).stdout(Stdio::null()));
        let (said, mut lines) = listen(child.stderr.take().expect("stderr is piped"));
        let url = async {
            while let Some(line) = lines.recv().await {
                if let Some(url) = line.strip_prefix("listening on ") {
                    return url.to_owned();
                }
            }
            let words = said.lock().expect("nobody panics with the lock").clone();
            panic!("the server did not start: {words}");
        };
        let url = timeout(PATIENCE, url).await.expect("the server hangs");
        Self {
            child,
            client: Client::new(Wire::Http(HttpWire::new(url))),
            said,
        }
    }

    /// Starts the binary and speaks with it over its stdin and stdout.
    pub fn stdio(binary: &str, flags: &[&str]) -> Self {
        let mut command = Command::new(binary);
        command.arg("--stdio").args(flags);
        let mut child = spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let (said, _) = listen(child.stderr.take().expect("stderr is piped"));
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let wire = Arc::new(StdioWire::new(stdin, stdout));
        Self {
            child,
            client: Client::new(Wire::Stdio(wire)),
            said,
        }
    }

    /// A client that declares elicitation and tasks, without a token.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// What the server said on stderr so far.
    pub fn said(&self) -> String {
        self.said
            .lock()
            .expect("nobody panics with the lock")
            .clone()
    }

    /// Resident memory of the process in bytes, where the system tells.
    pub fn resident_memory(&self) -> Option<u64> {
        let id = self.child.id()?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes * 1024)
    }
}

fn spawn(command: &mut Command) -> Child {
    command
        // What memory a test sees must not depend on the machine's cores.
        .env("TOKIO_WORKER_THREADS", "2")
        .env("MALLOC_ARENA_MAX", "2")
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the fixture server cannot be started")
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
