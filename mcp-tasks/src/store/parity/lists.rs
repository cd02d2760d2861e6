//! Tasks are listed for those they belong to.

use super::behaviours;
use super::room::{Holder, Room, asked, created, finished, server, withdrawn};
use crate::protocol::TaskStatus;
use crate::store::{Activity, Claim, Listing, Server};
use crate::task::{Access, Caller, Event, Held};

behaviours![
    tasks_are_listed_newest_first_and_no_more_than_asked_for,
    a_caller_is_shown_its_own_tasks_and_no_others,
    tasks_are_listed_by_what_they_say_that_they_are,
    a_task_that_is_answered_asks_no_more,
    a_held_task_asks_nobody,
    tasks_of_other_servers_are_not_listed,
    what_one_holder_changes_another_lists,
];

async fn tasks_are_listed_newest_first_and_no_more_than_asked_for(room: Room) {
    let holder = room.holder().await;
    for id in ["b", "a", "d", "c"] {
        holder.asking(id).await;
        room.pass(2).await;
    }
    let server = server();
    let anybody = Caller::anonymous();
    for status in [None, Some(TaskStatus::InputRequired)] {
        for access in [Access::Server, Access::Caller(&anybody)] {
            assert_eq!(listed(&holder, access, status).await, ["c", "d", "a", "b"]);
            let two = Listing {
                limit: 2,
                ..of(&server, access, status)
            };
            assert_eq!(ids(&holder, &two).await, ["c", "d"]);
        }
    }
}

async fn a_caller_is_shown_its_own_tasks_and_no_others(room: Room) {
    let holder = room.holder().await;
    for (id, name) in [("1", "ada"), ("2", "eve"), ("3", "ada")] {
        begun_by(&holder, id, name).await;
        room.pass(2).await;
    }
    for status in [None, Some(TaskStatus::InputRequired)] {
        let of = async |name: &str| {
            let caller = Caller::new(name);
            listed(&holder, Access::Caller(&caller), status).await
        };
        assert_eq!(of("ada").await, ["3", "1"]);
        assert_eq!(of("eve").await, ["2"]);
        assert!(of("bob").await.is_empty());
        assert!(of("anonymous").await.is_empty());
        assert_eq!(
            listed(&holder, Access::Server, status).await,
            ["3", "2", "1"]
        );
    }
}

async fn tasks_are_listed_by_what_they_say_that_they_are(room: Room) {
    let holder = room.holder().await;
    holder.create(created("working")).await;
    holder.asking("asking").await;
    let done = holder.create(created("done")).await;
    holder.finish(&done, 1).await;
    let cancelled = holder.create(created("cancelled")).await;
    holder.cancel(&cancelled.snapshot.id).await;
    let anybody = Caller::anonymous();
    for (status, wanted) in [
        (TaskStatus::Working, &["working"][..]),
        (TaskStatus::InputRequired, &["asking"]),
        (TaskStatus::Completed, &["done"]),
        (TaskStatus::Cancelled, &["cancelled"]),
        (TaskStatus::Failed, &[]),
    ] {
        for access in [Access::Server, Access::Caller(&anybody)] {
            assert_eq!(listed(&holder, access, Some(status)).await, wanted);
        }
    }
}

async fn a_task_that_is_answered_asks_no_more(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let id = claim.snapshot.id.clone();
    holder
        .goes_on(&claim, 2, vec![asked("more")], Activity::Waiting)
        .await;
    holder.answer(&id, "Ada").await;
    assert_eq!(asking(&holder).await, ["a"], "one is open still");
    holder
        .goes_on(&claim, 4, vec![withdrawn("more")], Activity::Running)
        .await;
    assert!(asking(&holder).await.is_empty());
    holder
        .goes_on(&claim, 5, vec![asked("again")], Activity::Waiting)
        .await;
    assert_eq!(asking(&holder).await, ["a"]);
    holder
        .goes_on(&claim, 6, vec![finished()], Activity::Waiting)
        .await;
    assert!(asking(&holder).await.is_empty());
}

async fn a_held_task_asks_nobody(room: Room) {
    let holder = room.holder().await;
    let claim = holder.asking("a").await;
    let held = Event::Held(Held {
        build: "1".into(),
        reason: "its code has changed".into(),
        poisonous: false,
    });
    holder
        .goes_on(&claim, 2, vec![held], Activity::Parked)
        .await;
    assert!(asking(&holder).await.is_empty());
    let working = Some(TaskStatus::Working);
    assert_eq!(listed(&holder, Access::Server, working).await, ["a"]);
}

async fn tasks_of_other_servers_are_not_listed(room: Room) {
    let holder = room.holder().await;
    holder.asking("here").await;
    for (other, id) in [
        (
            Server {
                name: "other".into(),
                ..server()
            },
            "name",
        ),
        (
            Server {
                scope: "other".into(),
                ..server()
            },
            "scope",
        ),
    ] {
        let elsewhere = room.holder_for(other.clone()).await;
        elsewhere.asking(id).await;
        let status = Some(TaskStatus::InputRequired);
        let listing = of(&other, Access::Server, status);
        assert_eq!(ids(&elsewhere, &listing).await, [id]);
    }
    assert_eq!(asking(&holder).await, ["here"]);
}

async fn what_one_holder_changes_another_lists(room: Room) {
    let (one, two) = (room.holder().await, room.holder().await);
    let id = one.parked("a").await;
    assert_eq!(asking(&two).await, ["a"]);
    two.answer(&id, "Ada").await;
    assert!(asking(&one).await.is_empty());
}

/// Anybody's tasks that ask, as the caller of them sees it.
async fn asking(holder: &Holder) -> Vec<String> {
    let anybody = Caller::anonymous();
    let status = Some(TaskStatus::InputRequired);
    let as_server = listed(holder, Access::Server, status).await;
    let as_caller = listed(holder, Access::Caller(&anybody), status).await;
    assert_eq!(as_server, as_caller);
    as_caller
}

async fn listed(holder: &Holder, access: Access<'_>, status: Option<TaskStatus>) -> Vec<String> {
    ids(holder, &of(&server(), access, status)).await
}

async fn ids(holder: &Holder, listing: &Listing<'_>) -> Vec<String> {
    let tasks = holder.store.list(listing).await;
    let tasks = tasks.expect("it can be read");
    tasks.iter().map(|task| task.id.to_string()).collect()
}

fn of<'a>(server: &'a Server, access: Access<'a>, status: Option<TaskStatus>) -> Listing<'a> {
    Listing {
        server,
        access,
        status,
        limit: 1000,
    }
}

/// A task of a caller that asks.
async fn begun_by(holder: &Holder, id: &str, caller: &str) -> Claim {
    let mut first = created(id);
    first.caller = Caller::new(caller);
    let claim = holder.create(first).await;
    holder
        .goes_on(&claim, 1, vec![asked("question")], Activity::Waiting)
        .await;
    claim
}
