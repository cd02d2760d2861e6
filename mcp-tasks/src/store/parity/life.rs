//! Tasks begin, are seen by those they belong to, and are counted.

use super::behaviours;
use super::room::{Holder, Room, created, raw};
use crate::Caller;
use crate::protocol::TaskStatus;
use crate::store::{Activity, LiveLimits, StoreError};
use crate::task::{Access, Created, TaskId};

behaviours![
    a_created_task_is_its_creators_and_can_be_read,
    a_task_exists_for_its_caller_and_for_the_server_alone,
    an_id_that_nobody_has_is_nothing_to_anybody,
    the_limit_of_the_server_counts_tasks_that_have_not_ended,
    the_limit_of_a_caller_counts_its_own_tasks,
    callers_whom_nobody_authenticated_share_no_limit,
    tasks_are_counted,
];

async fn a_created_task_is_its_creators_and_can_be_read(room: Room) {
    let holder = room.holder().await;
    let claim = holder.create(created("a")).await;
    assert_eq!(claim.last, 1);
    let id = &claim.snapshot.id;
    let task = holder.task(id).await;
    assert_eq!(task.status(), TaskStatus::Working);
    assert_eq!(&*task.tool, "tool");
    assert_eq!(task.created_at, task.updated_at);
    assert_eq!(holder.kinds(id).await, ["created"]);
    let snapshot = holder.goes_on(&claim, 1, vec![], Activity::Running).await;
    assert_eq!(snapshot.updated_at, task.updated_at);
}

async fn a_task_exists_for_its_caller_and_for_the_server_alone(room: Room) {
    let holder = room.holder().await;
    let (ada, eve) = (Caller::new("ada"), Caller::new("eve"));
    let claim = holder.create(of("a", "ada")).await;
    let id = &claim.snapshot.id;
    holder
        .goes_on(
            &claim,
            1,
            vec![super::room::asked("question")],
            Activity::Waiting,
        )
        .await;
    let exists = async |access| {
        let got = holder
            .store
            .get(id, access)
            .await
            .expect("the store is there");
        let delivered = holder.deliver(id, access, &[]).await;
        assert_eq!(got.is_some(), delivered.is_some());
        got.is_some()
    };
    assert!(exists(Access::Caller(&ada)).await);
    assert!(exists(Access::Server).await);
    assert!(!exists(Access::Caller(&eve)).await);
    assert!(!exists(Access::Caller(&Caller::anonymous())).await);
    let cancelled = holder.store.cancel(id, Access::Caller(&eve), holder.now());
    assert!(cancelled.await.expect("the store is there").is_none());
    assert!(!holder.task(id).await.is_terminal());
}

async fn an_id_that_nobody_has_is_nothing_to_anybody(room: Room) {
    let holder = room.holder().await;
    let mut claim = holder.create(created("a")).await;
    let id = TaskId::from_text("never created: ' \" % \u{1f980}");
    assert!(holder.get(&id).await.is_none());
    assert!(holder.journal(&id, 0).await.is_empty());
    assert!(holder.deliver(&id, Access::Server, &[]).await.is_none());
    assert!(holder.signal(&id, "name", 1.into()).await.is_none());
    let cancelled = holder.store.cancel(&id, Access::Server, holder.now());
    assert!(cancelled.await.expect("the store is there").is_none());
    let mut other = (*claim.snapshot).clone();
    other.id = id;
    claim.snapshot = other.into();
    let commit = holder.commit(&claim, 1, vec![], Activity::Waiting).await;
    assert!(matches!(commit, crate::store::Commit::Lost), "{commit:?}");
}

fn of(id: &str, caller: &str) -> Created {
    Created {
        caller: Caller::new(caller),
        ..created(id)
    }
}

async fn is_full(holder: &Holder, created: Created, limits: LiveLimits) -> bool {
    match holder.store.create(created, limits, holder.now()).await {
        Ok(_) => false,
        Err(StoreError::Full(words)) => {
            assert!(!words.is_empty());
            true
        }
        Err(error) => panic!("a limit is reached, or it is not; but: {error}"),
    }
}

async fn the_limit_of_the_server_counts_tasks_that_have_not_ended(room: Room) {
    let holder = room.holder().await;
    let limits = LiveLimits {
        per_caller: usize::MAX,
        total: 2,
    };
    assert!(!is_full(&holder, created("a"), limits).await);
    assert!(!is_full(&holder, of("b", "ada"), limits).await);
    assert!(is_full(&holder, of("c", "eve"), limits).await);
    assert!(holder.get(&TaskId::from_text("c")).await.is_none());
    holder.cancel(&TaskId::from_text("a")).await;
    holder.cancel(&TaskId::from_text("a")).await;
    assert!(!is_full(&holder, created("d"), limits).await);
    assert!(is_full(&room.holder().await, created("e"), limits).await);
}

async fn the_limit_of_a_caller_counts_its_own_tasks(room: Room) {
    let holder = room.holder().await;
    let limits = LiveLimits {
        per_caller: 1,
        total: usize::MAX,
    };
    assert!(!is_full(&holder, of("a", "ada"), limits).await);
    assert!(is_full(&holder, of("b", "ada"), limits).await);
    assert!(!is_full(&holder, of("c", "eve"), limits).await);
    holder.cancel(&TaskId::from_text("a")).await;
    assert!(!is_full(&holder, of("d", "ada"), limits).await);
    assert!(is_full(&holder, of("e", "ada"), limits).await);
    assert!(is_full(&holder, of("f", "eve"), limits).await);
}

async fn callers_whom_nobody_authenticated_share_no_limit(room: Room) {
    let holder = room.holder().await;
    let limits = LiveLimits {
        per_caller: 1,
        total: usize::MAX,
    };
    assert!(!is_full(&holder, created("a"), limits).await);
    assert!(!is_full(&holder, created("b"), limits).await);
}

async fn tasks_are_counted(room: Room) {
    let holder = room.holder().await;
    let before = holder.store.stats().await.expect("the store is there");
    assert_eq!((before.live, before.stored), (0, 0));
    let first = holder.create(created("a")).await;
    let mut large = created("b");
    // A store may press it together.
    let noise = (0..1 << 16).map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    large.arguments = raw(&noise.collect::<Vec<_>>().into());
    holder.create(large).await;
    holder.finish(&first, 1).await;
    let after = holder.store.stats().await.expect("the store is there");
    assert_eq!((after.live, after.stored), (1, 2));
    assert_eq!(after.commits - before.commits, 3);
    assert!(after.bytes >= before.bytes + (1 << 20), "{after:?}");
}
