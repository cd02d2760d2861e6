//! The operations of a store, on what is in memory.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use serde_json::value::RawValue;

use super::{MemoryStore, lock};
use crate::store::{
    Activity, Change, Claim, Commit, Delivery, Elapsed, Listing, LiveLimits, News, RunNumber,
    Seated, SeatsWanted, Server, StoreFuture, StoreStats, TaskStore, ToCommit, Wanted, Work,
};
use crate::task::{
    Access, Answer, Entry, Event, KeyRing, SealingKey, Seq, Snapshot, StateId, TaskId, Timestamp,
};

impl TaskStore for MemoryStore {
    fn is_durable(&self) -> bool {
        !self.sole.load(Ordering::Relaxed)
    }

    fn enlist<'a>(&'a self, server: &'a Server, now: Timestamp) -> StoreFuture<'a, ()> {
        self.give_up();
        {
            let mut me = self.me();
            me.server = Arc::new((server.name.clone(), server.scope.clone()));
            me.build = server.build.clone();
            me.lease_ms = server.lease_ms;
            me.retention = server.retention;
        }
        self.begin_anew(now);
        StoreFuture::ready(Ok(()))
    }

    fn renew(&self, now: Timestamp) -> StoreFuture<'_, bool> {
        let me = self.me().clone();
        let mut holders = lock(&self.shared.holders);
        let dead = holders.leases.extract_if(|_, until| *until < now);
        let dead: Vec<_> = dead.map(|(holder, _)| holder).collect();
        if !dead.is_empty() {
            self.shared.abandoned.store(true, Ordering::Relaxed);
        }
        let held = match holders.leases.get_mut(&me.id) {
            Some(until) => {
                *until = now.plus_millis(me.lease_ms);
                true
            }
            None => false,
        };
        drop(holders);
        for holder in dead {
            lock(&self.shared.lanes).forget(holder);
        }
        StoreFuture::ready(Ok(held))
    }

    fn leave(&self) -> StoreFuture<'_, ()> {
        self.release();
        StoreFuture::ready(Ok(()))
    }

    fn begin(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
        _: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        StoreFuture::ready(self.insert(journal, limits))
    }

    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, now: Timestamp) -> StoreFuture<'a, Work> {
        StoreFuture::ready(self.claim_now(wanted, now))
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>> {
        StoreFuture::ready(self.with(id, access, |record| Ok(record.state.snapshot().clone())))
    }

    fn list<'a>(&'a self, listing: &'a Listing<'a>) -> StoreFuture<'a, Vec<Arc<Snapshot>>> {
        StoreFuture::ready(Ok(self.list_now(listing)))
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        StoreFuture::ready(
            self.with(id, Access::Server, |record| Ok(record.after(last)))
                .map(Option::unwrap_or_default),
        )
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        let (me, retention) = self.who();
        let committed = self.with(commit.id, Access::Server, |record| {
            if record.fencing != commit.fencing || record.holder != me {
                return Ok(Commit::Lost);
            }
            if record.state.seq() != commit.last {
                return Ok(Commit::Behind(record.after(commit.last)));
            }
            let was_held = record.state.snapshot().held.is_some();
            if !commit.events.is_empty() {
                self.append(record, commit.events.iter().cloned(), retention, now)?;
            }
            if commit
                .events
                .iter()
                .any(|event| matches!(event, Event::Held(_)))
            {
                if !was_held {
                    record.held_by.clear();
                }
                record.held_by.push(me);
            }
            record.unseen = false;
            record.note(commit.then);
            if commit.then == Activity::Parked {
                self.shared.abandoned.store(true, Ordering::Relaxed);
            }
            Ok(Commit::Done(record.state.snapshot().clone()))
        });
        StoreFuture::ready(committed.map(|commit| commit.unwrap_or(Commit::Lost)))
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        StoreFuture::ready(self.with(id, access, |record| {
            match record.state.snapshot().judge(answers) {
                Ok(events) => self
                    .append_from_outside(record, events, now)
                    .map(Delivery::Recorded),
                Err(refusal) => Ok(Delivery::Refused(refusal)),
            }
        }))
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        StoreFuture::ready(self.with(id, access, |record| {
            let events = record.state.cancel();
            self.append_from_outside(record, events, now)
        }))
    }

    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        StoreFuture::ready(self.with(id, Access::Server, |record| {
            let events = record.state.signal(name, value);
            self.append_from_outside(record, events, now)
        }))
    }

    fn elapse(&self, limit: usize, now: Timestamp) -> StoreFuture<'_, Elapsed> {
        StoreFuture::ready(self.elapse_now(limit, now))
    }

    fn news(&self) -> StoreFuture<'_, News> {
        StoreFuture::new(async {
            let mut appended = self.shared.appended.subscribe();
            let heard = self.heard.load(Ordering::Relaxed);
            let by_others = |count: u64| count.wrapping_sub(self.mine.load(Ordering::Acquire));
            // The sender lives as long as the store.
            let count = appended.wait_for(|count| by_others(*count) != heard).await;
            let count = count.map_or(heard, |count| by_others(*count));
            self.heard.store(count, Ordering::Relaxed);
            let changes = self.shared.changes.load(Ordering::Acquire);
            if self.looked.swap(changes, Ordering::Relaxed) == changes {
                return Ok(News {
                    work: true,
                    seats: true,
                    ..News::default()
                });
            }
            let me = self.me().id;
            let tasks = self.shared.tasks.read();
            let tasks = tasks.unwrap_or_else(PoisonError::into_inner);
            let grown = tasks.iter().filter(|(_, record)| {
                let mut record = lock(record);
                let is_news = record.holder == me && record.unseen;
                if is_news && !record.is_live() {
                    // Nobody commits anything for it any more.
                    record.unseen = false;
                }
                is_news
            });
            Ok(News {
                grown: grown.map(|(id, _)| id.clone()).collect(),
                changed: None,
                work: true,
                seats: true,
            })
        })
    }

    fn sealing_keys(&self, fresh: SealingKey, now: Timestamp) -> StoreFuture<'_, KeyRing> {
        let mut sealing = lock(&self.shared.sealing);
        sealing.keys.renew(fresh, now);
        StoreFuture::ready(Ok(sealing.keys.clone()))
    }

    fn spend<'a>(
        &'a self,
        state: &'a StateId,
        until: Timestamp,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        StoreFuture::ready(Ok(lock(&self.shared.sealing).spend(state, until, now)))
    }

    fn take_seats<'a>(
        &'a self,
        wanted: &'a SeatsWanted<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Seated> {
        StoreFuture::ready(Ok(self.take_seats_now(wanted, now)))
    }

    fn give_back_seats(&self, run: RunNumber) -> StoreFuture<'_, ()> {
        self.give_back_seats_now(run);
        StoreFuture::ready(Ok(()))
    }

    fn stats(&self) -> StoreFuture<'_, StoreStats> {
        let tasks = self.shared.tasks.read();
        let tasks = tasks.unwrap_or_else(PoisonError::into_inner);
        let bytes = tasks.values().map(|record| lock(record).weight()).sum();
        let stored = tasks.len() as u64;
        drop(tasks);
        StoreFuture::ready(Ok(StoreStats {
            live: lock(&self.shared.live).total as u64,
            stored,
            commits: self.shared.commits.load(Ordering::Relaxed),
            bytes,
        }))
    }
}
