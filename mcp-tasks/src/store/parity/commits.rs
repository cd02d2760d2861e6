//! A commit is appended whole, or not at all.

use super::behaviours;
use super::room::{Room, asked, created, finished, kind, said, step_done, withdrawn};
use crate::store::{Activity, Commit, StoreError};
use crate::task::{Event, FencingNumber, InputKey};

behaviours![
    a_commit_is_seen_by_everybody,
    a_commit_that_has_not_seen_everything_gets_what_is_missing,
    a_commit_that_breaks_the_rules_leaves_nothing_behind,
    nothing_comes_after_the_end,
    a_commit_under_an_old_claim_is_lost,
    a_commit_under_the_claim_of_another_holder_is_lost,
    a_parked_task_is_nobodys,
    a_commit_whose_future_was_dropped_has_happened_whole_or_not_at_all,
];

async fn a_commit_is_seen_by_everybody(room: Room) {
    let holder = room.holder().await;
    let claim = holder.create(created("a")).await;
    let id = &claim.snapshot.id;
    let events = vec![step_done("step"), asked("question"), said("your turn")];
    let snapshot = holder.goes_on(&claim, 1, events, Activity::Waiting).await;
    for holder in [holder, room.holder().await] {
        let task = holder.task(id).await;
        assert_eq!(task.message.as_deref(), Some("your turn"));
        assert_eq!(task.updated_at, snapshot.updated_at);
        assert_eq!(task.input_requests, snapshot.input_requests);
        let kinds = holder.kinds(id).await;
        assert_eq!(kinds, ["created", "step_done", "asked", "status"]);
    }
}

async fn a_commit_that_has_not_seen_everything_gets_what_is_missing(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    holder.answer(id, "Ada").await;
    holder.signal(id, "name", 1.into()).await;
    // It would withdraw what is answered by now.
    let events = vec![withdrawn("question")];
    let commit = holder.commit(&claim, 2, events, Activity::Running).await;
    let Commit::Behind(missing) = commit else {
        panic!("it has not seen everything: {commit:?}");
    };
    let kinds: Vec<String> = missing.iter().map(kind).collect();
    assert_eq!(kinds, ["answered", "signalled"]);
    assert_eq!(holder.journal(id, 4).await.len(), 0);
    holder.finish(&claim, 4).await;
    let commit = holder.commit(&claim, 4, vec![], Activity::Waiting).await;
    let Commit::Behind(missing) = commit else {
        panic!("the task has ended: {commit:?}");
    };
    assert_eq!(missing.iter().map(kind).collect::<Vec<_>>(), ["finished"]);
}

async fn a_commit_that_breaks_the_rules_leaves_nothing_behind(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    let nobody_waits = Event::TimerFired {
        key: InputKey::new("never set"),
    };
    for illegal in [
        vec![step_done("step"), asked("question")],
        vec![withdrawn("question"), withdrawn("question")],
        vec![said("about to fail"), nobody_waits],
        vec![finished(), step_done("step")],
        vec![Event::Created(Box::new(created("a")))],
    ] {
        let commit = holder
            .try_commit(&claim, 2, illegal, Activity::Parked)
            .await;
        let refused = matches!(&commit, Err(StoreError::Damaged { id: named, .. }) if named == id);
        assert!(refused, "{commit:?}");
        assert_eq!(holder.kinds(id).await, ["created", "asked"]);
        assert_eq!(holder.task(id).await.message, None);
    }
    // It goes on as if nothing had been.
    let events = vec![step_done("step"), withdrawn("question")];
    holder.goes_on(&claim, 2, events, Activity::Running).await;
    holder.finish(&claim, 4).await;
}

async fn nothing_comes_after_the_end(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    let end = holder.finish(&claim, 2).await;
    for event in [finished(), step_done("step"), said("more")] {
        let commit = holder
            .try_commit(&claim, 3, vec![event], Activity::Running)
            .await;
        assert!(
            matches!(commit, Err(StoreError::Damaged { .. })),
            "{commit:?}"
        );
    }
    assert!(!holder.answer(id, "Ada").await.changed);
    assert!(!holder.cancel(id).await.changed);
    let signalled = holder.signal(id, "name", 1.into()).await;
    assert!(!signalled.expect("the task is there").changed);
    assert!(holder.claim_all().await.is_empty());
    assert_eq!(holder.kinds(id).await, ["finished"]);
    assert_eq!(holder.task(id).await.updated_at, end.updated_at);
}

async fn a_commit_under_an_old_claim_is_lost(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    holder.goes_on(&claim, 2, vec![], Activity::Parked).await;
    holder.answer(&claim.snapshot.id, "Ada").await;
    let again = holder.claim_the_one().await;
    assert!(again.fencing > claim.fencing);
    let commit = holder
        .commit(&claim, 3, vec![finished()], Activity::Waiting)
        .await;
    assert!(matches!(commit, Commit::Lost), "{commit:?}");
    let mut invented = again.clone();
    invented.fencing = FencingNumber(again.fencing.0 + 1);
    let commit = holder
        .commit(&invented, 3, vec![finished()], Activity::Waiting)
        .await;
    assert!(matches!(commit, Commit::Lost), "{commit:?}");
    holder.finish(&again, 3).await;
}

async fn a_commit_under_the_claim_of_another_holder_is_lost(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.asking("a").await;
    let commit = other
        .commit(&claim, 2, vec![finished()], Activity::Waiting)
        .await;
    assert!(matches!(commit, Commit::Lost), "{commit:?}");
    // Not even with what it has not seen.
    let commit = other.commit(&claim, 1, vec![], Activity::Waiting).await;
    assert!(matches!(commit, Commit::Lost), "{commit:?}");
    holder.finish(&claim, 2).await;
}

async fn a_parked_task_is_nobodys(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    holder.goes_on(&claim, 2, vec![], Activity::Parked).await;
    let commit = holder.commit(&claim, 2, vec![], Activity::Running).await;
    assert!(matches!(commit, Commit::Lost), "{commit:?}");
    assert_eq!(holder.kinds(&claim.snapshot.id).await, ["created", "asked"]);
}

async fn a_commit_whose_future_was_dropped_has_happened_whole_or_not_at_all(room: Room) {
    use std::time::Duration;
    let holder = room.holder().await;
    for round in 0..20 {
        let claim = holder.create(created(&round.to_string())).await;
        let events = vec![asked("question"), step_done("step")];
        let commit = holder.try_commit(&claim, 1, events, Activity::Waiting);
        let moment = Duration::from_micros(50 * round);
        let _ = tokio::time::timeout(moment, commit).await;
        let commit = holder.commit(&claim, 1, vec![], Activity::Waiting).await;
        let seen = match commit {
            Commit::Done(snapshot) => snapshot.input_requests.len(),
            Commit::Behind(missing) => missing.len(),
            Commit::Lost => panic!("nobody has taken it"),
        };
        assert!(seen == 0 || seen == 2, "{seen} entries of two");
        assert_eq!(holder.journal(&claim.snapshot.id, 1).await.len(), seen);
    }
}
