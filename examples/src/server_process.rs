//! A server that runs as a child process and is spoken to over its stdin and
//! stdout.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use crate::Error;
use crate::connection::Connection;

/// How long a server may take to end once its input has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A running server. Dropping it kills the process.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
}

impl ServerProcess {
    /// Starts a server and connects to it. Each line that it writes to stderr
    /// is handed to `log`.
    ///
    /// # Errors
    ///
    /// [`Error::Start`] if the program cannot be run.
    pub fn start(
        command: &mut Command,
        log: impl FnMut(&str) + Send + 'static,
    ) -> Result<(Self, Connection), Error> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(Error::Start)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            unreachable!("all three were just piped");
        };
        tokio::spawn(forward(stderr, log));
        let connection = Connection::new(BufReader::new(stdout), stdin);
        Ok((Self { child }, connection))
    }

    /// The number of the process; `None` once it has been waited for.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Ends the process at once, without a chance to do anything more (on Unix:
    /// SIGKILL, as `kill -9` does), and tells how it ended.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub async fn kill(mut self) -> io::Result<ExitStatus> {
        self.child.start_kill()?;
        self.child.wait().await
    }

    /// How the server ended, if it ends soon. Close the connection first.
    pub async fn ended(&mut self) -> Option<ExitStatus> {
        timeout(LAST_WORDS, self.child.wait()).await.ok()?.ok()
    }
}

async fn forward(stderr: ChildStderr, mut log: impl FnMut(&str)) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        log(&line);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    async fn a_server_that_ends_at_once_is_an_error_with_its_status_and_words() {
        let words = Arc::new(Mutex::new(String::new()));
        let log = Arc::clone(&words);
        // A program that every machine has that can run this test.
        let mut command = Command::new(env!("CARGO"));
        command.arg("--no-such-option");
        let (mut server, mut connection) =
            ServerProcess::start(&mut command, move |line| log.lock().unwrap().push_str(line))
                .unwrap();
        let params = serde_json::json!({});
        let error = connection.request("ping", params).await.unwrap_err();
        assert!(matches!(error, Error::Gone { method } if method == "ping"));
        assert!(!server.ended().await.unwrap().success());
        while !words.lock().unwrap().contains("--no-such-option") {
            tokio::task::yield_now().await;
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_killed_server_is_gone_with_its_signal_as_the_reason() {
        use std::os::unix::process::ExitStatusExt as _;

        let (server, mut connection) =
            ServerProcess::start(&mut Command::new("cat"), |_| {}).unwrap();
        assert!(server.id().is_some());
        let ended = server.kill().await.unwrap();
        assert_eq!(ended.signal(), Some(9));
        let params = serde_json::json!({});
        let error = connection.request("ping", params).await.unwrap_err();
        assert!(matches!(error, Error::Gone { .. }));
    }

    #[tokio::test]
    async fn a_program_that_does_not_exist_is_named_as_the_reason() {
        let mut command = Command::new("/nowhere/at/all");
        let error = ServerProcess::start(&mut command, |_| {}).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the server cannot be started")
        );
    }
}
