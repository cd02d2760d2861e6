//! Journals come back as they were written.

use std::sync::Arc;

use serde_json::json;

use super::behaviours;
use super::room::{
    Room, accept, asked, created, finished, kind, raw, said, step_done, timer, withdrawn,
};
use crate::protocol::ProtocolError;
use crate::store::Activity;
use crate::task::{Entry, Event, Held, InputKey, Outcome, Progress, TaskState, Timestamp};

behaviours![
    every_kind_of_entry_comes_back_as_it_was_written,
    every_outcome_comes_back_as_it_was_written,
    unusual_texts_come_back_as_they_were_written,
    large_entries_come_back_as_they_were_written,
    a_journal_can_be_read_from_any_entry_on,
    a_journal_adds_up_to_the_snapshot,
    a_status_takes_the_place_of_the_one_before,
    of_an_ended_task_the_end_is_left,
];

/// Every event that the holder of a claim writes while the task lives.
fn the_holders_events() -> Vec<Event> {
    let key = InputKey::new;
    let name: Arc<str> = "function".into();
    vec![
        asked("a question"),
        asked("another"),
        withdrawn("another"),
        Event::StepIntended {
            key: key("step"),
            function: name.clone(),
        },
        Event::StepAttempt {
            key: key("step"),
            function: name,
            n: 1,
            retry_at: Timestamp::from_millis(u64::MAX),
        },
        step_done("step"),
        timer("timer", Timestamp::from_millis(1 << 60)),
        Event::TimerFired { key: key("timer") },
        Event::Ran { key: key("ran") },
        Event::Patched { id: "patch".into() },
        Event::Status {
            message: Some("rolling out".into()),
            progress: Some(Progress { done: 3, total: 10 }),
        },
        Event::TtlChanged {
            ttl_ms: Some(u64::MAX),
        },
        Event::Held(Held {
            build: "2".into(),
            reason: "it does not fit".into(),
            poisonous: true,
        }),
        Event::Resumed,
    ]
}

fn text(events: impl IntoIterator<Item = impl serde::Serialize>) -> Vec<String> {
    let to_text = |event| serde_json::to_string(&event).expect("an event is JSON");
    events.into_iter().map(to_text).collect()
}

async fn every_kind_of_entry_comes_back_as_it_was_written(room: Room) {
    let holder = room.holder().await;
    let events = the_holders_events();
    let mut first = created("a");
    first.cancel_grace_ms = Some(5000);
    first.ttl_ms = Some(1 << 40);
    let claim = holder.create(first.clone()).await;
    let id = &claim.snapshot.id;
    holder
        .goes_on(&claim, 1, events.clone(), Activity::Waiting)
        .await;
    holder.answer_to(id, "a question", "Ada").await;
    holder.signal(id, "webhook", json!({"paid": true})).await;
    holder.cancel(id).await;
    let journal = holder.journal(id, 0).await;
    let mut wanted = vec![Event::Created(Box::new(first))];
    wanted.extend(events);
    let written: Vec<Event> = journal.iter().map(|entry| entry.event.clone()).collect();
    assert_eq!(text(&written[..wanted.len()]), text(&wanted));
    let rest: Vec<String> = journal[wanted.len()..].iter().map(kind).collect();
    assert_eq!(rest, ["answered", "signalled", "cancel_requested"]);
    for (index, entry) in journal.iter().enumerate() {
        assert_eq!(entry.seq, index as u64 + 1);
    }
}

async fn every_outcome_comes_back_as_it_was_written(room: Room) {
    let holder = room.holder().await;
    let error = ProtocolError::invalid_params("no").with_data(json!({"field": 1}));
    let outcomes = [
        Outcome::Completed {
            result: raw(&json!({"content": [], "isError": true})),
        },
        Outcome::Failed { error },
        Outcome::Cancelled,
    ];
    for (index, outcome) in outcomes.into_iter().enumerate() {
        let claim = holder.create(created(&index.to_string())).await;
        let events = vec![Event::Finished(outcome.clone())];
        holder.goes_on(&claim, 1, events, Activity::Waiting).await;
        let task = holder.task(&claim.snapshot.id).await;
        assert_eq!(text(&task.outcome), text([&outcome]));
        let journal = holder.journal(&claim.snapshot.id, 1).await;
        let written = journal.into_iter().map(|entry| entry.event);
        assert_eq!(text(written), text([Event::Finished(outcome)]));
    }
}

