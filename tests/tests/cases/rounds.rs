//! Calls of clients that do not declare tasks: questions go back and forth in
//! rounds (P60 to P63).

use mcp_tasks_tests::rounds::{Asked, accepted, text};
use mcp_tasks_tests::{Client, Declares, Transport};
use serde_json::{Value, json};

use super::{Store, durable, on_every_shared_store, on_every_store};

on_every_store! {
    a_call_asks_and_goes_on_with_the_answers,
    the_questions_of_one_moment_are_asked_together,
    an_answer_that_is_missing_is_asked_for_again,
    a_wrong_answer_is_refused_and_the_state_stays_good,
    answers_to_nothing_that_was_asked_are_ignored,
    a_refusal_is_the_functions_affair,
    a_timeout_counts_from_the_first_round,
    a_tool_that_waits_for_a_signal_is_a_task_or_nothing,
    c92_a_state_is_good_for_its_own_call_alone,
    c92_a_state_is_good_for_its_own_caller_alone,
    c92_a_state_grows_too_old,
    questions_before_the_task_come_in_rounds,
    a_task_can_begin_without_a_question_before_it,
    start_task_does_nothing_for_clients_without_tasks,
}

on_every_shared_store! {
    servers_on_one_store_take_each_others_states,
}

/// A client of 2026-07-28 that does not declare tasks.
fn without_tasks(client: &Client) -> Client {
    client.declaring(Declares::NoTasks)
}

async fn a_call_asks_and_goes_on_with_the_answers(store: Store) {
    for server in store.both(&[]).await {
        let client = without_tasks(&server.client());
        let first = client.ask("ask2", json!({})).await;
        assert_eq!(first.keys(), ["first"]);
        let question = &first.requests["first"];
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["message"], "The first?");
        let reply = client.fill_in(&first, &[("first", "A")]).await;
        let second = first.next(&reply);
        assert_eq!(second.keys(), ["second"]);
        let reply = client.fill_in(&second, &[("second", "B")]).await;
        assert_eq!(text(&reply), "A,B");
    }
}

async fn the_questions_of_one_moment_are_asked_together(store: Store) {
    let server = store.http(&[]).await;
    let client = without_tasks(&server.client());
    let asked = client.ask("askpar", json!({})).await;
    assert_eq!(asked.keys(), ["left/answer", "right/answer"]);
    let answers = [("right/answer", "B"), ("left/answer", "A")];
    let reply = client.fill_in(&asked, &answers).await;
    assert_eq!(text(&reply), "A,B");
}

async fn an_answer_that_is_missing_is_asked_for_again(store: Store) {
    let server = store.http(&[]).await;
    let client = without_tasks(&server.client());
    let asked = client.ask("askpar", json!({})).await;
    let nothing = client.retry(&asked, json!({})).await;
    assert_eq!(asked.next(&nothing).keys(), ["left/answer", "right/answer"]);
    // The same state again: it was not used up.
    let reply = client.fill_in(&asked, &[("left/answer", "A")]).await;
    let rest = asked.next(&reply);
    assert_eq!(rest.keys(), ["right/answer"]);
    let reply = client.fill_in(&rest, &[("right/answer", "B")]).await;
    assert_eq!(text(&reply), "A,B");
}

async fn a_wrong_answer_is_refused_and_the_state_stays_good(store: Store) {
    let server = store.http(&[]).await;
    let client = without_tasks(&server.client());
    let asked = client.ask("ask1", json!({})).await;
    for wrong in [
        json!({ "answer": 7 }),
        json!({ "answer": accepted(json!({})) }),
        json!({ "answer": accepted(json!({ "answer": [] })) }),
        json!({ "answer": { "action": "maybe" } }),
    ] {
        let reply = client.retry(&asked, wrong).await;
        reply.refused(-32602, &["answer"]);
    }
    let reply = client.fill_in(&asked, &[("answer", "42")]).await;
    assert_eq!(text(&reply), "got: 42");
}

