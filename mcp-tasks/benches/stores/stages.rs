//! A store that tells how far tasks have come, and can hold them all up at one
//! point of their lives: so that what each point costs can be told apart, and so
//! that parking, of which nobody is told, can be waited for.

use std::sync::Arc;

use mcp_tasks::TaskStore;
use mcp_tasks::store::{Activity, Commit, Elapsed, StoreFuture, StoreLayer, ToCommit};
use mcp_tasks::task::{Event, Timestamp};
use tokio::sync::watch;

/// The points of a task's life at which it may be held up, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Point {
    Asks,
    Parks,
    Finishes,
    IsDeleted,
}

/// How many tasks have come to each point, and how far they may.
#[derive(Clone)]
pub(crate) struct Stages {
    counts: watch::Sender<[usize; 4]>,
    until: watch::Sender<Option<Point>>,
    /// How many have come to their end, whether they may or not.
    arrived: watch::Sender<usize>,
}

impl Stages {
    /// Nothing is held up.
    pub(crate) fn open() -> Self {
        Self {
            counts: watch::Sender::new([0; 4]),
            until: watch::Sender::new(Some(Point::IsDeleted)),
            arrived: watch::Sender::new(0),
        }
    }

    /// Tasks are begun, and do nothing.
    pub(crate) fn closed() -> Self {
        let stages = Self::open();
        stages.until.send_replace(None);
        stages
    }

    /// Lets tasks come as far as this.
    pub(crate) fn open_until(&self, point: Point) {
        self.until.send_replace(Some(point));
    }

    pub(crate) fn count(&self, point: Point) -> usize {
        self.counts.borrow()[point as usize]
    }

    /// Waits until so many tasks have come to this point.
    pub(crate) async fn come_to(&self, point: Point, count: usize) {
        let mut counts = self.counts.subscribe();
        let come = counts.wait_for(|counts| counts[point as usize] >= count);
        come.await
            .expect("it is counted for as long as it is waited for");
    }

    /// How many have come to their end, whether they may or not.
    pub(crate) fn arrived(&self) -> usize {
        *self.arrived.borrow()
    }

    /// Waits until so many have come to their end, whether they may or not.
    pub(crate) async fn arrive(&self, count: usize) {
        let mut arrived = self.arrived.subscribe();
        let come = arrived.wait_for(|arrived| *arrived >= count);
        come.await
            .expect("it is counted for as long as it is waited for");
    }

    async fn may(&self, point: Point) {
        if point == Point::Finishes {
            self.arrived.send_modify(|arrived| *arrived += 1);
        }
        let mut until = self.until.subscribe();
        let may = until.wait_for(|until| *until >= Some(point));
        may.await.expect("it is there for as long as its store");
    }
}

pub(crate) struct Staged<S> {
    store: Arc<S>,
    stages: Stages,
}

impl<S> Staged<S> {
    pub(crate) fn new(store: S, stages: Stages) -> Self {
        Self {
            store: Arc::new(store),
            stages,
        }
    }
}

fn point_of(commit: &ToCommit<'_>) -> Option<Point> {
    let has = |is: fn(&Event) -> bool| commit.events.iter().any(is);
    if has(|event| matches!(event, Event::Finished(_))) {
        Some(Point::Finishes)
    } else if has(|event| matches!(event, Event::Asked { .. })) {
        Some(Point::Asks)
    } else {
        (commit.then == Activity::Parked).then_some(Point::Parks)
    }
}

impl<S: TaskStore> StoreLayer for Staged<S> {
    fn inner(&self) -> &dyn TaskStore {
        &*self.store
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        let Some(point) = point_of(commit) else {
            return self.store.commit(commit, now);
        };
        StoreFuture::new(async move {
            self.stages.may(point).await;
            let committed = self.store.commit(commit, now).await;
            if matches!(committed, Ok(Commit::Done(_))) {
                self.stages
                    .counts
                    .send_modify(|counts| counts[point as usize] += 1);
            }
            committed
        })
    }

    fn elapse(&self, limit: usize, now: Timestamp) -> StoreFuture<'_, Elapsed> {
        StoreFuture::new(async move {
            self.stages.may(Point::IsDeleted).await;
            self.store.elapse(limit, now).await
        })
    }
}
