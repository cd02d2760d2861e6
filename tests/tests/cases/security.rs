//! Callers and ids: c90 and c91.

use std::collections::HashSet;

use mcp_tasks_tests::rounds::text;
use mcp_tasks_tests::{Client, Declares, Fixture, Launch, Transport};
use serde_json::{Value, json};

use crate::{FIXTURES, Store, durable, on_every_store};

on_every_store! {
    c90_without_a_valid_token_nothing_is_served,
    c90_each_caller_sees_only_their_own_tasks,
    c90_foreign_and_unknown_tasks_are_the_same_byte_for_byte,
    c90_the_caller_is_the_same_in_every_round,
    c91_ids_are_unique_unguessable_and_safe_in_urls,
}

/// A server that knows alice and bob, and a client for each.
pub(super) async fn alice_and_bob(store: Store, flags: &[&str]) -> (Fixture, Client, Client) {
    let tokens = ["--token", "alice=a-secret", "--token", "bob=b-secret"];
    let server = store.http(&[&tokens, flags].concat()).await;
    let alice = server.client().with_token("a-secret");
    let bob = server.client().with_token("b-secret");
    (server, alice, bob)
}

async fn c90_without_a_valid_token_nothing_is_served(store: Store) {
    let (server, alice, _) = alice_and_bob(store, &[]).await;
    let nobody = server.client();
    let id = alice.task("ask1", json!({})).await;
    for authorization in [
        None,
        Some("Bearer wrong"),
        Some("Bearer "),
        Some("Bearer a-secret "),
        Some("a-secret"),
        Some("Basic a-secret"),
        Some("bearer a-secret"),
    ] {
        for method in ["tools/list", "tasks/get", "server/discover"] {
            let mut request = nobody.compose(method, json!({ "taskId": id }));
            if let Some(authorization) = authorization {
                let value = authorization.parse().unwrap();
                request.headers_mut().insert("authorization", value);
            }
            // Space around a header's value is not part of it, nor does it matter how the scheme is written.
            let valid = matches!(authorization, Some("Bearer a-secret " | "bearer a-secret"));
            let reply = nobody.send_http(request).await;
            assert_eq!(reply.status == Some(401), !valid, "{authorization:?}");
            assert!(valid || !reply.text.contains("result"), "{reply:?}");
        }
    }
}

async fn c90_each_caller_sees_only_their_own_tasks(store: Store) {
    let (_server, alice, bob) = alice_and_bob(store, &[]).await;
    for (owner, other, name) in [(&alice, &bob, "alice"), (&bob, &alice, "bob")] {
        let id = owner.task("whoami", json!({})).await;
        let key = owner.until_asked(&id, None).await;
        let before = owner.get(&id).await;
        let answer = json!({ &key: { "action": "accept", "content": { "answer": "mine" } } });
        let bad = json!({ &key: { "action": "accept", "content": { "answer": 7 } } });
        for (foreign, never) in [
            (other.try_get(&id).await, other.try_get("never").await),
            (
                other.update(&id, answer.clone()).await,
                other.update("never", answer.clone()).await,
            ),
            (
                other.update(&id, bad.clone()).await,
                other.update("never", bad).await,
            ),
            (other.cancel(&id).await, other.cancel("never").await),
        ] {
            assert_eq!(foreign.status, never.status);
            assert_eq!(foreign.message["error"], never.message["error"]);
            foreign.refused(-32602, &["task"]);
        }
        // Nothing of it had an effect.
        assert_eq!(owner.get(&id).await, before);
        owner.answer(&id, &key, "yes").await;
        assert_eq!(owner.until_text(&id).await, format!("{name},{name}"));
        other.try_get(&id).await.refused(-32602, &["task"]);
    }
}

async fn c90_foreign_and_unknown_tasks_are_the_same_byte_for_byte(store: Store) {
    let (_server, alice, bob) = alice_and_bob(store, &[]).await;
    let id = alice.task("ask1", json!({})).await;
    alice.until_asked(&id, None).await;
    let ended = alice.task("soft", json!({})).await;
    alice.until(&ended, "completed").await;
    let never: String = id.chars().rev().collect();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let reply = async |id: &str| {
            let params = json!({ "taskId": id, "inputResponses": {} });
            // With the same request id, which is repeated in the reply.
            let mut request = bob.compose(method, params);
            let mut body: Value = serde_json::from_str(request.body()).unwrap();
            body["id"] = json!("mine");
            *request.body_mut() = body.to_string();
            let reply = bob.send_http(request).await;
            reply.refused(-32602, &["task"]);
            (reply.status, reply.text)
        };
        let unknown = reply(&never).await;
        assert_eq!(reply(&id).await, unknown, "{method}");
        assert_eq!(reply(&ended).await, unknown, "{method}");
    }
    for id in [&id, &ended, &never] {
        let mut listening = bob.listen(json!({ "taskIds": [id] })).await;
        assert_eq!(listening.acknowledged().await, json!({ "taskIds": [] }));
    }
}

