//! What servers in the wild do that no rule has: libraries write it, clocks and
//! proxies bring it about. A client gets on with it.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use mcp_tasks::client::{Answer, CallError, CallOptions, ClientError, Question};
use mcp_tasks_tests::scripted::{reply, text as body};
use serde_json::{Value, json};

use super::hostile::{
    asking, called, completed, created, done, parrot_form, serving, silent_listener, task, task_of,
};
use super::{outcome, text};

#[tokio::test]
async fn an_error_is_about_the_request_that_it_replies_to() {
    for id in [json!(null), json!("server-error"), json!(4711)] {
        for status in [StatusCode::OK, StatusCode::BAD_REQUEST] {
            let id = id.clone();
            let said = called(move |asked| {
                let mut error = asked.error(-32600, "no session of this name");
                error["id"] = id.clone();
                (status, reply(&error)).into_response()
            });
            let said = said.await;
            assert!(said.contains("no session of this name"), "{said}");
        }
    }
}

#[tokio::test]
async fn a_call_that_is_not_let_in_has_not_run() {
    for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
        let said = called(move |_| status.into_response()).await;
        assert!(
            said.contains("let this client in") && !said.contains("may have run"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_task_may_be_over_before_the_call_is_answered() {
    let failed = json!({ "error": { "code": 7, "message": "no luck" } });
    for (status, last) in [
        ("completed", completed()),
        ("failed", task("failed", &failed)),
    ] {
        let (server, client) = task_of(move |asked| match asked.method() {
            "tools/call" => {
                let over = created(&json!({ "status": status, "pollIntervalMs": 60_000 }));
                Some(reply(&asked.result(&over)))
            }
            "tasks/get" => Some(reply(&asked.result(&last))),
            _ => None,
        })
        .await;
        match outcome!(client.call("any", ())) {
            Ok(result) => assert_eq!(text(&result), "done"),
            Err(error) => assert!(matches!(&error, CallError::Failed(error) if error.code.0 == 7)),
        }
        assert_eq!(server.seen("tasks/get").len(), 1);
    }
}

#[tokio::test]
async fn the_clocks_of_a_server_need_not_agree() {
    let at = |hour: u32, mut task: Value| {
        task["lastUpdatedAt"] = json!(format!("2026-11-30T{hour:02}:00:00Z"));
        task
    };
    let (server, client) = task_of(move |asked| match asked.method() {
        "tools/call" => Some(reply(&asked.result(&at(12, created(&json!({})))))),
        // One replica's clock is behind that of the one that made the task.
        "tasks/get" if asked.before < 2 => Some(reply(&asked.result(&at(9, asking(&["Who?"]))))),
        "tasks/get" => Some(reply(&asked.result(&at(8, completed())))),
        _ => None,
    })
    .await;
    assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
    assert_eq!(server.seen("tasks/update").len(), 1);
}

#[tokio::test]
async fn what_is_told_and_cannot_be_used_has_the_client_look() {
    for told in [
        json!({ "taskId": "t", "status": "completed" }),
        json!({ "taskId": "t", "status": "working", "lastUpdatedAt": "2020-01-01T00:00:00Z" }),
    ] {
        let (server, client) = task_of(move |asked| match asked.method() {
            "subscriptions/listen" => Some(silent_listener(asked, &told)),
            "tasks/get" => Some(reply(&asked.result(&completed()))),
            _ => None,
        })
        .await;
        // Far less than the thirty seconds between looks beside listening.
        let options = CallOptions::new().deadline(Duration::from_secs(10));
        let result = outcome!(client.call_with("any", (), options)).unwrap();
        assert_eq!(text(&result), "done");
        assert_eq!(server.seen("tasks/get").len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_says_come_at_once_is_not_believed() {
    let (server, client) = task_of(|asked| match asked.method() {
        "tasks/get" if asked.before < 3 => {
            let busy = (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "0")]);
            Some(busy.into_response())
        }
        "tasks/get" => Some(reply(&asked.result(&completed()))),
        _ => None,
    })
    .await;
    assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
    for pair in server.seen("tasks/get").windows(2) {
        assert!(pair[1].at - pair[0].at >= Duration::from_millis(245));
    }
}

#[tokio::test]
async fn a_server_that_says_come_never_again_is_left_in_good_order() {
    let (server, client) = task_of(|asked| {
        let never = [("retry-after", "18446744073709551615")];
        (asked.method() == "tasks/get")
            .then(|| (StatusCode::TOO_MANY_REQUESTS, never).into_response())
    })
    .await;
    let options = CallOptions::new().deadline(Duration::from_secs(1));
    let error = outcome!(client.call_with("any", (), options)).unwrap_err();
    assert!(matches!(error, CallError::Deadline { .. }), "{error:?}");
    assert_eq!(server.seen("tasks/cancel").len(), 1);
}

#[tokio::test]
async fn too_late_and_too_early_are_no_end() {
    let (_server, client) = task_of(|asked| match (asked.method(), asked.before) {
        ("tasks/get", 0) => Some(StatusCode::REQUEST_TIMEOUT.into_response()),
        ("tasks/get", 1) => Some(StatusCode::TOO_EARLY.into_response()),
        ("tasks/get", _) => Some(reply(&asked.result(&completed()))),
        _ => None,
    })
    .await;
    assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
}

#[tokio::test]
async fn a_call_that_has_timed_out_is_not_made_again() {
    // As what stands in front of a server says when the server takes long.
    let said = called(|_| StatusCode::REQUEST_TIMEOUT.into_response()).await;
    assert!(said.contains("408") && said.contains("may"), "{said}");
}

#[tokio::test]
async fn a_result_that_is_too_large_is_not_fetched_again() {
    let (server, client) = task_of(|asked| {
        (asked.method() == "tasks/get")
            .then(|| body("application/json", vec![b' '; 65 * 1024 * 1024]))
    })
    .await;
    let error = outcome!(client.call("any", ())).unwrap_err();
    assert!(
        matches!(
            &error,
            CallError::Lost {
                error: ClientError::Unexpected { .. },
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(server.seen("tasks/get").len(), 1);
}

#[tokio::test]
async fn fields_that_may_be_null_can_be_left_empty() {
    let (server, client) = task_of(|asked| match asked.method() {
        "tasks/get" if asked.before == 0 => {
            let mut asked_for = asking(&["Who?"]);
            // As a library of another language writes an optional member of a class.
            asked_for["inputRequests"]["Who?"]["params"]["requestedSchema"] = json!({
                "title": "Person",
                "type": "object",
                "properties": {
                    "name": { "title": "Name", "type": "string" },
                    "nick": {
                        "title": "Nick",
                        "anyOf": [{ "type": "string" }, { "type": "null" }],
                        "default": null,
                    },
                },
                "required": ["name"],
            });
            Some(reply(&asked.result(&asked_for)))
        }
        "tasks/get" => Some(reply(&asked.result(&completed()))),
        _ => None,
    })
    .await;
    let options = CallOptions::new().answers(parrot_form);
    let result = outcome!(client.call_with("any", (), options)).unwrap();
    assert_eq!(text(&result), "done");
    let sent = &server.seen("tasks/update")[0].message["params"]["inputResponses"]["Who?"];
    assert_eq!(sent["content"], json!({ "fields": "name, nick" }));
}

#[tokio::test]
async fn a_tool_that_cannot_be_read_does_not_hide_the_others() {
    let (server, client) = serving(|asked| {
        let page = |tools: Value, next: &str| {
            let page = json!({ "resultType": "complete", "tools": tools, "nextCursor": next });
            Some(reply(&asked.result(&page)))
        };
        if asked.method() != "tools/list" {
            return None;
        }
        let schema = json!({ "type": "object" });
        match asked.message["params"]["cursor"].as_str() {
            None => page(
                json!([{ "name": "no schema" }, { "name": "one", "inputSchema": schema,
                    "title": null, "description": null, "execution": null, "outputSchema": null }]),
                "b",
            ),
            // Round and round.
            Some("b") => page(json!([{ "name": "two", "inputSchema": schema }]), "c"),
            Some(_) => page(json!([{ "inputSchema": schema }]), "b"),
        }
    })
    .await;
    let tools = outcome!(client.tools()).unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(server.seen("tools/list").len(), 3);
}

#[tokio::test]
async fn a_server_that_does_not_take_no_for_an_answer_is_not_hurried() {
    let (server, client) = serving(|asked| {
        let mut round = asking(&["Really?"]);
        round["resultType"] = json!("input_required");
        (asked.method() == "tools/call").then(|| reply(&asked.result(&round)))
    })
    .await;
    let options = CallOptions::new()
        .answers(async |_: Question| Some(Answer::decline()))
        .deadline(Duration::from_secs(2));
    let error = outcome!(client.call_with("any", (), options)).unwrap_err();
    assert!(matches!(error, CallError::Deadline { .. }), "{error:?}");
    let calls = server.seen("tools/call").len();
    assert!((2..=5).contains(&calls), "it was called {calls} times");
}

/// A tool whose argument travels in a header.
fn mirrored(name: &str, header: &str) -> Value {
    let region = json!({ "type": "string", "x-mcp-header": header });
    json!({ "name": name, "inputSchema": { "type": "object", "properties": { "region": region } } })
}

#[tokio::test]
async fn arguments_travel_in_headers_where_the_list_of_tools_says_so() {
    let (server, client) = serving(|asked| match asked.method() {
        "tools/list" => {
            let tools = [mirrored("a", "Region"), mirrored("bad", "no header")];
            let page = json!({ "resultType": "complete", "tools": tools });
            Some(reply(&asked.result(&page)))
        }
        "tools/call" if !asked.headers.contains_key("mcp-param-region") => {
            let error = asked.error(-32020, "header `Mcp-Param-Region` is missing");
            Some((StatusCode::BAD_REQUEST, reply(&error)).into_response())
        }
        "tools/call" => Some(reply(&asked.result(&done()))),
        _ => None,
    })
    .await;
    // The client has not asked for the tools: it does so when the server wants headers.
    let call = || client.call("a", json!({ "region": "Nord-Süd" }));
    assert_eq!(text(&outcome!(call()).unwrap()), "done");
    assert_eq!(text(&outcome!(call()).unwrap()), "done");
    assert_eq!(server.seen("tools/list").len(), 1);
    let calls = server.seen("tools/call");
    assert_eq!(calls.len(), 3);
    assert_eq!(
        calls[2].headers["mcp-param-region"],
        "=?base64?Tm9yZC1Tw7xk?="
    );
    let tools = outcome!(client.tools()).unwrap();
    assert_eq!(tools.len(), 1, "a tool that no client may call is left out");
    // One that the list does not help is told what is wrong.
    let error = outcome!(client.call("a", json!({ "region": null }))).unwrap_err();
    assert!(matches!(&error, CallError::Failed(error) if error.code.0 == -32020));
}
