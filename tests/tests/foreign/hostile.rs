//! Servers over HTTP that get it wrong: what comes of a call, and how often they
//! are bothered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use mcp_tasks::client::{Answer, CallError, ClientError, Question, QuestionKind, TaskClient};
use mcp_tasks_tests::PATIENCE;
use mcp_tasks_tests::scripted::{Asked, Scripted, events, reply, silence_after, text as body};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{outcome, parrot, text};

pub(crate) fn done() -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": "done" }] })
}

/// A task with this status, and these members besides.
pub(crate) fn task(status: &str, besides: &Value) -> Value {
    let mut task = json!({
        "resultType": "complete",
        "taskId": "t",
        "status": status,
        "createdAt": "2026-11-30T12:00:00Z",
        "lastUpdatedAt": "2026-11-30T12:00:00Z",
        "ttlMs": null,
        "pollIntervalMs": 100,
    });
    for (name, value) in besides.as_object().unwrap() {
        task[name] = value.clone();
    }
    task
}

pub(crate) fn created(besides: &Value) -> Value {
    let mut task = task("working", besides);
    task["resultType"] = json!("task");
    task
}

pub(crate) fn completed() -> Value {
    task("completed", &json!({ "result": done() }))
}

pub(crate) fn asking(keys: &[&str]) -> Value {
    let form = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let mut requests = json!({});
    for key in keys {
        let params = json!({ "message": key, "requestedSchema": form });
        requests[key] = json!({ "method": "elicitation/create", "params": params });
    }
    task("input_required", &json!({ "inputRequests": requests }))
}

/// Answers with the names of the fields.
pub(crate) async fn parrot_form(question: Question) -> Option<Answer> {
    let QuestionKind::Form { form, .. } = &question.kind else {
        return None;
    };
    let names: Vec<_> = form.fields().map(|(name, _)| name).collect();
    Answer::accept(json!({ "fields": names.join(", ") })).ok()
}

/// Agrees to tell of the task, and says this of it, and nothing more.
pub(crate) fn silent_listener(asked: &Asked, told: &Value) -> Response {
    let agreed = json!({ "notifications": { "taskIds": ["t"] } });
    silence_after(&[
        asked.told("notifications/subscriptions/acknowledged", agreed),
        asked.told("notifications/tasks", told.clone()),
    ])
}

/// A client of a server whose tool is a task, and which says this of it.
pub(crate) async fn task_of(
    script: impl Fn(&Asked) -> Option<Response> + Send + Sync + 'static,
) -> (Scripted, TaskClient) {
    serving(move |asked| {
        script(asked).or_else(|| match asked.method() {
            "tools/call" => Some(reply(&asked.result(&created(&json!({}))))),
            "tasks/update" | "tasks/cancel" => {
                Some(reply(&asked.result(&json!({ "resultType": "complete" }))))
            }
            _ => None,
        })
    })
    .await
}

pub(crate) async fn serving(
    script: impl Fn(&Asked) -> Option<Response> + Send + Sync + 'static,
) -> (Scripted, TaskClient) {
    let server = Scripted::new(script).await;
    let builder = TaskClient::builder().answers(parrot).patience(PATIENCE);
    let client = builder.connect_http(server.url()).await.unwrap();
    (server, client)
}

