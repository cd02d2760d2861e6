//! Who may do what, and the shapes of replies: c01 to c12.

use mcp_tasks_tests::Declares;
use serde_json::{Value, json};

use crate::{Store, on_every_store};

on_every_store! {
    c01_cancel_without_the_capability_does_nothing,
    c02_the_task_parameter_of_2025_is_ignored,
    c03_a_wrong_name_header_is_refused_and_a_missing_one_is_not,
    c03_a_wrapped_name_header_is_compared_unwrapped,
    c03_strict_headers_refuse_a_missing_name,
    c04_the_capability_counts_in_its_place_only,
    c05_a_question_without_elicitation_is_refused_at_once,
    c06_the_methods_of_2025_are_gone,
    c07_a_protocol_error_fails_the_task_as_it_is,
    c08_a_tool_error_completes_the_task,
    c10_an_id_that_never_was_is_an_error,
    c11_the_ttl_of_the_attribute_is_on_the_wire,
    c12_bad_arguments_name_the_field_and_make_no_task,
}

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// `-32021` that names the Tasks extension, in words and as data.
fn needs_tasks(reply: &mcp_tasks_tests::Reply) {
    let failure = reply.refused(-32021, &[TASKS]);
    let wanted = json!({ "requiredCapabilities": { "extensions": { TASKS: {} } } });
    assert_eq!(failure.data, wanted);
    assert!(matches!(reply.status, None | Some(400)), "{reply:?}");
}

/// `-32021` that names elicitation.
fn needs_elicitation(error: &Value) {
    assert_eq!(error["code"], -32021, "{error}");
    let wanted = json!({ "requiredCapabilities": { "elicitation": {} } });
    assert_eq!(error["data"], wanted);
    let words = error["message"].as_str().unwrap();
    assert!(words.contains("elicitation"), "{words}");
}

async fn c01_cancel_without_the_capability_does_nothing(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        let undeclared = client.declaring(Declares::NoTasks);
        needs_tasks(&undeclared.cancel(&id).await);
        needs_tasks(&undeclared.try_get(&id).await);
        let answer = json!({ &key: { "action": "accept", "content": { "answer": "no" } } });
        needs_tasks(&undeclared.update(&id, answer).await);
        // The capability comes before the id: one that never was is no different.
        needs_tasks(&undeclared.cancel("never").await);
        client.answer(&id, &key, "yes").await;
        assert_eq!(client.until_text(&id).await, "got: yes");
    }
}

async fn c02_the_task_parameter_of_2025_is_ignored(store: Store) {
    for server in store.both(&[]).await {
        let params = json!({"name": "sync", "arguments": {}, "task": {"ttl": 1}});
        let reply = server.client().request("tools/call", params).await;
        assert_eq!(reply.tool_text(), "ok");
        assert!(reply.result().get("taskId").is_none());
    }
}

async fn c03_a_wrong_name_header_is_refused_and_a_missing_one_is_not(store: Store) {
    let server = store.http(&[]).await;
    let client = server.client();
    let id = client.task("ask1", json!({})).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({"taskId": id, "inputResponses": {}});
        let mut wrong = client.compose(method, params.clone());
        let other = "other".parse().unwrap();
        wrong.headers_mut().insert("mcp-name", other);
        let reply = client.send_http(wrong).await;
        assert_eq!(reply.status, Some(400));
        reply.refused(-32020, &["Mcp-Name", "other", &id]);

        let mut without = client.compose(method, params);
        without.headers_mut().remove("mcp-name");
        let reply = client.send_http(without).await;
        assert_eq!(reply.status, Some(200));
        assert_eq!(reply.result()["resultType"], "complete");
    }
}

async fn c03_a_wrapped_name_header_is_compared_unwrapped(store: Store) {
    let server = store.http(&["--strict-headers"]).await;
    let client = server.client();
    // "sync", "stats", and what is no Base64.
    for (name, status) in [
        ("=?base64?c3luYw==?=", 200),
        ("=?base64?c3RhdHM=?=", 400),
        ("=?base64?***?=", 400),
    ] {
        let mut request = client.compose("tools/call", json!({"name": "sync"}));
        let wrapped = name.parse().unwrap();
        request.headers_mut().insert("mcp-name", wrapped);
        let reply = client.send_http(request).await;
        assert_eq!(reply.status, Some(status), "{name}: {reply:?}");
        if status == 400 {
            reply.refused(-32020, &["Mcp-Name"]);
        }
    }
}

async fn c03_strict_headers_refuse_a_missing_name(store: Store) {
    let server = store.http(&["--strict-headers"]).await;
    let client = server.client();
    let id = client.task("ask1", json!({})).await;
    assert_eq!(client.get(&id).await["taskId"], *id);
    let mut without = client.compose("tasks/get", json!({ "taskId": id }));
    without.headers_mut().remove("mcp-name");
    let reply = client.send_http(without).await;
    assert_eq!(reply.status, Some(400));
    reply.refused(-32020, &["Mcp-Name", "missing"]);
}

