//! rmcp's server: what it makes of tasks, rounds and older sessions.

use mcp_tasks::client::{CallError, TaskClient};
use mcp_tasks::protocol::{ErrorCode, TaskStatus};
use mcp_tasks_tests::{Transport, over_every_transport};
use serde_json::{Value, json};

use super::{Pair, outcome, parrot, text};

over_every_transport! {
    it_says_what_it_is,
    a_plain_tool_is_no_task,
    a_task_ends_with_its_result,
    questions_of_a_task_are_answered_one_after_the_other,
    questions_that_are_open_together_are_answered_together,
    a_failed_task_comes_whole,
    a_task_that_is_cancelled_says_so,
    a_task_that_ends_although_it_is_cancelled_has_its_result,
    a_task_that_waits_for_an_answer_can_be_cancelled,
    a_call_in_rounds_carries_the_state_as_it_came,
    a_server_that_is_busy_is_called_again,
    progress_is_shown,
    a_task_that_is_unknown_is_lost,
    an_older_session_asks_while_the_call_is_open,
    progress_is_shown_in_an_older_session,
    an_older_session_has_no_tasks,
}

const OLDER: &[&str] = &["--older"];

async fn attended(transport: Transport, flags: &[&str]) -> Pair {
    Pair::new(transport, TaskClient::builder().answers(parrot), flags).await
}

async fn it_says_what_it_is(transport: Transport) {
    let pair = attended(transport, &[]).await;
    let server = pair.client.server().await.unwrap();
    assert_eq!((&*server.name, &*server.version), ("theirs", "3"));
    assert_eq!(server.protocol_version, "2026-07-28");
    assert!(server.tasks);
    assert_eq!(server.instructions.as_deref(), Some("Be kind."));
    let tools = pair.client.tools().await.unwrap();
    assert_eq!(tools.len(), 11);
}

async fn a_plain_tool_is_no_task(transport: Transport) {
    let pair = attended(transport, &[]).await;
    let mut call = pair.client.call("plain", ());
    assert_eq!(text(&outcome!(&mut call).unwrap()), "plain");
    assert_eq!(call.id(), None);
    let failed = outcome!(pair.client.call("fails", ())).unwrap();
    assert!(failed.is_error);
}

async fn a_task_ends_with_its_result(transport: Transport) {
    let pair = attended(transport, &[]).await;
    let mut call = pair.client.call("sum", json!({ "a": 2, "b": 3 }));
    let mut states = call.states();
    let mut said = Vec::new();
    while let Some(state) = states.next().await {
        said.extend(state.message);
    }
    let result = outcome!(&mut call).unwrap();
    let structured = result.structured.unwrap();
    assert_eq!(structured.get(), r#"{"sum":5}"#);
    assert_eq!(call.state().status, TaskStatus::Completed);
    assert!(said.iter().all(|words| words == "adding"), "{said:?}");
    assert_eq!(call.state().ttl.unwrap().as_secs(), 300);
}

async fn questions_of_a_task_are_answered_one_after_the_other(transport: Transport) {
    let pair = attended(transport, &[]).await;
    let result = outcome!(pair.client.call("ask", ())).unwrap();
    assert_eq!(text(&result), "First? Second?");
}

async fn questions_that_are_open_together_are_answered_together(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder(), &[]).await;
    let mut call = pair.client.call("ask_both", ());
    let mut states = call.states();
    let open = loop {
        let state = states.next().await.expect("it waits");
        if state.questions.len() == 2 {
            break state.questions;
        }
    };
    assert!(open.iter().all(|question| question.task.is_some()));
    assert!(matches!(
        outcome!(&mut call),
        Err(CallError::Unanswered { .. })
    ));
    call.decline("right").await.unwrap();
    let name = json!({ "name": "Ada" });
    let accept = mcp_tasks::client::Answer::accept(name).unwrap();
    call.answer("left", accept).await.unwrap();
    assert_eq!(text(&outcome!(call).unwrap()), "Ada decline");
}

