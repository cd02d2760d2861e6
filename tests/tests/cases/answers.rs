//! Questions and what becomes of answers: c20 to c32.

use std::collections::HashSet;

use mcp_tasks_tests::{acknowledged, keys};
use serde_json::{Value, json};

use crate::{Store, on_every_store};

on_every_store! {
    c20_an_answer_completes_the_task,
    c20_many_tasks_at_once_all_get_their_answers,
    c20_one_update_may_answer_several_questions,
    c21_a_question_in_a_loop_has_a_new_key_each_time,
    c22_the_id_stays_the_same,
    c23_decline_and_cancel_are_told_apart,
    c24_a_decline_needs_no_content,
    c25_an_empty_form_is_accepted_without_content,
    c26_a_decline_is_not_judged_by_the_schema,
    c27_a_wrong_answer_names_field_and_rule_and_the_question_stays,
    c27_one_wrong_answer_refuses_the_whole_update,
    c28_a_partial_answer_leaves_the_other_question,
    c29_the_first_of_two_answers_counts,
    c30_parallel_updates_with_one_answer_count_once,
    c31_the_requested_schema_is_byte_for_byte_the_same,
    c32_the_last_of_many_messages_shows_and_few_are_written,
}

async fn c20_an_answer_completes_the_task(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let task = client.until(&id, "input_required").await;
        let request = &task["inputRequests"]["answer"];
        assert_eq!(request["method"], "elicitation/create", "{task}");
        assert_eq!(request["params"]["mode"], "form");
        assert_eq!(request["params"]["message"], "What is your answer?");
        client.answer(&id, "answer", "grüße").await;
        assert_eq!(client.until_text(&id).await, "got: grüße");
    }
}

async fn c20_many_tasks_at_once_all_get_their_answers(store: Store) {
    for server in store.both(&[]).await {
        let drives: Vec<_> = (0..200)
            .map(|number| {
                let client = server.client();
                tokio::spawn(async move {
                    let id = client.task("ask2", json!({})).await;
                    let first = client.until_asked(&id, None).await;
                    client.answer(&id, &first, &number.to_string()).await;
                    let second = client.until_asked(&id, Some(&first)).await;
                    client.answer(&id, &second, "same").await;
                    assert_eq!(client.until_text(&id).await, format!("{number},same"));
                })
            })
            .collect();
        for drive in drives {
            drive.await.unwrap();
        }
        let stats = server.client().stats().await;
        assert_eq!(stats["live"], 0);
    }
}

async fn c20_one_update_may_answer_several_questions(store: Store) {
    let server = store.http(&[]).await;
    let client = server.client();
    let id = client.task("multi_input", json!({})).await;
    let task = client
        .until_task(&id, "two questions", |task| keys(task).len() == 2)
        .await;
    let accept = |content: Value| json!({"action": "accept", "content": content});
    let responses = json!({
        &keys(&task)[0]: accept(json!({"confirm": true, "name": "Ada"})),
        &keys(&task)[1]: accept(json!({"confirm": true, "name": "Ada"})),
        "no such": 7,
    });
    acknowledged(&client.update(&id, responses).await);
    assert_eq!(client.until_text(&id).await, "Ada: true");
}

async fn c21_a_question_in_a_loop_has_a_new_key_each_time(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("ask_loop", json!({"n": 5})).await;
        let mut seen: Vec<String> = Vec::new();
        for round in 1..=5 {
            let key = client
                .until_asked(&id, seen.last().map(String::as_str))
                .await;
            client.answer(&id, &key, &round.to_string()).await;
            seen.push(key);
        }
        assert_eq!(client.until_text(&id).await, "1,2,3,4,5");
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 5, "{seen:?}");
    }
}

async fn c22_the_id_stays_the_same(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("ids", json!({})).await;
        let key = client.until_asked(&id, None).await;
        client.answer(&id, &key, "yes").await;
        assert_eq!(client.until_text(&id).await, format!("{id},{id}"));
    }
}

/// What `tool` makes of a response to its question.
async fn outcome(client: &mcp_tasks_tests::Client, tool: &str, response: &Value) -> String {
    let id = client.task(tool, json!({})).await;
    let key = client.until_asked(&id, None).await;
    acknowledged(&client.update(&id, json!({ key: response })).await);
    client.until_text(&id).await
}

async fn c23_decline_and_cancel_are_told_apart(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        for tool in ["ask1", "confirm"] {
            let declined = outcome(&client, tool, &json!({"action": "decline"})).await;
            assert_eq!(declined, "declined");
            let dismissed = outcome(&client, tool, &json!({"action": "cancel"})).await;
            assert_eq!(dismissed, "dismissed");
        }
    }
}

async fn c24_a_decline_needs_no_content(store: Store) {
    let server = store.http(&[]).await;
    let client = server.client();
    for response in [
        json!({"action": "decline", "content": null}),
        json!({"action": "decline"}),
    ] {
        assert_eq!(outcome(&client, "ask1", &response).await, "declined");
    }
}