/// What becomes of a call whose tool is answered with this.
pub(crate) async fn called(answer: impl Fn(&Asked) -> Response + Send + Sync + 'static) -> String {
    let script = move |asked: &Asked| (asked.method() == "tools/call").then(|| answer(asked));
    let (server, client) = serving(script).await;
    let outcome = outcome!(client.call("any", ()));
    assert_eq!(server.seen("tools/call").len(), 1, "it was called again");
    match outcome {
        Ok(result) => text(&result).to_owned(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_reply_may_come_as_an_event() {
    let said = called(|asked| events(&[asked.result(&done())])).await;
    assert_eq!(said, "done");
}

#[tokio::test]
async fn a_reply_that_comes_twice_counts_once() {
    let said = called(|asked| events(&[asked.result(&done()), asked.error(-32603, "no")])).await;
    assert_eq!(said, "done");
}

#[tokio::test]
async fn what_is_no_reply_to_the_call_ends_it() {
    let said = called(|asked| {
        let mut other = asked.result(&done());
        other["id"] = json!(4711);
        reply(&other)
    });
    assert!(said.await.contains("something else"));
    let said = called(|_| StatusCode::ACCEPTED.into_response()).await;
    assert!(said.contains("202"), "{said}");
    let said = called(|_| body("text/html", "<p>Hello</p>")).await;
    assert!(said.contains("text/html"), "{said}");
    let said = called(|_| body("application/json", "[]")).await;
    assert!(said.contains("no message"), "{said}");
    let said = called(|_| StatusCode::NOT_FOUND.into_response()).await;
    assert!(
        said.contains("404") && !said.contains("let this client in"),
        "{said}"
    );
}

#[tokio::test]
async fn an_error_that_cannot_be_read_is_an_error() {
    for (error, is_event) in [("boom", false), ("boom", true)] {
        let said = called(move |asked| {
            let message = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": error });
            if is_event {
                events(&[message])
            } else {
                reply(&message)
            }
        });
        let said = said.await;
        assert!(said.contains("cannot be read"), "{said}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_before_the_reply_ends_the_call() {
    let said = called(|_| events(&[])).await;
    assert!(said.contains("may or may not have run"), "{said}");
}

#[tokio::test]
async fn a_reply_larger_than_any_result_is_not_read() {
    let said = called(|asked| {
        let mut large = vec![b' '; 65 * 1024 * 1024];
        large.extend(asked.result(&done()).to_string().bytes());
        body("application/json", large)
    });
    let said = said.await;
    assert!(said.contains("67108864"), "{said}");
}

#[tokio::test]
async fn a_poll_whose_reply_is_no_reply_is_sent_again() {
    let (server, client) = task_of(|asked| {
        let mut other = asked.result(&completed());
        other["id"] = json!(4711);
        (asked.method() == "tasks/get").then(|| match asked.before {
            0 => events(&[]),
            1 => reply(&other),
            2 => body("text/html", "<p>Hello</p>"),
            3 => StatusCode::BAD_GATEWAY.into_response(),
            _ => reply(&asked.result(&completed())),
        })
    })
    .await;
    assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
    assert_eq!(server.seen("tasks/get").len(), 5);
}

#[tokio::test]
async fn numbers_may_be_missing_or_strange() {
    for strange in [
        json!({ "pollIntervalMs": null }),
        json!({ "pollIntervalMs": 0 }),
        json!({ "pollIntervalMs": -5 }),
        json!({ "pollIntervalMs": 99.5, "ttlMs": 3_600_000.0 }),
        json!({ "ttlMs": 1e300 }),
    ] {
        let (server, client) = task_of(move |asked| match asked.method() {
            "tools/call" => Some(reply(&asked.result(&created(&strange)))),
            "tasks/get" if asked.before < 2 => {
                Some(reply(&asked.result(&task("working", &strange))))
            }
            "tasks/get" => Some(reply(&asked.result(&completed()))),
            _ => None,
        })
        .await;
        assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
        let polls = server.seen("tasks/get");
        for pair in polls.windows(2) {
            assert!(pair[1].at - pair[0].at >= Duration::from_millis(95));
        }
    }
}

#[tokio::test]
async fn what_the_client_does_not_know_ends_the_call_and_says_so() {
    for (reply_to_get, words) in [
        (task("paused", &json!({})), "paused"),
        (task("working", &json!({ "taskId": "u" })), "another task"),
        (task("completed", &json!({})), "without its outcome"),
        (json!({ "resultType": "later" }), "later"),
    ] {
        let (_server, client) = task_of(move |asked| {
            (asked.method() == "tasks/get").then(|| reply(&asked.result(&reply_to_get.clone())))
        })
        .await;
        let error = outcome!(client.call("any", ())).unwrap_err();
        assert!(
            matches!(&error, CallError::Client(ClientError::Unexpected { .. })),
            "{error:?}"
        );
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_question_that_is_shown_after_its_answer_is_not_put_again() {
    let server = Scripted::new(|asked| match asked.method() {
        "tools/call" => Some(reply(&asked.result(&created(&json!({}))))),
        "tasks/update" => Some(reply(&asked.result(&json!({})))),
        "tasks/get" if asked.before < 5 => Some(reply(&asked.result(&asking(&["a"])))),
        "tasks/get" => Some(reply(&asked.result(&completed()))),
        _ => None,
    })
    .await;
    let put = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&put);
    let builder = TaskClient::builder().answers(move |question: Question| {
        counted.fetch_add(1, Ordering::Relaxed);
        parrot(question)
    });
    let client = builder.connect_http(server.url()).await.unwrap();
    assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
    assert_eq!(put.load(Ordering::Relaxed), 1);
    assert_eq!(server.seen("tasks/update").len(), 1);
}

#[tokio::test]
async fn a_question_that_goes_away_unanswered_and_comes_back_is_put_again() {
    let server = Scripted::new(|asked| match asked.method() {
        "tools/call" => Some(reply(&asked.result(&created(&json!({}))))),
        "tasks/update" => Some(reply(&asked.result(&json!({})))),
        "tasks/get" => Some(reply(&asked.result(&match asked.before {
            0 | 2 | 3 => asking(&["a"]),
            1 => task("working", &json!({})),
            _ => completed(),
        }))),
        _ => None,
    })
    .await;
    let put = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&put);
    let builder = TaskClient::builder().answers(move |_: Question| {
        let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if is_first {
                // Whoever is asked thinks about it until it is taken back.
                std::future::pending::<()>().await;
            }
            Some(Answer::decline())
        }
    });
    let client = builder.connect_http(server.url()).await.unwrap();
    assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
    assert_eq!(put.load(Ordering::Relaxed), 2);
    assert_eq!(server.seen("tasks/update").len(), 1);
}

#[tokio::test]
async fn a_server_that_agrees_to_listen_and_hangs_up_is_left_alone_more_and_more() {
    let (server, client) = task_of(|asked| match asked.method() {
        "subscriptions/listen" => {
            let agreed = json!({ "notifications": { "taskIds": ["t"] } });
            let agreed = asked.told("notifications/subscriptions/acknowledged", agreed);
            Some(events(&[agreed, asked.result(&json!({}))]))
        }
        "tasks/get" => Some(reply(&asked.result(&task("working", &json!({}))))),
        _ => None,
    })
    .await;
    let call = client.call("any", ());
    sleep(Duration::from_secs(4)).await;
    let attempts = server.seen("subscriptions/listen").len();
    assert!((2..=6).contains(&attempts), "{attempts} attempts in 4 s");
    // It is polled as it says all the while.
    let polls = server.seen("tasks/get").len();
    assert!((10..=41).contains(&polls), "{polls} polls in 4 s");
    drop(call);
}

#[tokio::test]
async fn a_server_that_agrees_to_listen_is_believed_what_it_says_of_this_task_alone() {
    let (server, client) = task_of(|asked| match asked.method() {
        "subscriptions/listen" => {
            let agreed = json!({ "notifications": { "taskIds": ["t", "u"] } });
            let mut other = completed();
            other["taskId"] = json!("u");
            other["result"]["content"][0]["text"] = json!("of another task");
            Some(silence_after(&[
                asked.told("notifications/subscriptions/acknowledged", agreed),
                asked.told("notifications/tasks", other),
                asked.told("notifications/tasks", json!({ "taskId": 7 })),
                asked.told("notifications/tasks", completed()),
            ]))
        }
        "tasks/get" => Some(reply(&asked.result(&task("working", &json!({}))))),
        _ => None,
    })
    .await;
    assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
    assert!(server.seen("tasks/get").len() <= 1);
}
