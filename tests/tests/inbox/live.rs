//! Open pages hear of what changes.

use mcp_tasks::SqliteStore;
use mcp_tasks_tests::StoreFile;
use serde_json::json;

use super::server::{Desk, desk};

/// What a page that is fetched now is known by.
async fn shown(desk: &Desk) -> String {
    let page = desk.visiting_alice().look().await.text;
    let digest = page.split("data-digest=\"").nth(1).unwrap();
    digest.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_page_hears_that_a_question_came_and_went() {
    let desk = Desk::with_inbox().await;
    let mut events = desk.visiting_alice().events().await;
    let empty = events.next().await.unwrap();
    assert_eq!(empty, shown(&desk).await, "there is nothing to fetch");
    let id = desk.asks("name").await;
    let mut told = events.next().await.unwrap();
    while told != shown(&desk).await {
        told = events.next().await.unwrap();
    }
    assert_ne!(told, empty);
    desk.alice().answer(&id, "name", "Ada").await;
    assert_eq!(events.next().await.unwrap(), empty);
}

#[tokio::test]
async fn what_others_are_asked_is_not_told() {
    let desk = Desk::with_inbox().await;
    let mut bobs = desk.visitor("b-secret").events().await;
    let before = bobs.next().await.unwrap();
    desk.asks("name").await;
    // His own comes next.
    let id = desk.client("b-secret").task("confirm", json!({})).await;
    desk.client("b-secret").until_asked(&id, None).await;
    assert_ne!(bobs.next().await.unwrap(), before);
    let page = desk.visitor("b-secret").look().await;
    assert_eq!(page.forms().len(), 1);
}

#[tokio::test]
async fn what_another_process_changes_is_told_too() {
    let file = StoreFile::new();
    let open = async || {
        let store = SqliteStore::open(file.path()).unwrap();
        Desk::open(desk().inbox().store(store)).await
    };
    let (one, two) = (open().await, open().await);
    let mut events = two.visiting_alice().events().await;
    let empty = events.next().await.unwrap();
    one.asks("confirm").await;
    let told = events.next().await.unwrap();
    assert_ne!(told, empty);
}

#[tokio::test]
async fn the_stream_ends_when_the_server_does() {
    let desk = Desk::with_inbox().await;
    let mut events = desk.visiting_alice().events().await;
    events.next().await.unwrap();
    desk.server.shut_down().await;
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn no_more_pages_listen_than_may() {
    let desk = Desk::with_limits(|limits| limits.subscriptions_per_caller = 2).await;
    let visitor = desk.visiting_alice();
    let (_one, two) = (visitor.events().await, visitor.events().await);
    let page = visitor.get("events").await;
    assert_eq!(page.status, 503);
    page.shows(&["close some"]);
    desk.visitor("b-secret").events().await;
    drop(two);
    // Its seat is free once its connection is seen to be closed.
    loop {
        if visitor.try_events().await.is_some() {
            return;
        }
    }
}
