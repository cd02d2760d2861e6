//! Subscriptions to tasks over both transports: what a client is told, in what
//! order, and how it ends.

use mcp_tasks_tests::{Client, Declares, Fixture, Launch, Listening, Transport};
use serde_json::{Value, json};

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

async fn both(flags: &[&str]) -> [Fixture; 2] {
    let [http, stdio] =
        Transport::ALL.map(|transport| Launch::new(FIXTURES, transport).flags(flags));
    [http.start().await, stdio.start().await]
}

/// Checks that the next notification says, byte for byte, what `tasks/get` says
/// of a task that does not change any more until it is told to.
async fn says_what_get_says(client: &Client, listening: &mut Listening, id: &str) -> Value {
    let told = listening.hears("notifications/tasks").await;
    let got = client.try_get(id).await;
    let (_, got) = got
        .text
        .split_once(r#""result":{"resultType":"complete","#)
        .expect("a result begins with its type");
    let got = got.strip_suffix("}}}").expect("`_meta` comes last");
    let subscription = listening.id();
    let expected = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{{{got},"io.modelcontextprotocol/subscriptionId":{subscription}}}}}}}"#
    );
    assert_eq!(told.text, expected);
    told.message["params"].clone()
}

#[tokio::test]
async fn each_notification_says_what_get_says() {
    for server in both(&[]).await {
        let client = server.client();
        for (tool, status) in [
            ("form", "input_required"),
            ("hard", "failed"),
            ("soft", "completed"),
        ] {
            let id = client.task(tool, json!({})).await;
            client.until(&id, status).await;
            let mut listening = client.listen_to(&[&id]).await;
            let told = says_what_get_says(&client, &mut listening, &id).await;
            assert_eq!(told["status"], status, "{tool}");
            if status == "input_required" {
                client.cancelled(&id).await;
                let told = says_what_get_says(&client, &mut listening, &id).await;
                assert_eq!(told["status"], "cancelled");
            }
            listening.cancel(&client).await;
        }
    }
}

#[tokio::test]
async fn a_whole_life_can_be_followed_without_polling() {
    for server in both(&[]).await {
        let client = server.client();
        let id = client.task("ask_loop", json!({ "n": 3 })).await;
        let mut listening = client.listen_to(&[&id]).await;
        let mut last = None;
        for answer in ["a", "b", "c"] {
            let key = loop {
                let task = listening.task().await;
                let asked = task["inputRequests"].as_object();
                let key = asked.and_then(|asked| asked.keys().next().cloned());
                if key.is_some() && key != last {
                    break key;
                }
            };
            client.answer(&id, key.as_ref().unwrap(), answer).await;
            last = key;
        }
        let ended = listening.until("completed").await;
        assert_eq!(ended["result"]["content"][0]["text"], "a,b,c");
    }
}

#[tokio::test]
async fn progress_is_told_as_the_state_of_a_task_and_in_no_other_way() {
    for server in both(&[]).await {
        let client = server.client();
        let id = client.task("count", json!({ "n": 100 })).await;
        let mut listening = client.listen_to(&[&id]).await;
        let mut done = 0;
        loop {
            let task = listening.task().await;
            let now = task["_meta"]["rs.mcp-tasks/progress"]["done"].as_u64();
            assert!(now >= Some(done), "{task}");
            done = now.unwrap();
            if task["status"] == "completed" {
                break;
            }
        }
        assert_eq!(done, 100);
    }
}

#[tokio::test]
async fn a_task_that_is_as_it_was_created_is_not_told_of() {
    for server in both(&[]).await {
        let client = server.client();
        let waits = client.task("wait_signal", json!({})).await;
        let asked = client.task("ask1", json!({})).await;
        client.until_asked(&asked, None).await;
        let mut listening = client.listen_to(&[&waits, &asked]).await;
        assert_eq!(listening.task().await["taskId"], *asked);
        client.cancelled(&waits).await;
        let told = listening.task().await;
        assert_eq!(
            (&told["taskId"], &told["status"]),
            (&json!(waits), &json!("cancelled"))
        );
    }
}

