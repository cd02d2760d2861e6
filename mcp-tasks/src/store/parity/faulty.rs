//! A store that fails at a chosen call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::value::RawValue;

use super::behaviours;
use super::room::{NO_LIMITS, Room, accept, anything, asked, created, finished, raw, server};
use crate::store::{
    Activity, Change, Claim, Commit, Delivery, Elapsed, Listing, LiveLimits, News, RunNumber,
    Seated, SeatsWanted, Server, StoreError, StoreFuture, StoreStats, TaskStore, ToCommit, Wanted,
    Work,
};
use crate::task::{
    Access, Answer, Entry, Event, InputKey, KeyRing, SealingKey, Seq, Snapshot, StateId, TaskId,
    Timestamp,
};

/// When in a call a store fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Nothing is done.
    Before,
    /// It is done, but the caller does not hear of it.
    After,
}

/// A store that fails at one call and works before and after.
///
/// All operations count but [`news`](TaskStore::news), whose calls have no
/// order. Used with every number up to [`calls`](Self::calls) it shows what
/// becomes of whoever uses the store when it fails at any time. Clones are one
/// store and count together.
#[derive(Clone)]
pub struct Faulty {
    store: Arc<dyn TaskStore>,
    calls: Arc<AtomicUsize>,
    at: usize,
    moment: Moment,
}

impl Faulty {
    /// A store whose `at`th call fails, counted from 1; none does for 0.
    pub fn new(store: Arc<dyn TaskStore>, at: usize, moment: Moment) -> Self {
        Self {
            store,
            calls: Arc::default(),
            at,
            moment,
        }
    }

    /// How many calls there were.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn call<'a, T: Send + 'a>(
        &'a self,
        call: impl FnOnce() -> StoreFuture<'a, T>,
    ) -> StoreFuture<'a, T> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if number != self.at {
            return call();
        }
        let words = format!("call {number} was to fail");
        match self.moment {
            Moment::Before => StoreFuture::ready(Err(StoreError::Unavailable(words))),
            Moment::After => {
                let call = call();
                StoreFuture::new(async move {
                    call.await?;
                    Err(StoreError::Unsure(words))
                })
            }
        }
    }
}

impl TaskStore for Faulty {
    fn is_durable(&self) -> bool {
        self.store.is_durable()
    }

    fn clock(&self) -> Option<Timestamp> {
        self.store.clock()
    }

    fn hears(&self) -> bool {
        self.store.hears()
    }

    fn enlist<'a>(&'a self, server: &'a Server, now: Timestamp) -> StoreFuture<'a, ()> {
        self.call(|| self.store.enlist(server, now))
    }

    fn renew(&self, now: Timestamp) -> StoreFuture<'_, bool> {
        self.call(|| self.store.renew(now))
    }

    fn leave(&self) -> StoreFuture<'_, ()> {
        self.call(|| self.store.leave())
    }

    fn hand_over<'a>(&'a self, kept: &'a [TaskId]) -> StoreFuture<'a, ()> {
        self.call(|| self.store.hand_over(kept))
    }

    fn begin(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        self.call(|| self.store.begin(journal, limits, now))
    }

    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, now: Timestamp) -> StoreFuture<'a, Work> {
        self.call(|| self.store.claim(wanted, now))
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>> {
        self.call(|| self.store.get(id, access))
    }

    fn list<'a>(&'a self, listing: &'a Listing<'a>) -> StoreFuture<'a, Vec<Arc<Snapshot>>> {
        self.call(|| self.store.list(listing))
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        self.call(|| self.store.read(id, last))
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        self.call(|| self.store.commit(commit, now))
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        self.call(|| self.store.deliver(id, access, answers, now))
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        self.call(|| self.store.cancel(id, access, now))
    }

    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        self.call(|| self.store.signal(id, name, value, now))
    }

    fn elapse(&self, limit: usize, now: Timestamp) -> StoreFuture<'_, Elapsed> {
        self.call(|| self.store.elapse(limit, now))
    }

    fn news(&self) -> StoreFuture<'_, News> {
        self.store.news()
    }

    fn sealing_keys(&self, fresh: SealingKey, now: Timestamp) -> StoreFuture<'_, KeyRing> {
        self.call(|| self.store.sealing_keys(fresh, now))
    }

    fn spend<'a>(
        &'a self,
        state: &'a StateId,
        until: Timestamp,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.call(|| self.store.spend(state, until, now))
    }

    fn take_seats<'a>(
        &'a self,
        wanted: &'a SeatsWanted<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Seated> {
        self.call(|| self.store.take_seats(wanted, now))
    }

    fn give_back_seats(&self, run: RunNumber) -> StoreFuture<'_, ()> {
        self.call(|| self.store.give_back_seats(run))
    }

    fn stats(&self) -> StoreFuture<'_, StoreStats> {
        self.call(|| self.store.stats())
    }
}