async fn unusual_texts_come_back_as_they_were_written(room: Room) {
    let holder = room.holder().await;
    let unusual = "\u{0}\u{7f}'\"\\\u{1f980}e\u{301}\u{202e}\u{feff}\n% ? $1 :x";
    let mut first = created(unusual);
    first.tool = "tool".into();
    first.caller = crate::Caller::new(unusual);
    let claim = holder.create(first).await;
    let id = &claim.snapshot.id;
    let events = vec![asked(unusual), said(unusual)];
    holder.goes_on(&claim, 1, events, Activity::Waiting).await;
    holder.answer_to(id, unusual, "\u{0}\u{1f980}").await;
    holder.signal(id, unusual, json!(unusual)).await;
    let task = holder.task(id).await;
    assert_eq!(task.id.as_str(), unusual);
    assert_eq!(task.caller.as_str(), unusual);
    assert_eq!(task.message.as_deref(), Some(unusual));
    let journal = holder.journal(id, 0).await;
    let Event::Answered { key, response } = &journal[3].event else {
        panic!("an answer: {journal:?}");
    };
    assert_eq!(key.as_str(), unusual);
    let answer = serde_json::to_value(&**response).expect("a response is JSON");
    assert_eq!(answer, accept("\u{0}\u{1f980}"));
    let Event::Signalled { name, value } = &journal[4].event else {
        panic!("a signal: {journal:?}");
    };
    assert_eq!(&**name, unusual);
    assert_eq!(value.get(), raw(&json!(unusual)).get());
}

async fn large_entries_come_back_as_they_were_written(room: Room) {
    let holder = room.holder().await;
    let mut first = created("a");
    first.arguments = raw(&json!({"text": "x".repeat(1 << 20)}));
    let claim = holder.create(first.clone()).await;
    let id = &claim.snapshot.id;
    let step = Event::StepDone {
        key: InputKey::new("step"),
        function: "function".into(),
        outcome: raw(&json!("\u{e4}".repeat(1 << 20))),
    };
    holder
        .goes_on(&claim, 1, vec![step.clone()], Activity::Running)
        .await;
    let journal = holder.journal(id, 0).await;
    let written = journal.into_iter().map(|entry| entry.event);
    assert_eq!(text(written), text([Event::Created(Box::new(first)), step]));
    let result = raw(&json!({"content": [{"type": "text", "text": "y".repeat(8 << 20)}]}));
    let outcome = Outcome::Completed {
        result: result.clone(),
    };
    let events = vec![Event::Finished(outcome)];
    holder.goes_on(&claim, 2, events, Activity::Waiting).await;
    match &room.holder().await.task(id).await.outcome {
        Some(Outcome::Completed { result: read }) => assert_eq!(read.get(), result.get()),
        other => panic!("it was completed, but: {other:?}"),
    }
}

async fn a_journal_can_be_read_from_any_entry_on(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    holder.answer(id, "Ada").await;
    let seqs = async |last| -> Vec<u64> {
        let journal = holder.journal(id, last).await;
        journal.iter().map(|entry| entry.seq).collect()
    };
    assert_eq!(seqs(0).await, [1, 2, 3]);
    assert_eq!(seqs(2).await, [3]);
    assert!(seqs(3).await.is_empty());
    assert!(seqs(u64::MAX).await.is_empty());
}

async fn a_journal_adds_up_to_the_snapshot(room: Room) {
    let holder = room.holder().await;
    let claim = holder.create(created("a")).await;
    let id = &claim.snapshot.id;
    for (last, event) in (1..).zip(the_holders_events()) {
        room.pass(1).await;
        holder
            .goes_on(&claim, last, vec![event], Activity::Waiting)
            .await;
        let journal = holder.journal(id, 0).await;
        let state = TaskState::replay(&journal).expect("the rules were kept");
        let snapshot = holder.task(id).await;
        assert_eq!(text([&**state.snapshot()]), text([&*snapshot]));
    }
}

async fn a_status_takes_the_place_of_the_one_before(room: Room) {
    let holder = room.holder().await;
    let claim = holder.create(created("a")).await;
    let id = &claim.snapshot.id;
    let mut last = 1;
    for round in 0..10 {
        let events = vec![said(&format!("round {round}"))];
        holder
            .goes_on(&claim, last, events, Activity::Running)
            .await;
        last += 1;
    }
    let events = vec![asked("question"), said("waiting")];
    holder
        .goes_on(&claim, last, events, Activity::Waiting)
        .await;
    assert_eq!(holder.kinds(id).await, ["created", "asked", "status"]);
    let journal = holder.journal(id, 11).await;
    let seqs: Vec<u64> = journal.iter().map(|entry: &Entry| entry.seq).collect();
    assert_eq!(seqs, [12, 13]);
    let task = room.holder().await.task(id).await;
    assert_eq!(task.message.as_deref(), Some("waiting"));
    // The numbers go on, with entries missing before.
    holder.answer(id, "Ada").await;
    assert_eq!(holder.journal(id, 13).await[0].seq, 14);
}

async fn of_an_ended_task_the_end_is_left(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let id = &claim.snapshot.id;
    holder.answer(id, "Ada").await;
    let events = vec![step_done("step"), said("almost"), finished()];
    holder.goes_on(&claim, 3, events, Activity::Waiting).await;
    assert_eq!(holder.kinds(id).await, ["finished"]);
    assert_eq!(holder.journal(id, 0).await[0].seq, 6);
    let task = holder.task(id).await;
    assert!(task.is_terminal());
    assert!(task.input_requests.is_empty());
}