async fn c25_an_empty_form_is_accepted_without_content(store: Store) {
    let server = store.http(&[]).await;
    let client = server.client();
    for response in [
        json!({"action": "accept"}),
        json!({"action": "accept", "content": null}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"more": 1}}),
    ] {
        let text = outcome(&client, "confirm", &response).await;
        assert_eq!(text, "confirmed", "{response}");
    }
}

async fn c26_a_decline_is_not_judged_by_the_schema(store: Store) {
    let server = store.http(&[]).await;
    let client = server.client();
    for content in [
        json!({}),
        json!({"answer": 7}),
        json!({"other": []}),
        json!("no"),
    ] {
        let declined = json!({"action": "decline", "content": content});
        assert_eq!(outcome(&client, "ask1", &declined).await, "declined");
        let dismissed = json!({"action": "cancel", "content": content});
        assert_eq!(outcome(&client, "ask1", &dismissed).await, "dismissed");
    }
}

/// Content that `form` accepts.
fn filled_in() -> Value {
    json!({"name": "Ada", "short": "ada", "level": "high", "levels": ["low"]})
}

/// Changes to good content, and the fields and rules that they break.
fn mistakes() -> Vec<(Value, Vec<&'static str>)> {
    vec![
        (json!({"name": 7}), vec!["name", "text"]),
        (json!({"name": null}), vec!["name"]),
        (json!({"short": "a"}), vec!["short", "2"]),
        (json!({"short": "abcde"}), vec!["short", "4"]),
        (json!({"email": "nowhere"}), vec!["email"]),
        (json!({"link": "no link"}), vec!["link"]),
        (json!({"day": "2026-02-30"}), vec!["day"]),
        (json!({"moment": "yesterday"}), vec!["moment"]),
        (json!({"ratio": 1.5}), vec!["ratio", "1"]),
        (json!({"ratio": "half"}), vec!["ratio"]),
        (json!({"percent": 0}), vec!["percent", "1"]),
        (json!({"percent": 101}), vec!["percent", "100"]),
        (json!({"percent": 9.5}), vec!["percent"]),
        (json!({"careful": "yes"}), vec!["careful"]),
        (json!({"level": "medium"}), vec!["level", "low", "high"]),
        (json!({"window": "Tonight"}), vec!["window", "tonight"]),
        (json!({"levels": []}), vec!["levels", "1"]),
        (json!({"levels": ["low", "mid"]}), vec!["levels", "low"]),
        (json!({"levels": "low"}), vec!["levels"]),
        (json!({"percent": 0, "level": 1}), vec!["percent", "level"]),
    ]
}

async fn c27_a_wrong_answer_names_field_and_rule_and_the_question_stays(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("form", json!({})).await;
        let key = client.until_asked(&id, None).await;
        for (change, words) in mistakes() {
            let mut content = filled_in();
            for (field, value) in change.as_object().unwrap() {
                content[field] = value.clone();
            }
            let response = json!({"action": "accept", "content": content});
            let refused = client.update(&id, json!({ &key: response })).await;
            let failure = refused.refused(-32602, &words);
            assert!(failure.message.contains(&key), "{}", failure.message);
            let errors = failure.data["errors"].as_array().unwrap();
            assert_eq!(
                errors.len(),
                change.as_object().unwrap().len(),
                "{errors:?}"
            );
            assert_eq!(errors[0]["key"], *key);
            assert!(errors[0]["rule"].is_string());
            assert_eq!(keys(&client.get(&id).await), [key.as_str()]);
        }
        for missing in ["name", "short", "level", "levels"] {
            let mut content = filled_in();
            content.as_object_mut().unwrap().remove(missing);
            let response = json!({"action": "accept", "content": content});
            let refused = client.update(&id, json!({ &key: response })).await;
            refused.refused(-32602, &[&key, missing]);
        }
        for shapeless in [
            json!(7),
            json!([]),
            json!({}),
            json!({"action": "yes"}),
            json!(null),
        ] {
            let refused = client.update(&id, json!({ &key: shapeless })).await;
            refused.refused(-32602, &[&key, "accept", "decline"]);
        }
        let response = json!({"action": "accept", "content": filled_in()});
        acknowledged(&client.update(&id, json!({ &key: response })).await);
        let task = client.until(&id, "completed").await;
        let accepted = json!({
            "name": "Ada", "short": "ada", "remark": "none", "ratio": 0.5, "percent": 10,
            "careful": true, "level": "high", "window": "tonight", "levels": ["low"],
        });
        assert_eq!(task["result"]["structuredContent"], accepted);
    }
}

