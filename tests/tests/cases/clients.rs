//! Our own client, against the fixture server and what can go wrong between
//! them: c100 to c106.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mcp_tasks::client::{Answer, CallError, TaskBook, TaskClient};
use mcp_tasks::protocol::{ErrorCode, TaskStatus, ToolResult};
use mcp_tasks_tests::meddler::{Meddler, Trick};
use mcp_tasks_tests::{Fixture, PATIENCE, Transport};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};
use tokio::time::{Instant, sleep, timeout};

use super::{FIXTURES, Store, durable, on_every_store, over_every_transport};

on_every_store! {
    c100_a_question_without_somebody_to_answer_is_returned,
    c101_the_client_keeps_a_floor_between_polls,
    c102_a_lost_reply_and_a_busy_server_do_not_end_the_wait,
    c103_dropping_the_call_cancels_the_task,
    c103_a_detached_task_lives_on,
    c104_the_error_of_a_failed_task_arrives_whole,
    c106_the_client_names_the_task_in_a_header,
}

over_every_transport! {
    c105_no_question_is_put_twice_by_a_client_that_was_killed,
}

/// A client over HTTP, without answers, that gives up in time for the test.
async fn connect(url: &str) -> TaskClient {
    let client = TaskClient::builder().patience(PATIENCE).connect_http(url);
    client.await.unwrap()
}

/// Waits for the call's outcome, no longer than a test does.
macro_rules! outcome {
    ($call:expr) => {
        timeout(PATIENCE, $call).await.expect("the call hangs")
    };
}

fn text(result: &ToolResult) -> &str {
    result.content[0].as_text().unwrap()
}

async fn c100_a_question_without_somebody_to_answer_is_returned(store: Store) {
    for server in store.both(&[]).await {
        let client = to(&server, TaskClient::builder()).await;
        let mut call = client.call("ask1", json!({}));
        let error = outcome!(&mut call).unwrap_err();
        let CallError::Unanswered { id, questions } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(questions.len(), 1);
        assert_eq!(&*questions[0].key, "answer");
        assert!(error.to_string().contains("`answer`"), "{error}");
        assert_eq!(*id, call.id());
        // The call is still good, once there is an answer.
        let answer = Answer::accept(json!({ "answer": "A" })).unwrap();
        call.answer("answer", answer).await.unwrap();
        assert_eq!(text(&outcome!(call).unwrap()), "got: A");
    }
}

/// A client of this server, over the transport that it serves.
async fn to(server: &Fixture, builder: mcp_tasks::client::ClientBuilder) -> TaskClient {
    let builder = builder.patience(PATIENCE);
    if server.client().is_http() {
        return builder.connect_http(server.client().url()).await.unwrap();
    }
    // The fixture's own stdin is taken: another process on the same store.
    let mut command = Command::new(FIXTURES);
    command.arg("--stdio");
    if let Some(place) = server.launch().place() {
        command.args(["--store", &place.flag()]);
    }
    builder.connect_stdio(command).await.unwrap()
}

async fn c101_the_client_keeps_a_floor_between_polls(store: Store) {
    let server = store.http(&[]).await;
    let proxy = Meddler::before(server.client().url()).await;
    proxy.always("tasks/get", Trick::Amend(json!({ "pollIntervalMs": 0 })));
    // Else the task is told of, and hardly polled.
    proxy.always("subscriptions/listen", refusal());
    let client = connect(proxy.url()).await;
    let result = outcome!(client.call("slow", json!({ "ms": 1500 })));
    assert_eq!(text(&result.unwrap()), "done");
    let polls = proxy.seen("tasks/get");
    assert!(polls.len() >= 2, "{}", polls.len());
    for pair in polls.windows(2) {
        let apart = pair[1].at - pair[0].at;
        assert!(apart >= Duration::from_millis(90), "{apart:?} apart");
    }
}

fn refusal() -> Trick {
    Trick::Refuse(json!({ "code": -32601, "message": "method not found" }))
}

async fn c102_a_lost_reply_and_a_busy_server_do_not_end_the_wait(store: Store) {
    let server = store.http(&[]).await;
    let proxy = Meddler::before(server.client().url()).await;
    proxy.always("subscriptions/listen", refusal());
    proxy.plan("tasks/get", Trick::LoseReply);
    proxy.plan("tasks/get", Trick::Busy { retry_after: 2 });
    proxy.plan("tasks/update", Trick::LoseReply);
    let client = connect(proxy.url()).await;
    let call = client.call("ask1", json!({}));
    let mut states = call.states();
    let mut has_had_trouble = false;
    let key = loop {
        let state = states.next().await.expect("the call has ended");
        has_had_trouble |= state.trouble.is_some();
        if let Some(question) = state.questions.first() {
            break Arc::clone(&question.key);
        }
    };
    assert!(has_had_trouble);
    let answer = Answer::accept(json!({ "answer": "A" })).unwrap();
    call.answer(&key, answer).await.unwrap();
    assert_eq!(text(&outcome!(call).unwrap()), "got: A");

    let polls = proxy.seen("tasks/get");
    let waited = polls[2].at - polls[1].at;
    assert!(waited >= Duration::from_secs(2), "waited {waited:?}");
    // The answer whose acknowledgement was lost was sent again, and did no harm.
    assert_eq!(proxy.seen("tasks/update").len(), 2);
}

