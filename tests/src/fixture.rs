//! The fixture server as a child process that can be killed and paused.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tokio::process::Child;
use tokio::time::timeout;

use crate::client::Client;
use crate::launch::{Launch, Transport};
use crate::postgres::Database;
use crate::{PATIENCE, StoreFile};

/// A running fixture server; killed when it is dropped.
pub struct Fixture {
    pub(crate) child: Child,
    pub(crate) client: Client,
    /// What the server said on stderr so far.
    pub(crate) said: Arc<Mutex<String>>,
    pub(crate) launch: Launch,
}

impl Fixture {
    /// Starts the binary and speaks HTTP with it.
    pub async fn http(binary: &str, flags: &[&str]) -> Self {
        Launch::new(binary, Transport::Http)
            .flags(flags)
            .start()
            .await
    }

    /// Starts the binary and speaks with it over its stdin and stdout.
    pub async fn stdio(binary: &str, flags: &[&str]) -> Self {
        Launch::new(binary, Transport::Stdio)
            .flags(flags)
            .start()
            .await
    }

    /// A client that declares elicitation and tasks, without a token. It knows
    /// this process only, not the one that a restart makes of it.
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

    /// How it was started.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// The file that it keeps its tasks in.
    pub fn file(&self) -> &StoreFile {
        self.launch.file().expect("this server has a store file")
    }

    /// The database that it keeps its tasks in.
    pub fn database(&self) -> &Database {
        self.launch.database().expect("this server has a database")
    }

    /// Resident memory of the process in bytes, where the system tells.
    pub fn resident_memory(&self) -> Option<u64> {
        let id = self.child.id()?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes * 1024)
    }

    /// Kills the process with SIGKILL, in the middle of whatever it does.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    /// Kills the process and starts it again as it was started.
    pub async fn restart(&mut self) {
        self.kill().await;
        self.start_again().await;
    }

    /// Has the process end as a user would: over stdio its input ends, over HTTP
    /// it is sent SIGTERM.
    pub async fn stop(&mut self) -> ExitStatus {
        if self.client.is_http() {
            return self.terminate().await;
        }
        self.client.hang_up().await;
        self.ended().await
    }

    /// Sends it SIGTERM, and waits until it has ended.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.tell_to_end();
        self.ended().await
    }

    /// Whether the process has not ended.
    pub fn is_running(&mut self) -> bool {
        let ended = self.child.try_wait();
        ended.expect("a child can be waited for").is_none()
    }

    /// Sends it SIGTERM.
    pub fn tell_to_end(&self) {
        kill_process(self.id(), Signal::TERM).expect("it can be told to end");
    }

    /// Starts a process that has ended again, on what it left.
    pub async fn start_again(&mut self) {
        *self = self.launch.start().await;
    }

    /// Waits until the process has ended by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        let ended = ended.unwrap_or_else(|_| panic!("it does not end: {}", self.said()));
        ended.expect("a child can be waited for")
    }

    /// Stops the process where it is with SIGSTOP; returns when it stands still.
    pub async fn pause(&self) {
        let id = self.id();
        kill_process(id, Signal::STOP).expect("it can be stopped");
        let stopped = tokio::task::spawn_blocking(move || {
            waitid(
                WaitId::Pid(id),
                WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT,
            )
        });
        let stopped = timeout(PATIENCE, stopped).await.expect("it does not stop");
        stopped
            .expect("waiting does not panic")
            .expect("a child can be waited for");
    }

    /// Lets a paused process go on, with SIGCONT.
    pub fn unpause(&self) {
        kill_process(self.id(), Signal::CONT).expect("it can go on");
    }

    fn id(&self) -> Pid {
        let id = self.child.id().expect("it runs");
        let id = i32::try_from(id).expect("process ids are small");
        Pid::from_raw(id).expect("process ids are not zero")
    }
}