async fn answers_to_nothing_that_was_asked_are_ignored(store: Store) {
    let server = store.http(&[]).await;
    let client = without_tasks(&server.client());
    let params = json!({
        "name": "ask1", "arguments": {}, "inputResponses": { "answer": accepted(json!({})) },
    });
    // Without a state nothing was asked.
    let reply = client.request("tools/call", params).await;
    let asked = Asked::of(&reply, "ask1", json!({}));
    let answers = [("answer", "42"), ("other", "x")];
    let reply = client.fill_in(&asked, &answers).await;
    assert_eq!(text(&reply), "got: 42");
}

async fn a_refusal_is_the_functions_affair(store: Store) {
    let server = store.http(&[]).await;
    let client = without_tasks(&server.client());
    for (action, outcome) in [("decline", "declined"), ("cancel", "dismissed")] {
        let asked = client.ask("ask1", json!({})).await;
        let refused = json!({ "answer": { "action": action } });
        assert_eq!(text(&client.retry(&asked, refused).await), outcome);
    }
}

async fn a_timeout_counts_from_the_first_round(store: Store) {
    let server = store.http(&[]).await;
    let client = without_tasks(&server.client());
    let asked = client.ask("race", json!({ "ms": 1 })).await;
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    // Whoever answers too late has not answered.
    let reply = client.fill_in(&asked, &[("answer", "late")]).await;
    assert_eq!(text(&reply), "timed out");
    let asked = client.ask("race", json!({ "ms": 60_000 })).await;
    let reply = client.fill_in(&asked, &[("answer", "in time")]).await;
    assert_eq!(text(&reply), "got: in time");
}

async fn a_tool_that_waits_for_a_signal_is_a_task_or_nothing(store: Store) {
    let server = store.http(&[]).await;
    let client = without_tasks(&server.client());
    let reply = client.call("wait_signal", json!({})).await;
    reply.refused(-32021, &["io.modelcontextprotocol/tasks"]);
}

/// Says no in words that do not tell why.
#[track_caller]
fn not_its_own(reply: &mcp_tasks_tests::Reply) {
    reply.refused(
        -32602,
        &["`requestState` is not one that this tool gave to you"],
    );
}

async fn c92_a_state_is_good_for_its_own_call_alone(store: Store) {
    let server = store.http(&[]).await;
    let client = without_tasks(&server.client());
    let asked = client.ask("ask_loop", json!({ "n": 1 })).await;
    let answer = json!({ "answer": accepted(json!({ "answer": "A" })) });
    for at in 0..asked.state.len() {
        let mut bytes = asked.state.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let forged = asked.with_state(String::from_utf8(bytes).unwrap());
        not_its_own(&client.retry(&forged, answer.clone()).await);
    }
    let long = "A".repeat(70_000);
    for forged in [
        "",
        "x",
        &asked.state[1..],
        &asked.state[..asked.state.len() - 4],
    ] {
        not_its_own(
            &client
                .retry(&asked.with_state(forged), answer.clone())
                .await,
        );
    }
    let too_long = client.retry(&asked.with_state(long), answer.clone()).await;
    too_long.refused(-32602, &["70000 bytes", "65536"]);
    let other_tool = asked.instead("ask1", json!({}));
    not_its_own(&client.retry(&other_tool, answer.clone()).await);
    let other_arguments = asked.instead("ask_loop", json!({ "n": 2 }));
    let reply = client.retry(&other_arguments, answer.clone()).await;
    reply.refused(-32602, &["the arguments are not those"]);
    let params = json!({ "name": "ask_loop", "arguments": { "n": 1 }, "requestState": 7 });
    let reply = client.request("tools/call", params).await;
    reply.refused(-32602, &["`requestState` must be a string"]);
    assert_eq!(text(&client.retry(&asked, answer).await), "A");
}

async fn c92_a_state_is_good_for_its_own_caller_alone(store: Store) {
    let flags = ["--token", "alice=a", "--token", "bob=b"];
    let server = store.http(&flags).await;
    let client = without_tasks(&server.client());
    let (alice, bob) = (client.with_token("a"), client.with_token("b"));
    let asked = alice.ask("whoami", json!({})).await;
    let key = asked.keys()[0];
    let answers = [(key, "yes")];
    not_its_own(&bob.fill_in(&asked, &answers).await);
    let reply = alice.fill_in(&asked, &answers).await;
    assert_eq!(text(&reply), "alice,alice");
}