async fn c103_dropping_the_call_cancels_the_task(store: Store) {
    let server = store.http(&[]).await;
    let client = connect(server.client().url()).await;
    let call = client.call("slow", json!({ "ms": 60_000 }));
    let id = task_id(&call).await;
    drop(call);
    let deadline = Instant::now() + PATIENCE;
    while client.get(&id).await.unwrap().status != TaskStatus::Cancelled {
        assert!(Instant::now() < deadline, "it is not cancelled");
        sleep(Duration::from_millis(20)).await;
    }
}

async fn c103_a_detached_task_lives_on(store: Store) {
    let server = store.http(&[]).await;
    let client = connect(server.client().url()).await;
    let call = client.call("slow", json!({ "ms": 500 }));
    task_id(&call).await;
    let id = call.detach().expect("it is a task");
    let result = outcome!(client.resume(id)).unwrap();
    assert_eq!(text(&result), "done");
}

async fn task_id(call: &mcp_tasks::client::Call) -> Arc<str> {
    let mut states = call.states();
    let id = async {
        loop {
            let state = states.next().await.expect("the call has ended");
            if let Some(id) = state.id {
                return id;
            }
        }
    };
    timeout(PATIENCE, id).await.expect("it is no task")
}

async fn c104_the_error_of_a_failed_task_arrives_whole(store: Store) {
    for server in store.both(&[]).await {
        let client = to(&server, TaskClient::builder()).await;
        let error = outcome!(client.call("hard", json!({}))).unwrap_err();
        let CallError::Failed(error) = error else {
            panic!("{error:?}");
        };
        assert_eq!(error.code, ErrorCode(1234));
        assert_eq!(error.message, "hard failure");
        assert_eq!(error.data, Some(json!({ "k": 1 })));
        // What the tool itself says is a result.
        let result = outcome!(client.call("soft", json!({}))).unwrap();
        assert!(result.is_error);
        assert_eq!(text(&result), "soft failure");
    }
}

async fn c106_the_client_names_the_task_in_a_header(store: Store) {
    let server = store.http(&["--strict-headers"]).await;
    let proxy = Meddler::before(server.client().url()).await;
    let client = connect(proxy.url()).await;
    let call = client.call("ask1", json!({}));
    let id = task_id(&call).await;
    client
        .answer(&id, "nothing", &Answer::decline())
        .await
        .unwrap();
    client.get(&id).await.unwrap();
    client.cancel(&id).await.unwrap();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let seen = proxy.seen(method);
        assert!(!seen.is_empty(), "{method}");
        for seen in seen {
            assert_eq!(seen.headers["mcp-name"], *id, "{method}");
            assert_eq!(seen.headers["mcp-method"], *method);
        }
    }
}

/// The client is a process of its own, which is killed in the middle.
async fn c105_no_question_is_put_twice_by_a_client_that_was_killed(transport: Transport) {
    let mut server = durable(transport, &[]).await;
    let folder = tempfile::tempdir().unwrap();
    let mut talker = Talker::start(&server, folder.path(), &["call", "askpar"]);
    let mut asked = [talker.hear().await, talker.hear().await];
    asked.sort();
    assert_eq!(asked, ["asked left/answer", "asked right/answer"]);
    talker.say("left/answer A").await;
    // The answer is written down before anybody is told.
    assert_eq!(talker.hear().await, "given left/answer");
    talker.child.kill().await.unwrap();
    if transport == Transport::Stdio {
        // It was a child of the client.
        server.restart().await;
    }

    let book = TaskBook::open(folder.path()).unwrap();
    let entries = book.entries().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].tool.as_deref(), Some("askpar"));
    let id = entries[0].id.to_string();
    let mut talker = Talker::start(&server, folder.path(), &["resume", &id]);
    assert_eq!(talker.hear().await, "asked right/answer");
    talker.say("right/answer B").await;
    assert_eq!(talker.hear().await, "given right/answer");
    assert_eq!(talker.hear().await, "result A,B");
    assert!(book.entries().unwrap().is_empty());
}

/// A client that puts questions on its stdout and takes answers on its stdin.
struct Talker {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Talker {
    fn start(server: &Fixture, book: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_talker"));
        command.arg(book).args(arguments);
        if server.client().is_http() {
            command.arg(server.client().url());
        } else {
            command.args([FIXTURES, "--stdio", "--store", &server.file().flag()]);
        }
        let mut child = tokio::process::Command::from(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    async fn hear(&mut self) -> String {
        let line = timeout(PATIENCE, self.lines.next_line()).await;
        line.expect("nothing is heard").unwrap().expect("it ended")
    }

    async fn say(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }
}
