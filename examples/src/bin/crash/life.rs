//! One life of the server: from its start to the kill.

use std::time::{Duration, Instant};

use mcp_tasks::protocol::TaskStatus;
use mcp_tasks_examples::client::{Client, Task};
use mcp_tasks_examples::screen::{Screen, Style};
use mcp_tasks_examples::server_process::ServerProcess;
use mcp_tasks_examples::{Error, wire};
use tokio::process::Command;
use tokio::time::sleep;

use crate::Trouble;
use crate::stage::Stage;

/// How long anything may take before the story breaks off.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server.
pub(crate) struct Life {
    server: ServerProcess,
    pub(crate) client: Client,
    pub(crate) process: u32,
    started: Instant,
}

impl Life {
    /// Starts the server.
    pub(crate) fn start(stage: &mut Stage) -> Result<Self, Trouble> {
        let program = std::env::current_exe().map_err(Error::Start)?;
        let mut command = Command::new(program);
        command.arg("serve").arg(&stage.directory);
        let started = Instant::now();
        let (server, mut connection) = ServerProcess::start(&mut command, |line| {
            // Nobody reading along is no reason to stop.
            let _ = Screen::stderr().show(4, Style::Dim, &format!("server: {line}"));
        })?;
        let process = server
            .id()
            .ok_or_else(|| Trouble::Plot("the server ended as soon as it started".to_owned()))?;
        if stage.wire {
            connection.watch(|direction, message| {
                let message = wire::lay_out(direction, message);
                let _ = Screen::stdout().show_as_is(Style::Dim, &message);
            });
        }
        let name = "mcp-tasks crash example";
        let client = Client::new(connection, name, env!("CARGO_PKG_VERSION"));
        Ok(Self {
            server,
            client,
            process,
            started,
        })
    }

    /// How long ago it was started.
    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Kills the server, and looks whether it is dead.
    pub(crate) async fn kill(self, stage: &mut Stage, task: &str) -> Result<(), Trouble> {
        let Self {
            server,
            mut client,
            process,
            ..
        } = self;
        let ended = server.kill().await?;
        stage
            .screen
            .show(2, Style::Bad, &format!("kill -9 {process}"))?;
        stage.say(&format!("Process {process} is gone: {ended}."))?;
        match client.get_task(task).await {
            Err(gone @ Error::Gone { .. }) => {
                let words = format!("The client finds that {gone}.");
                stage.say(&words)?;
                Ok(())
            }
            Err(error) => Err(error.into()),
            Ok(_) => Err(Trouble::Plot(format!(
                "process {process} was killed, and answers all the same"
            ))),
        }
    }

    /// Lets the server end in good order.
    pub(crate) async fn end(self) {
        let Self {
            mut server, client, ..
        } = self;
        // Its input ends with this.
        drop(client);
        server.ended().await;
    }

    /// Looks at a task until it is as it should be.
    pub(crate) async fn until(
        &mut self,
        id: &str,
        wanted: &str,
        is: impl Fn(&Task) -> bool,
    ) -> Result<Task, Trouble> {
        let begun = Instant::now();
        loop {
            let task = self.client.get_task(id).await?;
            if is(&task) {
                return Ok(task);
            }
            let over = is_over(&task);
            if over || begun.elapsed() > PATIENCE {
                let message = task.status_message.as_deref().unwrap_or("no message");
                return Err(Trouble::Plot(format!(
                    "the task should be {wanted} by now, and is {:?} ({message})",
                    task.status
                )));
            }
            sleep(task.poll_interval()).await;
        }
    }
}

/// Whether a task has ended.
pub(crate) fn is_over(task: &Task) -> bool {
    matches!(
        task.status,
        TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled
    )
}
