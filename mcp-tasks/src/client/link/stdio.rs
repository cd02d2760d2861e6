//! A server that runs as a child process and is spoken to in lines.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::Log;
use super::tap::Tap;

/// How long a server may take to end once its input has ended.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// How long a line to stdout may be, which is a message: as large as over HTTP.
const LARGEST: usize = 64 * 1024 * 1024;

/// What is longer on stderr is handed on in pieces.
const LONGEST_REMARK: usize = 64 * 1024;

/// How long a server that nobody speaks to any more is given.
const MOMENT: Duration = Duration::from_millis(200);

/// The program to start, as often as need be.
#[derive(Debug)]
pub(in crate::client) struct Launch {
    command: std::process::Command,
}

impl Launch {
    pub(in crate::client) fn new(command: std::process::Command) -> Self {
        Self { command }
    }

    pub(in crate::client) fn command(&self) -> &std::process::Command {
        &self.command
    }

    /// The program and its arguments, for words.
    pub(super) fn name(&self) -> String {
        let parts = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let parts: Vec<_> = parts.map(|part| part.to_string_lossy()).collect();
        parts.join(" ")
    }

    /// Starts the program. What it writes to stderr is handed to `log`, line by
    /// line, or goes where ours goes.
    pub(super) fn start(&self, tap: Arc<Tap>, log: Option<Log>) -> io::Result<Lines> {
        let mut command = Command::new(self.command.get_program());
        command.args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = self.command.get_current_dir() {
            command.current_dir(directory);
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if log.is_some() {
                Stdio::piped()
            } else {
                Stdio::inherit()
            })
            .kill_on_drop(true);
        // Ctrl-C is for the client, which asks what is meant by it.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the pipes are missing"));
        };
        if let (Some(log), Some(stderr)) = (log, child.stderr.take()) {
            tokio::spawn(forward(stderr, log));
        }
        let process = child.id();
        let (kill, killed) = oneshot::channel();
        let (status, ended) = watch::channel(None);
        tokio::spawn(reap(child, killed, status));
        Ok(Lines {
            input: Arc::new(tokio::sync::Mutex::new(Some(input))),
            output: BufReader::new(output),
            line: Vec::new(),
            tap,
            process,
            ended: Ended(ended),
            kill: Some(kill),
        })
    }
}

async fn forward(stderr: ChildStderr, log: Log) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    while let Ok(1..) = read_line(&mut stderr, &mut line, LONGEST_REMARK).await {
        log(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
}

/// Reads on until the line ends, or is as long as a line may be. Gives how much was
/// read; cancel-safe.
async fn read_line(
    from: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    longest: usize,
) -> io::Result<usize> {
    let left = u64::try_from(longest.saturating_sub(line.len())).unwrap_or(u64::MAX);
    from.take(left).read_until(b'\n', line).await
}

/// Waits for the process to end, and ends it when nobody holds the other end of
/// `kill` any more. Says how it ended.
async fn reap(mut child: Child, kill: oneshot::Receiver<()>, ended: watch::Sender<Option<Ending>>) {
    let ending = tokio::select! {
        status = child.wait() => Ending::ByItself(status.ok()),
        // Its pipes are closed: it may be about to end.
        _ = kill => {
            if let Ok(status) = timeout(MOMENT, child.wait()).await {
                Ending::ByItself(status.ok())
            } else {
                // It fails if the process has ended by itself just now.
                let _ = child.kill().await;
                Ending::Killed
            }
        }
    };
    // Nobody may want to know.
    let _ = ended.send(Some(ending));
}

/// How a server ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    ByItself(Option<ExitStatus>),
    /// By us.
    Killed,
}

/// Hears how a server ended, once it has.
#[derive(Clone)]
pub(super) struct Ended(watch::Receiver<Option<Ending>>);

impl Ended {
    /// How it ended, if it ends within this time.
    pub(super) async fn within(&mut self, limit: Duration) -> Option<Ending> {
        let ended = timeout(limit, self.0.wait_for(Option::is_some)).await;
        *ended.ok()?.ok()?
    }
}

/// The transport: one message per line.
pub(super) struct Lines {
    input: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    tap: Arc<Tap>,
    process: Option<u32>,
    ended: Ended,
    /// Dropped with the transport, which ends the process.
    kill: Option<oneshot::Sender<()>>,
}

impl Lines {
    pub(super) fn process(&self) -> Option<u32> {
        self.process
    }

    pub(super) fn ended(&self) -> Ended {
        self.ended.clone()
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = self.tap.sending(&message);
        let input = Arc::clone(&self.input);
        async move {
            let mut line = line?;
            line.push('\n');
            let mut input = input.lock().await;
            let input = input
                .as_mut()
                .ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
            input.write_all(line.as_bytes()).await?;
            input.flush().await
        }
    }

    /// Cancel-safe: a line that was read in part is read on.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match read_line(&mut self.output, &mut self.line, LARGEST).await {
                Ok(1..) if self.line.ends_with(b"\n") => {}
                _ => return None,
            }
            let line = String::from_utf8_lossy(&self.line);
            // There are runtimes that begin what they write with the mark of its encoding.
            let text = line.trim_start_matches('\u{feff}').trim();
            let seen = self.tap.see(text);
            if let Err(error) = &seen
                && !text.is_empty()
            {
                tracing::warn!("the server wrote a line that is no message: {error}");
            }
            drop(line);
            self.line.clear();
            if let Ok(message) = seen {
                return Some(message);
            }
        }
    }

    /// Ends the server's input, and with it the server, if need be by force.
    async fn close(&mut self) -> io::Result<()> {
        self.input.lock().await.take();
        if self.ended.within(LAST_WORDS).await.is_none() {
            self.kill = None;
            self.ended.within(LAST_WORDS).await;
        }
        Ok(())
    }
}