behaviours![a_life_is_the_same_whatever_call_fails];

async fn a_life_is_the_same_whatever_call_fails(room: Room) {
    let calls = live(&room, "undisturbed", 0, Moment::Before).await;
    for at in 1..=calls {
        for moment in [Moment::Before, Moment::After] {
            live(&room, &format!("{moment:?} {at}"), at, moment).await;
        }
    }
}

/// Creates a task, asks, is answered, and finishes, through a store that fails
/// once; gives the number of calls.
async fn live(room: &Room, id: &str, at: usize, moment: Moment) -> usize {
    let id = TaskId::from_text(id);
    let holder = room.holder().await;
    let inner: Arc<dyn TaskStore> = holder.store.into();
    let store = Faulty::new(inner.clone(), at, moment);
    let mut claim = None;
    for _ in 0..50 {
        match advance(&store, &id, &mut claim, room.now()).await {
            Ok(false) => {}
            Ok(true) => {
                let left = inner
                    .read(&id, 0)
                    .await
                    .expect("it does not fail by itself");
                let end = serde_json::to_string(&left.last().map(|entry| &entry.event));
                let wanted = serde_json::to_string(&Some(finished()));
                assert_eq!(end.ok(), wanted.ok());
                return store.calls();
            }
            // What is claimed is not known any more.
            Err(_) => {
                claim = None;
                let enlisted = inner.enlist(&server(), room.now()).await;
                enlisted.expect("it does not fail by itself");
            }
        }
    }
    panic!("a life has an end");
}

/// Does what is next; true if that is nothing.
async fn advance(
    store: &Faulty,
    id: &TaskId,
    claim: &mut Option<Claim>,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let Some(task) = store.get(id, Access::Server).await? else {
        let first = created(id.as_str());
        *claim = Some(store.create(first, NO_LIMITS, now).await?);
        return Ok(false);
    };
    if task.is_terminal() {
        return Ok(true);
    }
    if !task.input_requests.is_empty() {
        let response = raw(&accept("Ada"));
        let answer = Answer {
            key: InputKey::new("question"),
            response: &response,
        };
        store.deliver(id, Access::Server, &[answer], now).await?;
        return Ok(false);
    }
    let Some(mine) = claim else {
        let wanted = Wanted {
            only: Some(id),
            ..anything()
        };
        *claim = store.claim(&wanted, now).await?.claims.pop();
        return Ok(false);
    };
    let journal = store.read(id, 0).await?;
    let is_answer = |entry: &Entry| matches!(entry.event, Event::Answered { .. });
    let next = match journal.iter().filter(|entry| is_answer(entry)).count() {
        0 => asked("question"),
        1 => finished(),
        answers => panic!("{answers} answers to one question"),
    };
    let commit = ToCommit {
        id,
        fencing: mine.fencing,
        last: journal.last().map_or(0, |entry| entry.seq),
        events: &[next],
        then: Activity::Waiting,
    };
    store.commit(&commit, now).await?;
    Ok(false)
}