#[tokio::test]
async fn subscriptions_end_one_by_one_and_no_task_with_them() {
    for server in both(&["--limit", "subscriptions=2"]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        let mut first = client.listen_to(&[&id]).await;
        let mut second = client.listen_to(&[&id]).await;
        for listening in [&mut first, &mut second] {
            assert_eq!(listening.task().await["status"], "input_required");
        }
        let params = json!({ "notifications": { "taskIds": [id] } });
        let third = client.request("subscriptions/listen", params).await;
        third.refused(-32603, &["2 subscriptions"]);
        first.cancel(&client).await;
        client.answer(&id, &key, "yes").await;
        let ended = second.until("completed").await;
        assert_eq!(ended["result"]["content"][0]["text"], "got: yes");
    }
}

#[tokio::test]
async fn tasks_are_told_to_their_callers_only() {
    let flags = ["--token", "alice=a", "--token", "bob=b"];
    let server = Fixture::http(FIXTURES, &flags).await;
    let [alice, bob] = ["a", "b"].map(|token| server.client().with_token(token));
    let hers = alice.task("ask1", json!({})).await;
    let his = bob.task("ask1", json!({})).await;
    let filter = json!({ "taskIds": [hers, his, "t_none"] });
    let mut listening = bob.listen(filter).await;
    assert_eq!(listening.acknowledged().await, json!({ "taskIds": [his] }));
    alice.cancelled(&hers).await;
    bob.cancelled(&his).await;
    assert_eq!(listening.until("cancelled").await["taskId"], *his);
}

#[tokio::test]
async fn whoever_does_not_declare_tasks_is_refused_before_they_are_looked_at() {
    for server in both(&[]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        for declares in [Declares::NoTasks, Declares::Nothing] {
            let client = client.declaring(declares);
            for ids in [json!([id]), json!(["t_none"]), json!(7)] {
                let params = json!({ "notifications": { "taskIds": ids } });
                let reply = client.request("subscriptions/listen", params).await;
                let refused = reply.refused(-32021, &["extension"]);
                let required = &refused.data["requiredCapabilities"]["extensions"];
                assert_eq!(*required, json!({ "io.modelcontextprotocol/tasks": {} }));
                assert!(matches!(reply.status, None | Some(400)), "{reply:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_ends_says_so_on_every_subscription() {
    for mut server in both(&[]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        client.until_asked(&id, None).await;
        let mut open = vec![
            client.listen_to(&[&id]).await,
            client.listen_to(&[&id]).await,
        ];
        for listening in &mut open {
            listening.task().await;
        }
        let (status, ()) = tokio::join!(server.stop(), async {
            for listening in &mut open {
                let last = [
                    listening.next().await.unwrap(),
                    listening.next().await.unwrap(),
                ];
                // Over HTTP the response ends the stream; over stdio nothing does.
                let [first, second] = last;
                let (cancelled, result) = if client.is_http() {
                    (first, second)
                } else {
                    (second, first)
                };
                assert_eq!(cancelled.message["method"], "notifications/cancelled");
                assert_eq!(cancelled.message["params"]["requestId"], listening.id());
                assert_eq!(result.message["id"], listening.id());
                assert_eq!(result.result()["resultType"], "complete");
                assert!(listening.next().await.is_none());
            }
        });
        assert!(status.success(), "{status}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_costs_nothing_and_gets_the_last_state() {
    const CHANGES: u64 = 10_000;
    const BYTES: u64 = 20_000;
    let server = Fixture::http(FIXTURES, &[]).await;
    let client = server.client();
    let warm = client
        .task("restless", json!({ "n": CHANGES, "bytes": BYTES }))
        .await;
    client.until(&warm, "completed").await;
    let before = server.resident_memory();
    let id = client
        .task("restless", json!({ "n": CHANGES, "bytes": BYTES }))
        .await;
    let mut listening = client.listen_to(&[&id]).await;
    // A client of its own: the other's connection is not read.
    Client::of_url(client.url()).until(&id, "completed").await;
    let after = server.resident_memory();
    let (mut heard, mut ended) = (0, Value::Null);
    while ended["status"] != "completed" {
        ended = listening.task().await;
        heard += 1;
    }
    assert_eq!(ended["ttlMs"], 1000 * (100_000 + CHANGES));
    println!("{heard} of {CHANGES} states; from {before:?} to {after:?} bytes");
    if let (Some(before), Some(after)) = (before, after) {
        // All of them would be ten times as much.
        assert!(
            after < before + CHANGES * BYTES / 10,
            "from {before} to {after}"
        );
    }
}
