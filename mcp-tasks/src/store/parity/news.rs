//! A holder hears what others do to its tasks.

use std::time::{Duration, Instant};

use super::behaviours;
use super::room::{Holder, LEASE, Room, created};
use crate::store::Activity;
use crate::task::TaskId;

behaviours![
    others_are_told_what_has_arrived_for_their_tasks,
    the_holder_is_told_once_of_a_task_that_others_have_ended,
    what_a_holder_ends_itself_is_no_news,
    whatever_a_holder_does_wakes_the_others,
    a_dropped_wait_for_news_loses_nothing,
    a_dropped_wait_for_news_loses_no_end,
];

/// Waits for news that name a task.
async fn news(holder: &Holder) -> Vec<TaskId> {
    loop {
        let news = holder.store.news().await.expect("the store is there");
        if !news.grown.is_empty() {
            return news.grown;
        }
    }
}

async fn others_are_told_what_has_arrived_for_their_tasks(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.asking("a").await;
    holder.asking("b").await;
    let id = &claim.snapshot.id;
    let answering = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let answered = Instant::now();
        other.answer(id, "Ada").await;
        answered
    };
    let waiting = async {
        let news = news(&holder).await;
        (news, Instant::now())
    };
    let both = async { tokio::join!(answering, waiting) };
    let (answered, (news, heard)) = tokio::time::timeout(Duration::from_secs(10), both)
        .await
        .expect("there are news");
    assert_eq!(news, std::slice::from_ref(id));
    // In a quiet room it takes a fifth of a second.
    assert!(heard.duration_since(answered) < Duration::from_secs(2));
    // Once it is seen it is no news.
    holder.goes_on(&claim, 3, vec![], Activity::Running).await;
    other.create(created("c")).await;
    no_more(&holder).await;
}

/// Checks that no news name a task.
async fn no_more(holder: &Holder) {
    let later = tokio::time::timeout(Duration::from_millis(500), news(holder)).await;
    assert!(later.is_err(), "{later:?}");
}

async fn the_holder_is_told_once_of_a_task_that_others_have_ended(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let mut mortal = created("expired");
    mortal.ttl_ms = Some(LEASE / 4);
    let mut expected = vec![
        holder.create(mortal).await.snapshot.id.clone(),
        holder.asking("cancelled").await.snapshot.id.clone(),
        holder
            .asking("answered and cancelled")
            .await
            .snapshot
            .id
            .clone(),
    ];
    let parked = holder.parked("parked").await;
    other.cancel(&expected[1]).await;
    other.answer(&expected[2], "Ada").await;
    other.cancel(&expected[2]).await;
    other.cancel(&parked).await;
    room.pass(LEASE / 4 + 1).await;
    let elapsed = other.store.elapse(10, other.now()).await;
    assert_eq!(elapsed.expect("the store is there").changes.len(), 1);
    // They may not come all at once.
    let mut told = Vec::new();
    while told.len() < expected.len() {
        let news = tokio::time::timeout(Duration::from_secs(10), news(&holder)).await;
        told.extend(news.expect("there are news"));
    }
    told.sort();
    expected.sort();
    assert_eq!(told, expected);
    other.create(created("another")).await;
    no_more(&holder).await;
    no_more(&other).await;
}

async fn what_a_holder_ends_itself_is_no_news(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.asking("a").await;
    let id = holder.asking("b").await.snapshot.id.clone();
    holder.finish(&claim, claim.last).await;
    other.answer(&id, "Ada").await;
    holder.cancel(&id).await;
    no_more(&holder).await;
}

async fn whatever_a_holder_does_wakes_the_others(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.asking("a").await;
    // So far others may have heard of it.
    let so_far = async { while other.store.news().await.is_ok() {} };
    let so_far = tokio::time::timeout(Duration::from_millis(500), so_far);
    so_far.await.expect_err("the store is there");
    let woken = tokio::time::timeout(Duration::from_secs(10), other.store.news());
    let (woken, _) = tokio::join!(woken, holder.finish(&claim, claim.last));
    let news = woken.expect("they are woken").expect("the store is there");
    assert_eq!(news.grown, [], "it is none of theirs");
    let id = &claim.snapshot.id;
    assert!(news.changed.is_none_or(|changed| changed.contains(id)));
}

async fn a_dropped_wait_for_news_loses_nothing(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.asking("a").await;
    other.answer(&claim.snapshot.id, "Ada").await;
    for micros in [0, 1, 10, 100, 1000] {
        // Whoever hears it does not keep it.
        let _ = tokio::time::timeout(Duration::from_micros(micros), async {
            holder.store.news().await.ok();
            std::future::pending::<()>().await;
        })
        .await;
        other.signal(&claim.snapshot.id, "name", 1.into()).await;
    }
    let news = tokio::time::timeout(Duration::from_secs(10), news(&holder)).await;
    let news = news.expect("there are news");
    assert_eq!(news, std::slice::from_ref(&claim.snapshot.id));
}

async fn a_dropped_wait_for_news_loses_no_end(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let id = holder.asking("a").await.snapshot.id.clone();
    other.cancel(&id).await;
    let mut heard = Vec::new();
    for patience in [0, 1, 10, 20, 50, 100, 200, 500, 1000, 10_000_000] {
        let patience = Duration::from_micros(patience);
        if let Ok(news) = tokio::time::timeout(patience, holder.store.news()).await {
            heard.extend(news.expect("the store is there").grown);
        }
        if !heard.is_empty() {
            break;
        }
    }
    assert_eq!(heard, [id]);
    other.create(created("b")).await;
    no_more(&holder).await;
}
