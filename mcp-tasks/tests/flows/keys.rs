//! Keys do not change when unrelated code does.

use mcp_tasks::prelude::*;
use mcp_tasks::testing::TestTask;

use super::answer_all;

async fn plan() -> Result<u8, std::io::Error> {
    std::future::ready(Ok(1)).await
}

#[mcp_task_flow]
async fn confirm() -> Result<bool, AskError> {
    let approval: bool = ask_user("Sure?").await?;
    Ok(approval)
}

mod before {
    use super::*;

    #[mcp_task(ttl = "30d")]
    pub(super) async fn deploy() -> Result<String, ToolError> {
        let approval: bool = ask_user("Deploy?").await?;
        step(plan()).await?;
        confirm().await?;
        for _ in 0..2 {
            let again = confirm().await?;
            let (first, _) = join!(left: ask_user::<u8>("Share?"), right: confirm());
            first?;
            set_status(again.to_string());
        }
        sleep(Duration::from_secs(1)).await;
        let votes = join_all((0..2).map(|n| ask_user::<bool>(format!("{n}?")))).await;
        ask_user::<()>("End?").key("end").await?;
        Ok(format!("{approval} {}", votes.len()))
    }
}

mod after {
    use super::*;

    #[mcp_task_flow]
    async fn added() -> Result<bool, AskError> {
        let _both = join!(left: ask_user::<u8>("Other?"), right: confirm());
        confirm().await
    }

    /// The same calls, among others, deeper or less deep, in other expressions.
    #[mcp_task(ttl = "30d")]
    pub(super) async fn deploy(more: bool) -> Result<String, ToolError> {
        let planned = if more { "more" } else { "less" }.len();
        let news: u8 = if more { ask_user("News?").await? } else { 0 };
        if more {
            let (..) = join!(other: ask_user::<u8>("Other?"), confirm());
            added().await?;
            let confirmed = confirm().await?;
            report_progress(u64::from(confirmed), 1);
        }
        let approval: Result<bool, AskError> = ask_user("Deploy?").await.inspect(|approval| {
            tracing::debug!(approval);
        });
        let approval = approval?;
        let others = match step(plan()).await {
            Ok(number) if more => step_value(async { number }).await,
            Ok(number) => number,
            Err(error) => return Err(error.into()),
        };
        {
            confirm().await?;
        }
        let mut round = 0;
        while round < 2 {
            let extra = join_all((0..1).map(|_| ask_user::<()>("Extra?"))).await;
            if let Ok(again) = confirm().await {
                set_status(again.to_string());
            }
            let (first, second) = join!(left: ask_user::<u8>("Share?"), right: confirm());
            let _sum = first? + u8::from(second?);
            round += extra.len();
        }
        sleep(Duration::from_secs(1)).await;
        let ask = |n: u8| format!("{n}?");
        let votes = join_all((0..2).map(|n| ask_user::<bool>(ask(n)))).await;
        ask_user::<()>("End?").key("end").await?;
        Ok(format!(
            "{approval} {} {planned} {news} {others}",
            votes.len()
        ))
    }
}

#[tokio::test(start_paused = true)]
async fn edits_elsewhere_leave_keys_as_they_are() {
    let before = answer_all(&TestTask::start(before::deploy()).await).await;
    assert_eq!(
        before,
        [
            "approval",
            "plan",
            "confirm/approval",
            "again/approval",
            "left/u8",
            "right/confirm/approval",
            "again#2/approval",
            "left#2/u8",
            "right#2/confirm/approval",
            "sleep",
            "votes",
            "votes#2",
        ]
    );
    for more in [false, true] {
        let after = answer_all(&TestTask::start(after::deploy(more)).await).await;
        let kept: Vec<&String> = after.iter().filter(|key| before.contains(key)).collect();
        assert_eq!(kept, before.iter().collect::<Vec<_>>(), "of {after:?}");
        assert_eq!(
            after.len(),
            before.len() + if more { 10 } else { 2 },
            "{after:?}"
        );
    }
}
