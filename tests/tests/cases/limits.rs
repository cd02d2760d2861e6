//! Limits: c93. At a limit there is a clear error, nothing is lost, and the
//! process stays small.

use std::time::Duration;

use mcp_tasks_tests::rounds::{accepted, text};
use mcp_tasks_tests::{Client, Declares, PATIENCE, Reply, acknowledged, keys};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::security::alice_and_bob;
use crate::{Store, on_every_store};

on_every_store! {
    c93_arguments_over_the_limit_are_refused,
    c93_an_answer_over_the_limit_is_refused_and_the_question_stays,
    c93_a_result_over_the_limit_is_an_error,
    c93_a_journal_over_the_limit_ends_the_task,
    c93_live_tasks_are_limited_and_ending_one_makes_room,
    c93_the_live_tasks_of_one_caller_are_limited,
    c93_functions_that_wait_do_not_count_as_running,
    c93_large_messages_do_not_make_the_process_large,
    c93_a_sealed_state_over_the_limit_ends_the_call,
    c93_answers_in_rounds_have_the_same_limit,
    c93_more_answers_than_the_limit_are_refused,
    c93_open_calls_are_limited_and_a_reply_makes_room,
    c93_the_open_calls_of_one_caller_are_limited,
    c93_what_is_nested_deeply_is_refused,
    c93_what_is_sent_is_not_repeated_at_length,
    c93_large_messages_of_every_kind_do_not_make_the_process_large,
}

async fn c93_arguments_over_the_limit_are_refused(store: Store) {
    for server in store.both(&["--limit", "arguments=1000"]).await {
        let client = server.client();
        let file = "x".repeat(1000);
        let reply = client.call("side", json!({ "file": file })).await;
        reply.refused(-32602, &["arguments", "1000"]);
        assert_eq!(client.stats().await["stored"], 0);
        client.task("ask1", json!({})).await;
    }
}

async fn c93_an_answer_over_the_limit_is_refused_and_the_question_stays(store: Store) {
    for server in store.both(&["--limit", "answer=200"]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        let long = "x".repeat(200);
        let response = json!({"action": "accept", "content": {"answer": long}});
        let reply = client.update(&id, json!({ &key: response })).await;
        reply.refused(-32602, &[&key, "200"]);
        assert_eq!(keys(&client.get(&id).await), [key.as_str()]);
        client.answer(&id, &key, "short").await;
        assert_eq!(client.until_text(&id).await, "got: short");
    }
}

async fn c93_a_result_over_the_limit_is_an_error(store: Store) {
    for server in store.both(&["--limit", "result=1000"]).await {
        let client = server.client();
        let id = client.task("big", json!({"bytes": 1000})).await;
        let task = client.until(&id, "failed").await;
        assert_eq!(task["error"]["code"], -32603, "{task}");
        let words = task["error"]["message"].as_str().unwrap();
        assert!(
            words.contains("result") && words.contains("1000"),
            "{words}"
        );
        let plain = client.declaring(Declares::NoTasks);
        let reply = plain.call("big", json!({"bytes": 1000})).await;
        reply.refused(-32603, &["result", "1000"]);
        let id = client.task("big", json!({"bytes": 100})).await;
        assert_eq!(client.until_text(&id).await, "x".repeat(100));
    }
}

async fn c93_a_journal_over_the_limit_ends_the_task(store: Store) {
    let server = store.http(&["--limit", "journal=20000"]).await;
    let client = server.client();
    let id = client.task("ask_loop", json!({"n": 1000})).await;
    let mut rounds = 0;
    let task = loop {
        let task = client
            .until_task(&id, "asked or failed", |task| {
                task["status"] == "failed" || !keys(task).is_empty()
            })
            .await;
        let Some(key) = keys(&task).into_iter().next() else {
            break task;
        };
        client.answer(&id, &key, &"x".repeat(100)).await;
        rounds += 1;
        assert!(rounds < 1000, "no limit");
    };
    let words = task["error"]["message"].as_str().unwrap();
    assert!(
        words.contains("journal") && words.contains("20000"),
        "{words}"
    );
    assert!(rounds > 5, "{rounds}");
    client.task("ask1", json!({})).await;
}

async fn c93_live_tasks_are_limited_and_ending_one_makes_room(store: Store) {
    for server in store.both(&["--limit", "live=2"]).await {
        let client = server.client();
        let first = client.task("ask1", json!({})).await;
        client.task("ask1", json!({})).await;
        for _ in 0..3 {
            let reply = client.call("ask1", json!({})).await;
            reply.refused(-32603, &["2", "later"]);
        }
        // What is no task is served all the same.
        assert_eq!(client.call("sync", json!({})).await.tool_text(), "ok");
        client.cancelled(&first).await;
        client.task("ask1", json!({})).await;
    }
}

