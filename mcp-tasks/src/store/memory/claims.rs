//! Who holds which tasks, and who gets those that nobody has.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::record::Record;
use super::{HolderId, Holders, MemoryStore, NOBODY, lock};
use crate::store::turns::in_turns;
use crate::store::{Activity, Claim, StoreError, Wanted, Work};
use crate::task::{Event, FencingNumber, Timestamp};

impl MemoryStore {
    pub(super) fn begin_anew(&self, now: Timestamp) {
        let mut me = self.me();
        let mut holders = lock(&self.shared.holders);
        holders.last += 1;
        let id = holders.last;
        let until = now.plus_millis(me.lease_ms);
        holders.leases.insert(id, until);
        me.id = id;
    }

    pub(super) fn give_up(&self) {
        let id = self.me().id;
        lock(&self.shared.holders).leases.remove(&id);
        lock(&self.shared.lanes).forget(id);
        let tasks = self.shared.tasks.read();
        if !tasks.unwrap_or_else(PoisonError::into_inner).is_empty() {
            self.shared.abandoned.store(true, Ordering::Relaxed);
        }
    }

    /// Leaves in good order: what ran here is free, and not suspected of
    /// anything.
    pub(super) fn release(&self) {
        self.give_up();
        if self.sole.load(Ordering::Relaxed) {
            return;
        }
        let id = self.me().id;
        let tasks = self.shared.tasks.read();
        let tasks = tasks.unwrap_or_else(PoisonError::into_inner);
        for record in tasks.values() {
            let mut record = lock(record);
            if record.holder == id {
                record.holder = NOBODY;
            }
        }
    }

    pub(super) fn is_held(&self, record: &Record, me: HolderId, now: Timestamp) -> bool {
        self.is_alive(record.holder, me, now)
    }

    pub(super) fn is_alive(&self, holder: HolderId, me: HolderId, now: Timestamp) -> bool {
        if self.sole.load(Ordering::Relaxed) && holder != NOBODY {
            return holder == me;
        }
        lock(&self.shared.holders).is_alive(holder, now)
    }

    /// Claims what is wanted: callers in turn, and of each the oldest need first.
    pub(super) fn claim_now(
        &self,
        wanted: &Wanted<'_>,
        now: Timestamp,
    ) -> Result<Work, StoreError> {
        let mut work = Work::default();
        if !self.shared.abandoned.load(Ordering::Relaxed) {
            return Ok(work);
        }
        let me = self.me().clone();
        let is_sole = self.sole.load(Ordering::Relaxed);
        if !is_sole && !lock(&self.shared.holders).is_alive(me.id, now) {
            // Whatever it claimed others would take from it at once.
            return Ok(work);
        }
        let records: Vec<_> = {
            let tasks = self.shared.tasks.read();
            let tasks = tasks.unwrap_or_else(PoisonError::into_inner);
            tasks.values().cloned().collect()
        };
        let (mut mine_running, mut suspects) = (0, 0);
        let mut candidates = Vec::new();
        for record in records {
            let locked = lock(&record);
            if self.is_held(&locked, me.id, now) {
                let running = locked.running && locked.is_live();
                mine_running += usize::from(running && locked.holder == me.id);
                suspects += usize::from(running && locked.state.recoveries().is_suspect());
                continue;
            }
            let snapshot = locked.state.snapshot();
            if wanted.only.is_some_and(|only| *only != snapshot.id) {
                continue;
            }
            let tool = (snapshot.tool.clone(), snapshot.version);
            if locked.server != me.server || !wanted.tools.contains(&tool) {
                continue;
            }
            let wake_at = match &snapshot.held {
                Some(held) if held.poisonous => (held.build != me.build).then(Timestamp::default),
                Some(_) => (!locked.held_by.contains(&me.id)).then(Timestamp::default),
                None => locked.wake_at(),
            };
            let caller = snapshot.caller.clone();
            drop(locked);
            match wake_at {
                Some(at) if at <= now => candidates.push((at, caller, record)),
                Some(at) => work.next = Some(work.next.map_or(at, |next| next.min(at))),
                None => {}
            }
        }
        candidates.sort_by_key(|(at, ..)| *at);
        if candidates.len() > wanted.limit {
            let last = lock(&self.last_claimed).clone();
            candidates = in_turns(candidates, last.as_str(), |(_, caller, _)| caller.as_str());
        }
        for (.., record) in candidates {
            if work.claims.len() >= wanted.limit {
                break;
            }
            let mut record = lock(&record);
            if self.is_held(&record, me.id, now) || !record.is_live() {
                continue;
            }
            let died_running = record.holder != NOBODY && record.running;
            if died_running {
                // It will be a suspect, or not, by this attempt.
                let mut recoveries = record.state.recoveries();
                recoveries.started += 1;
                if recoveries.is_suspect() {
                    if suspects > 0 {
                        continue;
                    }
                    suspects += 1;
                }
                let alone = mine_running == 0 && work.claims.is_empty();
                self.append(
                    &mut record,
                    [Event::RecoveryStarted { alone }],
                    me.retention,
                    now,
                )?;
            }
            record.holder = me.id;
            record.fencing = FencingNumber(record.fencing.0 + 1);
            record.note(Activity::Running);
            record.unseen = false;
            work.claims.push(Claim {
                fencing: record.fencing,
                last: record.state.seq(),
                snapshot: record.state.snapshot().clone(),
            });
        }
        if wanted.only.is_none()
            && let Some(last) = work.claims.last()
        {
            lock(&self.last_claimed).clone_from(&last.snapshot.caller);
        }
        Ok(work)
    }
}

impl Holders {
    pub(super) fn is_alive(&self, holder: HolderId, now: Timestamp) -> bool {
        self.leases.get(&holder).is_some_and(|until| *until >= now)
    }
}
