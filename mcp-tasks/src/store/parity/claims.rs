//! Tasks that must run, and that nobody has, are claimed by whoever can run
//! them.

use std::sync::Arc;

use super::behaviours;
use super::room::{Holder, LEASE, Room, anything, asked, created, server, timer, tools};
use crate::Caller;
use crate::store::{Activity, Server, Wanted};
use crate::task::{Created, Event, InputKey, TaskId};

behaviours![
    what_waits_is_claimed_when_something_arrives_and_not_before,
    what_waits_is_claimed_when_its_timer_is_due_and_not_before,
    what_waits_for_its_next_attempt_is_claimed_when_that_is_due,
    a_claim_says_when_the_clock_makes_the_next_task_due,
    what_a_living_holder_has_is_not_claimed,
    a_task_is_claimed_once,
    one_task_can_be_claimed_by_its_id,
    tasks_of_other_tools_and_versions_are_passed_over,
    tasks_of_other_servers_are_passed_over,
    no_more_tasks_than_wanted_are_claimed,
    the_oldest_need_comes_first,
    what_one_caller_has_waiting_does_not_hold_up_another,
    what_ran_for_one_caller_does_not_hold_up_another,
    timers_of_one_caller_do_not_hold_up_another,
    of_many_callers_each_has_its_turn,
    what_arrived_before_the_claim_is_part_of_it,
    ended_tasks_are_not_claimed,
];

async fn what_waits_is_claimed_when_something_arrives_and_not_before(room: Room) {
    let holder = room.holder().await;
    let parked = holder.parked("a").await;
    holder.parked("b").await;
    let work = holder.claim(anything()).await;
    assert!(work.claims.is_empty());
    assert_eq!(work.next, None);
    holder.answer(&parked, "Ada").await;
    let claim = holder.claim_the_one().await;
    assert_eq!(claim.snapshot.id, parked);
    assert_eq!(claim.last, 3);
    holder.finish(&claim, 3).await;
}

async fn what_waits_is_claimed_when_its_timer_is_due_and_not_before(room: Room) {
    let holder = room.holder().await;
    let claim = holder.create(created("a")).await;
    let at = room.now().plus_millis(100);
    let later = at.plus_millis(1000);
    let events = vec![timer("later", later), timer("sleep", at)];
    holder.goes_on(&claim, 1, events, Activity::Parked).await;
    let work = holder.claim(anything()).await;
    assert!(work.claims.is_empty());
    assert_eq!(work.next, Some(at));
    room.pass(101).await;
    let claim = holder.claim_the_one().await;
    let key = InputKey::new("sleep");
    let events = vec![Event::TimerFired { key }];
    holder.goes_on(&claim, 3, events, Activity::Parked).await;
    assert_eq!(holder.claim(anything()).await.next, Some(later));
}

async fn what_waits_for_its_next_attempt_is_claimed_when_that_is_due(room: Room) {
    let holder = room.holder().await;
    let claim = holder.create(created("a")).await;
    let attempt = Event::StepAttempt {
        key: InputKey::new("step"),
        function: "function".into(),
        n: 1,
        retry_at: room.now().plus_millis(100),
    };
    holder
        .goes_on(&claim, 1, vec![attempt], Activity::Parked)
        .await;
    assert!(holder.claim_all().await.is_empty());
    room.pass(101).await;
    holder.claim_the_one().await;
}

async fn a_claim_says_when_the_clock_makes_the_next_task_due(room: Room) {
    let holder = room.holder().await;
    let now = room.now();
    for (id, millis) in [("a", 1500), ("b", 500), ("c", 1000)] {
        let claim = holder.create(created(id)).await;
        let events = vec![timer("sleep", now.plus_millis(millis))];
        holder.goes_on(&claim, 1, events, Activity::Parked).await;
    }
    assert_eq!(
        holder.claim(anything()).await.next,
        Some(now.plus_millis(500))
    );
    room.pass(501).await;
    let work = holder.claim(anything()).await;
    assert_eq!(work.claims.len(), 1);
    assert_eq!(work.next, Some(now.plus_millis(1000)));
}

async fn what_a_living_holder_has_is_not_claimed(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    holder.create(created("running")).await;
    let waiting = holder.asking("waiting").await;
    let sleeping = holder.create(created("sleeping")).await;
    let events = vec![timer("sleep", room.now())];
    holder
        .goes_on(&sleeping, 1, events, Activity::Waiting)
        .await;
    holder.answer(&waiting.snapshot.id, "Ada").await;
    room.pass(LEASE / 2).await;
    assert!(other.claim_all().await.is_empty());
    assert!(holder.claim_all().await.is_empty());
}