async fn c93_the_live_tasks_of_one_caller_are_limited(store: Store) {
    let (_server, alice, bob) = alice_and_bob(store, &["--limit", "live_per_caller=1"]).await;
    let first = alice.task("ask1", json!({})).await;
    let reply = alice.call("ask1", json!({})).await;
    reply.refused(-32603, &["1", "cancel"]);
    bob.task("ask1", json!({})).await;
    alice.cancelled(&first).await;
    alice.task("ask1", json!({})).await;
}

async fn c93_functions_that_wait_do_not_count_as_running(store: Store) {
    let server = store.http(&["--limit", "running=1"]).await;
    let client = server.client();
    let busy = client.task("slow", json!({"ms": 300})).await;
    let mut waiting = Vec::new();
    for _ in 0..10 {
        waiting.push(client.task("ask1", json!({})).await);
    }
    assert_eq!(client.until_text(&busy).await, "done");
    for id in &waiting {
        client.until_asked(id, None).await;
    }
}

async fn c93_large_messages_do_not_make_the_process_large(store: Store) {
    const LARGE: usize = 5 << 20;
    let message = large(LARGE);
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        let before = server.resident_memory();
        for _ in 0..20 {
            let reply = client.send_raw(&message).await;
            assert!(matches!(reply.status, None | Some(413)), "{reply:?}");
            reply.refused(-32600, &["bytes"]);
            assert!(reply.message.get("id").is_none());
        }
        if let (Some(before), Some(after)) = (before, server.resident_memory()) {
            let grown = after.saturating_sub(before);
            assert!(grown < 4 * LARGE as u64, "grown by {grown} bytes");
        }
        client.answer(&id, &key, "yes").await;
        assert_eq!(client.until_text(&id).await, "got: yes");
    }
}

