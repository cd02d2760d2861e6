//! The lives of the server: a client starts it, and starts it again by itself
//! when it finds it dead.

use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use mcp_tasks::client::{CallState, Direction, TaskClient};
use mcp_tasks_examples::screen::{Screen, Style};
use mcp_tasks_examples::wire;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::sleep;

use crate::stage::Stage;

/// How long anything may take before the story breaks off.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client, and the server that it has started.
pub(crate) struct Lives {
    pub(crate) client: TaskClient,
    pub(crate) process: u32,
    overheard: Overheard,
}

impl Lives {
    /// Starts the server for the first time.
    pub(crate) async fn begin(stage: &Stage) -> anyhow::Result<Self> {
        let mut server = Command::new(std::env::current_exe()?);
        server.arg("serve").arg(&stage.directory);
        let overheard = Overheard::default();
        let (ear, screen) = (overheard.clone(), stage.wire.then(|| stage.screen.clone()));
        let client = TaskClient::builder()
            .identity("mcp-tasks crash example", env!("CARGO_PKG_VERSION"))
            .deadline(PATIENCE)
            .log(|line| {
                // Nobody reading along is no reason to stop.
                let _ = Screen::stderr().show(4, Style::Dim, &format!("server: {line}"));
            })
            .messages(move |direction, message| {
                ear.hear(direction, message);
                if let Some(screen) = &screen {
                    let message = wire::lay_out(direction, message);
                    let _ = screen.show_as_is(Style::Dim, &message);
                }
            })
            .connect_stdio(server)
            .await?;
        let process = process_of(&client).await?;
        Ok(Self {
            client,
            process,
            overheard,
        })
    }

    /// Kills the server, and looks whether it is dead.
    pub(crate) async fn kill(&self, stage: &Stage) -> anyhow::Result<()> {
        let process = self.process.to_string();
        stage
            .screen
            .show(2, Style::Bad, &format!("kill -9 {process}"))?;
        if !kill("-9", &process).await? {
            bail!("process {process} cannot be killed");
        }
        let begun = Instant::now();
        // Nothing is sent, but there must be somebody who could get it.
        while kill("-0", &process).await? {
            if begun.elapsed() > PATIENCE {
                bail!("process {process} was killed, and is there all the same");
            }
            sleep(Duration::from_millis(5)).await;
        }
        self.overheard.forget();
        stage.say(&format!("Process {process} is gone: SIGKILL."))?;
        Ok(())
    }

    /// Looks at a task of the server that was killed: the client starts it again.
    pub(crate) async fn go_on(
        &mut self,
        stage: &Stage,
        id: &str,
    ) -> anyhow::Result<(CallState, Duration)> {
        let begun = Instant::now();
        let task = self.client.get(id).await?;
        let took = begun.elapsed();
        let killed = std::mem::replace(&mut self.process, process_of(&self.client).await?);
        if self.process == killed {
            bail!("process {killed} was killed, and answers all the same");
        }
        stage.say(&format!(
            "The client has started the server again: process {}.",
            self.process
        ))?;
        stage.say(&format!(
            "It knows of the task, {} ms after its start.",
            took.as_millis()
        ))?;
        Ok((task, took))
    }

    /// The questions that the server last sent, word for word.
    pub(crate) fn requests(&self) -> anyhow::Result<String> {
        let heard = self.overheard.last();
        heard.context("the server has shown a question without its request")
    }
}

async fn process_of(client: &TaskClient) -> anyhow::Result<u32> {
    let process = client.server_process().await?;
    process.context("the server ended as soon as it started")
}

/// Sends a signal; false if there is no such process.
async fn kill(signal: &str, process: &str) -> anyhow::Result<bool> {
    let mut command = tokio::process::Command::new("kill");
    let done = command.args([signal, process]).output().await;
    let done = done.context("there is no `kill` on this machine")?;
    Ok(done.status.success())
}

/// What was asked, as it stood on the wire.
#[derive(Clone, Default)]
struct Overheard(Arc<Mutex<Option<String>>>);

impl Overheard {
    fn hear(&self, direction: Direction, message: &str) {
        /// A task is in the reply to `tasks/get`, and in `notifications/tasks`.
        #[derive(Deserialize)]
        struct Message {
            #[serde(alias = "params")]
            result: Task,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Task {
            input_requests: Box<RawValue>,
        }
        if direction == Direction::Received
            && let Ok(message) = serde_json::from_str::<Message>(message)
        {
            let requests = message.result.input_requests.get().to_owned();
            *self.lock() = Some(requests);
        }
    }

    fn last(&self) -> Option<String> {
        self.lock().clone()
    }

    fn forget(&self) {
        self.lock().take();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
