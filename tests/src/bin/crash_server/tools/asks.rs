//! Questions: in a loop, with a deadline, against a clock, and with a status
//! that goes with them.

use mcp_tasks::prelude::*;

use super::{Report, nth};
use crate::world::World;

#[mcp_task(poll_interval = "5ms")]
pub(super) async fn interview(
    label: String,
    State(world): State<World>,
) -> Result<String, ToolError> {
    let mut report = Report::default();
    for number in 1..=3 {
        let answer: String = ask_user(format!("{label}: question {number}?")).await?;
        report.saw("answer", answer);
        let write = step(world.act(step_key())).await?;
        report.saw("step", write);
    }
    Ok(report.into_text())
}

#[mcp_task(poll_interval = "5ms")]
pub(super) async fn deadlines(
    label: String,
    State(world): State<World>,
) -> Result<String, ToolError> {
    let mut report = Report::default();
    for number in 1..=3 {
        let soon: Result<String, AskError> = ask_user(format!("{label}: number {number}, quick?"))
            .timeout(world.soon)
            .await;
        report.outcome(&nth("soon", number), soon);
        let write = step(world.act(step_key())).await?;
        report.saw("step", write);
    }
    Ok(report.into_text())
}

#[mcp_task(poll_interval = "5ms")]
pub(super) async fn rounds(label: String, State(world): State<World>) -> Result<String, ToolError> {
    let mut report = Report::default();
    for number in 1..=3 {
        let won = race!(
            person: async {
                let first: Result<String, AskError> =
                    ask_user(format!("{label}: round {number}, who is first?")).await;
                Some(first)
            },
            clock: async {
                let tick = step(world.act(step_key())).await;
                sleep(world.soon).await;
                // A clock that fails is no clock.
                tick.err().map(|_| Err(AskError::Dismissed))
            },
        );
        let key = format!("{}/first", nth("person", number));
        match won {
            Some(first) => report.outcome(&key, first),
            None => report.saw("timeout", key),
        }
        let write = step(world.act(step_key())).await?;
        report.saw("step", write);
    }
    Ok(report.into_text())
}

/// Says before each question what it last heard.
#[mcp_task(ttl = "1h", poll_interval = "5ms")]
pub(super) async fn words(label: String, State(world): State<World>) -> Result<String, ToolError> {
    let mut report = Report::default();
    set_status("heard nothing");
    report_progress(0, 2);
    let first: String = ask_user(format!("{label}: a first word?")).await?;
    set_status(format!("heard {first}"));
    report_progress(1, 2);
    extend_ttl(Duration::from_secs(3600));
    let second: String = ask_user(format!("{label}: a second word?")).await?;
    report.saw("answer", first);
    set_status(format!("heard {second}"));
    report_progress(2, 2);
    report.saw("answer", second);
    let write = step(world.act(step_key())).await?;
    report.saw("step", write);
    Ok(report.into_text())
}
