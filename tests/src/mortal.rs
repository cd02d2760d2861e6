//! A server process that may end at any moment, before it can be spoken to as
//! well as after.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::client::{Client, Wire};
use crate::http::HttpWire;
use crate::launch::{Transport, stdio, url};
use crate::{Gone, PATIENCE};

/// A server that has been started; killed when it is dropped.
pub struct Mortal {
    pub(crate) child: Child,
    pub(crate) transport: Transport,
    pub(crate) said: Arc<Mutex<String>>,
    /// What it says on stderr, line by line.
    pub(crate) lines: mpsc::UnboundedReceiver<String>,
}

impl Mortal {
    /// Waits until it can be spoken to; comes once.
    ///
    /// # Errors
    ///
    /// [`Gone`] if it has ended before.
    pub async fn client(&mut self) -> Result<Client, Gone> {
        let wire = match self.transport {
            Transport::Http => Wire::Http(HttpWire::new(url(&mut self.lines).await?)),
            Transport::Stdio => Wire::Stdio(Arc::new(stdio(&mut self.child))),
        };
        Ok(Client::new(wire))
    }

    /// The number of the process.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Kills it with SIGKILL, in the middle of whatever it does; tells how it
    /// ended, which may have been before.
    pub async fn kill(&mut self) -> ExitStatus {
        // One that has ended needs no killing.
        drop(self.child.start_kill());
        self.ended().await
    }

    /// Stops it where it is with SIGSTOP, if it has not ended.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on, with SIGCONT.
    pub fn unpause(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(id) = id.and_then(Pid::from_raw) {
            // It may have ended, and is not waited for yet.
            kill_process(id, signal).ok();
        }
    }

    /// Tells it to end in good order, with SIGTERM.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// How it ended, if it has.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be looked at")
    }

    /// Waits until it has ended by itself, and has said all that it said.
    pub async fn ended(&mut self) -> ExitStatus {
        let ended = async {
            let status = self.child.wait().await;
            while self.lines.recv().await.is_some() {}
            status
        };
        let ended = timeout(PATIENCE, ended).await;
        let ended = ended.unwrap_or_else(|_| panic!("it does not end: {}", self.said()));
        ended.expect("a child can be waited for")
    }

    /// What it said on stderr so far.
    pub fn said(&self) -> String {
        let said = self.said.lock();
        said.expect("nobody panics with the lock").clone()
    }
}