async fn c90_the_caller_is_the_same_in_every_round(store: Store) {
    let (_server, alice, bob) = alice_and_bob(store, &[]).await;
    for (client, name) in [(&alice, "alice"), (&bob, "bob")] {
        let client = client.declaring(Declares::NoTasks);
        let asked = client.ask("whoami", json!({})).await;
        let reply = client.fill_in(&asked, &[(asked.keys()[0], "yes")]).await;
        assert_eq!(text(&reply), format!("{name},{name}"));
    }
    let server = store
        .launch(Transport::Stdio, &["--stdio-caller", "carol"])
        .await;
    let server = server.start().await;
    let client = server.client().declaring(Declares::NoTasks);
    let asked = client.ask("whoami", json!({})).await;
    let reply = client.fill_in(&asked, &[(asked.keys()[0], "yes")]).await;
    assert_eq!(text(&reply), "carol,carol");
}

#[tokio::test]
async fn c90_the_caller_is_the_same_after_a_restart() {
    let tokens = ["--token", "alice=a-secret", "--token", "bob=b-secret"];
    let mut server = durable(Transport::Http, &tokens).await;
    let client = |server: &Fixture, token| server.client().with_token(token);
    let id = client(&server, "a-secret").task("whoami", json!({})).await;
    let key = client(&server, "a-secret").until_asked(&id, None).await;
    server.restart().await;
    let (alice, bob) = (client(&server, "a-secret"), client(&server, "b-secret"));
    bob.try_get(&id).await.refused(-32602, &["task"]);
    let mut heard = alice.listen_to(&[&id]).await;
    alice.answer(&id, &key, "yes").await;
    let ended = heard.until("completed").await;
    let text = &ended["result"]["content"][0]["text"];
    assert_eq!(text, "alice,alice");
}

#[tokio::test]
async fn c90_the_caller_on_stdio_is_the_same_after_a_restart() {
    let mut server = durable(Transport::Stdio, &["--stdio-caller", "carol"]).await;
    let id = server.client().task("whoami", json!({})).await;
    let key = server.client().until_asked(&id, None).await;
    server.restart().await;
    let client = server.client();
    client.answer(&id, &key, "yes").await;
    assert_eq!(client.until_text(&id).await, "carol,carol");
    // For whoever is somebody else it is not there.
    let file = server.file().clone();
    drop(server);
    let other = Launch::new(FIXTURES, Transport::Stdio).on(&file);
    let other = other.start().await;
    let reply = other.client().try_get(&id).await;
    reply.refused(-32602, &["task"]);
}

async fn c91_ids_are_unique_unguessable_and_safe_in_urls(store: Store) {
    const COUNT: usize = 10_000;
    const AT_ONCE: usize = 16;
    let server = store.http(&[]).await;
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let client = server.client();
            tokio::spawn(async move {
                let mut ids = Vec::new();
                for _ in 0..COUNT / AT_ONCE {
                    ids.push(client.task("soft", json!({})).await);
                }
                ids
            })
        })
        .collect();
    let mut ids = HashSet::new();
    for worker in workers {
        ids.extend(worker.await.unwrap());
    }
    assert_eq!(ids.len(), COUNT);
    let url_safe = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
    assert!(ids.iter().all(|id| id.chars().all(url_safe)));

    // As many bits as the characters that are seen in each place give.
    let length = ids.iter().next().unwrap().len();
    assert!(ids.iter().all(|id| id.len() == length));
    let mut seen = vec![HashSet::new(); length];
    for id in &ids {
        for (place, character) in seen.iter_mut().zip(id.chars()) {
            place.insert(character);
        }
    }
    let bits: u32 = seen.iter().map(|place| place.len().ilog2()).sum();
    assert!(bits >= 128, "{bits} bits");
}
