//! What many do at one moment is done in some order.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::behaviours;
use super::room::{Room, created, finished, withdrawn};
use crate::store::{Activity, Commit, Delivery};
use crate::task::{Access, Event, TaskId};

behaviours![
    of_many_answers_at_once_one_wins,
    of_many_cancellations_at_once_one_counts,
    a_question_is_either_answered_or_withdrawn,
    each_task_is_claimed_by_one_of_many_holders,
    many_tasks_go_their_way_at_once,
];

const MANY: usize = 64;

async fn of_many_answers_at_once_one_wins(room: Room) {
    let holder = Arc::new(room.holder().await);
    let other = Arc::new(room.holder().await);
    let id = holder.asking("a").await.snapshot.id.clone();
    let mut answers = JoinSet::new();
    for number in 0..MANY {
        let holder = if number % 2 == 0 { &holder } else { &other }.clone();
        let id = id.clone();
        answers.spawn(async move {
            let change = holder.answer(&id, &number.to_string()).await;
            change.changed.then(|| number.to_string())
        });
    }
    let winners: Vec<String> = answers.join_all().await.into_iter().flatten().collect();
    assert_eq!(winners.len(), 1);
    let journal = holder.journal(&id, 2).await;
    assert_eq!(journal.len(), 1);
    let recorded = serde_json::to_string(&journal[0].event).expect("an event is JSON");
    assert!(
        recorded.contains(&format!("\"{}\"", winners[0])),
        "{recorded}"
    );
}

async fn of_many_cancellations_at_once_one_counts(room: Room) {
    let holder = Arc::new(room.holder().await);
    let id = holder.asking("a").await.snapshot.id.clone();
    let mut cancels = JoinSet::new();
    for _ in 0..MANY {
        let (holder, id) = (holder.clone(), id.clone());
        cancels.spawn(async move { holder.cancel(&id).await.changed });
    }
    let counted = cancels
        .join_all()
        .await
        .into_iter()
        .filter(|changed| *changed);
    assert_eq!(counted.count(), 1);
}

async fn a_question_is_either_answered_or_withdrawn(room: Room) {
    let holder = Arc::new(room.holder().await);
    let other = Arc::new(room.holder().await);
    let mut rounds = JoinSet::new();
    for round in 0..MANY {
        let (holder, other) = (holder.clone(), other.clone());
        rounds.spawn(async move {
            let claim = holder.asking(&round.to_string()).await;
            let id = &claim.snapshot.id;
            let (commit, change) = tokio::join!(
                holder.commit(&claim, 2, vec![withdrawn("question")], Activity::Running),
                other.answer(id, "Ada"),
            );
            match commit {
                Commit::Done(_) => assert!(!change.changed),
                Commit::Behind(missing) => assert!(change.changed && missing.len() == 1),
                Commit::Lost => panic!("nobody has taken it"),
            }
            assert_eq!(holder.journal(id, 2).await.len(), 1);
        });
    }
    rounds.join_all().await;
}

async fn each_task_is_claimed_by_one_of_many_holders(room: Room) {
    let holder = room.holder().await;
    for number in 0..MANY {
        let parked = holder.parked(&number.to_string()).await;
        holder.answer(&parked, "Ada").await;
    }
    let mut claims = JoinSet::new();
    for _ in 0..4 {
        let holder = room.holder().await;
        claims.spawn(async move {
            let mut mine = Vec::new();
            loop {
                let wanted = crate::store::Wanted {
                    limit: 5,
                    ..super::room::anything()
                };
                let claims = holder.claim(wanted).await.claims;
                if claims.is_empty() {
                    return mine;
                }
                for claim in claims {
                    holder.finish(&claim, 3).await;
                    mine.push(claim.snapshot.id.clone());
                }
            }
        });
    }
    let claimed: Vec<TaskId> = claims.join_all().await.into_iter().flatten().collect();
    let distinct: BTreeSet<&TaskId> = claimed.iter().collect();
    assert_eq!((claimed.len(), distinct.len()), (MANY, MANY));
}

async fn many_tasks_go_their_way_at_once(room: Room) {
    let holder = Arc::new(room.holder().await);
    let mut lives = JoinSet::new();
    for number in 0..MANY {
        let holder = holder.clone();
        lives.spawn(async move {
            let claim = holder.asking(&number.to_string()).await;
            let id = &claim.snapshot.id;
            let answers = [("question", super::room::accept(&number.to_string()))];
            let delivery = holder.deliver(id, Access::Server, &answers).await;
            assert!(
                matches!(delivery, Some(Delivery::Recorded(_))),
                "{delivery:?}"
            );
            // A commit that is behind, one that breaks the rules, and one that
            // fits, among those of all the others.
            let commit = holder
                .commit(&claim, 2, vec![finished()], Activity::Waiting)
                .await;
            assert!(matches!(commit, Commit::Behind(_)), "{commit:?}");
            let twice = vec![Event::Created(Box::new(created("x")))];
            let commit = holder.try_commit(&claim, 3, twice, Activity::Waiting).await;
            assert!(commit.is_err(), "{commit:?}");
            holder.finish(&claim, 3).await;
            assert!(holder.task(id).await.is_terminal());
        });
    }
    lives.join_all().await;
    let stats = holder.store.stats().await.expect("the store is there");
    assert_eq!((stats.live, stats.stored), (0, MANY as u64));
}