async fn a_failed_task_comes_whole(transport: Transport) {
    let pair = attended(transport, &[]).await;
    let Err(CallError::Failed(error)) = outcome!(pair.client.call("breaks", ())) else {
        panic!("it did not fail");
    };
    assert_eq!(error.code, ErrorCode::INTERNAL);
    assert_eq!(error.message, "it broke");
    assert_eq!(error.data, Some(json!({ "why": "because" })));
}

async fn a_task_that_is_cancelled_says_so(transport: Transport) {
    let pair = attended(transport, &[]).await;
    let call = pair.client.call("endless", ());
    until_it_is_a_task(&call).await;
    call.cancel().await.unwrap();
    assert!(matches!(outcome!(call), Err(CallError::Cancelled { .. })));
}

async fn a_task_that_ends_although_it_is_cancelled_has_its_result(transport: Transport) {
    let pair = attended(transport, &[]).await;
    let call = pair.client.call("stubborn", ());
    until_it_is_a_task(&call).await;
    call.cancel().await.unwrap();
    assert_eq!(text(&outcome!(call).unwrap()), "finished all the same");
}

async fn a_task_that_waits_for_an_answer_can_be_cancelled(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder(), &[]).await;
    let mut call = pair.client.call("ask", ());
    outcome!(&mut call).unwrap_err();
    call.cancel().await.unwrap();
    assert!(matches!(outcome!(call), Err(CallError::Cancelled { .. })));
}

async fn a_call_in_rounds_carries_the_state_as_it_came(transport: Transport) {
    let pair = attended(transport, &[]).await;
    let mut call = pair.client.call("greet", ());
    assert_eq!(text(&outcome!(&mut call).unwrap()), "Hello, Who?");
    assert_eq!(call.id(), None);
}

async fn a_server_that_is_busy_is_called_again(transport: Transport) {
    let pair = attended(transport, &[]).await;
    let result = outcome!(pair.client.call("shed", ())).unwrap();
    assert_eq!(text(&result), "at last");
}

async fn progress_is_shown(transport: Transport) {
    shows_progress(&attended(transport, &[]).await).await;
}

async fn progress_is_shown_in_an_older_session(transport: Transport) {
    shows_progress(&attended(transport, OLDER).await).await;
}

async fn shows_progress(pair: &Pair) {
    let call = pair.client.call("count", ());
    let mut states = call.states();
    let mut done = Vec::new();
    while let Some(state) = states.next().await {
        done.extend(state.progress.map(|progress| progress.done));
    }
    assert_eq!(text(&outcome!(call).unwrap()), "counted");
    assert!(done.is_sorted() && done.len() > 1, "{done:?}");
}

async fn a_task_that_is_unknown_is_lost(transport: Transport) {
    let pair = attended(transport, &[]).await;
    let error = outcome!(pair.client.resume("neverwas")).unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error:?}");
}

async fn an_older_session_asks_while_the_call_is_open(transport: Transport) {
    let pair = attended(transport, OLDER).await;
    let server = pair.client.server().await.unwrap();
    assert_eq!(server.protocol_version, "2025-11-25");
    let result = outcome!(pair.client.call("greet", ())).unwrap();
    assert_eq!(text(&result), "Hello, Who?");
}

async fn an_older_session_has_no_tasks(transport: Transport) {
    let pair = attended(transport, OLDER).await;
    let call = pair.client.call("sum", json!({ "a": 1, "b": 1 }));
    let error = outcome!(call).unwrap_err();
    // Its own rule: what cannot be followed is not begun.
    let CallError::Failed(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.code, ErrorCode(-32021));
    let needed = error.data.unwrap_or(Value::Null);
    assert!(needed.to_string().contains("tasks"), "{needed}");
}

async fn until_it_is_a_task(call: &mcp_tasks::client::Call) {
    let mut states = call.states();
    while call.id().is_none() {
        outcome!(states.next()).expect("it is no task");
    }
}
