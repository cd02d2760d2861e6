//! What can come at the same moment: answers, timeouts, cancellation, expiry,
//! deletion. A task ends once, and none is left running that nobody can end.

mod client;
#[cfg(feature = "sqlite")]
mod ended;
#[cfg(feature = "sqlite")]
mod gone;
#[cfg(feature = "sqlite")]
mod leases;
mod store;

use std::time::Duration;

use mcp_tasks::Limits;
use mcp_tasks::prelude::*;
use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::runtime::{Called, Runtime, RuntimeBuilder};
use mcp_tasks::task::{Snapshot, TaskId};
use serde_json::json;

use client::Client;
use store::Awkward;

fn builder() -> RuntimeBuilder {
    Runtime::builder("races", "1")
}

#[mcp_task]
async fn first_of_two() -> Result<String, ToolError> {
    let first = race!(
        left: ask_user::<String>("left?"),
        right: ask_user::<String>("right?"),
    )?;
    let after: String = ask_user("and then?").await?;
    Ok(format!("{first},{after}"))
}

#[tokio::test]
async fn an_answer_to_a_question_that_lost_the_race_is_passed_over() {
    let client = Client::new(builder().task(first_of_two));
    let id = client.task("first_of_two", json!({})).await;
    client.until_asked(&id, 2).await;
    client
        .answer(&id, &[("left/string", "L"), ("right/string", "R")])
        .await;
    client
        .until(&id, |task| {
            task.input_requests
                .iter()
                .any(|(key, _)| key.as_str() == "after")
        })
        .await;
    client.answer(&id, &[("after", "A")]).await;
    assert_eq!(client.until_text(&id).await, "L,A");
}

