//! So many functions run at once, over all holders, and no more.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::behaviours;
use super::room::{Holder, LEASE, Room, asked, created, server, step_done};
use crate::Caller;
use crate::store::{Activity, Lane, PATIENCE_MS, RunNumber, Seated, SeatsWanted, Server, WAITS_MS};

behaviours![
    as_many_runs_have_seats_as_there_are,
    a_seat_that_is_given_back_is_free,
    a_run_that_asks_again_has_its_seat_already,
    a_run_has_a_seat_in_each_of_its_lanes_or_in_none,
    lanes_have_nothing_to_do_with_each_other,
    servers_have_nothing_to_do_with_each_other,
    a_holder_gives_back_its_own_seats_only,
    seats_of_a_holder_that_left_are_free,
    seats_of_a_holder_that_comes_back_as_another_are_free,
    seats_of_a_holder_whose_lease_is_over_are_free,
    a_holder_that_renews_its_lease_keeps_its_seats,
    of_many_who_ask_at_once_as_many_get_seats_as_there_are,
    whoever_gives_a_seat_back_may_take_it_again_at_once,
    a_holder_that_has_waited_for_long_is_next,
    holders_that_wait_have_their_turns,
    a_holder_that_asks_no_more_is_waited_for_no_longer,
    a_holder_that_died_is_not_waited_for,
    a_holder_that_waits_hears_of_a_seat_that_is_given_back,
    a_task_that_waits_to_run_is_not_to_blame_when_its_holder_dies,
    a_task_that_waits_to_run_is_its_holders,
];

const TOOL: Lane<'_> = Lane::Tool("tool");