async fn a_task_is_claimed_once(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let parked = holder.parked("a").await;
    holder.answer(&parked, "Ada").await;
    let claim = other.claim_the_one().await;
    assert!(holder.claim_all().await.is_empty());
    assert!(other.claim_all().await.is_empty());
    other.finish(&claim, 3).await;
}

async fn one_task_can_be_claimed_by_its_id(room: Room) {
    let holder = room.holder().await;
    let (one, two) = (holder.parked("a").await, holder.parked("b").await);
    holder.answer(&one, "Ada").await;
    holder.answer(&two, "Bob").await;
    let only = async |id: &TaskId| {
        let wanted = Wanted {
            only: Some(id),
            ..anything()
        };
        holder.claim(wanted).await.claims
    };
    let claims = only(&two).await;
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].snapshot.id, two);
    assert!(only(&two).await.is_empty());
    assert!(only(&TaskId::from_text("c")).await.is_empty());
    let waiting = holder.parked("d").await;
    assert!(only(&waiting).await.is_empty());
    assert_eq!(holder.claim_the_one().await.snapshot.id, one);
}

async fn tasks_of_other_tools_and_versions_are_passed_over(room: Room) {
    let holder = room.holder().await;
    let of = |id: &str, tool: &str, version| Created {
        tool: tool.into(),
        version,
        ..created(id)
    };
    for created in [of("a", "tool", 1), of("b", "tool", 2), of("c", "other", 1)] {
        let claim = holder.create(created).await;
        holder.goes_on(&claim, 1, vec![], Activity::Parked).await;
        holder
            .signal(&claim.snapshot.id, "name", 1.into())
            .await
            .expect("the task is there");
    }
    assert_eq!(holder.claim_the_one().await.snapshot.id.as_str(), "a");
    let tools: [(Arc<str>, u32); 2] = [("tool".into(), 2), ("unheard of".into(), 1)];
    let wanted = Wanted {
        tools: &tools,
        ..anything()
    };
    let claims = holder.claim(wanted).await.claims;
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].snapshot.id.as_str(), "b");
    let other = TaskId::from_text("c");
    let wanted = Wanted {
        only: Some(&other),
        ..anything()
    };
    assert!(holder.claim(wanted).await.claims.is_empty());
}

async fn tasks_of_other_servers_are_passed_over(room: Room) {
    let holder = room.holder().await;
    let named = Server {
        name: "another".into(),
        ..server()
    };
    let scoped = Server {
        scope: "another".into(),
        ..server()
    };
    let parked = holder.parked("a").await;
    holder.answer(&parked, "Ada").await;
    for other in [named, scoped] {
        let other = room.holder_for(other).await;
        assert!(other.claim_all().await.is_empty());
        let wanted = Wanted {
            only: Some(&parked),
            ..anything()
        };
        assert!(other.claim(wanted).await.claims.is_empty());
        // But anybody may look at it.
        assert!(other.get(&parked).await.is_some());
    }
    assert_eq!(room.holder().await.claim_all().await.len(), 1);
}

async fn no_more_tasks_than_wanted_are_claimed(room: Room) {
    let holder = room.holder().await;
    for id in 0..5 {
        let parked = holder.parked(&id.to_string()).await;
        holder.answer(&parked, "Ada").await;
    }
    let some = |limit| Wanted {
        limit,
        ..anything()
    };
    assert!(holder.claim(some(0)).await.claims.is_empty());
    assert_eq!(holder.claim(some(2)).await.claims.len(), 2);
    assert_eq!(holder.claim(some(usize::MAX)).await.claims.len(), 3);
}

async fn the_oldest_need_comes_first(room: Room) {
    let holder = room.holder().await;
    let now = room.now();
    for (id, millis) in [("b", 20), ("c", 30), ("a", 10)] {
        let claim = holder.create(created(id)).await;
        let events = vec![timer("sleep", now.plus_millis(millis))];
        holder.goes_on(&claim, 1, events, Activity::Parked).await;
    }
    room.pass(100).await;
    for id in ["a", "b", "c"] {
        let wanted = Wanted {
            only: None,
            tools: tools(),
            limit: 1,
        };
        let claims = holder.claim(wanted).await.claims;
        assert_eq!(claims[0].snapshot.id.as_str(), id);
    }
}

