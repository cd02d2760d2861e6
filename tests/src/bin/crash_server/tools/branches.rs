//! Several things at once.

use mcp_tasks::prelude::*;

use super::Report;
use crate::world::World;

#[mcp_task(poll_interval = "5ms")]
pub(super) async fn branches(
    label: String,
    State(world): State<World>,
) -> Result<String, ToolError> {
    let mut report = Report::default();
    let (left, right) = join!(
        left: async {
            let mut report = Report::default();
            let first: String = ask_user(format!("{label}: left?")).await?;
            report.saw("answer", first);
            let file = step(world.act(step_key())).await?;
            report.saw("step", file);
            let second: String = ask_user(format!("{label}: left again?")).await?;
            report.saw("answer", second);
            Ok::<_, ToolError>(report)
        },
        right: async {
            let mut report = Report::default();
            let weigh = step(world.act(step_key())).await?;
            report.saw("step", weigh);
            sleep(Duration::from_millis(15)).await;
            let third: String = ask_user(format!("{label}: right?")).await?;
            report.saw("answer", third);
            let seal = step(world.act(step_key())).await?;
            report.saw("step", seal);
            Ok::<_, ToolError>(report)
        },
    );
    report.append(left?);
    report.append(right?);
    let close = step(world.act(step_key())).await?;
    report.saw("step", close);
    Ok(report.into_text())
}

/// Returns early when either question is declined, with the other one open.
#[mcp_task(poll_interval = "5ms")]
pub(super) async fn early(label: String, State(world): State<World>) -> Result<String, ToolError> {
    let mut report = Report::default();
    let both = try_join!(
        left: async {
            let left: String = ask_user(format!("{label}: the left one?")).await?;
            Ok::<_, ToolError>(left)
        },
        right: async {
            let weigh = step(world.act(step_key())).await?;
            let right: String = ask_user(format!("{label}: the right one?")).await?;
            Ok::<_, ToolError>((weigh, right))
        },
    );
    let (left, (weigh, right)) = match both {
        Ok(both) => both,
        Err(declined) => {
            let note = step(world.act(step_key())).await?;
            report.saw("step", note);
            report.saw("early", declined.to_string().replace('\n', " "));
            return Ok(report.into_text());
        }
    };
    report.saw("answer", left);
    report.saw("step", weigh);
    report.saw("answer", right);
    let close = step(world.act(step_key())).await?;
    report.saw("step", close);
    Ok(report.into_text())
}

/// Many steps and questions, of which the first two answers count.
#[mcp_task(poll_interval = "5ms")]
pub(super) async fn crowd(label: String, State(world): State<World>) -> Result<String, ToolError> {
    let mut report = Report::default();
    let steps = join!(
        one: step(world.act(step_key())),
        two: step(world.act(step_key())),
        three: step(world.act(step_key())),
    );
    for done in [steps.0?, steps.1?, steps.2?] {
        report.saw("step", done);
    }
    let votes = join_all((1..=3).map(|number| {
        ask_user::<String>(format!("{label}: vote {number}?")).key(format!("vote {number}"))
    }));
    for vote in votes.await {
        report.saw("answer", vote?);
    }
    let count = step(world.act(step_key())).await?;
    report.saw("step", count);
    Ok(report.into_text())
}
