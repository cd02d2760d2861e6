//! Connections over HTTP that break, expire, or never stand.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use mcp_tasks::client::{ClientError, TaskClient};
use mcp_tasks_tests::PATIENCE;
use mcp_tasks_tests::scripted::{Asked, Scripted, events, reply, silence_after, text as body};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::hostile::{done, serving};
use super::{outcome, text};

/// A server of an older session whose sessions end when told to.
fn in_session(asked: &Asked, session: &'static str) -> Option<Response> {
    let mut response = match asked.method() {
        "server/discover" => StatusCode::BAD_REQUEST.into_response(),
        "initialize" => reply(&asked.result(&json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "older", "version": "1" },
        }))),
        "GET" => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        _ => return None,
    };
    let headers = response.headers_mut();
    headers.insert("mcp-session-id", session.parse().unwrap());
    Some(response)
}

#[tokio::test]
async fn a_session_that_has_expired_is_begun_again() {
    let (server, client) = serving(|asked| {
        let session = if asked.before == 0 { "first" } else { "second" };
        in_session(asked, session).or_else(|| match asked.method() {
            "tools/call" if asked.headers["mcp-session-id"] == "first" && asked.before > 0 => {
                Some(StatusCode::NOT_FOUND.into_response())
            }
            "tools/call" => Some(reply(&asked.result(&done()))),
            _ => None,
        })
    })
    .await;
    for _ in 0..2 {
        assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
    }
    assert_eq!(server.seen("initialize").len(), 2);
    assert_eq!(server.seen("tools/call").len(), 3);
}

#[tokio::test]
async fn a_stream_that_breaks_is_gone_on_with_where_it_was() {
    let (server, client) = serving(|asked| {
        match asked.method() {
            "GET" => {
                let last = asked.headers.get("last-event-id")?;
                // The event's id is the id of the call.
                let id: Value = last.to_str().unwrap().parse().ok()?;
                let message = json!({ "jsonrpc": "2.0", "id": id, "result": done() });
                Some(events(&[message]))
            }
            "tools/call" => {
                let id = &asked.message["id"];
                let prime = format!("id: {id}\nretry: 20\ndata: \n\n");
                Some(body("text/event-stream", prime))
            }
            _ => in_session(asked, "one"),
        }
    })
    .await;
    assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
    assert_eq!(server.seen("tools/call").len(), 1);
}

#[tokio::test]
async fn a_stream_that_cannot_be_gone_on_with_ends_the_call() {
    let server = Scripted::new(|asked| match asked.method() {
        "GET" if asked.headers.contains_key("last-event-id") => {
            Some(StatusCode::BAD_REQUEST.into_response())
        }
        "tools/call" => Some(body("text/event-stream", "id: 1\nretry: 20\ndata: \n\n")),
        _ => in_session(asked, "one"),
    })
    .await;
    let builder = TaskClient::builder().patience(Duration::from_secs(1));
    let client = builder.connect_http(server.url()).await.unwrap();
    let error = outcome!(client.call("any", ())).unwrap_err().to_string();
    assert!(error.contains("may or may not have run"), "{error}");
}

#[tokio::test]
async fn where_there_is_no_server_is_said_when_it_is_connected_to() {
    let nothing = |status: StatusCode| move |_: &Asked| Some(status.into_response());
    let server = Scripted::new(nothing(StatusCode::NOT_FOUND)).await;
    let error = TaskClient::connect_http(server.url()).await.unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("404") && words.contains("path right"),
        "{error}"
    );
    let page = |_: &Asked| Some(body("text/html", Body::from("<p>Welcome</p>")));
    let server = Scripted::new(page).await;
    let error = TaskClient::connect_http(server.url()).await.unwrap_err();
    assert!(error.to_string().contains("text/html"), "{error}");
    let server = Scripted::new(nothing(StatusCode::UNAUTHORIZED)).await;
    let error = TaskClient::connect_http(server.url()).await.unwrap_err();
    assert!(matches!(error, ClientError::Denied(_)), "{error}");
}

#[tokio::test]
async fn what_is_known_of_a_server_may_be_little() {
    let discovered = |members: Value| {
        move |asked: &Asked| match asked.method() {
            "server/discover" => Some(reply(&asked.result(&members))),
            "tools/call" => Some(reply(&asked.result(&done()))),
            _ => None,
        }
    };
    // How long it may be kept is not said, nor what else the server can do.
    for members in [
        json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {} }),
        json!({ "supportedVersions": ["2026-07-28"], "ttlMs": null, "_meta": {} }),
    ] {
        let (_server, client) = serving(discovered(members)).await;
        let server = client.server().await.unwrap();
        assert_eq!(server.protocol_version, "2026-07-28");
        assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
    }
    for (members, words) in [
        (
            json!({ "resultType": "complete" }),
            "when it is asked what it is",
        ),
        (json!({ "supportedVersions": ["2100-01-01"] }), "2100-01-01"),
    ] {
        let server = Scripted::new(discovered(members)).await;
        let error = TaskClient::connect_http(server.url()).await.unwrap_err();
        let said = error.to_string();
        assert!(said.contains(words) && !said.contains("Some("), "{said}");
    }
}

#[tokio::test]
async fn a_server_that_answers_what_it_does_not_know_may_be_an_older_one() {
    let (server, client) = serving(|asked| match asked.method() {
        "server/discover" => Some(reply(&asked.result(&json!({})))),
        "tools/call" => Some(reply(&asked.result(&done()))),
        _ => in_session(asked, "one"),
    })
    .await;
    assert_eq!(text(&outcome!(client.call("any", ())).unwrap()), "done");
    assert_eq!(server.seen("initialize").len(), 1);
}

#[tokio::test]
async fn where_a_server_sends_the_client_and_it_does_not_go_is_said() {
    for (status, place) in [
        (
            StatusCode::TEMPORARY_REDIRECT,
            "http://elsewhere.example/mcp",
        ),
        (StatusCode::MOVED_PERMANENTLY, "/other"),
    ] {
        let server = Scripted::new(move |_| {
            let location = format!("{place}?token=s3cret");
            Some((status, [("location", location)]).into_response())
        })
        .await;
        let error = TaskClient::connect_http(server.url()).await.unwrap_err();
        let words = error.to_string();
        assert!(
            words.contains(place) && !words.contains("s3cret"),
            "{words}"
        );
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let server = Scripted::new(|_| Some(silence_after(&[]))).await;
    let builder = TaskClient::builder().patience(Duration::from_secs(1));
    let error = timeout(PATIENCE, builder.connect_http(server.url()));
    let error = error.await.expect("it hangs").unwrap_err();
    assert!(error.to_string().contains("within 1s"), "{error}");
}
