//! Tasks that their code does not fit are held until other code comes.

use super::behaviours;
use super::room::{Holder, Room, anything, asked, created, open_questions, server};
use crate::protocol::TaskStatus;
use crate::store::{Activity, Server, Wanted};
use crate::task::{Event, Held, TaskId};

behaviours![
    a_held_task_is_tried_once_by_each_holder,
    a_poisonous_task_is_tried_by_another_build_alone,
    a_held_task_is_not_tried_while_a_living_holder_has_it,
    a_held_task_that_fits_again_goes_on,
    an_answer_to_a_held_task_is_judged_and_kept,
    a_held_task_can_be_cancelled,
    held_tasks_do_not_stand_in_the_way_of_others,
];

fn held(poisonous: bool) -> Event {
    Event::Held(Held {
        build: "1".into(),
        reason: "`deploy` asked for `approval` in version 1".into(),
        poisonous,
    })
}

fn newer() -> Server {
    Server {
        build: "2".into(),
        ..server()
    }
}

/// A task that asks a question and is held.
async fn held_task(holder: &Holder, id: &str, poisonous: bool) -> TaskId {
    let claim = holder.create(created(id)).await;
    let events = vec![asked("question"), held(poisonous)];
    holder.goes_on(&claim, 1, events, Activity::Parked).await;
    claim.snapshot.id.clone()
}

async fn a_held_task_is_tried_once_by_each_holder(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let id = held_task(&holder, "a", false).await;
    let task = holder.task(&id).await;
    assert_eq!(task.status(), TaskStatus::Working);
    assert!(
        task.status_message()
            .is_some_and(|words| words.contains("approval"))
    );
    assert!(holder.claim_all().await.is_empty());
    let claim = other.claim_the_one().await;
    assert!(holder.claim_all().await.is_empty());
    // It does not fit there either.
    other
        .goes_on(&claim, claim.last, vec![held(false)], Activity::Parked)
        .await;
    assert!(other.claim_all().await.is_empty());
    let wanted = Wanted {
        only: Some(&id),
        ..anything()
    };
    assert!(other.claim(wanted).await.claims.is_empty());
    // The first does not try again because another has.
    assert!(holder.claim_all().await.is_empty());
    assert!(holder.claim(wanted).await.claims.is_empty());
    room.holder().await.claim_the_one().await;
}

async fn a_poisonous_task_is_tried_by_another_build_alone(room: Room) {
    let (holder, same) = (room.holder().await, room.holder().await);
    let id = held_task(&holder, "a", true).await;
    assert!(holder.claim_all().await.is_empty());
    assert!(same.claim_all().await.is_empty());
    let newer = room.holder_for(newer()).await;
    assert_eq!(newer.claim_the_one().await.snapshot.id, id);
}

async fn a_held_task_is_not_tried_while_a_living_holder_has_it(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.create(created("a")).await;
    holder
        .goes_on(&claim, 1, vec![held(false)], Activity::Waiting)
        .await;
    assert!(other.claim_all().await.is_empty());
    holder.die().await;
    other.claim_the_one().await;
}

async fn a_held_task_that_fits_again_goes_on(room: Room) {
    let holder = room.holder().await;
    let id = held_task(&holder, "a", false).await;
    let newer = room.holder_for(newer()).await;
    let claim = newer.claim_the_one().await;
    let events = vec![Event::Resumed];
    let task = newer
        .goes_on(&claim, claim.last, events, Activity::Parked)
        .await;
    assert_eq!(task.status(), TaskStatus::InputRequired);
    assert_eq!(open_questions(&task), ["question"]);
    assert!(holder.claim_all().await.is_empty());
    holder.answer(&id, "Ada").await;
    holder.claim_the_one().await;
}

async fn an_answer_to_a_held_task_is_judged_and_kept(room: Room) {
    let holder = room.holder().await;
    let id = held_task(&holder, "a", true).await;
    let change = holder.answer(&id, "Ada").await;
    assert!(change.changed && !change.unclaimed);
    assert!(holder.claim_all().await.is_empty());
    assert_eq!(
        holder.kinds(&id).await,
        ["created", "asked", "held", "answered"]
    );
    assert!(!holder.answer(&id, "Eve").await.changed);
}

async fn a_held_task_can_be_cancelled(room: Room) {
    let holder = room.holder().await;
    let id = held_task(&holder, "a", false).await;
    let change = holder.cancel(&id).await;
    assert_eq!(change.snapshot.status(), TaskStatus::Cancelled);
    assert!(room.holder().await.claim_all().await.is_empty());
}

async fn held_tasks_do_not_stand_in_the_way_of_others(room: Room) {
    let holder = room.holder().await;
    for id in 0..20 {
        held_task(&holder, &id.to_string(), id % 2 == 0).await;
    }
    let parked = holder.parked("a").await;
    holder.answer(&parked, "Ada").await;
    let wanted = Wanted {
        limit: 1,
        ..anything()
    };
    let work = holder.claim(wanted).await;
    assert_eq!(work.claims.len(), 1);
    assert_eq!(work.claims[0].snapshot.id, parked);
    assert_eq!(work.next, None);
}
