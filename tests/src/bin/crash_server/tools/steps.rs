//! Steps of every kind, timers, and what is not recorded.

use mcp_tasks::prelude::*;

use super::Report;
use crate::world::World;

const POLICY: Retry = Retry::attempts(4)
    .first(Duration::from_millis(4))
    .max(Duration::from_millis(10));

/// Tries again, with and without success, and keeps an error as what it is.
#[mcp_task(poll_interval = "5ms")]
pub(super) async fn stubborn(
    label: String,
    State(world): State<World>,
) -> Result<String, ToolError> {
    let mut report = Report::default();
    let insist = step_with(POLICY, || world.insist(step_key(), 3)).await?;
    report.saw("step", insist);
    let between: String = ask_user(format!("{label}: go on?")).await?;
    report.saw("answer", between);
    match step_with(POLICY, || world.refuse(step_key())).await {
        Ok(()) => report.saw("step", "refuse, which should fail"),
        Err(refused) => report.saw("failed", refused.message()),
    }
    let typed: Result<(), String> = step(world.refuse(step_key())).typed().await;
    match typed {
        Ok(()) => report.saw("step", "typed, which should fail"),
        Err(refused) => report.saw("failed", refused),
    }
    Ok(report.into_text())
}

/// Steps that must not run twice.
#[mcp_task(poll_interval = "5ms")]
pub(super) async fn once(label: String, State(world): State<World>) -> Result<String, ToolError> {
    let mut report = Report::default();
    let fails = step(world.act(step_key()))
        .at_most_once(OnAmbiguous::Fail)
        .await;
    report.once("fails", fails)?;
    let between: String = ask_user(format!("{label}: go on?")).await?;
    report.saw("answer", between);
    let skips = step(world.act(step_key()))
        .at_most_once(OnAmbiguous::Skip("skipped".to_owned()))
        .await?;
    report.saw("step", skips);
    let repeats = step(world.act(step_key()))
        .at_most_once(OnAmbiguous::RunAgain)
        .await?;
    report.saw("step", repeats);
    let insists = step_with(POLICY, || world.insist(step_key(), 3))
        .at_most_once(OnAmbiguous::Fail)
        .await;
    report.once("insists", insists)?;
    Ok(report.into_text())
}

impl Report {
    /// A step that did not run twice, or of which nobody knows whether it ran.
    fn once(&mut self, key: &str, step: Result<String, StepError>) -> Result<(), StepError> {
        match step {
            Ok(done) => self.saw("step", done),
            Err(error) if error.is_ambiguous() => self.saw("ambiguous", key),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Sleeps, and looks how long it was.
#[mcp_task(poll_interval = "5ms")]
pub(super) async fn naps(label: String, State(world): State<World>) -> Result<String, ToolError> {
    let mut report = Report::default();
    set_status(label);
    let nap = world.soon;
    for number in 1..=3 {
        let before = now();
        sleep(nap).await;
        if now().duration_since(before)? >= nap {
            report.saw("slept", number);
        } else {
            report.saw("woke early", number);
        }
        let write = step(world.act(step_key())).await?;
        report.saw("step", write);
    }
    let end = now() + nap;
    sleep_until(end).key("end").await;
    report.saw("slept", "until the end");
    Ok(report.into_text())
}

/// Looks at things again in every run, alone and beside a step.
#[mcp_task(poll_interval = "5ms")]
pub(super) async fn peeks(label: String, State(world): State<World>) -> Result<String, ToolError> {
    let mut report = Report::default();
    let task = task_id().to_string();
    for number in 1..=2 {
        let answer: String = ask_user(format!("{label}: look {number}?")).await?;
        report.saw("answer", answer);
        unrecorded(world.peek(task.clone())).await;
        let (write, ()) = join!(
            write: step(world.act(step_key())),
            again: unrecorded(world.peek(task.clone())),
        );
        report.saw("step", write?);
    }
    Ok(report.into_text())
}
