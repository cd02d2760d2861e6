//! Bad input of every kind over both transports: the right code, words that
//! help, and a server that lives on.

use mcp_tasks_tests::{Client, Declares, Fixture, acknowledged, declared};
use serde_json::{Value, json};

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

async fn both() -> [Fixture; 2] {
    [
        Fixture::http(FIXTURES, &[]).await,
        Fixture::stdio(FIXTURES, &[]).await,
    ]
}

/// A whole life of a task goes well.
async fn lives(client: &Client) {
    let id = client.task("ask1", json!({})).await;
    let key = client.until_asked(&id, None).await;
    client.answer(&id, &key, "yes").await;
    assert_eq!(client.until_text(&id).await, "got: yes");
}

/// A call of `sync`, with one member replaced.
fn call_with(member: &str, value: Value) -> String {
    let mut call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "sync", "arguments": {}, "_meta": declared(Declares::Everything)},
    });
    call[member] = value;
    call.to_string()
}

fn call_without(member: &str) -> String {
    let mut call: Value = serde_json::from_str(&call_with("id", json!(1))).unwrap();
    call.as_object_mut().unwrap().remove(member);
    call.to_string()
}

#[tokio::test]
async fn what_is_not_json_is_a_parse_error() {
    let good = call_with("id", json!(1));
    for server in both().await {
        let client = server.client();
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in [
            "{",
            "hello",
            "{\"jsonrpc\": \"2.0\",}",
            "\u{1}",
            "nul",
            &good[..good.len() - 1],
            &format!("{good}{good}"),
            &format!("{good} x"),
            &format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":{deep}"),
        ] {
            let reply = client.send_raw(text).await;
            let about: String = text.chars().take(40).collect();
            assert_eq!(reply.failure().code, -32700, "{about}: {reply:?}");
            assert!(reply.message.get("id").is_none(), "{about}: {reply:?}");
            assert!(matches!(reply.status, None | Some(400)), "{reply:?}");
            assert!(reply.failure().message.len() > 10, "{reply:?}");
        }
        lives(&client).await;
    }
}

#[tokio::test]
async fn what_is_not_utf_8_is_a_parse_error() {
    let good = call_with("id", json!("here"));
    for server in both().await {
        let client = server.client();
        for bytes in [&b"\xff"[..], b"\xc3\x28", b"\xed\xa0\x80"] {
            let bad = good.as_bytes().replace_once(b"here", bytes);
            let reply = client.send_raw(&bad).await;
            reply.refused(-32700, &["JSON"]);
        }
        lives(&client).await;
    }
}

trait ReplaceOnce {
    fn replace_once(&self, old: &[u8], new: &[u8]) -> Vec<u8>;
}

impl ReplaceOnce for [u8] {
    fn replace_once(&self, old: &[u8], new: &[u8]) -> Vec<u8> {
        let at = self.windows(old.len()).position(|w| w == old).unwrap();
        [&self[..at], new, &self[at + old.len()..]].concat()
    }
}

