//! What a client endures, and what it does not.

use std::process::Command;
use std::time::Duration;

use mcp_tasks::client::{Answer, CallError, ClientError, TaskBook, TaskClient};
use mcp_tasks_tests::meddler::Trick;
use mcp_tasks_tests::{Fixture, PATIENCE, StoreFile};
use serde_json::json;
use tokio::time::sleep;

use super::{FIXTURES, Meddled, outcome, task_id, text, unknown_method};

#[tokio::test]
async fn a_call_that_the_server_did_not_take_is_made_again() {
    let meddled = Meddled::new(TaskClient::builder(), &[]).await;
    meddled
        .proxy
        .plan("tools/call", Trick::Busy { retry_after: 1 });
    let call = meddled.client.call("sync", json!({}));
    assert_eq!(text(&outcome!(call).unwrap()), "ok");
    let calls = meddled.proxy.seen("tools/call");
    assert_eq!(calls.len(), 2);
    assert!(calls[1].at - calls[0].at >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_call_that_may_have_run_is_not_made_again() {
    let meddled = Meddled::new(TaskClient::builder(), &[]).await;
    meddled.proxy.plan("tools/call", Trick::LoseReply);
    let error = outcome!(meddled.client.call("sync", json!({}))).unwrap_err();
    assert!(
        matches!(&error, CallError::Lost { id: None, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("may or may not"), "{error}");
    assert_eq!(meddled.proxy.seen("tools/call").len(), 1);
}

#[tokio::test]
async fn results_of_an_unknown_type_are_errors() {
    let meddled = Meddled::new(TaskClient::builder(), &[]).await;
    let later = || Trick::Answer(json!({ "resultType": "later" }));
    meddled.proxy.plan("tools/call", later());
    let error = outcome!(meddled.client.call("sync", json!({}))).unwrap_err();
    assert!(
        matches!(&error, CallError::Client(ClientError::Unexpected { .. })),
        "{error:?}"
    );
    assert!(error.to_string().contains("`later`"), "{error}");

    meddled
        .proxy
        .always("subscriptions/listen", unknown_method());
    meddled.proxy.plan("tasks/get", later());
    let error = outcome!(meddled.client.call("ask1", json!({}))).unwrap_err();
    assert!(error.to_string().contains("`later`"), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_let_the_client_in_is_told_so() {
    let server = Fixture::http(FIXTURES, &["--token", "alice=wonderland"]).await;
    let url = server.client().url().to_owned();
    let builder = || TaskClient::builder().patience(PATIENCE);
    let error = builder().connect_http(&url).await.unwrap_err();
    assert!(matches!(error, ClientError::Denied(_)), "{error:?}");
    let wrong = builder().bearer_token("looking-glass");
    let shown = format!("{wrong:?}");
    let error = wrong.connect_http(&url).await.unwrap_err();
    assert!(matches!(error, ClientError::Denied(_)), "{error:?}");
    let shown = format!("{shown} {error} {error:?}");
    assert!(!shown.contains("looking-glass"), "{shown}");

    let client = builder().bearer_token("wonderland");
    let client = client.connect_http(&url).await.unwrap();
    assert!(!format!("{client:?}").contains("wonderland"));
    let call = client.call("sync", json!({}));
    assert_eq!(text(&outcome!(call).unwrap()), "ok");
}

#[tokio::test]
async fn what_is_no_url_or_no_program_is_named() {
    for (url, expected) in [
        ("localhost:8000/mcp", "http://"),
        ("somewhere", "`somewhere`: it is no URL"),
        ("ftp://localhost/", "`ftp` is not spoken"),
        ("http://127.0.0.1:9/mcp", "http://127.0.0.1:9/mcp"),
    ] {
        let error = TaskClient::connect_http(url).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let secret = "http://alice:secret@127.0.0.1:9/mcp?key=secret";
    let error = TaskClient::connect_http(secret).await.unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
    let error = TaskClient::connect_stdio(Command::new("/nowhere/at/all"));
    let error = error.await.unwrap_err();
    assert!(error.to_string().contains("`/nowhere/at/all`"), "{error}");
    let mut command = Command::new("sh");
    command.args(["-c", "exit 3"]);
    let error = TaskClient::connect_stdio(command).await.unwrap_err();
    assert!(error.to_string().contains("exit status: 3"), "{error}");
}

#[tokio::test]
async fn a_server_over_http_that_is_started_again_goes_on() {
    let file = StoreFile::new();
    let mut meddled = Meddled::new(TaskClient::builder(), &["--store", &file.flag()]).await;
    let call = meddled.client.call("ask1", json!({}));
    task_id(&call).await;
    meddled.server.restart().await;
    meddled.proxy.goes_on_with(meddled.server.client().url());
    let mut states = call.states();
    while states.next().await.unwrap().questions.is_empty() {}
    let answer = Answer::accept(json!({ "answer": "A" })).unwrap();
    call.answer("answer", answer).await.unwrap();
    assert_eq!(text(&outcome!(call).unwrap()), "got: A");
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_that_is_a_child_process_is_started_again() {
    let file = StoreFile::new();
    let mut command = Command::new(FIXTURES);
    command.args(["--stdio", "--store", &file.flag()]);
    let builder = TaskClient::builder().patience(PATIENCE);
    let client = builder.connect_stdio(command).await.unwrap();
    let call = client.call("ask1", json!({}));
    let mut states = call.states();
    while states.next().await.unwrap().questions.is_empty() {}
    let first = client.server_process().await.unwrap().unwrap();
    let process = rustix::process::Pid::from_raw(first.try_into().unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();

    let answer = Answer::accept(json!({ "answer": "A" })).unwrap();
    call.answer("answer", answer).await.unwrap();
    assert_eq!(text(&outcome!(call).unwrap()), "got: A");
    assert_ne!(client.server_process().await.unwrap(), Some(first));
}

#[tokio::test]
async fn a_client_gives_up_on_a_server_that_is_gone_for_good() {
    let server = Fixture::http(FIXTURES, &[]).await;
    let url = server.client().url().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let book = TaskBook::open(folder.path()).unwrap();
    let builder = TaskClient::builder()
        .book(book.clone())
        .patience(Duration::from_secs(1));
    let client = builder.connect_http(url).await.unwrap();
    let call = client.call("slow", json!({ "ms": 60_000 }));
    let id = task_id(&call).await;
    drop(server);
    let mut states = call.states();
    while states.next().await.unwrap().trouble.is_none() {}
    let error = outcome!(call).unwrap_err();
    assert!(matches!(&error, CallError::Lost { id: Some(lost), .. } if *lost == id));
    // For all that is known, it may live on.
    assert!(book.entry(&id).unwrap().is_some());
}

#[tokio::test]
async fn a_task_that_is_no_longer_there_is_struck_out_of_the_book() {
    let server = Fixture::http(FIXTURES, &["--retention", "200"]).await;
    let folder = tempfile::tempdir().unwrap();
    let book = TaskBook::open(folder.path()).unwrap();
    let builder = TaskClient::builder().book(book.clone()).patience(PATIENCE);
    let client = builder.connect_http(server.client().url()).await.unwrap();
    let call = client.call("slow", json!({ "ms": 100 }));
    let id = task_id(&call).await;
    call.detach().unwrap();
    assert!(book.entry(&id).unwrap().is_some());
    while client.get(&id).await.is_ok() {
        sleep(Duration::from_millis(50)).await;
    }
    let error = outcome!(client.resume(id.clone())).unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error:?}");
    assert!(book.entry(&id).unwrap().is_none());
}

#[tokio::test]
async fn a_server_may_send_the_client_to_another_place_of_its_own_alone() {
    let meddled = Meddled::new(TaskClient::builder(), &[]).await;
    let there = meddled.proxy.url().to_owned();
    let elsewhere = there.replace("127.0.0.1", "localhost");
    for (target, is_followed) in [(there.clone(), true), (elsewhere, false)] {
        let moved = meddled.proxy.moved(&target);
        let client = TaskClient::builder()
            .bearer_token("secret")
            .connect_http(moved)
            .await;
        assert_eq!(client.is_ok(), is_followed, "{client:?}");
    }
}
