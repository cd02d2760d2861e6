//! Flows that are given so much time and no more.

use mcp_tasks::prelude::*;
use mcp_tasks::task::Event;
use mcp_tasks::testing::{TestTask, crash_everywhere};

use super::{answer, end, recorded};

const HOUR: Duration = Duration::from_secs(3600);

/// Asks twice; the whole must be done in time.
#[mcp_task_flow]
async fn interview(guest: &str) -> Result<String, AskError> {
    let name: String = ask_user(format!("{guest}, what is your name?")).await?;
    let place: String = ask_user("Where are you from?").await?;
    Ok(format!("{name} from {place}"))
}

#[mcp_task(ttl = "30d")]
async fn introduce() -> Result<String, ToolError> {
    let first = interview("first").timeout(HOUR).await;
    let second = interview("second").key("after").timeout(HOUR).await;
    let second = second.map(Result::unwrap_or_default);
    interview("third").timeout(HOUR).await.ok();
    ask_user::<()>("End?").key("end").await?;
    Ok(format!("{first:?} {second:?}"))
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_is_not_done_in_time_is_dropped_with_what_it_asked() {
    let task = TestTask::start(introduce()).await;
    answer(&task, "first/name", "Ada").await;
    // The second question of the first flow is withdrawn when its hour is over.
    let place = task.asked("first/place").await;
    assert!(place.params.get().contains("Where are you from?"));
    let then = task.asked("after/name").await;
    assert!(then.params.get().contains("second, what is your name?"));
    assert_eq!(task.get().await.input_requests.len(), 1);
    answer(&task, "after/name", "Luca").await;
    answer(&task, "after/place", "Rome").await;
    let keys = recorded(&task).await;
    assert_eq!(
        keys,
        [
            "first/name",
            "first/#timeout",
            "first/place",
            "after/name",
            "after/#timeout",
            "after/place",
            "interview/name",
            "interview/#timeout",
        ]
    );
    let journal = task.journal().await.expect("it has not ended");
    let withdrawn = journal.entries().iter().filter_map(|entry| {
        let Event::Withdrawn { key } = &entry.event else {
            return None;
        };
        Some(key.as_str())
    });
    let withdrawn: Vec<&str> = withdrawn.collect();
    assert_eq!(
        withdrawn,
        ["first/place", "after/#timeout", "interview/name"]
    );
    assert_eq!(
        end(&task).await,
        "Err(TimedOut(3600s)) Ok(\"Luca from Rome\")"
    );
}

/// An answer of its own, in a task that gives up on it by `??`.
#[mcp_task(ttl = "30d")]
async fn greet() -> Result<String, ToolError> {
    let guest = interview("you").timeout(HOUR).await??;
    Ok(guest)
}

/// The same in a flow, whose error is that of a question.
#[mcp_task_flow]
async fn ask_in_time() -> Result<String, AskError> {
    interview("you").timeout(HOUR).await?
}

#[mcp_task(ttl = "30d")]
async fn greet_in_time() -> Result<String, ToolError> {
    Ok(match ask_in_time().await {
        Err(AskError::TimedOut) => "nobody".to_owned(),
        answered => answered?,
    })
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_timed_out_ends_a_tool_or_another_flow_by_a_question_mark() {
    let late = async |task: &TestTask| {
        task.until(|task| !task.input_requests.is_empty()).await;
        tokio::time::sleep(HOUR * 2).await;
        task.result().await
    };
    let result = late(&TestTask::start(greet()).await).await;
    assert!(result.is_error());
    assert_eq!(result.text(), "not done within 3600s");
    let result = late(&TestTask::start(greet_in_time()).await).await;
    assert_eq!(result.text(), "nobody");
}

#[mcp_task_flow]
async fn part(name: &str, seconds: u64) -> String {
    sleep(Duration::from_secs(seconds)).await;
    name.to_owned()
}

/// A flow with a timeout in each place where a flow may stand.
#[mcp_task(ttl = "30d")]
async fn places(names: Vec<String>) -> Result<String, ToolError> {
    let minute = Duration::from_secs(60);
    let (left, right) = join!(
        left: part("left", 1).timeout(minute),
        async { part("right", 61).timeout(minute).await },
    );
    let raced =
        race!(slow: part("slow", 50).timeout(minute), fast: part("fast", 1).timeout(minute));
    let each = join_all(names.iter().map(|name| part(name, 61).timeout(minute)));
    let each = each.await.iter().filter(|part| part.is_err()).count();
    let boxed = Box::pin(part("boxed", 1).timeout(minute)).await?;
    let mut rounds = 0;
    for round in 0..2 {
        let done = part("round", 60 * round).timeout(minute / 2).await;
        rounds += u32::from(done.is_ok());
    }
    let twice = part("twice", 45).timeout(minute).timeout(minute / 2).await;
    ask_user::<()>("End?").key("end").await?;
    Ok(format!(
        "{left:?} {right:?} {raced:?} {each} {boxed} {rounds} {twice:?}"
    ))
}

#[tokio::test(start_paused = true)]
async fn a_timeout_goes_wherever_a_flow_goes_and_survives_a_crash_after_every_commit() {
    let names = ["a", "b"].map(str::to_owned);
    let (keys, text) = crash_everywhere(async |crash| {
        let task = TestTask::start(places(names.to_vec())).crash_after(crash);
        let task = task.await;
        let mut keys = recorded(&task).await;
        keys.sort();
        (keys, end(&task).await)
    })
    .await;
    assert_eq!(
        text,
        "Ok(\"left\") Err(TimedOut(60s)) Ok(\"fast\") 2 boxed 1 Err(TimedOut(30s))"
    );
    for key in [
        "left/part/#timeout",
        "1/part/#timeout",
        "fast/part/#timeout",
        "each/#timeout",
        "each#2/#timeout",
        "boxed/#timeout",
        "done/#timeout",
        "done#2/#timeout",
        "twice/#timeout",
        "twice/#timeout#2",
    ] {
        assert!(keys.iter().any(|its| its == key), "no {key} in {keys:?}");
    }
}
