//! What a holder leaves behind, others take over.

use super::behaviours;
use super::room::{
    Holder, LEASE, NO_LIMITS, Room, asked, created, finished, server, step_done, timer,
};
use crate::store::{Activity, Claim, Commit};
use crate::task::{Event, TaskId};

behaviours![
    what_ran_when_its_holder_died_is_recovered,
    what_ran_when_its_holder_left_goes_on_elsewhere,
    what_waited_when_its_holder_died_waits_on,
    what_arrives_for_a_task_of_a_dead_holder_wakes_it,
    a_timer_of_a_dead_holder_wakes_its_task,
    a_holder_whose_lease_is_over_is_dead,
    a_holder_whose_lease_is_over_gets_no_task_for_itself,
    a_holder_that_renews_its_lease_lives,
    a_holder_that_comes_back_is_another,
    the_number_of_a_claim_grows_with_every_claim,
    a_recovery_says_whether_the_task_runs_alone,
    suspects_are_recovered_one_at_a_time,
    a_task_that_gets_further_is_trusted_again,
];

async fn what_ran_when_its_holder_died_is_recovered(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.create(created("a")).await;
    assert!(other.claim_all().await.is_empty());
    holder.die().await;
    let taken = other.claim_the_one().await;
    let id = &taken.snapshot.id;
    assert_eq!(other.kinds(id).await, ["created", "recovery_started"]);
    assert_eq!(taken.last, 2);
    assert!(taken.fencing > claim.fencing);
    let late = holder
        .commit(&claim, 1, vec![finished()], Activity::Waiting)
        .await;
    assert!(matches!(late, Commit::Lost), "{late:?}");
    other.finish(&taken, 2).await;
}

async fn what_ran_when_its_holder_left_goes_on_elsewhere(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.create(created("a")).await;
    holder.leave().await;
    let taken = other.claim_the_one().await;
    assert_eq!(other.kinds(&taken.snapshot.id).await, ["created"]);
    assert!(taken.fencing > claim.fencing);
    other.finish(&taken, 1).await;
}

async fn what_waited_when_its_holder_died_waits_on(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.asking("a").await;
    holder.die().await;
    assert!(other.claim_all().await.is_empty());
    assert_eq!(other.kinds(&claim.snapshot.id).await, ["created", "asked"]);
}

async fn what_arrives_for_a_task_of_a_dead_holder_wakes_it(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let before = holder.asking("a").await;
    holder.answer(&before.snapshot.id, "Ada").await;
    let after = holder.asking("b").await;
    holder.die().await;
    assert!(other.answer(&after.snapshot.id, "Bob").await.unclaimed);
    let claims = other.claim_all().await;
    assert_eq!(claims.len(), 2);
    // Its function did not run, so that it is not to blame.
    for claim in claims {
        assert_eq!(
            other.kinds(&claim.snapshot.id).await,
            ["created", "asked", "answered"]
        );
    }
}

async fn a_timer_of_a_dead_holder_wakes_its_task(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.create(created("a")).await;
    let at = room.now().plus_millis(100);
    let events = vec![timer("sleep", at)];
    holder.goes_on(&claim, 1, events, Activity::Waiting).await;
    holder.die().await;
    let work = other.claim(super::room::anything()).await;
    assert!(work.claims.is_empty());
    assert_eq!(work.next, Some(at));
    room.pass(101).await;
    other.claim_the_one().await;
}

async fn a_holder_whose_lease_is_over_is_dead(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.create(created("a")).await;
    for _ in 0..3 {
        room.pass(LEASE / 4).await;
        assert!(other.renew().await);
    }
    assert!(other.claim_all().await.is_empty());
    for _ in 0..2 {
        room.pass(LEASE / 4).await;
        assert!(other.renew().await);
    }
    let taken = other.claim_the_one().await;
    // It wakes up late.
    let late = holder
        .commit(&claim, 1, vec![step_done("step")], Activity::Running)
        .await;
    assert!(matches!(late, Commit::Lost), "{late:?}");
    assert!(!holder.renew().await);
    other.finish(&taken, 2).await;
}

async fn a_holder_whose_lease_is_over_gets_no_task_for_itself(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.create(created("a")).await;
    for _ in 0..5 {
        room.pass(LEASE / 4).await;
        assert!(other.renew().await);
    }
    // It wakes up late, and has not heard of that.
    let claimed = holder.claim_all().await;
    assert!(claimed.is_empty(), "{claimed:?}");
    let begun = holder.store.create(created("b"), NO_LIMITS, room.now());
    let begun = begun.await.is_ok();
    // Whatever it got, others have a right to.
    let taken = other.claim_all().await;
    let ids: Vec<&str> = taken.iter().map(|it| it.snapshot.id.as_str()).collect();
    assert!(ids.contains(&claim.snapshot.id.as_str()), "{ids:?}");
    assert_eq!(ids.len(), 1 + usize::from(begun), "{ids:?}");
    // It begins anew, and is as good as any.
    holder.enlist(&server()).await;
    let claim = holder.create(created("c")).await;
    holder.finish(&claim, 1).await;
}

