//! What time alone does: expiry, the end of a grace, deletion.

use super::behaviours;
use super::room::{Holder, LEASE, Room, created, server};
use crate::protocol::TaskStatus;
use crate::store::{Activity, Elapsed, Server};
use crate::task::{Created, Event, Retention, TaskId};

behaviours![
    a_task_that_outlives_its_ttl_has_failed,
    a_task_without_a_ttl_never_expires,
    a_changed_ttl_counts,
    a_grace_that_is_over_ends_the_task,
    an_ended_task_is_deleted_when_its_retention_is_over,
    a_holder_that_keeps_tasks_for_longer_is_heeded,
    no_more_tasks_than_asked_for_elapse_at_a_time,
    what_is_due_first_is_done_first,
];

fn lasting(id: &str, ttl_ms: u64) -> Created {
    Created {
        ttl_ms: Some(ttl_ms),
        ..created(id)
    }
}

async fn elapse(holder: &Holder, limit: usize) -> Elapsed {
    let elapsed = holder.store.elapse(limit, holder.now()).await;
    elapsed.expect("the store is there")
}

async fn a_task_that_outlives_its_ttl_has_failed(room: Room) {
    let holder = room.holder().await;
    let claim = holder.create(lasting("a", 200)).await;
    let id = &claim.snapshot.id;
    let elapsed = elapse(&holder, 10).await;
    assert!(elapsed.changes.is_empty());
    assert_eq!(elapsed.next, claim.snapshot.expires_at());
    room.pass(201).await;
    // Whoever has time for it does it.
    let other = room.holder().await;
    let elapsed = elapse(&other, 10).await;
    assert_eq!(elapsed.changes.len(), 1);
    let change = &elapsed.changes[0];
    assert!(change.changed && !change.unclaimed);
    assert_eq!(change.snapshot.status(), TaskStatus::Failed);
    let message = change.snapshot.status_message();
    assert!(message.is_some_and(|words| words.contains("expired")));
    assert!(elapse(&holder, 10).await.changes.is_empty());
    assert_eq!(holder.kinds(id).await, ["finished"]);
}

async fn a_task_without_a_ttl_never_expires(room: Room) {
    let holder = room.holder().await;
    holder.create(created("a")).await;
    holder.create(lasting("b", u64::MAX)).await;
    room.pass(LEASE / 2).await;
    let elapsed = elapse(&holder, 10).await;
    assert!(elapsed.changes.is_empty());
    let ages = crate::task::Timestamp::from_millis(1 << 60);
    assert!(elapsed.next.is_none_or(|next| next > ages));
}

async fn a_changed_ttl_counts(room: Room) {
    let holder = room.holder().await;
    let shorter = holder.create(created("a")).await;
    let longer = holder.create(lasting("b", 100)).await;
    let change = |ttl_ms| vec![Event::TtlChanged { ttl_ms }];
    holder
        .goes_on(&shorter, 1, change(Some(100)), Activity::Running)
        .await;
    holder
        .goes_on(&longer, 1, change(None), Activity::Running)
        .await;
    room.pass(101).await;
    let elapsed = elapse(&holder, 10).await;
    let ended: Vec<&str> = elapsed
        .changes
        .iter()
        .map(|change| change.snapshot.id.as_str())
        .collect();
    assert_eq!(ended, ["a"]);
}

async fn a_grace_that_is_over_ends_the_task(room: Room) {
    let holder = room.holder().await;
    let mut first = created("a");
    first.cancel_grace_ms = Some(200);
    let claim = holder.create(first).await;
    let deadline = holder
        .cancel(&claim.snapshot.id)
        .await
        .snapshot
        .cancel_deadline;
    let elapsed = elapse(&holder, 10).await;
    assert!(elapsed.changes.is_empty());
    assert_eq!(elapsed.next, deadline);
    room.pass(201).await;
    let elapsed = elapse(&holder, 10).await;
    assert_eq!(elapsed.changes.len(), 1);
    assert_eq!(elapsed.changes[0].snapshot.status(), TaskStatus::Cancelled);
}

async fn an_ended_task_is_deleted_when_its_retention_is_over(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    let end = holder.finish(&claim, 2).await;
    let elapsed = elapse(&holder, 10).await;
    assert!(elapsed.changes.is_empty());
    assert_eq!(elapsed.next, Some(end.updated_at.plus_millis(500)));
    assert!(holder.get(id).await.is_some());
    room.pass(501).await;
    let elapsed = elapse(&holder, 10).await;
    assert!(elapsed.changes.is_empty());
    assert_eq!(elapsed.next, None);
    assert!(holder.get(id).await.is_none());
    assert!(holder.journal(id, 0).await.is_empty());
    let stats = holder.store.stats().await.expect("the store is there");
    assert_eq!((stats.live, stats.stored), (0, 0));
}

async fn a_holder_that_keeps_tasks_for_longer_is_heeded(room: Room) {
    let hasty = room.holder().await;
    let patient = Server {
        retention: Retention::Millis(2000),
        ..server()
    };
    let patient = room.holder_for(patient).await;
    let claim = hasty.create(created("a")).await;
    hasty.finish(&claim, 1).await;
    let id = &claim.snapshot.id;
    room.pass(501).await;
    let elapsed = elapse(&patient, 10).await;
    assert!(patient.get(id).await.is_some());
    assert!(elapsed.next.is_some_and(|next| next > room.now()));
    room.pass(1500).await;
    elapse(&patient, 10).await;
    assert!(patient.get(id).await.is_none());
}

async fn no_more_tasks_than_asked_for_elapse_at_a_time(room: Room) {
    let holder = room.holder().await;
    for id in ["a", "b", "c"] {
        holder.create(lasting(id, 50)).await;
    }
    room.pass(60).await;
    let elapsed = elapse(&holder, 2).await;
    assert_eq!(elapsed.changes.len(), 2);
    assert!(elapsed.next.is_some_and(|next| next <= room.now()));
    assert_eq!(elapse(&holder, 2).await.changes.len(), 1);
}

async fn what_is_due_first_is_done_first(room: Room) {
    let holder = room.holder().await;
    for (id, ttl_ms) in [("c", 900), ("a", 300), ("b", 600)] {
        holder.create(lasting(id, ttl_ms)).await;
    }
    room.pass(1000).await;
    for wanted in ["a", "b", "c"] {
        let elapsed = elapse(&holder, 1).await;
        let ids: Vec<&TaskId> = elapsed
            .changes
            .iter()
            .map(|change| &change.snapshot.id)
            .collect();
        assert_eq!(ids, [&TaskId::from_text(wanted)]);
    }
}