/// Who has the tasks that are claimed next, ten at a time.
async fn callers_of_ten(holder: &Holder) -> Vec<String> {
    let wanted = Wanted {
        limit: 10,
        ..anything()
    };
    let claims = holder.claim(wanted).await.claims;
    let callers = claims.iter().map(|claim| claim.snapshot.caller.to_string());
    callers.collect()
}

/// Checks that both callers are among the first, and that all come at last.
async fn both_are_served(holder: &Holder, all: usize) {
    let first = callers_of_ten(holder).await;
    assert_eq!(first.len(), 10);
    let of = |name: &str| first.iter().filter(|caller| *caller == name).count();
    assert_eq!((of("ada"), of("eve")), (9, 1), "{first:?}");
    let mut served = 10;
    loop {
        match callers_of_ten(holder).await.len() {
            0 => break,
            some => served += some,
        }
    }
    assert_eq!(served, all);
}

fn of(caller: &str, id: &impl ToString) -> Created {
    Created {
        caller: Caller::new(caller),
        ..created(&id.to_string())
    }
}

async fn what_one_caller_has_waiting_does_not_hold_up_another(room: Room) {
    let holder = room.holder().await;
    for number in 0..40 {
        let caller = if number == 30 { "eve" } else { "ada" };
        let claim = holder.create(of(caller, &number)).await;
        let id = &claim.snapshot.id;
        holder.goes_on(&claim, 1, vec![], Activity::Parked).await;
        holder.signal(id, "name", 1.into()).await;
    }
    both_are_served(&holder, 40).await;
}

async fn what_ran_for_one_caller_does_not_hold_up_another(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    for number in 0..40 {
        let caller = if number == 30 { "eve" } else { "ada" };
        holder.create(of(caller, &number)).await;
    }
    holder.die().await;
    both_are_served(&other, 40).await;
}

async fn timers_of_one_caller_do_not_hold_up_another(room: Room) {
    let holder = room.holder().await;
    let now = room.now();
    for number in 0..40 {
        let caller = if number == 30 { "eve" } else { "ada" };
        let claim = holder.create(of(caller, &number)).await;
        let events = vec![timer("sleep", now.plus_millis(number))];
        holder.goes_on(&claim, 1, events, Activity::Parked).await;
    }
    // One whose timer is not due is not among them.
    let claim = holder.create(of("bob", &"later")).await;
    let later = now.plus_millis(1_000_000);
    let events = vec![timer("sleep", later)];
    holder.goes_on(&claim, 1, events, Activity::Parked).await;
    room.pass(100).await;
    both_are_served(&holder, 40).await;
    assert_eq!(holder.claim(anything()).await.next, Some(later));
}

async fn of_many_callers_each_has_its_turn(room: Room) {
    let holder = room.holder().await;
    for number in 0..200 {
        // The last in any order but that of turns.
        let caller = if number < 120 {
            "ada".to_owned()
        } else {
            format!("caller {}", number % 40)
        };
        let claim = holder.create(of(&caller, &number)).await;
        let id = &claim.snapshot.id;
        holder.goes_on(&claim, 1, vec![], Activity::Parked).await;
        holder.signal(id, "name", 1.into()).await;
    }
    let mut callers = std::collections::BTreeSet::new();
    for _ in 0..10 {
        callers.extend(callers_of_ten(&holder).await);
    }
    assert_eq!(callers.len(), 41);
}

async fn what_arrived_before_the_claim_is_part_of_it(room: Room) {
    let holder = room.holder().await;
    let parked = holder.parked("a").await;
    holder.answer(&parked, "Ada").await;
    holder.signal(&parked, "name", 1.into()).await;
    let claim = holder.claim_the_one().await;
    assert_eq!(claim.last, 4);
    assert_eq!(holder.journal(&parked, 0).await.len(), 4);
    // Nothing has arrived since, so that nothing wakes it.
    let events = vec![asked("another")];
    holder.goes_on(&claim, 4, events, Activity::Parked).await;
    assert!(holder.claim_all().await.is_empty());
}

async fn ended_tasks_are_not_claimed(room: Room) {
    let holder = room.holder().await;
    let parked = holder.parked("a").await;
    holder.answer(&parked, "Ada").await;
    holder.cancel(&parked).await;
    let wanted = Wanted {
        only: Some(&parked),
        ..anything()
    };
    assert!(holder.claim(wanted).await.claims.is_empty());
    assert!(holder.claim_all().await.is_empty());
}