async fn a_holder_that_renews_its_lease_lives(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.create(created("a")).await;
    for _ in 0..4 {
        room.pass(LEASE / 2).await;
        assert!(holder.renew().await);
        assert!(other.renew().await);
        assert!(other.claim_all().await.is_empty());
    }
    holder.finish(&claim, 1).await;
}

async fn a_holder_that_comes_back_is_another(room: Room) {
    let holder = room.holder().await;
    let claim = holder.create(created("a")).await;
    holder.enlist(&server()).await;
    let late = holder.commit(&claim, 1, vec![], Activity::Running).await;
    assert!(matches!(late, Commit::Lost), "{late:?}");
    let again = holder.claim_the_one().await;
    assert!(again.fencing > claim.fencing);
    assert!(holder.renew().await);
    holder.finish(&again, again.last).await;
}

async fn the_number_of_a_claim_grows_with_every_claim(room: Room) {
    let mut holder = room.holder().await;
    let mut claim = holder.create(created("a")).await;
    for _ in 0..3 {
        let next = room.holder().await;
        holder.die().await;
        holder = next;
        let again = holder.claim_the_one().await;
        assert!(again.fencing > claim.fencing);
        // A sign of life, so that it is not a suspect.
        holder
            .goes_on(
                &again,
                again.last,
                vec![step_done(&again.last.to_string())],
                Activity::Running,
            )
            .await;
        claim = again;
    }
}

fn alone_flags(journal: &[crate::task::Entry]) -> Vec<bool> {
    let flag = |entry: &crate::task::Entry| match entry.event {
        Event::RecoveryStarted { alone } => Some(alone),
        _ => None,
    };
    journal.iter().filter_map(flag).collect()
}

async fn a_recovery_says_whether_the_task_runs_alone(room: Room) {
    let holder = room.holder().await;
    let one = holder.create(created("a")).await.snapshot.id.clone();
    let next = room.holder().await;
    holder.die().await;
    next.claim_the_one().await;
    assert_eq!(alone_flags(&next.journal(&one, 0).await), [true]);
    let last = room.holder().await;
    let own = last.create(created("b")).await.snapshot.id.clone();
    next.die().await;
    last.claim_the_one().await;
    assert_eq!(alone_flags(&last.journal(&one, 0).await), [true, false]);
    assert!(alone_flags(&last.journal(&own, 0).await).is_empty());
}

/// Lets holders die one after the other, as often as it takes to make suspects
/// of the tasks that they run.
async fn until_suspected(room: &Room, mut holder: Holder, tasks: usize) -> Holder {
    for _ in 0..2 {
        let next = room.holder().await;
        holder.die().await;
        holder = next;
        assert_eq!(holder.claim_all().await.len(), tasks);
    }
    holder
}

async fn suspects_are_recovered_one_at_a_time(room: Room) {
    let holder = room.holder().await;
    for id in ["a", "b", "c"] {
        holder.create(created(id)).await;
    }
    let holder = until_suspected(&room, holder, 3).await;
    let (one, two) = (room.holder().await, room.holder().await);
    holder.die().await;
    let first = one.claim_the_one().await;
    assert!(one.claim_all().await.is_empty());
    assert!(two.claim_all().await.is_empty());
    let others: Vec<TaskId> = ["a", "b", "c"]
        .map(TaskId::from_text)
        .into_iter()
        .filter(|id| *id != first.snapshot.id)
        .collect();
    let wanted = crate::store::Wanted {
        only: Some(&others[0]),
        ..super::room::anything()
    };
    assert!(two.claim(wanted).await.claims.is_empty());
    // One that is no suspect does not wait for them.
    let parked = one.parked("d").await;
    one.answer(&parked, "Ada").await;
    assert_eq!(two.claim_the_one().await.snapshot.id, parked);
    one.finish(&first, first.last).await;
    assert_eq!(two.claim_all().await.len(), 1);
    assert!(one.claim_all().await.is_empty());
}

async fn a_task_that_gets_further_is_trusted_again(room: Room) {
    let holder = room.holder().await;
    for id in ["a", "b"] {
        holder.create(created(id)).await;
    }
    let holder = until_suspected(&room, holder, 2).await;
    let next = room.holder().await;
    holder.die().await;
    let first: Claim = next.claim_the_one().await;
    assert!(next.claim_all().await.is_empty());
    let events = vec![asked("question")];
    next.goes_on(&first, first.last, events, Activity::Running)
        .await;
    let second = next.claim_the_one().await;
    assert_ne!(second.snapshot.id, first.snapshot.id);
}
