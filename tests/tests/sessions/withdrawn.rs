//! Questions that are taken back, and clients that go away.

use mcp_tasks_tests::{Said, Session, Transport};
use serde_json::json;

use super::questions::both;
use super::{able, accepted, open, over_every_transport};

over_every_transport! {
    a_timeout_takes_the_question_back,
    the_loser_of_a_race_is_taken_back,
    a_cancelled_call_takes_its_questions_back,
    a_client_may_go_away_while_it_is_asked,
}

/// The next message takes this question back.
async fn taken_back(session: &mut Session, asked: &Said) {
    let said = session.next().await.message;
    assert_eq!(said["method"], "notifications/cancelled", "{said}");
    assert_eq!(said["params"]["requestId"], asked.message["id"], "{said}");
}

/// The next two messages are the reply to a call and the end of a question, in
/// an order that HTTP does not keep.
async fn replied_and_taken_back(session: &mut Session, id: u64, asked: &Said) -> String {
    let mut text = None;
    for _ in 0..2 {
        let said = session.next().await.message;
        if said["method"] == "notifications/cancelled" {
            assert_eq!(said["params"]["requestId"], asked.message["id"], "{said}");
        } else {
            assert_eq!(said["id"], id, "{said}");
            text = said["result"]["content"][0]["text"]
                .as_str()
                .map(str::to_owned);
        }
    }
    text.expect("it was answered")
}

async fn a_timeout_takes_the_question_back(transport: Transport) {
    let mut session = open(transport, "2025-11-25", able()).await;
    let id = session.call("race", json!({ "ms": 20 })).await;
    let asked = session.asked("elicitation/create").await;
    let text = replied_and_taken_back(&mut session, id, &asked).await;
    assert_eq!(text, "timed out");
    // Whoever answers late does no harm.
    session
        .answer(&asked, accepted(json!({ "answer": "late" })))
        .await;
    let id = session.call("race", json!({ "ms": 60_000 })).await;
    let asked = session.asked("elicitation/create").await;
    session
        .answer(&asked, accepted(json!({ "answer": "in time" })))
        .await;
    assert_eq!(session.text(id).await, "got: in time");
}

async fn the_loser_of_a_race_is_taken_back(transport: Transport) {
    let mut session = open(transport, "2025-11-25", able()).await;
    let id = session.call("first_of_two", json!({})).await;
    let (left, right) = both(&mut session).await;
    session
        .answer(&right, accepted(json!({ "answer": "B" })))
        .await;
    let text = replied_and_taken_back(&mut session, id, &left).await;
    assert_eq!(text, "B");
}

async fn a_cancelled_call_takes_its_questions_back(transport: Transport) {
    let mut session = open(transport, "2025-11-25", able()).await;
    let id = session.call("ask1", json!({})).await;
    let asked = session.asked("elicitation/create").await;
    session.cancel(id).await;
    // The function was dropped: nothing else would take it back.
    taken_back(&mut session, &asked).await;
    session
        .answer(&asked, accepted(json!({ "answer": "late" })))
        .await;
    let id = session.call("sync", json!({})).await;
    // No reply came for the cancelled call.
    session.reply(id).await;
}

async fn a_client_may_go_away_while_it_is_asked(transport: Transport) {
    let mut session = open(transport, "2025-11-25", able()).await;
    session.call("ask1", json!({})).await;
    session.asked("elicitation/create").await;
    let rest = session.hang_up().await;
    assert!(
        rest.iter().all(|said| said.message["result"].is_null()),
        "{rest:?}"
    );
}
