//! What a client shows of a call while it is under way, and how it comes to know.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_tasks::client::{Direction, TaskClient};
use mcp_tasks::protocol::TaskStatus;
use mcp_tasks_tests::{Transport, over_every_transport};
use serde_json::json;

use super::{Meddled, Pair, outcome, text, unknown_method};

over_every_transport! {
    messages_are_shown_as_they_stand_on_the_wire,
    progress_and_messages_are_shown,
    the_last_state_is_the_end,
}

async fn messages_are_shown_as_they_stand_on_the_wire(transport: Transport) {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let show = Arc::clone(&shown);
    let builder = TaskClient::builder().messages(move |direction, text| {
        show.lock().unwrap().push((direction, text.to_owned()));
    });
    let pair = Pair::new(transport, builder).await;
    outcome!(pair.client.call("sync", json!({}))).unwrap();
    let shown = shown.lock().unwrap();
    let place = |direction, part: &str| {
        let found = shown
            .iter()
            .position(|(way, text)| *way == direction && text.contains(part));
        found.unwrap_or_else(|| panic!("no {part}: {shown:?}"))
    };
    let sent = place(Direction::Sent, r#""method":"tools/call""#);
    // What is ours begins as we write it.
    assert!(
        sent < place(
            Direction::Received,
            r#""result":{"resultType":"complete","content""#
        )
    );
    assert!(place(Direction::Received, "serverInfo") < sent);
}

async fn progress_and_messages_are_shown(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let call = pair.client.call("count", json!({ "n": 200 }));
    let mut states = call.states();
    let mut done = Vec::new();
    while let Some(state) = states.next().await {
        if let Some(progress) = state.progress {
            assert_eq!(progress.total, Some(200.0));
            assert!(state.message.is_some_and(|words| words.contains("/200")));
            done.push(progress.done);
        }
    }
    assert!(done.is_sorted(), "{done:?}");
    assert!(done.len() > 1, "{done:?}");
    assert_eq!(text(&outcome!(call).unwrap()), "done");
}

async fn the_last_state_is_the_end(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let call = pair.client.call("hard", json!({}));
    let mut states = call.states();
    let mut last = None;
    while let Some(state) = states.next().await {
        last = Some(state);
    }
    let last = last.unwrap();
    assert_eq!(last.status, TaskStatus::Failed);
    assert!(
        last.message
            .is_some_and(|words| words.contains("hard failure"))
    );
    outcome!(call).unwrap_err();
}

#[tokio::test]
async fn a_server_that_tells_of_the_task_is_hardly_polled() {
    let meddled = Meddled::new(TaskClient::builder(), &[]).await;
    let call = meddled.client.call("slow", json!({ "ms": 3500 }));
    assert_eq!(text(&outcome!(call).unwrap()), "done");
    assert_eq!(meddled.proxy.seen("subscriptions/listen").len(), 1);
    let polls = meddled.proxy.seen("tasks/get").len();
    assert!(polls <= 2, "{polls} polls in 3.5 s");
}

#[tokio::test]
async fn a_server_that_tells_nothing_is_polled_as_it_says() {
    let plan = |proxy: &mcp_tasks_tests::meddler::Meddler| {
        proxy.always("subscriptions/listen", unknown_method());
    };
    let meddled = Meddled::prepared(TaskClient::builder(), &[], plan).await;
    let call = meddled.client.call("slow", json!({ "ms": 3500 }));
    assert_eq!(text(&outcome!(call).unwrap()), "done");
    // It is not asked again whether it would.
    assert_eq!(meddled.proxy.seen("subscriptions/listen").len(), 1);
    let polls = meddled.proxy.seen("tasks/get");
    assert!((3..=5).contains(&polls.len()), "{} polls", polls.len());
    for pair in polls.windows(2) {
        assert!(pair[1].at - pair[0].at >= Duration::from_millis(990));
    }
}