impl Holder {
    async fn seats(&self, run: u64, lanes: &[(Lane<'_>, usize)]) -> Seated {
        let wanted = SeatsWanted {
            run: RunNumber(run),
            lanes,
        };
        let seated = self.store.take_seats(&wanted, self.now()).await;
        seated.expect("the store is there")
    }

    /// Whether a run gets one of so many seats of the tool.
    async fn sits(&self, run: u64, seats: usize) -> bool {
        self.seats(run, &[(TOOL, seats)]).await == Seated::Yes
    }

    async fn gives_back(&self, run: u64) {
        let given_back = self.store.give_back_seats(RunNumber(run)).await;
        given_back.expect("the store is there");
    }
}

async fn as_many_runs_have_seats_as_there_are(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    assert!(one.sits(0, 3).await);
    assert!(two.sits(0, 3).await);
    assert!(two.sits(1, 3).await);
    assert_eq!(one.seats(1, &[(TOOL, 3)]).await, Seated::Full(0));
    assert!(!two.sits(2, 3).await);
    // Whoever knows of more has them.
    assert!(one.sits(1, 4).await);
    assert!(!one.sits(2, 2).await);
}

async fn a_seat_that_is_given_back_is_free(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    assert!(one.sits(7, 1).await);
    assert!(!two.sits(7, 1).await);
    one.gives_back(7).await;
    assert!(two.sits(8, 1).await);
    assert!(!one.sits(8, 1).await);
    // More than once does no harm, nor what was never taken.
    one.gives_back(7).await;
    one.gives_back(9).await;
    assert!(!one.sits(10, 1).await);
    two.gives_back(8).await;
    assert!(one.sits(10, 1).await);
}

async fn a_run_that_asks_again_has_its_seat_already(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    for _ in 0..3 {
        assert!(one.sits(1, 2).await);
    }
    assert!(two.sits(1, 2).await);
    assert!(one.sits(1, 2).await);
    one.gives_back(1).await;
    assert!(two.sits(2, 2).await);
    assert!(!one.sits(1, 2).await);
}

async fn a_run_has_a_seat_in_each_of_its_lanes_or_in_none(room: Room) {
    let holder = room.holder().await;
    let (ada, eve) = (Caller::new("ada"), Caller::new("eve"));
    let (ada, eve) = (Lane::Caller(&ada), Lane::Caller(&eve));
    let seats = async |run, caller| holder.seats(run, &[(TOOL, 2), (caller, 1)]).await;
    assert_eq!(seats(1, ada).await, Seated::Yes);
    assert_eq!(seats(2, ada).await, Seated::Full(1));
    // That has not taken any of the tool's.
    assert_eq!(seats(3, eve).await, Seated::Yes);
    holder.gives_back(1).await;
    assert_eq!(
        holder.seats(4, &[(TOOL, 1), (ada, 1)]).await,
        Seated::Full(0)
    );
    // Nor any of hers.
    assert_eq!(holder.seats(5, &[(ada, 1)]).await, Seated::Yes);
    assert_eq!(
        holder.seats(6, &[(ada, 2), (eve, 1)]).await,
        Seated::Full(1)
    );
}

async fn lanes_have_nothing_to_do_with_each_other(room: Room) {
    let holder = room.holder().await;
    let (name, other) = (Caller::new("name"), Caller::new("Name"));
    for (run, lane) in [
        Lane::Tool("name"),
        Lane::Tool("Name"),
        Lane::Caller(&name),
        Lane::Caller(&other),
        Lane::Tool("' \" % \u{1f980}"),
    ]
    .into_iter()
    .enumerate()
    {
        let run = run as u64;
        assert_eq!(holder.seats(run, &[(lane, 1)]).await, Seated::Yes);
        assert_eq!(holder.seats(run + 100, &[(lane, 1)]).await, Seated::Full(0));
    }
}

async fn servers_have_nothing_to_do_with_each_other(room: Room) {
    let named = Server {
        name: "another".into(),
        ..server()
    };
    let scoped = Server {
        scope: "another".into(),
        ..server()
    };
    let built = Server {
        build: "another".into(),
        ..server()
    };
    let holder = room.holder().await;
    assert!(holder.sits(1, 1).await);
    for other in [named, scoped] {
        assert!(room.holder_for(other).await.sits(1, 1).await);
    }
    assert!(!room.holder_for(built).await.sits(1, 1).await);
}

async fn a_holder_gives_back_its_own_seats_only(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    assert!(one.sits(1, 1).await);
    two.gives_back(1).await;
    assert!(!two.sits(1, 1).await);
}

async fn seats_of_a_holder_that_left_are_free(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    assert!(one.sits(1, 1).await);
    assert!(!two.sits(1, 1).await);
    one.leave().await;
    assert!(two.sits(1, 1).await);
}

async fn seats_of_a_holder_that_comes_back_as_another_are_free(room: Room) {
    let holder = room.holder().await;
    assert!(holder.sits(1, 1).await);
    holder.enlist(&server()).await;
    assert!(holder.sits(2, 1).await);
    // What it was is no more.
    holder.gives_back(1).await;
    assert!(!holder.sits(3, 1).await);
}

async fn seats_of_a_holder_whose_lease_is_over_are_free(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    assert!(one.sits(1, 1).await);
    room.pass(LEASE / 2).await;
    assert!(two.renew().await);
    assert!(!two.sits(1, 1).await);
    room.pass(LEASE / 2 + 100).await;
    assert!(two.sits(2, 1).await);
    // It wakes up late, and has no say.
    assert!(!one.sits(2, 5).await);
    one.gives_back(1).await;
    assert!(!one.renew().await);
    assert!(!two.sits(3, 1).await);
}

async fn a_holder_that_renews_its_lease_keeps_its_seats(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    assert!(one.sits(1, 1).await);
    for _ in 0..4 {
        room.pass(LEASE / 2).await;
        assert!(one.renew().await);
        assert!(two.renew().await);
        assert!(!two.sits(1, 1).await);
    }
}

async fn of_many_who_ask_at_once_as_many_get_seats_as_there_are(room: Room) {
    const MANY: u64 = 32;
    const SEATS: usize = 5;
    let ada = Caller::new("ada");
    let (one, two) = (Arc::new(room.holder().await), Arc::new(room.holder().await));
    let mut asking = JoinSet::new();
    for run in 0..MANY {
        let holder = if run % 2 == 0 { &one } else { &two }.clone();
        let ada = ada.clone();
        asking.spawn(async move {
            let lanes = [(TOOL, SEATS + 1), (Lane::Caller(&ada), SEATS)];
            let seated = holder.seats(run, &lanes).await;
            (seated == Seated::Yes).then_some(run)
        });
    }
    let seated: BTreeSet<u64> = asking.join_all().await.into_iter().flatten().collect();
    assert_eq!(seated.len(), SEATS);
    let mut giving_back = JoinSet::new();
    for run in seated {
        let holder = if run % 2 == 0 { &one } else { &two }.clone();
        giving_back.spawn(async move { holder.gives_back(run).await });
    }
    giving_back.join_all().await;
    for run in MANY..MANY + SEATS as u64 {
        assert!(one.sits(run, SEATS).await);
    }
}

async fn whoever_gives_a_seat_back_may_take_it_again_at_once(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    for run in 0..10 {
        assert!(one.sits(run, 1).await);
        assert!(!two.sits(0, 1).await);
        one.gives_back(run).await;
    }
}

/// Lets time pass, in which holders live on.
async fn pass(room: &Room, millis: u64, holders: &[&Holder]) {
    let mut left = millis;
    while left > 0 {
        let some = left.min(LEASE / 3);
        room.pass(some).await;
        left -= some;
        for holder in holders {
            assert!(holder.renew().await);
        }
    }
}

async fn a_holder_that_has_waited_for_long_is_next(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    assert!(one.sits(1, 1).await);
    assert!(!two.sits(1, 1).await);
    pass(&room, PATIENCE_MS + 50, &[&one, &two]).await;
    one.gives_back(1).await;
    // The seat is free, and not for this one.
    assert!(!one.sits(2, 1).await);
    assert!(!one.sits(2, 1).await);
    // But another would be.
    assert!(one.sits(3, 2).await);
    one.gives_back(3).await;
    assert!(two.sits(1, 1).await);
    two.gives_back(1).await;
    // It has had its turn.
    assert!(one.sits(2, 1).await);
}

async fn holders_that_wait_have_their_turns(room: Room) {
    let holders = [
        room.holder().await,
        room.holder().await,
        room.holder().await,
    ];
    let all: Vec<&Holder> = holders.iter().collect();
    let [one, two, three] = &holders;
    assert!(one.sits(0, 1).await);
    for holder in [two, three, one] {
        assert!(!holder.sits(100, 1).await);
        pass(&room, 20, &all).await;
    }
    pass(&room, PATIENCE_MS + 50, &all).await;
    let mut last = (one, 0);
    for (run, next) in [(1, two), (2, three), (3, one), (4, two)] {
        last.0.gives_back(last.1).await;
        for other in all.iter().filter(|other| !std::ptr::eq(**other, next)) {
            assert!(!other.sits(100 + run, 1).await, "it is not its turn");
        }
        assert!(next.sits(run, 1).await);
        // Whoever had its turn stands at the end.
        assert!(!next.sits(200 + run, 1).await);
        pass(&room, PATIENCE_MS + 50, &all).await;
        last = (next, run);
    }
}

async fn a_holder_that_asks_no_more_is_waited_for_no_longer(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    assert!(one.sits(1, 1).await);
    assert!(!two.sits(1, 1).await);
    pass(&room, PATIENCE_MS + 50, &[&one, &two]).await;
    one.gives_back(1).await;
    assert!(!one.sits(2, 1).await);
    pass(&room, WAITS_MS - PATIENCE_MS, &[&one, &two]).await;
    assert!(one.sits(2, 1).await);
}

async fn a_holder_that_died_is_not_waited_for(room: Room) {
    let (one, two, three) = (
        room.holder().await,
        room.holder().await,
        room.holder().await,
    );
    assert!(one.sits(1, 1).await);
    assert!(!two.sits(1, 1).await);
    assert!(!three.sits(1, 1).await);
    two.die().await;
    pass(&room, LEASE / 2, &[&one]).await;
    three.leave().await;
    pass(&room, PATIENCE_MS, &[&one]).await;
    one.gives_back(1).await;
    assert!(one.sits(2, 1).await);
}

async fn a_holder_that_waits_hears_of_a_seat_that_is_given_back(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    assert!(one.sits(1, 1).await);
    assert!(!two.sits(1, 1).await);
    let giving_back = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        one.gives_back(1).await;
        Instant::now()
    };
    let waiting = async {
        loop {
            let news = two.store.news().await.expect("the store is there");
            if news.seats && two.sits(1, 1).await {
                return Instant::now();
            }
        }
    };
    let both = async { tokio::join!(giving_back, waiting) };
    let (given_back, taken) = tokio::time::timeout(Duration::from_secs(10), both)
        .await
        .expect("it hears");
    assert!(taken.duration_since(given_back) < Duration::from_secs(2));
}

async fn a_task_that_waits_to_run_is_not_to_blame_when_its_holder_dies(room: Room) {
    let mut holder = room.holder().await;
    let mut claim = holder.create(created("a")).await;
    let id = claim.snapshot.id.clone();
    for _ in 0..5 {
        let last = claim.last;
        holder.goes_on(&claim, last, vec![], Activity::Queued).await;
        let next = room.holder().await;
        assert!(next.claim_all().await.is_empty());
        holder.die().await;
        holder = next;
        let again = holder.claim_the_one().await;
        assert!(again.fencing > claim.fencing);
        assert_eq!(holder.kinds(&id).await, ["created"]);
        claim = again;
    }
    holder.goes_on(&claim, 1, vec![], Activity::Queued).await;
    holder.leave().await;
    let last = room.holder().await;
    let claim = last.claim_the_one().await;
    // Once it runs, it is like any other.
    last.goes_on(&claim, 1, vec![], Activity::Queued).await;
    last.goes_on(&claim, 1, vec![], Activity::Running).await;
    let next = room.holder().await;
    last.die().await;
    next.claim_the_one().await;
    assert_eq!(next.kinds(&id).await, ["created", "recovery_started"]);
}

async fn a_task_that_waits_to_run_is_its_holders(room: Room) {
    let (holder, other) = (room.holder().await, room.holder().await);
    let claim = holder.create(created("a")).await;
    let events = vec![step_done("step"), asked("question")];
    holder.goes_on(&claim, 1, events, Activity::Queued).await;
    let id = &claim.snapshot.id;
    other.answer(id, "Ada").await;
    assert!(other.claim_all().await.is_empty());
    let journal = holder.journal(id, 3).await;
    assert_eq!(journal.len(), 1);
    holder.goes_on(&claim, 4, vec![], Activity::Running).await;
    // It waits again, and nothing has arrived for it.
    let events = vec![asked("another")];
    holder.goes_on(&claim, 4, events, Activity::Waiting).await;
    holder.die().await;
    assert!(other.claim_all().await.is_empty());
}