/// A call with so many bytes of arguments.
fn large(bytes: usize) -> String {
    let params = json!({
        "name": "side",
        "arguments": { "file": "x".repeat(bytes) },
        "_meta": mcp_tasks_tests::declared(Declares::Everything),
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

async fn c93_a_sealed_state_over_the_limit_ends_the_call(store: Store) {
    for server in store.both(&["--limit", "state=3000"]).await {
        let client = server.client().declaring(Declares::NoTasks);
        let arguments = json!({ "n": 100 });
        let mut asked = client.ask("ask_loop", arguments.clone()).await;
        let refused = loop {
            assert!(asked.state.len() <= 3000);
            let key = asked.keys()[0].to_owned();
            let answer = "x".repeat(50);
            let reply = client.fill_in(&asked, &[(&key, &answer)]).await;
            if reply.message["error"].is_object() {
                break reply;
            }
            asked = asked.next(&reply);
        };
        refused.refused(-32603, &["3000", "io.modelcontextprotocol/tasks"]);
        // What the words say helps.
        let client = server.client();
        let id = client.task("ask_loop", arguments).await;
        let mut last = None;
        for _ in 0..30 {
            let key = client.until_asked(&id, last.as_deref()).await;
            client.answer(&id, &key, &"x".repeat(50)).await;
            last = Some(key);
        }
        client.cancelled(&id).await;
        let long = json!({ "name": "ask1", "arguments": {}, "requestState": "x".repeat(3001) });
        let reply = client.request("tools/call", long).await;
        reply.refused(-32602, &["requestState", "3000"]);
    }
}

async fn c93_answers_in_rounds_have_the_same_limit(store: Store) {
    for server in store.both(&["--limit", "answer=200"]).await {
        let client = server.client().declaring(Declares::NoTasks);
        let asked = client.ask("ask1", json!({})).await;
        let key = asked.keys()[0].to_owned();
        let reply = client.fill_in(&asked, &[(&key, &"x".repeat(200))]).await;
        reply.refused(-32602, &[&key, "200"]);
        // The state is as good as it was.
        let reply = client.fill_in(&asked, &[(&key, "short")]).await;
        assert_eq!(text(&reply), "got: short");
    }
}

async fn c93_more_answers_than_the_limit_are_refused(store: Store) {
    for server in store.both(&["--limit", "answers=3"]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        let answer = accepted(json!({ "answer": "yes" }));
        let many = json!({ &key: answer, "b": answer, "c": answer, "d": answer });
        let reply = client.update(&id, many.clone()).await;
        reply.refused(-32602, &["inputResponses", "3"]);
        assert_eq!(keys(&client.get(&id).await), [key.as_str()]);
        let reply = client
            .update(&id, json!({ &key: answer, "b": answer, "c": answer }))
            .await;
        acknowledged(&reply);
        assert_eq!(client.until_text(&id).await, "got: yes");

        let client = client.declaring(Declares::NoTasks);
        let asked = client.ask("ask1", json!({})).await;
        let reply = client.retry(&asked, many).await;
        reply.refused(-32602, &["inputResponses", "3"]);
        let reply = client.retry(&asked, json!({ &key: answer })).await;
        assert_eq!(text(&reply), "got: yes");
    }
}

/// Calls `sync` until the reply is as wanted.
async fn until_called(client: &Client, wanted: impl Fn(&Reply) -> bool) -> Reply {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let reply = client.call("sync", json!({})).await;
        if wanted(&reply) {
            return reply;
        }
        assert!(Instant::now() < deadline, "still {reply:?}");
        sleep(Duration::from_millis(10)).await;
    }
}

/// Calls `slow`, again if the other call of the moment has taken its place.
async fn insist(client: Client, ms: u64) -> Reply {
    loop {
        let reply = client.call("slow", json!({ "ms": ms })).await;
        if !is_refused(&reply) {
            return reply;
        }
    }
}

fn is_refused(reply: &Reply) -> bool {
    reply.message["error"].is_object()
}

async fn c93_open_calls_are_limited_and_a_reply_makes_room(store: Store) {
    for server in store.both(&["--limit", "calls=1"]).await {
        let client = server.client();
        let plain = client.declaring(Declares::NoTasks);
        let open = tokio::spawn(insist(plain, 500));
        let refused = until_called(&client, is_refused).await;
        refused.refused(-32603, &["1", "later"]);
        assert_eq!(open.await.unwrap().tool_text(), "done");
        assert_eq!(client.call("sync", json!({})).await.tool_text(), "ok");
        // A task has its reply at once.
        for _ in 0..3 {
            client.task("ask1", json!({})).await;
        }
    }
}

async fn c93_the_open_calls_of_one_caller_are_limited(store: Store) {
    let (_server, alice, bob) = alice_and_bob(store, &["--limit", "calls_per_caller=1"]).await;
    let plain = alice.declaring(Declares::NoTasks);
    let open = tokio::spawn(insist(plain, 60_000));
    let refused = until_called(&alice, is_refused).await;
    refused.refused(-32603, &["you", "1"]);
    assert_eq!(bob.call("sync", json!({})).await.tool_text(), "ok");
    // Whoever hangs up has room again.
    open.abort();
    until_called(&alice, |reply| !is_refused(reply)).await;
}

/// A message with something in it that is written as it is.
fn message(method: &str, params: Value, placeholder: &str, text: &str) -> String {
    let mut params = params;
    if params.get("_meta").is_none() {
        params["_meta"] = mcp_tasks_tests::declared(Declares::Everything);
    }
    let message = json!({ "jsonrpc": "2.0", "id": "raw", "method": method, "params": params });
    let written = message.to_string();
    assert!(written.contains(placeholder));
    written.replace(placeholder, text)
}

async fn c93_what_is_nested_deeply_is_refused(store: Store) {
    const DEPTH: usize = 100_000;
    let here = "\"HERE\"";
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deep = [&*open.repeat(DEPTH), "1", &*close.repeat(DEPTH)].concat();
            let answer = accepted(json!({ "answer": "HERE" }));
            for (method, params) in [
                (
                    "tools/call",
                    json!({ "name": "side", "arguments": { "file": "HERE" } }),
                ),
                (
                    "tools/call",
                    json!({ "name": "sync", "requestState": "HERE" }),
                ),
                (
                    "tasks/update",
                    json!({ "taskId": id, "inputResponses": { &key: answer } }),
                ),
                (
                    "tasks/update",
                    json!({ "taskId": id, "inputResponses": { &key: "HERE" } }),
                ),
                ("tasks/get", json!({ "taskId": "HERE" })),
                (
                    "subscriptions/listen",
                    json!({ "notifications": { "taskIds": "HERE" } }),
                ),
            ] {
                let reply = client
                    .send_as(method, message(method, params, here, &deep))
                    .await;
                assert!(is_refused(&reply), "{method}: {}", reply.text);
                assert!(reply.text.len() < 2000, "{}", reply.text);
            }
        }
        client.answer(&id, &key, "yes").await;
        assert_eq!(client.until_text(&id).await, "got: yes");
    }
}

