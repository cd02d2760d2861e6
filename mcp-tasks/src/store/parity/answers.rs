//! Answers, signals and cancellation come from anybody, and need no claim.

use serde_json::json;

use super::behaviours;
use super::room::{Holder, Room, accept, asked, created, open_questions, step_done, withdrawn};
use crate::protocol::TaskStatus;
use crate::store::{Activity, Claim, Delivery};
use crate::task::{Access, Created, Event, Problem, TaskId};

behaviours![
    an_answer_is_recorded_with_what_the_form_names,
    the_first_answer_wins_and_the_second_is_acknowledged,
    a_wrong_answer_changes_nothing_and_the_question_stays_open,
    one_wrong_answer_of_several_keeps_all_of_them_out,
    answers_that_nobody_waits_for_are_passed_over,
    questions_can_be_answered_one_by_one,
    a_refusal_is_an_answer,
    a_task_is_cancelled_once_and_at_once,
    a_task_that_cleans_up_is_shown_its_cancellation,
    a_signal_is_kept_whether_it_is_awaited_or_not,
    whoever_changes_a_task_that_nobody_runs_is_told,
];

async fn deliver(holder: &Holder, id: &TaskId, answers: &[(&str, serde_json::Value)]) -> Delivery {
    let delivery = holder.deliver(id, Access::Server, answers).await;
    delivery.expect("the task is there")
}

/// A task that asks two questions.
async fn asking_two(holder: &Holder) -> Claim {
    let claim = holder.create(created("a")).await;
    let events = vec![asked("left"), asked("right")];
    holder.goes_on(&claim, 1, events, Activity::Waiting).await;
    claim
}

async fn an_answer_is_recorded_with_what_the_form_names(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    assert_eq!(holder.task(id).await.status(), TaskStatus::InputRequired);
    let answer = json!({"action": "accept", "content": {"name": "Ada", "more": 1}, "x": 2});
    let Delivery::Recorded(change) = deliver(&other, id, &[("question", answer)]).await else {
        panic!("the answer fits");
    };
    assert!(change.changed);
    assert!(open_questions(&change.snapshot).is_empty());
    let journal = holder.journal(id, 2).await;
    let Event::Answered { key, response } = &journal[0].event else {
        panic!("an answer: {journal:?}");
    };
    assert_eq!(key.as_str(), "question");
    let recorded = serde_json::to_value(&**response).expect("a response is JSON");
    assert_eq!(recorded, accept("Ada"));
    assert_eq!(holder.task(id).await.status(), TaskStatus::Working);
}

async fn the_first_answer_wins_and_the_second_is_acknowledged(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    assert!(holder.answer(id, "Ada").await.changed);
    assert!(!holder.answer(id, "Eve").await.changed);
    // Nobody looks at what is in it any more.
    let nonsense = [("question", json!({"action": "?"}))];
    let second = deliver(&holder, id, &nonsense).await;
    assert!(matches!(second, Delivery::Recorded(change) if !change.changed));
    assert_eq!(holder.journal(id, 2).await.len(), 1);
}

async fn a_wrong_answer_changes_nothing_and_the_question_stays_open(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    let updated_at = holder.task(id).await.updated_at;
    room.pass(10).await;
    for wrong in [accept("a name that is too long"), json!({"action": "yes"})] {
        let Delivery::Refused(refusal) = deliver(&holder, id, &[("question", wrong)]).await else {
            panic!("the answer is wrong");
        };
        assert_eq!(refusal.0[0].key.as_str(), "question");
    }
    let task = holder.task(id).await;
    assert_eq!(open_questions(&task), ["question"]);
    assert_eq!(task.updated_at, updated_at);
    assert_eq!(holder.kinds(id).await, ["created", "asked"]);
    assert!(holder.answer(id, "Ada").await.changed);
}

async fn one_wrong_answer_of_several_keeps_all_of_them_out(room: Room) {
    let holder = room.holder().await;
    let claim = asking_two(&holder).await;
    let id = &claim.snapshot.id;
    let answers = [
        ("left", accept("Ada")),
        ("right", accept("a very long name")),
    ];
    let Delivery::Refused(refusal) = deliver(&holder, id, &answers).await else {
        panic!("one of the answers is wrong");
    };
    assert_eq!(refusal.0.len(), 1);
    assert_eq!(refusal.0[0].key.as_str(), "right");
    assert!(matches!(&refusal.0[0].problem, Problem::Fields(fields) if fields.len() == 1));
    assert_eq!(open_questions(&*holder.task(id).await), ["left", "right"]);
}

