//! Servers of older sessions, and connections of rmcp's.

use mcp_tasks::client::{CallError, ClientError, Question, QuestionKind, TaskClient};
use mcp_tasks_tests::meddler::{Meddler, Trick};
use mcp_tasks_tests::{Fixture, PATIENCE};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _};
use serde_json::json;

use super::{Echo, FIXTURES, Meddled, outcome, text, unknown_method};

/// Behind this proxy every server is one of an older session.
fn no_discovery(proxy: &Meddler) {
    proxy.always("server/discover", unknown_method());
}

#[tokio::test]
async fn a_server_of_an_older_session_asks_while_the_call_is_open() {
    let echo = Echo::default();
    let builder = TaskClient::builder().answers(echo.clone());
    let meddled = Meddled::prepared(builder, &[], no_discovery).await;
    let server = meddled.client.server().await.unwrap();
    assert_eq!(server.protocol_version, "2025-11-25");
    let call = meddled.client.call("ask2", json!({}));
    let result = outcome!(call).unwrap();
    assert_eq!(text(&result), "question-1,question-2");
    assert_eq!(meddled.proxy.seen("tasks/get").len(), 0);
    let asked = echo.asked();
    let QuestionKind::Form { message, .. } = &asked[0].kind else {
        panic!("{asked:?}");
    };
    assert_eq!(message, "The first?");
}

#[tokio::test]
async fn the_question_of_an_older_session_can_be_answered_by_hand() {
    let meddled = Meddled::prepared(TaskClient::builder(), &[], no_discovery).await;
    let mut call = meddled.client.call("form", json!({}));
    let error = outcome!(&mut call).unwrap_err();
    let CallError::Unanswered { id, questions } = error else {
        panic!("{error:?}");
    };
    assert_eq!(id, None);
    call.decline(&questions[0].key).await.unwrap();
    let result = outcome!(call).unwrap();
    assert!(result.is_error);
}

#[tokio::test]
async fn two_open_calls_are_asked_each_its_own() {
    let asked = |question: Question| async move {
        let tool = question.tool.unwrap();
        mcp_tasks::client::Answer::accept(json!({ "answer": tool })).ok()
    };
    let builder = TaskClient::builder().answers(asked);
    let meddled = Meddled::prepared(builder, &[], no_discovery).await;
    let first = meddled.client.call("ask1", json!({}));
    let second = meddled.client.call("ask2", json!({}));
    assert_eq!(text(&outcome!(first).unwrap()), "got: ask1");
    assert_eq!(text(&outcome!(second).unwrap()), "ask2,ask2");
}

#[tokio::test]
async fn there_are_no_tasks_in_an_older_session() {
    let meddled = Meddled::prepared(TaskClient::builder(), &[], no_discovery).await;
    let task = json!({ "resultType": "task", "taskId": "a", "status": "working", "ttlMs": null });
    meddled.proxy.plan("tools/call", Trick::Answer(task));
    let error = outcome!(meddled.client.call("sync", json!({}))).unwrap_err();
    assert!(
        matches!(&error, CallError::Client(ClientError::Unexpected { .. })),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_call_that_is_dropped_in_an_older_session_is_cancelled() {
    let meddled = Meddled::prepared(TaskClient::builder(), &[], no_discovery).await;
    let mut call = meddled.client.call("ask1", json!({}));
    outcome!(&mut call).unwrap_err();
    call.cancel().await.unwrap();
    assert!(matches!(outcome!(call), Err(CallError::Cancelled { .. })));
    let stats = || meddled.client.call("stats", json!({}));
    loop {
        let result = outcome!(stats()).unwrap();
        let structured = result.structured.unwrap();
        let stats: serde_json::Value = serde_json::from_str(structured.get()).unwrap();
        if stats["resident"] == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_connection_of_rmcps_will_do() {
    let server = Fixture::http(FIXTURES, &[]).await;
    let capabilities: ClientCapabilities = serde_json::from_value(json!({
        "elicitation": {},
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    }))
    .unwrap();
    let config = ClientConfig::new(capabilities, Implementation::new("theirs", "1"));
    let wire = StreamableHttpClientTransport::from_uri(server.client().url());
    let lifecycle = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let running = config.serve_with_lifecycle(wire, lifecycle).await.unwrap();
    let echo = Echo::default();
    let client = TaskClient::builder()
        .answers(echo.clone())
        .patience(PATIENCE)
        .from_peer(running.peer().clone());
    let result = outcome!(client.call("ask_loop", json!({ "n": 2 }))).unwrap();
    assert_eq!(text(&result), "answer,answer#2");
    let result = outcome!(client.call("pre", json!({}))).unwrap();
    assert_eq!(text(&result), "Hello, who");
    let error = outcome!(client.call("hard", json!({}))).unwrap_err();
    let CallError::Failed(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!((error.code.0, error.data), (1234, Some(json!({ "k": 1 }))));
    running.cancel().await.unwrap();
    let error = outcome!(client.call("sync", json!({}))).unwrap_err();
    assert!(
        matches!(error, CallError::Client(_) | CallError::Lost { .. }),
        "{error:?}"
    );
}