async fn c27_one_wrong_answer_refuses_the_whole_update(store: Store) {
    let server = store.http(&[]).await;
    let client = server.client();
    let id = client.task("askpar", json!({})).await;
    let task = client
        .until_task(&id, "two questions", |task| keys(task).len() == 2)
        .await;
    let both = keys(&task);
    let good = json!({"action": "accept", "content": {"answer": "good"}});
    let bad = json!({"action": "accept", "content": {"answer": 7}});
    let refused = client
        .update(&id, json!({ &both[0]: good, &both[1]: bad }))
        .await;
    refused.refused(-32602, &[&both[1], "answer"]);
    assert_eq!(keys(&client.get(&id).await), both);
}

async fn c28_a_partial_answer_leaves_the_other_question(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("askpar", json!({})).await;
        let task = client
            .until_task(&id, "two questions", |task| keys(task).len() == 2)
            .await;
        assert_eq!(keys(&task), ["left/answer", "right/answer"]);
        client.answer(&id, "right/answer", "R").await;
        let task = client.get(&id).await;
        assert_eq!(task["status"], "input_required");
        assert_eq!(keys(&task), ["left/answer"]);
        client.answer(&id, "left/answer", "L").await;
        assert_eq!(client.until_text(&id).await, "L,R");
    }
}

async fn c29_the_first_of_two_answers_counts(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("askpar", json!({})).await;
        client
            .until_task(&id, "two questions", |task| keys(task).len() == 2)
            .await;
        client.answer(&id, "left/answer", "first").await;
        client.answer(&id, "left/answer", "second").await;
        // It is not even judged: the question is no longer open.
        let late = json!({ "left/answer": { "action": "accept", "content": { "answer": 7 } } });
        acknowledged(&client.update(&id, late).await);
        client.answer(&id, "right/answer", "R").await;
        assert_eq!(client.until_text(&id).await, "first,R");
        client.answer(&id, "right/answer", "late").await;
        assert_eq!(client.until_text(&id).await, "first,R");
    }
}

async fn c30_parallel_updates_with_one_answer_count_once(store: Store) {
    for server in store.both(&[]).await {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("side.txt");
        let client = server.client();
        let id = client.task("side", json!({ "file": file })).await;
        let key = client.until_asked(&id, None).await;
        let updates: Vec<_> = (0..50)
            .map(|_| {
                let (client, id, key) = (client.clone(), id.clone(), key.clone());
                tokio::spawn(async move { client.answer(&id, &key, "go").await })
            })
            .collect();
        for update in updates {
            update.await.unwrap();
        }
        assert_eq!(client.until_text(&id).await, "ab");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "ab");
    }
}

/// The requested schema of `form`, as it is on the wire.
async fn requested_schema(client: &mcp_tasks_tests::Client) -> String {
    let id = client.task("form", json!({})).await;
    client.until_asked(&id, None).await;
    let task = client.try_get(&id).await;
    client.cancelled(&id).await;
    task.member("requestedSchema").to_owned()
}

async fn c31_the_requested_schema_is_byte_for_byte_the_same(store: Store) {
    let [http, stdio] = store.both(&[]).await;
    let (client, other) = (http.client(), stdio.client());
    let schema = requested_schema(&client).await;
    for _ in 1..100 {
        assert_eq!(requested_schema(&client).await, schema);
    }
    // Another process writes the same.
    assert_eq!(requested_schema(&other).await, schema);

    let fields = [
        "name", "short", "remark", "email", "link", "day", "moment", "ratio", "percent", "careful",
        "level", "window", "levels", "windows",
    ];
    let places: Vec<usize> = fields
        .iter()
        .map(|field| schema.find(&format!("\"{field}\":{{")).expect(field))
        .collect();
    assert!(places.is_sorted(), "{schema}");
    for part in [
        r#""title":"Short name""#,
        r#""description":"Two to four characters""#,
        r#""minLength":2,"maxLength":4"#,
        r#""default":"none""#,
        r#""format":"email""#,
        r#""format":"uri""#,
        r#""format":"date""#,
        r#""format":"date-time""#,
        r#""default":0.5"#,
        r#""minimum":1,"maximum":100,"default":10"#,
        r#""default":true"#,
        r#""enum":["low","high"]"#,
        r#""oneOf":[{"const":"tonight","title":"Tonight, 22:00 to 24:00"},{"const":"next_monday","title":"Next Monday morning"}]"#,
        r#""minItems":1,"maxItems":2"#,
        r#""anyOf":[{"const":"tonight""#,
        r#""required":["name","short","level","levels"]"#,
    ] {
        assert!(schema.contains(part), "{part} is not in {schema}");
    }
}

async fn c32_the_last_of_many_messages_shows_and_few_are_written(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let before = client.stats().await["commits"].as_u64().unwrap();
        let id = client.task("note", json!({"n": 1000})).await;
        client.until_asked(&id, None).await;
        let task = client.get(&id).await;
        assert_eq!(task["statusMessage"], "note 1000");
        let after = client.stats().await["commits"].as_u64().unwrap();
        assert!(after - before < 20, "{} commits", after - before);
    }
}