#[tokio::test]
async fn text_that_is_no_text_is_refused() {
    // Valid JSON, yet no Unicode text.
    let lone = r#""\ud800""#;
    let call = call_with("id", json!(1));
    for server in both().await {
        let client = server.client();
        let odd = call.replace(
            r#""arguments":{}"#,
            &format!(r#""arguments":{{"x":{lone}}}"#),
        );
        assert_ne!(odd, call);
        let reply = client.send_raw(&odd).await;
        assert!(
            reply.message["id"] == 1 || reply.failure().code == -32700,
            "{reply:?}"
        );
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        let params = json!({
            "taskId": id, "_meta": declared(Declares::Everything),
            "inputResponses": { &key: { "action": "accept", "content": { "answer": "HERE" } } },
        });
        let update = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/update", "params": params});
        let odd = update.to_string().replace(r#""HERE""#, lone);
        let reply = if client.is_http() {
            let mut request = client.compose("tasks/update", params);
            *request.body_mut() = odd;
            client.send_http(request).await
        } else {
            client.send_raw(&odd).await
        };
        assert!(
            [-32602, -32700].contains(&reply.failure().code),
            "{reply:?}"
        );
        client.answer(&id, &key, "text").await;
        assert_eq!(client.until_text(&id).await, "got: text");
    }
}

#[tokio::test]
async fn deep_values_and_huge_numbers_are_refused_or_passed_over() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    for server in both().await {
        let client = server.client();
        client
            .call("slow", json!({ "ms": deep }))
            .await
            .refused(-32602, &["ms"]);
        let reply = client.call("slow", json!({"ms": 1, "more": deep})).await;
        assert_eq!(reply.result()["resultType"], "task");
        for ms in ["1e400", "1e30", "18446744073709551616", "-1", "0.5"] {
            let call = call_with("id", json!(1))
                .replace(r#""name":"sync""#, r#""name":"slow""#)
                .replace(
                    r#""arguments":{}"#,
                    &format!(r#""arguments":{{"ms":{ms}}}"#),
                );
            let reply = if client.is_http() {
                let mut request = client.compose("tools/call", json!({"name": "slow"}));
                *request.body_mut() = call;
                client.send_http(request).await
            } else {
                client.send_raw(&call).await
            };
            reply.refused(-32602, &["ms"]);
        }
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        let response = json!({"action": "accept", "content": {"answer": deep}});
        let reply = client.update(&id, json!({ &key: response })).await;
        reply.refused(-32602, &[&key, "answer"]);
        lives(&client).await;
    }
}

#[tokio::test]
async fn what_is_not_a_message_is_an_invalid_request() {
    let call: Value = serde_json::from_str(&call_with("id", json!(1))).unwrap();
    let bad = [
        ("7".to_owned(), "object"),
        ("null".to_owned(), "object"),
        ("\"tools/call\"".to_owned(), "object"),
        ("[]".to_owned(), "batch"),
        (json!([call]).to_string(), "batch"),
        (json!([call, call]).to_string(), "batch"),
        ("{}".to_owned(), "jsonrpc"),
        (call_with("id", json!(null)), "id"),
        (call_with("id", json!(true)), "id"),
        (call_with("id", json!(1.5)), "id"),
        (call_with("id", json!({"a": 1})), "id"),
        (call_with("id", json!([1])), "id"),
        (
            call_with("id", json!("HERE")).replace("HERE", r"\ud800"),
            "id",
        ),
        (call_with("jsonrpc", json!("1.0")), "jsonrpc"),
        (call_with("jsonrpc", json!(2.0)), "jsonrpc"),
        (call_without("jsonrpc"), "jsonrpc"),
        (call_with("method", json!(7)), "method"),
        (call_with("method", json!({})), "method"),
        (r#"{"jsonrpc":"2.0"}"#.to_owned(), "method"),
    ];
    for server in both().await {
        let client = server.client();
        for (text, word) in &bad {
            let reply = client.send_raw(text).await;
            assert_eq!(reply.failure().code, -32600, "{text}: {reply:?}");
            reply.refused(-32600, &[word]);
            assert!(matches!(reply.status, None | Some(400)), "{reply:?}");
        }
        lives(&client).await;
    }
}

#[tokio::test]
async fn an_id_comes_back_as_it_was_sent() {
    for server in both().await {
        let client = server.client();
        for id in [
            json!("a"),
            json!(""),
            json!("1"),
            json!("grüße \" \\ \u{1F980}"),
            json!(0),
            json!(-7),
            json!(9_007_199_254_740_991_i64),
            json!("x".repeat(1000)),
        ] {
            let reply = client.send_raw(&call_with("id", id.clone())).await;
            assert_eq!(reply.message["id"], id);
            assert_eq!(reply.tool_text(), "ok");
        }
    }
}

#[tokio::test]
async fn parameters_of_the_wrong_type_are_named() {
    for server in both().await {
        let client = server.client();
        for params in [
            json!([]),
            json!(["sync"]),
            json!("sync"),
            json!(7),
            json!(null),
        ] {
            for method in ["tools/call", "tasks/get", "tools/list"] {
                let reply = client.request(method, params.clone()).await;
                assert!(matches!(reply.status, None | Some(400)), "{reply:?}");
                // Without parameters there is no `_meta` either.
                let word = if params.is_null() { "_meta" } else { "params" };
                let failure = reply.refused(-32602, &[]);
                let words = failure.message;
                assert!(words.contains(word) || words.contains("params"), "{words}");
            }
        }
        for name in [json!(null), json!(7), json!({}), json!(["sync"])] {
            let reply = client.request("tools/call", json!({"name": name})).await;
            reply.refused(-32602, &["name"]);
        }
        let reply = client.request("tools/call", json!({})).await;
        reply.refused(-32602, &["name"]);
        for arguments in [json!([]), json!("x"), json!(7), json!(true)] {
            for tool in ["sync", "slow"] {
                let reply = client.call(tool, arguments.clone()).await;
                reply.refused(-32602, &["object"]);
            }
        }
        lives(&client).await;
    }
}

#[tokio::test]
async fn a_request_must_say_version_and_capabilities() {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let good = json!({ version: "2026-07-28", capabilities: {} });
    let bad = [
        (json!({ version: "2026-07-28" }), "clientCapabilities"),
        (
            json!({ version: "2026-07-28", capabilities: [] }),
            "clientCapabilities",
        ),
        (
            json!({ version: "2026-07-28", capabilities: 7 }),
            "clientCapabilities",
        ),
        (
            json!({ version: "2026-07-28", capabilities: {"extensions": 7} }),
            "clientCapabilities",
        ),
        (
            json!({ version: 20_260_728, capabilities: {} }),
            "protocolVersion",
        ),
        (
            json!({ version: null, capabilities: {} }),
            "protocolVersion",
        ),
        (json!([]), "_meta"),
        (json!("2026-07-28"), "_meta"),
        (json!(7), "_meta"),
    ];
    let requests = [
        ("tools/call", json!({"name": "sync"})),
        ("tasks/get", json!({"taskId": "never"})),
        (
            "tasks/update",
            json!({"taskId": "never", "inputResponses": {}}),
        ),
        ("tasks/cancel", json!({"taskId": "never"})),
        ("tools/list", json!({})),
        ("server/discover", json!({})),
    ];
    for server in both().await {
        let client = server.client();
        for (method, params) in &requests {
            for (meta, word) in &bad {
                let reply = client
                    .with_meta(meta.clone())
                    .request(method, params.clone())
                    .await;
                assert!(matches!(reply.status, None | Some(400)), "{reply:?}");
                reply.refused(-32602, &[word]);
            }
            let reply = client
                .with_meta(json!({ capabilities: {} }))
                .request(method, params.clone())
                .await;
            reply.refused(-32602, &["protocolVersion"]);
            assert!(matches!(reply.status, None | Some(400)), "{reply:?}");
            for unknown in ["2099-01-01", "1.0", "latest"] {
                let meta = json!({ version: unknown, capabilities: {} });
                let reply = client.with_meta(meta).request(method, params.clone()).await;
                assert!(matches!(reply.status, None | Some(400)), "{reply:?}");
                let failure = reply.refused(-32022, &[unknown]);
                assert_eq!(failure.data["requested"], unknown);
                let supported = failure.data["supported"].as_array().unwrap();
                assert!(supported.contains(&json!("2026-07-28")), "{supported:?}");
            }
        }
        let reply = client.with_meta(good.clone()).call("sync", json!({})).await;
        assert_eq!(reply.tool_text(), "ok");
        lives(&client).await;
    }
}

#[tokio::test]
async fn an_id_or_answers_of_the_wrong_type_are_named() {
    for server in both().await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        client.until_asked(&id, None).await;
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            for wrong in [
                json!(7),
                json!(null),
                json!([id]),
                json!({"id": id}),
                json!(true),
            ] {
                let params = json!({"taskId": wrong, "inputResponses": {}});
                let reply = client.request(method, params).await;
                reply.refused(-32602, &["taskId", "string"]);
            }
            let reply = client.request(method, json!({"inputResponses": {}})).await;
            reply.refused(-32602, &["taskId", "missing"]);
        }
        for wrong in [json!(7), json!(null), json!([]), json!("yes"), json!(true)] {
            let params = json!({"taskId": id, "inputResponses": wrong});
            let reply = client.request("tasks/update", params).await;
            reply.refused(-32602, &["inputResponses", "object"]);
        }
        let params = json!({"taskId": id});
        let reply = client.request("tasks/update", params).await;
        reply.refused(-32602, &["inputResponses", "missing"]);
        // Keys that are not open are passed over, whatever they hold.
        for odd in [
            json!({"": 7}),
            json!({"no such": null}),
            json!({"a/b#2": []}),
            json!({}),
        ] {
            acknowledged(&client.update(&id, odd).await);
        }
        assert_eq!(client.get(&id).await["status"], "input_required");
        lives(&client).await;
    }
}

#[tokio::test]
async fn unknown_tools_and_methods_are_named() {
    for server in both().await {
        let client = server.client();
        for tool in ["no_such_tool", "Sync", "sync2", ""] {
            let reply = client.call(tool, json!({})).await;
            reply.refused(-32602, &[tool, "tool"]);
        }
        for method in ["no/such/method", "tools/Call", "task/get", "tasks", "x"] {
            let reply = client.request(method, json!({})).await;
            reply.refused(-32601, &[method]);
            assert!(matches!(reply.status, None | Some(404)), "{reply:?}");
        }
        lives(&client).await;
    }
}

#[tokio::test]
async fn notifications_and_stray_responses_have_no_reply() {
    for server in both().await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        // A notification never cancels a task, and never is a call.
        client
            .notify("notifications/cancelled", json!({"requestId": 1}))
            .await;
        client.notify("no/such/notification", json!({})).await;
        client.notify("tasks/cancel", json!({ "taskId": id })).await;
        client.until_asked(&id, None).await;
        let response = r#"{"jsonrpc":"2.0","id":99,"result":{}}"#;
        if client.is_http() {
            client
                .send_raw(response)
                .await
                .refused(-32600, &["response"]);
        }
        lives(&client).await;
    }
}

#[tokio::test]
async fn a_huge_message_is_refused_and_the_next_is_read() {
    let huge = call_with("filler", json!("x".repeat(5 << 20)));
    for server in both().await {
        let client = server.client();
        for _ in 0..3 {
            let reply = client.send_raw(&huge).await;
            reply.refused(-32600, &["bytes"]);
            assert!(matches!(reply.status, None | Some(413)), "{reply:?}");
            lives(&client).await;
        }
    }
}

#[tokio::test]
async fn http_that_is_not_a_message_is_refused() {
    let server = Fixture::http(FIXTURES, &[]).await;
    let client = server.client();
    let params = json!({"name": "sync", "arguments": {}});
    let changes: [(&str, Option<&str>, u16, &str); 12] = [
        ("content-type", Some("text/plain"), 415, "application/json"),
        ("content-type", None, 415, "application/json"),
        ("accept", Some("text/html"), 406, "text/event-stream"),
        ("accept", None, 406, "text/event-stream"),
        ("origin", Some("https://evil.example"), 403, "Origin"),
        ("host", Some("evil.example"), 403, "evil.example"),
        ("mcp-protocol-version", None, 400, "MCP-Protocol-Version"),
        (
            "mcp-protocol-version",
            Some("2099-01-01"),
            400,
            "2099-01-01",
        ),
        ("mcp-method", None, 400, "Mcp-Method"),
        ("mcp-method", Some("tools/list"), 400, "tools/list"),
        ("mcp-name", None, 400, "Mcp-Name"),
        ("mcp-name", Some("other"), 400, "other"),
    ];
    for (name, value, status, word) in changes {
        let mut request = client.compose("tools/call", params.clone());
        request.headers_mut().remove(name);
        if let Some(value) = value {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let reply = client.send_http(request).await;
        assert_eq!(reply.status, Some(status), "{name} {value:?}: {reply:?}");
        let words = reply.failure().message;
        assert!(words.contains(word), "{name} {value:?}: {words}");
        let code = reply.failure().code;
        let mismatch = name.starts_with("mcp-");
        assert_eq!(code, if mismatch { -32020 } else { -32600 }, "{reply:?}");
    }
    lives(&client).await;
}

#[tokio::test]
async fn http_methods_other_than_post_are_refused() {
    let server = Fixture::http(FIXTURES, &[]).await;
    let client = server.client();
    for method in ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"] {
        let mut request = client.compose("tools/call", json!({"name": "sync"}));
        *request.method_mut() = method.parse().unwrap();
        *request.body_mut() = String::new();
        let reply = client.send_http(request).await;
        assert_eq!(reply.status, Some(405), "{method}: {reply:?}");
        assert!(method == "HEAD" || reply.failure().message.contains("POST"));
    }
    let mut request = client.compose("tools/call", json!({"name": "sync"}));
    *request.uri_mut() = client.url().replace("/mcp", "/other").parse().unwrap();
    assert_eq!(client.send_http(request).await.status, Some(404));
    lives(&client).await;
}