async fn c93_what_is_sent_is_not_repeated_at_length(store: Store) {
    let long = "x".repeat(500_000);
    for server in store.both(&["--limit", "answer=200"]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        let ignored = json!({ &long: accepted(json!({ "answer": "yes" })) });
        acknowledged(&client.update(&id, ignored).await);
        let refused = json!({ &long: accepted(json!({ "answer": "y".repeat(200) })) });
        let replies = [
            client.update(&id, refused).await,
            client
                .send_as(
                    "tasks/x",
                    message(&format!("tasks/{long}"), json!({}), "x", "x"),
                )
                .await,
            client
                .send_as("x", message(&long, json!({}), "x", "x"))
                .await,
        ];
        for reply in replies {
            assert!(is_refused(&reply), "{}", reply.text);
            assert!(reply.text.len() < 2000, "{}", reply.text);
        }
        // An id has to be repeated.
        let with_id = message(
            "tasks/get",
            json!({ "taskId": id }),
            "\"raw\"",
            &json!(long).to_string(),
        );
        let reply = client.send_as("tasks/get", with_id).await;
        reply.refused(-32600, &["id", "1024"]);
        assert!(reply.text.len() < 2000, "{}", reply.text);
        client.answer(&id, &key, "yes").await;
        assert_eq!(client.until_text(&id).await, "got: yes");
    }
}

async fn c93_large_messages_of_every_kind_do_not_make_the_process_large(store: Store) {
    const LARGE: usize = 1100 << 10;
    const ROUNDS: usize = 12;
    let here = "\"HERE\"";
    let many = |each: &dyn Fn(usize) -> String, between: &str| {
        let mut text = String::new();
        for n in 0.. {
            if text.len() > LARGE {
                break;
            }
            text.push_str(if n == 0 { "" } else { between });
            text.push_str(&each(n));
        }
        text
    };
    let answers = many(&|n| format!("\"{n}\":1"), ",");
    let ids = many(&|n| format!("\"{n}\""), ",");
    let text = format!("\"{}\"", "x".repeat(LARGE));
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        let update = json!({ "taskId": id, "inputResponses": "HERE" });
        let listen = json!({ "notifications": { "taskIds": "HERE" } });
        let call = json!({ "name": "sync", "arguments": "HERE" });
        let retry = json!({ "name": "ask1", "requestState": "HERE" });
        let answer = json!({ "taskId": id, "inputResponses": { &key: "HERE" } });
        let messages = [
            (
                "tasks/update",
                message("tasks/update", update, here, &format!("{{{answers}}}")),
            ),
            ("tasks/update", message("tasks/update", answer, here, &text)),
            (
                "tools/call",
                message("tools/call", call, here, &format!("{{{answers}}}")),
            ),
            ("tools/call", message("tools/call", retry, here, &text)),
            (
                "tasks/get",
                message("tasks/get", json!({ "taskId": "HERE" }), here, &text),
            ),
            (
                "subscriptions/listen",
                message("subscriptions/listen", listen, here, &format!("[{ids}]")),
            ),
            (
                "tasks/get",
                message("tasks/get", json!({ "taskId": id }), "\"raw\"", &text),
            ),
        ];
        let before = server.resident_memory();
        for _ in 0..ROUNDS {
            for (method, message) in &messages {
                let reply = client.send_as(method, message.clone()).await;
                assert!(is_refused(&reply), "{method}: {}", reply.text);
            }
        }
        // What an allocator keeps for the next message is not a leak: each of its
        // arenas may keep as much as one message once took, however many come, so
        // there are many messages rather than very large ones.
        let sent = ROUNDS * messages.len() * LARGE;
        if let (Some(before), Some(after)) = (before, server.resident_memory()) {
            let grown = after.saturating_sub(before);
            assert!(grown < sent as u64 / 2, "grown by {grown} of {sent} bytes");
        }
        client.answer(&id, &key, "yes").await;
        assert_eq!(client.until_text(&id).await, "got: yes");
    }
}

#[tokio::test]
async fn c93_headers_have_a_limit() {
    let server = Store::Memory.http(&[]).await;
    let client = server.client();
    for (count, bytes) in [(1, 1 << 20), (1000, 100)] {
        let mut request = client.compose("tools/list", json!({}));
        for n in 0..count {
            let name: http::HeaderName = format!("x-{n}").parse().unwrap();
            let value = "x".repeat(bytes).parse().unwrap();
            request.headers_mut().insert(name, value);
        }
        let reply = client.send_http(request).await;
        assert_eq!(reply.status, Some(431), "{count} of {bytes} bytes");
    }
    assert_eq!(client.call("sync", json!({})).await.tool_text(), "ok");
}

#[tokio::test]
async fn c93_sessions_are_limited_and_nothing_else_with_them() {
    let server = Store::Memory.http(&["--limit", "sessions=2"]).await;
    let client = server.client();
    let initialize = async || {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" },
            "_meta": {},
        });
        let mut request = client.compose("initialize", params);
        request.headers_mut().remove("mcp-protocol-version");
        client.send_http(request).await
    };
    for _ in 0..2 {
        assert_eq!(initialize().await.status, Some(200));
    }
    let third = initialize().await;
    assert_eq!(third.status, Some(503));
    third.refused(-32603, &["2 sessions", "later"]);
    client.task("ask1", json!({})).await;
}
