//! The way to the job system, and what both sides send.

use std::time::Duration;

use mcp_tasks::task::TaskId;
use serde::{Deserialize, Serialize};

/// The header by which a job is started once, however often it is asked for.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// What the job system is asked for.
#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) project: String,
    /// Where to call when the job has ended
    pub(crate) callback: String,
    /// What to say then: the task's id. Where callers of `/mcp` are not
    /// authenticated it is all that one needs to see the task: for a job system
    /// that others look into, keep a table of names for tasks instead.
    pub(crate) reference: TaskId,
}

/// What it says at once.
#[derive(Serialize, Deserialize)]
pub(crate) struct Started {
    pub(crate) job: String,
}

/// What it calls back with.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) job: String,
    pub(crate) reference: TaskId,
    pub(crate) outcome: Outcome,
}

/// How a job ended.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub(crate) enum Outcome {
    Built { artifact: String },
    Failed { reason: String },
}

/// The signal that tells a task of the end of this job, and of no other.
pub(crate) fn signal_of(job: &str) -> String {
    format!("ended {job}")
}

/// A client of the job system; a cheap handle.
#[derive(Clone)]
pub(crate) struct Jobs {
    http: reqwest::Client,
    system: String,
    callback: String,
}

impl Jobs {
    pub(crate) fn new(system: String, callback: String) -> reqwest::Result<Self> {
        let http = reqwest::Client::builder()
            .timeout(Duration::from_secs(10))
            .build()?;
        Ok(Self {
            http,
            system,
            callback,
        })
    }

    /// Has a job started, unless it was by this key before; gives its id.
    pub(crate) async fn start(
        &self,
        project: &str,
        reference: TaskId,
        key: String,
    ) -> reqwest::Result<String> {
        let order = Order {
            project: project.to_owned(),
            callback: self.callback.clone(),
            reference,
        };
        let request = self.http.post(format!("{}/jobs", self.system));
        let request = request.header(IDEMPOTENCY_KEY, key).json(&order);
        let started: Started = request.send().await?.error_for_status()?.json().await?;
        Ok(started.job)
    }

    /// Has a job stopped.
    pub(crate) async fn cancel(&self, job: &str) -> reqwest::Result<()> {
        let request = self.http.delete(format!("{}/jobs/{job}", self.system));
        request.send().await?.error_for_status()?;
        Ok(())
    }
}