async fn c04_the_capability_counts_in_its_place_only(store: Store) {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let elsewhere = [
        json!({ version: "2026-07-28", capabilities: {}, TASKS: {} }),
        json!({ version: "2026-07-28", capabilities: { TASKS: {} } }),
        json!({ version: "2026-07-28", capabilities: { "tasks": { "cancel": {} } } }),
        json!({ version: "2026-07-28", capabilities: { "experimental": { TASKS: {} } } }),
        json!({ version: "2026-07-28", capabilities: {}, "extensions": { TASKS: {} } }),
    ];
    for server in store.both(&[]).await {
        // That it was declared before does not count either.
        let client = server.client();
        client.task("slow", json!({"ms": 1})).await;
        for meta in &elsewhere {
            let reply = client
                .with_meta(meta.clone())
                .call("slow", json!({"ms": 1}))
                .await;
            assert_eq!(reply.tool_text(), "done", "{meta}");
            assert!(reply.result().get("taskId").is_none(), "{meta}");
        }
    }
}

async fn c05_a_question_without_elicitation_is_refused_at_once(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let reply = client
            .declaring(Declares::Nothing)
            .call("ask1", json!({}))
            .await;
        needs_elicitation(&reply.message["error"]);
        // As a task it fails with the same words.
        let id = client
            .declaring(Declares::NoElicitation)
            .task("ask1", json!({}))
            .await;
        let task = client.until(&id, "failed").await;
        needs_elicitation(&task["error"]);
    }
}

async fn c06_the_methods_of_2025_are_gone(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        for method in ["tasks/list", "tasks/result", "tasks/unheard-of"] {
            for params in [json!({}), json!({ "taskId": id })] {
                let reply = client.request(method, params).await;
                reply.refused(-32601, &[method]);
                assert!(matches!(reply.status, None | Some(404)), "{reply:?}");
            }
        }
    }
}

async fn c07_a_protocol_error_fails_the_task_as_it_is(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("hard", json!({})).await;
        let task = client.until(&id, "failed").await;
        let wanted = json!({"code": 1234, "message": "hard failure", "data": {"k": 1}});
        assert_eq!(task["error"], wanted);
        assert!(task["statusMessage"].is_string(), "{task}");
        assert!(task.get("result").is_none(), "{task}");
        assert!(task.get("inputRequests").is_none(), "{task}");
        // Called without tasks, it is the error of the call.
        let plain = client.declaring(Declares::NoTasks);
        let failure = plain.call("hard", json!({})).await.failure();
        assert_eq!((failure.code, failure.data), (1234, json!({"k": 1})));
    }
}

async fn c08_a_tool_error_completes_the_task(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("soft", json!({})).await;
        let task = client.until(&id, "completed").await;
        assert_eq!(task["result"]["isError"], true, "{task}");
        assert_eq!(task["result"]["content"][0]["text"], "soft failure");
        assert!(task.get("error").is_none(), "{task}");
    }
}

async fn c10_an_id_that_never_was_is_an_error(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        for id in ["never", "", "../../etc/passwd", &"x".repeat(4000)] {
            let get = client.try_get(id).await.refused(-32602, &["task"]);
            let update = client.update(id, json!({})).await.failure();
            let cancel = client.cancel(id).await.failure();
            assert_eq!(get, update);
            assert_eq!(get, cancel);
        }
    }
}

async fn c11_the_ttl_of_the_attribute_is_on_the_wire(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let created = client.call("ask1", json!({})).await;
        assert_eq!(created.result()["ttlMs"], 3_600_000);
        let id = created.result()["taskId"].as_str().unwrap();
        assert_eq!(client.get(id).await["ttlMs"], 3_600_000);
    }
}

async fn c12_bad_arguments_name_the_field_and_make_no_task(store: Store) {
    let bad = [
        (json!({}), "ms"),
        (json!({"ms": "soon"}), "ms"),
        (json!({"ms": -1}), "ms"),
        (json!({"ms": 1.5}), "ms"),
        (json!({"ms": null}), "ms"),
        (json!([1]), "object"),
        (json!("soon"), "object"),
        (json!(null), "object"),
    ];
    for server in store.both(&[]).await {
        let client = server.client();
        for (arguments, word) in &bad {
            let reply = client.call("slow", arguments.clone()).await;
            reply.refused(-32602, &[word]);
        }
        let params = json!({"name": "slow"});
        let reply = client.request("tools/call", params).await;
        reply.refused(-32602, &["ms"]);
        assert_eq!(client.stats().await["stored"], 0);
    }
}
