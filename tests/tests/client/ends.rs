//! How calls end, over every transport: the same for a plain result, rounds and
//! tasks.

use std::time::Duration;

use mcp_tasks::client::{CallError, CallOptions, TaskClient};
use mcp_tasks::protocol::{ErrorCode, TaskStatus};
use mcp_tasks_tests::{PATIENCE, Transport, over_every_transport};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Echo, Pair, outcome, task_id, text};

over_every_transport! {
    a_plain_result_is_a_result,
    questions_before_the_task_come_in_rounds,
    a_call_that_is_cancelled_says_so,
    what_a_task_returns_as_it_cleans_up_counts,
    a_deadline_ends_the_call_and_the_task,
    a_deadline_ends_a_call_whose_question_nobody_answers,
    arguments_that_do_not_fit_are_told_and_nothing_runs,
    a_task_that_never_was_is_lost,
    tools_are_listed_with_their_arguments,
    a_call_that_has_ended_takes_nothing_more,
}

async fn a_plain_result_is_a_result(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let call = pair.client.call("sync", ());
    assert_eq!(text(&outcome!(call).unwrap()), "ok");
    let error = outcome!(pair.client.call("no_such_tool", ())).unwrap_err();
    let CallError::Failed(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
}

async fn questions_before_the_task_come_in_rounds(transport: Transport) {
    let echo = Echo::default();
    let pair = Pair::new(transport, TaskClient::builder().answers(echo.clone())).await;
    let result = outcome!(pair.client.call("pre", json!({}))).unwrap();
    assert_eq!(text(&result), "Hello, who");
    let asked = echo.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].task, None);
    assert_eq!(asked[0].tool.as_deref(), Some("pre"));
}

async fn a_call_that_is_cancelled_says_so(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let call = pair.client.call("slow", json!({ "ms": 60_000 }));
    let id = task_id(&call).await;
    call.cancel().await.unwrap();
    let error = outcome!(call).unwrap_err();
    assert!(matches!(error, CallError::Cancelled { .. }), "{error:?}");
    let state = pair.client.get(&id).await.unwrap();
    assert_eq!(state.status, TaskStatus::Cancelled);
}

async fn what_a_task_returns_as_it_cleans_up_counts(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let mut call = pair.client.call("grace", json!({ "ms": 300 }));
    // It asks, and nobody is there to answer.
    let error = outcome!(&mut call).unwrap_err();
    assert!(matches!(error, CallError::Unanswered { .. }), "{error:?}");
    call.cancel().await.unwrap();
    // Its questions do not matter any more.
    assert_eq!(text(&outcome!(call).unwrap()), "cleaned up");
}

async fn a_deadline_ends_the_call_and_the_task(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let options = CallOptions::new().deadline(Duration::from_millis(700));
    let arguments = json!({ "ms": 60_000 });
    let call = pair.client.call_with("slow", arguments, options);
    let error = outcome!(call).unwrap_err();
    let CallError::Deadline { id: Some(id), .. } = error else {
        panic!("{error:?}");
    };
    let state = pair.client.get(&id).await.unwrap();
    assert_eq!(state.status, TaskStatus::Cancelled);
}

async fn a_deadline_ends_a_call_whose_question_nobody_answers(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let options = CallOptions::new().deadline(Duration::from_millis(700));
    let call = pair.client.call_with("ask1", json!({}), options);
    // Watched to its end, and awaited then.
    let mut states = call.states();
    let mut last = call.state();
    while let Some(state) = states.next().await {
        last = state;
    }
    assert!(last.questions.is_empty(), "{last:?}");
    let error = outcome!(call).unwrap_err();
    assert!(matches!(error, CallError::Deadline { .. }), "{error:?}");
}

async fn arguments_that_do_not_fit_are_told_and_nothing_runs(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let error = outcome!(pair.client.call("slow", json!({ "ms": "soon" }))).unwrap_err();
    let CallError::Failed(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert!(error.message.contains("ms"), "{error}");
    let error = outcome!(pair.client.call("slow", 7))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no object"), "{error}");
}

async fn a_task_that_never_was_is_lost(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let error = outcome!(pair.client.resume("neverwas")).unwrap_err();
    assert!(
        matches!(&error, CallError::Lost { id: Some(_), .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("neverwas"), "{error}");
}

async fn tools_are_listed_with_their_arguments(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let tools = pair.client.tools().await.unwrap();
    let tool = tools
        .iter()
        .find(|tool| tool.name == "send_signal")
        .unwrap();
    let schema: Value = serde_json::from_str(tool.input_schema.get()).unwrap();
    assert_eq!(schema["required"], json!(["task_id", "name", "value"]));
    let server = pair.client.server().await.unwrap();
    assert!(server.tasks);
    assert_eq!(server.protocol_version, "2026-07-28");
}

async fn a_call_that_has_ended_takes_nothing_more(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let mut call = pair.client.call("slow", json!({ "ms": 1 }));
    outcome!(&mut call).unwrap();
    assert_eq!(call.state().status, TaskStatus::Completed);
    for ended in [
        call.cancel().await.unwrap_err(),
        call.decline("answer").await.unwrap_err(),
        outcome!(&mut call).unwrap_err(),
    ] {
        assert!(matches!(ended, CallError::Ended), "{ended:?}");
    }
    let mut states = call.states();
    let began = Instant::now();
    while states.next().await.is_some() {
        assert!(began.elapsed() < PATIENCE);
    }
}
