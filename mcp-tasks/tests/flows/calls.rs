//! `#[mcp_task_flow]`: what it may take and give, where it may be awaited.

use std::fmt::Display;

use mcp_tasks::FlowCall;
use mcp_tasks::prelude::*;
use mcp_tasks::testing::TestTask;

use super::{answer, end, recorded};

#[expect(clippy::unused_async, reason = "stands for a call over the network")]
async fn plan(what: &str) -> Result<String, std::io::Error> {
    Ok(format!("plan of {what}"))
}

/// Asks, steps, sleeps, and asks another flow.
#[mcp_task_flow]
async fn confirm(what: &str) -> Result<bool, ToolError> {
    let plan = step(plan(what)).await?;
    let approval: bool = ask_user(format!("{plan}?")).await?;
    if !approval {
        return Ok(false);
    }
    sleep(Duration::from_secs(60)).await;
    Ok(approval && sure().await?)
}

#[mcp_task_flow]
async fn sure() -> Result<bool, AskError> {
    ask_user("Sure?").await
}

#[mcp_task(ttl = "30d")]
async fn deploy(service: String) -> Result<String, ToolError> {
    let first = confirm(&service).await?;
    confirm("the rest").await?;
    for round in 0..2 {
        let again = confirm(&format!("round {round}")).await?;
        set_status(again.to_string());
    }
    ask_user::<()>("End?").key("end").await?;
    Ok(format!("{service} {first}"))
}

#[tokio::test(start_paused = true)]
async fn a_flow_asks_steps_sleeps_and_awaits_other_flows_under_the_key_of_its_call() {
    let task = TestTask::start(deploy("billing".to_owned())).await;
    let calls = ["first", "confirm", "again", "again#2"];
    for call in calls {
        answer(&task, &format!("{call}/approval"), true).await;
        answer(&task, &format!("{call}/sure/answer"), true).await;
    }
    let expected = calls.map(|call| {
        ["plan", "approval", "sleep", "sure/answer"].map(|key| format!("{call}/{key}"))
    });
    assert_eq!(recorded(&task).await, expected.as_flattened());
    assert_eq!(end(&task).await, "billing true");
}

#[mcp_task_flow]
async fn named(name: &str, seconds: u64) -> Result<String, AskError> {
    sleep(Duration::from_secs(seconds)).await;
    let answer: String = ask_user(format!("{name}?")).await?;
    Ok(format!("{name}={answer}"))
}

#[mcp_task(ttl = "30d")]
async fn survey(teams: Vec<String>) -> Result<String, ToolError> {
    let (one, two, three) = join!(
        left: named("left", 2),
        named("second", 1),
        async { named("third", 0).await },
    );
    let raced = race!(slow: named("slow", 900_000), fast: named("fast", 3))?;
    let each = join_all(teams.iter().map(|team| named(team, 0))).await;
    let in_turn = join_all(teams.iter().map(|team| async move { named(team, 0).await })).await;
    let by_name = join_all(teams.iter().map(|team| named(team, 0).key(team))).await;
    let (four, five) = try_join!(a: named("four", 0), b: async { named("five", 0).await })?;
    let all: Result<Vec<String>, AskError> =
        each.into_iter().chain(in_turn).chain(by_name).collect();
    ask_user::<()>("End?").key("end").await?;
    let all = all?.join(" ");
    Ok(format!(
        "{} {} {} {raced} {all} {four} {five}",
        one?, two?, three?
    ))
}

#[tokio::test(start_paused = true)]
async fn a_flow_can_be_a_branch() {
    let task = TestTask::start(survey(vec!["ops".to_owned(), "dev".to_owned()])).await;
    for key in [
        "2/named/answer",
        "left/named/answer",
        "1/named/answer",
        "fast/raced/answer",
    ] {
        let key = key.replace("fast/raced", "fast/named");
        answer(&task, &key, "yes").await;
    }
    for key in [
        "each/answer",
        "each#2/answer",
        "in_turn/named/answer",
        "in_turn#2/named/answer",
        "ops/answer",
        "dev/answer",
        "a/named/answer",
        "b/named/answer",
    ] {
        answer(&task, key, "yes").await;
    }
    assert_eq!(
        end(&task).await,
        "left=yes second=yes third=yes fast=yes ops=yes dev=yes ops=yes dev=yes ops=yes dev=yes \
         four=yes five=yes"
    );
}

#[derive(Clone, Default)]
struct Notes {
    lines: Vec<String>,
}

impl Notes {
    /// Borrows itself mutably, and what it is given.
    #[mcp_task_flow]
    async fn add<'a>(&mut self, title: &'a str, hint: &str) -> Result<&'a str, AskError> {
        let line: String = ask_user(format!("{title}? ({hint})")).await?;
        self.lines.push(line);
        Ok(title)
    }

    #[mcp_task_flow]
    async fn last(&self, _: &str) -> &str {
        self.lines.last().map_or("none", String::as_str)
    }

    #[mcp_task_flow]
    async fn close(mut self) -> Result<String, AskError> {
        let Self { lines } = &mut self;
        let line: String = ask_user("Last line?").await?;
        lines.push(line);
        Ok(self.lines.join(","))
    }
}

#[mcp_task_flow]
async fn show<T: Display + Sync, const N: usize>(
    values: &[T; N],
    (from, mut to): (&str, String),
) -> Result<String, ToolError>
where
    T: Send,
{
    to.push('!');
    let mut text = String::new();
    for value in values {
        let line: String = ask_user(format!("{from} {value} {to} {N}")).await?;
        text.push_str(&line);
    }
    Ok(text)
}

#[mcp_task_flow]
async fn parsed<T>(question: &str) -> Result<Option<T>, AskError>
where
    T: std::str::FromStr + Send,
{
    let text: String = ask_user(question).await?;
    Ok(text.parse().ok())
}