async fn c92_a_state_grows_too_old(store: Store) {
    let server = store.http(&[]).await;
    let client = without_tasks(&server.client());
    let asked = client.ask("ask_brief", json!({})).await;
    tokio::time::sleep(std::time::Duration::from_millis(120)).await;
    let reply = client.fill_in(&asked, &[("answer", "A")]).await;
    reply.refused(-32602, &["too old"]);
}

async fn questions_before_the_task_come_in_rounds(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let asked = client.ask("pre", json!({})).await;
        assert_eq!(asked.keys(), ["who"]);
        let answer = json!({ "who": accepted(json!({ "name": "Luca" })) });
        let reply = client.retry(&asked, answer).await;
        let created = reply.result();
        assert_eq!(created["resultType"], "task", "{}", reply.text);
        assert!(created.get("requestState").is_none(), "{}", reply.text);
        let id = created["taskId"].as_str().unwrap();
        assert_eq!(client.until_text(id).await, "Hello, Luca");
    }
}

async fn a_task_can_begin_without_a_question_before_it(store: Store) {
    let server = store.http(&[]).await;
    let client = server.client();
    let id = client.task("post", json!({})).await;
    let key = client.until_asked(&id, None).await;
    let answer = json!({ key: accepted(json!({ "name": "Luca" })) });
    client.update(&id, answer).await.result();
    assert_eq!(client.until_text(&id).await, "Hello, Luca");
}

async fn start_task_does_nothing_for_clients_without_tasks(store: Store) {
    let server = store.http(&[]).await;
    let client = without_tasks(&server.client());
    for tool in ["pre", "post"] {
        let asked = client.ask(tool, json!({})).await;
        let answer: Value = json!({ "who": accepted(json!({ "name": "Luca" })) });
        assert_eq!(text(&client.retry(&asked, answer).await), "Hello, Luca");
    }
}

#[tokio::test]
async fn with_a_durable_store_a_state_counts_once() {
    let server = durable(Transport::Http, &[]).await;
    let client = without_tasks(&server.client());
    let asked = client.ask("ask2", json!({})).await;
    let first = client.fill_in(&asked, &[("first", "A")]).await;
    let again = client.fill_in(&asked, &[("first", "B")]).await;
    again.refused(-32602, &["used before"]);
    let reply = client
        .fill_in(&asked.next(&first), &[("second", "C")])
        .await;
    assert_eq!(text(&reply), "A,C");
}

#[tokio::test]
async fn a_step_runs_once_over_all_rounds_and_restarts() {
    let mut server = durable(Transport::Http, &[]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("side");
    let arguments = json!({ "file": file });
    let asked = without_tasks(&server.client()).ask("side", arguments).await;
    server.restart().await;
    let key = asked.keys()[0].to_owned();
    let client = without_tasks(&server.client());
    let reply = client.fill_in(&asked, &[(&key, "yes")]).await;
    assert_eq!(text(&reply), "ab");
}

async fn servers_on_one_store_take_each_others_states(store: Store, transport: Transport) {
    let one = store.start(transport, &[]).await;
    let two = one.launch().clone().over(transport.other()).start().await;
    let mut third = one.launch().start().await;
    let clients = [&one, &two, &third].map(|server| without_tasks(&server.client()));
    let [one, two, three] = clients;
    let asked = one.ask("ask2", json!({})).await;
    let first = two.fill_in(&asked, &[("first", "A")]).await;
    let reply = one.fill_in(&asked.next(&first), &[("second", "B")]).await;
    assert_eq!(text(&reply), "A,B");
    for client in [&one, &two] {
        let again = client.fill_in(&asked, &[("first", "B")]).await;
        again.refused(-32602, &["used before"]);
    }
    // Whoever asked need not be there any more.
    let asked = three.ask("ask1", json!({})).await;
    third.kill().await;
    let reply = two.fill_in(&asked, &[("answer", "C")]).await;
    assert_eq!(text(&reply), "got: C");
}