async fn answers_that_nobody_waits_for_are_passed_over(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    let events = vec![withdrawn("question"), asked("another")];
    holder.goes_on(&claim, 2, events, Activity::Waiting).await;
    let answers = [
        ("question", accept("Ada")),
        ("unknown", json!(7)),
        ("another", accept("Bob")),
    ];
    let Delivery::Recorded(change) = deliver(&holder, id, &answers).await else {
        panic!("what counts of it fits");
    };
    assert!(change.changed);
    assert_eq!(holder.journal(id, 4).await.len(), 1);
    let again = deliver(&holder, id, &answers).await;
    assert!(matches!(again, Delivery::Recorded(change) if !change.changed));
}

async fn questions_can_be_answered_one_by_one(room: Room) {
    let holder = room.holder().await;
    let claim = asking_two(&holder).await;
    let id = &claim.snapshot.id;
    holder.answer_to(id, "right", "Bob").await;
    assert_eq!(open_questions(&*holder.task(id).await), ["left"]);
    holder.answer_to(id, "left", "Ada").await;
    assert!(open_questions(&*holder.task(id).await).is_empty());
    assert_eq!(holder.journal(id, 3).await.len(), 2);
}

async fn a_refusal_is_an_answer(room: Room) {
    let holder = room.holder().await;
    let claim = asking_two(&holder).await;
    let id = &claim.snapshot.id;
    let answers = [
        ("left", json!({"action": "decline", "content": {"name": 7}})),
        ("right", json!({"action": "cancel"})),
    ];
    let Delivery::Recorded(change) = deliver(&holder, id, &answers).await else {
        panic!("what comes with a refusal is not looked at");
    };
    assert!(open_questions(&change.snapshot).is_empty());
}

async fn a_task_is_cancelled_once_and_at_once(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    let change = other.cancel(id).await;
    assert!(change.changed && !change.unclaimed);
    assert_eq!(change.snapshot.status(), TaskStatus::Cancelled);
    let again = other.cancel(id).await;
    assert!(!again.changed);
    assert_eq!(holder.kinds(id).await, ["finished"]);
    assert!(open_questions(&*holder.task(id).await).is_empty());
}

fn cleaning_up(id: &str) -> Created {
    Created {
        cancel_grace_ms: Some(200),
        ..created(id)
    }
}

async fn a_task_that_cleans_up_is_shown_its_cancellation(room: Room) {
    let holder = room.holder().await;
    let claim = holder.create(cleaning_up("a")).await;
    let id = &claim.snapshot.id;
    let change = holder.cancel(id).await;
    assert!(change.changed);
    assert!(!change.snapshot.is_terminal());
    assert!(change.snapshot.cancel_deadline.is_some());
    assert!(!holder.cancel(id).await.changed);
    assert_eq!(holder.kinds(id).await, ["created", "cancel_requested"]);
    // What it returns in time counts.
    holder
        .goes_on(&claim, 2, vec![step_done("clean_up")], Activity::Running)
        .await;
    let task = holder.finish(&claim, 3).await;
    assert_eq!(task.status(), TaskStatus::Completed);
}

async fn a_signal_is_kept_whether_it_is_awaited_or_not(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.create(created("a")).await;
    let id = &claim.snapshot.id;
    for value in 1..=3 {
        let change = other.signal(id, "webhook", value.into()).await;
        assert!(change.expect("the task is there").changed);
    }
    let journal = holder.journal(id, 1).await;
    for (index, entry) in journal.iter().enumerate() {
        let Event::Signalled { name, value } = &entry.event else {
            panic!("a signal: {entry:?}");
        };
        assert_eq!(&**name, "webhook");
        assert_eq!(value.get(), (index + 1).to_string());
    }
    assert_eq!(journal.len(), 3);
}

async fn whoever_changes_a_task_that_nobody_runs_is_told(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let parked = holder.parked("a").await;
    assert!(other.answer(&parked, "Ada").await.unclaimed);
    let parked = holder.parked("b").await;
    let signalled = other.signal(&parked, "name", 1.into()).await;
    assert!(signalled.expect("the task is there").unclaimed);
    let claim = holder.create(cleaning_up("c")).await;
    holder.goes_on(&claim, 1, vec![], Activity::Parked).await;
    assert!(other.cancel(&claim.snapshot.id).await.unclaimed);
    // These have a holder.
    let claim = holder.asking("d").await;
    assert!(!other.answer(&claim.snapshot.id, "Ada").await.unclaimed);
    let claim = holder.create(cleaning_up("e")).await;
    assert!(!holder.cancel(&claim.snapshot.id).await.unclaimed);
}