#[mcp_task]
async fn in_time(ms: u64) -> Result<String, ToolError> {
    let timeout = Duration::from_millis(ms);
    let first: Result<String, AskError> = ask_user("quick!").timeout(timeout).await;
    // Something more to record, together with what the question leaves behind.
    sleep(Duration::from_millis(1)).await;
    Ok(first.unwrap_or_else(|error| error.to_string()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_at_the_moment_of_the_timeout_wins_or_loses_and_the_task_goes_on() {
    let client = Client::new(builder().task(in_time));
    let mut rounds = tokio::task::JoinSet::new();
    for round in 0..400_u64 {
        let client = client.clone();
        rounds.spawn(async move {
            let id = client.task("in_time", json!({"ms": 20})).await;
            let before = Duration::from_micros(19_000 + round * 10);
            tokio::time::sleep(before).await;
            client.answer(&id, &[("first", "yes")]).await;
            let text = client.until_text(&id).await;
            assert!(
                ["yes", "the question was not answered in time"].contains(&&*text),
                "{text}"
            );
        });
    }
    while let Some(round) = rounds.join_next().await {
        round.unwrap();
    }
    client.until_resident(0).await;
}

#[tokio::test]
async fn an_answer_just_before_the_timeout_counts_and_the_timeout_does_not() {
    let store = Awkward {
        answers_at_timeout: true,
        ..Awkward::default()
    };
    let client = Client::new(builder().task(in_time).store(store));
    let id = client.task("in_time", json!({"ms": 20})).await;
    assert_eq!(client.until_text(&id).await, "just in time");
}

#[mcp_task]
async fn waits() -> Result<String, ToolError> {
    let answer: String = ask_user("?").await?;
    Ok(answer)
}

#[tokio::test]
async fn a_task_whose_events_the_store_refuses_fails_rather_than_works_for_ever() {
    let store = Awkward {
        refuses_questions: true,
        ..Awkward::default()
    };
    let client = Client::new(builder().task(waits).store(store));
    let id = client.task("waits", json!({})).await;
    let task = client.until(&id, Snapshot::is_terminal).await;
    assert_eq!(task.status(), TaskStatus::Failed);
}

#[tokio::test]
async fn a_task_that_is_deleted_as_it_ends_leaves_nothing_in_memory() {
    let store = Awkward {
        slow_reads: Duration::from_millis(50),
        ..Awkward::default()
    };
    let builder = builder().task(waits).store(store);
    let client = Client::new(builder.retention(Duration::ZERO));
    let id = client.task("waits", json!({})).await;
    client.until_asked(&id, 1).await;
    client.cancel(&id).await;
    client.until_resident(0).await;
}

#[tokio::test]
async fn an_end_is_not_forgotten_for_what_was_said_before_it() {
    // The store says that the question is recorded after the task has ended.
    let store = Awkward {
        slow_commits: Duration::from_millis(100),
        ..Awkward::default()
    };
    let builder = builder().task(waits).store(store);
    let client = Client::new(builder.retention(Duration::from_millis(300)));
    let id = client.task("waits", json!({})).await;
    client.until_asked(&id, 1).await;
    client.cancel(&id).await;
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert!(client.runtime.get(&id, &client.caller).await.is_err());
}

#[mcp_task(inline = "20ms")]
async fn quick() -> String {
    step_value(tokio::time::sleep(Duration::from_millis(1))).await;
    "done".to_owned()
}

#[mcp_task]
async fn busy() -> String {
    step_value(tokio::time::sleep(Duration::from_secs(60))).await;
    "done".to_owned()
}

/// A server on which one function runs at a time, and one does.
async fn busy_server() -> (Client, TaskId) {
    let mut limits = Limits::default();
    limits.running = 1;
    let tools = builder().task(quick).task(busy).task(waits);
    let client = Client::new(tools.limits(limits));
    let id = client.task("busy", json!({})).await;
    while client.resident().await == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    (client, id)
}

#[tokio::test]
async fn a_call_has_its_reply_when_its_window_is_over_on_a_busy_server_too() {
    let (client, busy) = busy_server().await;
    let call = client.call("quick", json!({}));
    let called = tokio::time::timeout(Duration::from_secs(2), call).await;
    let Called::Task(task) = called.expect("a reply when the window is over") else {
        panic!("there was no room for it to run");
    };
    client.cancel(&busy).await;
    assert_eq!(client.until_text(&task.id).await, "done");
}

#[tokio::test]
async fn what_is_not_wanted_any_more_does_not_wait_for_room_to_run() {
    let (client, _busy) = busy_server().await;
    let waiting = client.task("waits", json!({})).await;
    client.cancel(&waiting).await;
    let gone = client.call("quick", json!({}));
    tokio::time::timeout(Duration::from_millis(5), gone)
        .await
        .unwrap_err();
    // The busy one is left.
    client.until_resident(1).await;
}

#[mcp_task]
async fn lasts() -> String {
    set_ttl(Duration::from_secs(7200));
    "done".to_owned()
}

#[tokio::test]
async fn a_ttl_that_is_set_last_counts() {
    let client = Client::new(builder().task(lasts));
    let id = client.task("lasts", json!({})).await;
    let task = client.until(&id, Snapshot::is_terminal).await;
    assert_eq!(task.ttl_ms, Some(7_200_000));
}

#[mcp_task]
async fn hoards() -> Result<String, ToolError> {
    for _ in 0..100 {
        let _answer: String = ask_user("more?").await?;
    }
    Ok("all taken".to_owned())
}

#[tokio::test]
async fn answers_count_towards_the_limit_of_a_journal() {
    let mut limits = Limits::default();
    limits.journal = 200_000;
    let client = Client::new(builder().task(hoards).limits(limits));
    let id = client.task("hoards", json!({})).await;
    let long = "x".repeat(90_000);
    let asked_or_over = |task: &Snapshot| task.is_terminal() || !task.input_requests.is_empty();
    loop {
        let task = client.until(&id, asked_or_over).await;
        let Some((key, _)) = task.input_requests.first() else {
            assert_eq!(task.status(), TaskStatus::Failed);
            let words = task.status_message().unwrap();
            assert!(words.contains("journal"), "{words}");
            return;
        };
        client.answer(&id, &[(key.as_str(), &long)]).await;
    }
}

#[mcp_task]
async fn reports() -> Result<String, ToolError> {
    for _ in 0..50 {
        set_status("x".repeat(1000));
        sleep(Duration::from_millis(1)).await;
    }
    let end: String = ask_user("enough?").await?;
    Ok(end)
}

#[tokio::test]
async fn of_all_that_a_function_says_of_itself_only_the_last_takes_room() {
    let mut limits = Limits::default();
    limits.journal = 20_000;
    let client = Client::new(builder().task(reports).limits(limits));
    let id = client.task("reports", json!({})).await;
    client.until_asked(&id, 1).await;
    let stored = client.runtime.tasks().stats().await.unwrap().store.bytes;
    assert!(stored < 20_000, "{stored} bytes");
    client.answer(&id, &[("end", "yes")]).await;
    assert_eq!(client.until_text(&id).await, "yes");
}

// On a clock of its own: whoever is gone after 20 ms has not waited for 60.
#[tokio::test(start_paused = true)]
async fn what_a_client_asked_for_is_followed_up_after_it_has_gone() {
    let store = Awkward {
        slow_replies: Duration::from_millis(60),
        ..Awkward::default()
    };
    let client = Client::new(builder().task(waits).store(store));
    let soon = Duration::from_millis(20);
    // A task that is created has somebody who runs it.
    let call = client.call("waits", json!({}));
    tokio::time::timeout(soon, call).await.unwrap_err();
    client.until_resident(1).await;
    // An answer that is recorded reaches the function.
    let id = client.task("waits", json!({})).await;
    client.until_asked(&id, 1).await;
    let answers = [("answer", "yes")];
    let answer = client.answer(&id, &answers);
    tokio::time::timeout(soon, answer).await.unwrap_err();
    assert_eq!(client.until_text(&id).await, "yes");
    // And so does the end.
    let id = client.task("waits", json!({})).await;
    client.until_asked(&id, 1).await;
    let cancel = client.cancel(&id);
    tokio::time::timeout(soon, cancel).await.unwrap_err();
    client.until_resident(1).await;
}
