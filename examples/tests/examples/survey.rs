//! `survey`: questions in loops, branches and side by side.

use mcp_tasks_tests::{Client, Launch, Transport, Visitor, acknowledged, keys};
use serde_json::{Value, json};

use super::{answer, asked, decline, fill_in, tool_error};

async fn begin(client: &Client, trip: Value) -> String {
    let id = client.task("survey", json!({})).await;
    fill_in(client, &id, "trip", trip).await;
    id
}

/// The plan that comes out.
async fn plan(client: &Client, id: &str) -> Value {
    let task = client.until(id, "completed").await;
    assert_ne!(task["result"]["isError"], true, "{task}");
    task["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn asks_until_there_are_no_more_guests_and_then_everybody_at_once() {
    let server = Launch::example(env!("CARGO_BIN_EXE_survey"), Transport::Stdio)
        .start()
        .await;
    let client = server.client();
    let occasion = json!({ "occasion": "Our summer party" });
    let id = client.task("survey", occasion).await;
    let trip = asked(&client, &id, "trip").await;
    assert_eq!(trip["params"]["message"], "Our summer party: how and when?");

    // What does not fit is refused, field by field, and stays open.
    let unfit = json!({ "by": "balloon", "day": "tomorrow", "budget": 501 });
    let unfit = json!({ "action": "accept", "content": unfit });
    let refused = answer(&client, &id, "trip", unfit).await;
    refused.refused(-32602, &["`by`", "`day`", "`budget`"]);
    let trip = json!({ "by": "train", "day": "2026-08-01" });
    fill_in(&client, &id, "trip", trip).await;

    // Only those who go by train are asked about it.
    fill_in(&client, &id, "train", json!({ "rail_pass": true })).await;
    let ada = json!({ "name": "Ada", "address": "ada@example.com" });
    fill_in(&client, &id, "guest", ada).await;
    fill_in(&client, &id, "guest#2", json!({ "name": "Luca" })).await;
    decline(&client, &id, "guest#3").await;

    // Two questions at once, answered in the other order.
    asked(&client, &id, "food/meal").await;
    let open = keys(&client.get(&id).await);
    assert_eq!(open, ["food/meal", "umbrellas/bool"]);
    fill_in(&client, &id, "umbrellas/bool", json!({ "answer": true })).await;
    fill_in(&client, &id, "food/meal", json!({ "answer": "picnic" })).await;

    // One for each guest, and each may say nothing.
    asked(&client, &id, "wishes/wish").await;
    let open = keys(&client.get(&id).await);
    assert_eq!(open, ["wishes#2/wish", "wishes/wish"]);
    decline(&client, &id, "wishes/wish").await;
    let wishes = json!({ "activities": ["boat", "museum"] });
    fill_in(&client, &id, "wishes#2/wish", wishes).await;

    let expected = json!({
        "occasion": "Our summer party",
        "day": "2026-08-01",
        "by": "train",
        "budget": 40,
        "notes": ["buy tickets at the reduced fare", "bring umbrellas"],
        "meal": "picnic",
        "guests": [
            { "name": "Ada", "address": "ada@example.com", "wishes": [] },
            { "name": "Luca", "wishes": ["boat", "museum"] },
        ],
    });
    assert_eq!(plan(&client, &id).await, expected);
}

#[tokio::test]
async fn a_full_car_ends_the_loop_and_walkers_are_asked_for_nothing_more() {
    let server = Launch::example(env!("CARGO_BIN_EXE_survey"), Transport::Http)
        .start()
        .await;
    let client = server.client();
    let by_car = begin(&client, json!({ "by": "car", "day": "2026-08-01" })).await;
    fill_in(&client, &by_car, "car", json!({ "seats": 2 })).await;
    fill_in(&client, &by_car, "guest", json!({ "name": "Mo" })).await;
    // There is room for nobody else.
    asked(&client, &by_car, "food/meal").await;

    let on_foot = json!({ "by": "on_foot", "day": "2026-08-01", "budget": 0 });
    let on_foot = begin(&client, on_foot).await;
    decline(&client, &on_foot, "guest").await;
    let both = json!({
        "food/meal": { "action": "accept", "content": { "answer": "restaurant" } },
        "umbrellas/bool": { "action": "accept", "content": { "answer": false } },
    });
    asked(&client, &on_foot, "food/meal").await;
    acknowledged(&client.update(&on_foot, both).await);
    let plan = plan(&client, &on_foot).await;
    assert_eq!(plan["guests"], json!([]));
    assert_eq!(plan["notes"], json!([]));
}

#[tokio::test]
async fn what_is_needed_and_declined_ends_the_survey_in_words() {
    let server = Launch::example(env!("CARGO_BIN_EXE_survey"), Transport::Stdio)
        .start()
        .await;
    let client = server.client();
    let id = client.task("survey", json!({})).await;
    decline(&client, &id, "trip").await;
    assert_eq!(tool_error(&client, &id).await, "the question was declined");

    // One of two questions at once withdraws the other.
    let id = begin(&client, json!({ "by": "on_foot", "day": "2026-08-01" })).await;
    decline(&client, &id, "guest").await;
    decline(&client, &id, "umbrellas/bool").await;
    assert_eq!(tool_error(&client, &id).await, "the question was declined");
}

#[tokio::test]
async fn a_browser_can_answer_beside_the_client() {
    let server = Launch::example(env!("CARGO_BIN_EXE_survey"), Transport::Http);
    let server = server.flags(&["--inbox"]).start().await;
    let client = server.client();
    let id = client.task("survey", json!({})).await;
    asked(&client, &id, "trip").await;
    let browser = Visitor::of(client.url().replace("/mcp", "/inbox"));
    let form = browser.look().await.form();
    assert!(form.card.contains("A day out: how and when?"));
    // The third of three ways to travel, the day, and the budget.
    let on_foot = [("f0", "2"), ("f1", "2026-08-01"), ("f2", "0")];
    let page = browser.submit(&form.filled("answer", &on_foot)).await;
    assert_eq!(page.status, 303, "{}", page.text);
    let guest = asked(&client, &id, "guest").await;
    let words = guest["params"]["message"].as_str().unwrap();
    assert!(words.starts_with("Who comes along?"), "{words}");
}