#[mcp_task]
async fn write() -> Result<String, ToolError> {
    let mut notes = Notes::default();
    let title = notes.add("first", &format!("hint {}", 1)).await?;
    let last = notes.last(&format!("hint {}", 2)).await;
    let shown = show(&[1, 2], ("from", "to".to_owned())).await?;
    let number = parsed::<u8>("A number?").await?;
    let result = format!("{title} {last} {shown} {number:?}");
    Ok(format!("{result} {}", notes.close().await?))
}

#[tokio::test(start_paused = true)]
async fn a_flow_may_borrow_and_be_generic_and_be_a_method() {
    let task = TestTask::start(write()).await;
    for (key, value) in [
        ("title/line", "one"),
        ("shown/line", "a"),
        ("shown/line#2", "b"),
        ("number/text", "7"),
        ("close/line", "two"),
    ] {
        answer(&task, key, value).await;
    }
    assert_eq!(task.result().await.text(), "first one ab Some(7) one,two");
}

/// Asks until it gets an answer, by calling itself.
#[mcp_task_flow]
async fn insist(times: u32) -> Result<String, AskError> {
    let answer: String = ask_user(format!("Well? ({times})")).await?;
    if answer.is_empty() && times > 0 {
        // A box does no harm, and is not needed.
        return if times > 1 {
            Box::pin(insist(times - 1)).await
        } else {
            insist(times - 1).key("last").await
        };
    }
    Ok(answer)
}

#[mcp_task]
async fn patient() -> Result<String, ToolError> {
    Ok(insist(2).await?)
}

#[tokio::test(start_paused = true)]
async fn a_flow_may_call_itself() {
    let task = TestTask::start(patient()).await;
    answer(&task, "insist/answer", "").await;
    answer(&task, "insist/insist/answer", "").await;
    answer(&task, "insist/insist/last/answer", "fine").await;
    assert_eq!(task.result().await.text(), "fine");
}

fn chosen(first: bool) -> FlowCall<'static, Result<String, AskError>> {
    if first { named("one", 0) } else { insist(1) }
}

#[mcp_task(ttl = "30d")]
async fn kept() -> Result<String, ToolError> {
    // Bound where it is awaited, not where it is called.
    let call = named("kept", 0);
    let other = insist(0);
    let answer = call.await?;
    let calls = vec![chosen(true), chosen(false)];
    let mut all = vec![answer];
    for call in calls {
        all.push(call.await?);
    }
    let (last,) = join!(other);
    all.push(last?);
    Ok(all.join(" "))
}

#[tokio::test(start_paused = true)]
async fn a_call_is_a_value_that_can_be_kept_and_chosen() {
    let task = TestTask::start(kept()).await;
    for key in [
        "answer/answer",
        "call/answer",
        "call#2/answer",
        "0/other/answer",
    ] {
        answer(&task, key, key).await;
    }
    assert_eq!(
        task.result().await.text(),
        "kept=answer/answer one=call/answer call#2/answer 0/other/answer"
    );
}

/// Never run again, so that it may await anything, flows among it.
#[mcp_task(replay = false)]
async fn once() -> Result<String, ToolError> {
    tokio::task::yield_now().await;
    let first = std::future::ready("first").await;
    let first = named(first, 0).await?;
    let (left, ()) = join!(named("left", 0), std::future::ready(()));
    Ok(format!("{first} {}", left?))
}

#[tokio::test(start_paused = true)]
async fn a_task_without_replay_may_await_a_flow() {
    let task = TestTask::start(once()).await;
    answer(&task, "first/answer", "a").await;
    answer(&task, "0/named/answer", "b").await;
    assert_eq!(task.result().await.text(), "first=a left=b");
}

#[mcp_task_flow]
async fn charge(amount: u8) -> Result<String, ToolError> {
    let lot = random::<u64>();
    let id = uuid();
    let key = step(async { Ok::<_, String>(step_key()) })
        .key("charged")
        .await?;
    let key = key
        .rsplit_once(&task_id().to_string())
        .map(|(_, key)| key.to_owned());
    Ok(format!("{amount} {lot} {id} {}", key.unwrap_or_default()))
}

#[mcp_task]
async fn pay() -> Result<Json<Vec<String>>, ToolError> {
    let first = charge(1).await?;
    let second = charge(1).await?;
    Ok(Json(vec![first, second]))
}

#[tokio::test(start_paused = true)]
async fn each_call_draws_its_own_lots_and_has_its_own_step_keys() {
    let task = TestTask::start(pay()).await;
    let paid: Vec<String> = task.result().await.structured();
    let words: Vec<Vec<&str>> = paid.iter().map(|text| text.split(' ').collect()).collect();
    assert_ne!(words[0][1], words[1][1]);
    assert_ne!(words[0][2], words[1][2]);
    assert_eq!(
        [words[0][3], words[1][3]],
        ["/first/charged", "/second/charged"]
    );
}

#[mcp_task]
async fn twice(name: String) -> Result<String, ToolError> {
    named("a", 0).key(&name).await?;
    named("b", 0).key(&name).await?;
    Ok(String::new())
}

#[mcp_task]
async fn misnamed(name: String) -> Result<String, ToolError> {
    Ok(named("a", 0).key(&name).await?)
}

#[tokio::test(start_paused = true)]
async fn a_key_of_run_time_must_be_new_and_well_formed() {
    let task = TestTask::start(twice("x".to_owned())).await;
    answer(&task, "x/answer", "yes").await;
    assert!(task.result().await.error().is_some());
    let task = TestTask::start(misnamed("a/b".to_owned())).await;
    assert!(task.result().await.error().is_some());
}
