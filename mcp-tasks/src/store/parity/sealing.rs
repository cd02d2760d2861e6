//! What is kept for calls whose state travels through their clients, and tasks
//! that begin as such calls.

use std::sync::Arc;

use super::behaviours;
use super::room::{Holder, NO_LIMITS, Room, asked, created};
use crate::store::{Activity, StoreError};
use crate::task::{Action, Entry, Event, InputKey, SealingKey, StateId, TaskId};

behaviours![
    a_task_can_begin_with_a_journal,
    a_journal_that_breaks_the_rules_begins_no_task,
    all_holders_seal_with_one_key,
    a_key_is_replaced_in_time,
    a_state_is_spent_once,
];

async fn a_task_can_begin_with_a_journal(room: Room) {
    let holder = room.holder().await;
    let at = holder.now();
    let begun = created("a");
    let id = begun.id.clone();
    let journal = vec![
        Entry::first(begun, at),
        Entry {
            seq: 2,
            at,
            event: asked("name"),
        },
        Entry {
            seq: 3,
            at,
            event: answered("name"),
        },
    ];
    room.pass(10).await;
    let begun = holder.store.begin(journal, NO_LIMITS, holder.now()).await;
    let claim = begun.expect("it can begin");
    assert_eq!(claim.last, 3);
    assert!(claim.snapshot.input_requests.is_empty());
    assert_eq!(holder.kinds(&id).await, ["created", "asked", "answered"]);
    let task = holder
        .goes_on(&claim, 3, vec![asked("more")], Activity::Waiting)
        .await;
    assert_eq!(task.input_requests.len(), 1);
}

async fn a_journal_that_breaks_the_rules_begins_no_task(room: Room) {
    let holder = room.holder().await;
    let begun = created("a");
    let id = begun.id.clone();
    let at = holder.now();
    let journal = vec![
        Entry::first(begun, at),
        Entry {
            seq: 2,
            at,
            event: answered("name"),
        },
    ];
    let refused = holder.store.begin(journal, NO_LIMITS, at).await;
    assert!(
        matches!(refused, Err(StoreError::Damaged { .. })),
        "{refused:?}"
    );
    assert!(holder.kinds(&id).await.is_empty());
}

async fn all_holders_seal_with_one_key(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    let first = one.store.sealing_keys(key(1, &room), room.now()).await;
    let second = two.store.sealing_keys(key(2, &room), room.now()).await;
    let (first, second) = (first.expect("a key"), second.expect("a key"));
    assert_eq!(first.newest(), second.newest());
    assert_eq!(first.newest().map(|key| key.secret), Some([1; 32]));
}

async fn a_key_is_replaced_in_time(room: Room) {
    const DAY_MS: u64 = 24 * 60 * 60 * 1000;
    let holder = room.holder().await;
    let keys = async |letter, days| {
        let now = room.now().plus_millis(days * DAY_MS);
        let fresh = SealingKey {
            made_at: now,
            ..key(letter, &room)
        };
        let keys = holder.store.sealing_keys(fresh, now).await;
        let keys = keys.expect("the store is there");
        keys.keys().iter().map(|key| key.id[0]).collect::<Vec<_>>()
    };
    assert_eq!(keys(1, 0).await, [1]);
    assert_eq!(keys(2, 1).await, [2, 1]);
    assert_eq!(keys(3, 1).await, [2, 1]);
    assert_eq!(keys(4, 8).await, [4, 2]);
}

async fn a_state_is_spent_once(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    let state = |run, round| StateId {
        run: TaskId::from_text(run),
        round,
    };
    let now = room.now();
    let until = now.plus_millis(1000);
    let spend = async |holder: &Holder, state| {
        let spent = holder.store.spend(&state, until, now).await;
        spent.expect("the store is there")
    };
    assert!(spend(&one, state("a", 1)).await);
    assert!(!spend(&two, state("a", 1)).await);
    assert!(!spend(&one, state("a", 1)).await);
    assert!(spend(&two, state("a", 2)).await);
    assert!(spend(&two, state("b", 1)).await);
}

fn answered(key: &str) -> Event {
    Event::Answered {
        key: InputKey::new(key),
        response: Arc::new(Action::Decline.into()),
    }
}

fn key(letter: u8, room: &Room) -> SealingKey {
    SealingKey {
        id: [letter; 8],
        secret: [letter; 32],
        made_at: room.now(),
    }
}
