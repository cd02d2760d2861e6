//! The tool: a job is started once, and waited for.

use mcp_tasks::prelude::*;

use crate::jobs::{self, Jobs, Outcome};

/// Has the job system build a release.
#[mcp_task(ttl = "24h", poll_interval = "200ms")]
pub(crate) async fn build(
    /// What to build
    project: String,
    /// How long to wait for it, in seconds
    #[arg(min = 1, max = 80_000, default = 3600)]
    patience: u64,
    State(jobs): State<Jobs>,
) -> Result<String, ToolError> {
    // A step runs again if the process dies before its result is recorded, and an
    // attempt is made again if it fails. The job system may have started the job
    // all the same: by the key it knows that it has.
    let job: String = step_with(Retry::attempts(4), || {
        jobs.start(&project, task_id(), step_key())
    })
    .await?;
    set_status(format!("job {job} builds {project}"));

    // The callback may come at any time, before this line too.
    let ended: Result<Outcome, SignalError> = signal(jobs::signal_of(&job))
        .timeout(Duration::from_secs(patience))
        .await;
    match ended {
        Ok(Outcome::Built { artifact }) => Ok(format!("{project} is built: {artifact}")),
        Ok(Outcome::Failed { reason }) => {
            Err(ToolError::new(format!("{project} is not built: {reason}")))
        }
        Err(SignalError::TimedOut { .. }) => {
            step(jobs.cancel(&job)).await?;
            let words = format!("job {job} was cancelled: not done within {patience} s");
            Err(ToolError::new(words))
        }
        Err(error) => Err(error.into()),
    }
}
