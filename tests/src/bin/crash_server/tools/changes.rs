//! Code that changes under a task, and values that must not.

use mcp_tasks::prelude::*;

use super::Report;
use crate::Code;
use crate::world::World;

/// Has two changes; `Code` says whether they have been made yet.
#[mcp_task(poll_interval = "5ms")]
pub(super) async fn patchwork(
    label: String,
    State(world): State<World>,
    State(code): State<Code>,
) -> Result<String, ToolError> {
    let is_new = code == Code::New;
    let mut report = Report::default();
    let first: String = ask_user(format!("{label}: a first?")).await?;
    report.saw("answer", first);
    if is_new && patched("check") {
        let check = step(world.act(step_key())).await?;
        report.saw("step", check);
    }
    for number in 1..=2 {
        let round: String = ask_user(format!("{label}: round {number}?")).await?;
        report.saw("answer", round);
        if is_new && patched("sign") {
            let sign = step(world.act(step_key())).await?;
            report.saw("step", sign);
        } else {
            let stamp = step(world.act(step_key())).await?;
            report.saw("step", stamp);
        }
    }
    Ok(report.into_text())
}

/// Draws, and puts into the question what it drew.
#[mcp_task(poll_interval = "5ms")]
pub(super) async fn dice(label: String, State(world): State<World>) -> Result<String, ToolError> {
    let mut report = Report::default();
    for _ in 1..=2 {
        let (id, number) = (uuid(), random::<u32>());
        let answer: String = ask_user(format!("{label}: {id} {number}?")).await?;
        report.saw("drew", format!("{id} {number}"));
        report.saw("answer", answer);
        let write = step(world.act(step_key())).await?;
        report.saw("step", write);
    }
    Ok(report.into_text())
}
