//! Who runs tasks, and who has stopped to.
//!
//! A holder has a row with the end of its lease, by the database's clock. A holder
//! whose row is gone holds nothing: whoever removes a row sets its tasks free, and
//! whoever claims locks its own row against that for the time of the statement.
//!
//! When the database was away, or the network, all leases run out at the same time,
//! and nobody has died. So a holder is declared dead only by one who has been in
//! touch with the database for as long as a lease lasts: by then all that live have
//! been heard of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connections::busy;
use super::ledger::Ledger;
use super::query::Query;
use super::row::{HolderId, set_free};
use super::schema::now;
use super::text;
use super::trouble::Trouble;
use crate::store::columns::time;
use crate::store::{Server, StoreError};
use crate::task::{Retention, TaskId};

/// How often it is tried to remove a holder whose tasks others are at.
const ATTEMPTS: usize = 10;

/// The holder that a store's handle is.
pub(super) struct Me {
    pub(super) id: HolderId,
    pub(super) server: Arc<str>,
    pub(super) scope: Arc<str>,
    pub(super) build: Arc<str>,
    pub(super) retention: Retention,
    lease: Duration,
    pub(super) codes: Codes,
}

/// The numbers of tools and their versions, on the holder's server.
#[derive(Default)]
pub(super) struct Codes(Mutex<HashMap<(Arc<str>, u32), i32>>);

impl Codes {
    pub(super) fn get(&self, tool: &Arc<str>, version: u32) -> Option<i32> {
        let codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.get(&(tool.clone(), version)).copied()
    }

    pub(super) fn all(&self, wanted: &[(Arc<str>, u32)]) -> Option<Vec<i32>> {
        let codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.iter().map(|one| codes.get(one).copied()).collect()
    }

    pub(super) fn put(&self, tool: Arc<str>, version: u32, code: i32) {
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.insert((tool, version), code);
    }
}

/// Since when the database has answered without a gap as long as a lease.
#[derive(Clone, Copy, Default)]
pub(super) struct Touch {
    since: Option<Instant>,
    last: Option<Instant>,
}

impl Touch {
    /// Notes that it has just answered.
    fn note(&mut self, lease: Duration) {
        let now = Instant::now();
        if self.last.is_none_or(|last| now - last > lease) {
            self.since = Some(now);
        }
        self.last = Some(now);
    }

    fn is_as_long_as(&self, lease: Duration) -> bool {
        self.lacks(lease).is_zero() && self.last.is_some_and(|last| last.elapsed() <= lease)
    }

    /// How long it takes until it is.
    fn lacks(&self, lease: Duration) -> Duration {
        self.since
            .map_or(lease, |since| lease.saturating_sub(since.elapsed()))
    }
}

pub(super) struct Queries {
    enlist: Query,
    renew: Query,
    lock_own: Query,
    lock_late: Query,
    set_free: Query,
    remove: Query,
    hand_over: Query,
}

impl Queries {
    pub(super) fn new(query: impl Fn(&str) -> Query) -> Self {
        Self {
            enlist: query(concat!(
                "INSERT INTO @holders (server, scope, build, lease_ms, lease_until)
                 VALUES ($1::text, $2::text, $3::text, $4::int8, ",
                now!(),
                " + $4::int8) RETURNING holder, ",
                now!(),
            )),
            renew: query(concat!(
                "WITH renewed AS (
                     UPDATE @holders SET lease_until = ",
                now!(),
                " + lease_ms WHERE holder = $1::int8 RETURNING holder
                 )
                 SELECT EXISTS (SELECT FROM renewed), ",
                now!(),
                ", (SELECT min(lease_until) FROM @holders WHERE holder <> $1::int8)",
            )),
            // Whoever claims under one of these has done so before, or finds it gone.
            lock_own: query("SELECT holder FROM @holders WHERE holder = $1::int8 FOR UPDATE"),
            lock_late: query(concat!(
                "SELECT holder FROM @holders WHERE holder <> $1::int8 AND lease_until < ",
                now!(),
                " FOR UPDATE SKIP LOCKED",
            )),
            set_free: query(concat!(
                "UPDATE @tasks t SET ",
                set_free!("$2::bool"),
                " WHERE t.holder = ANY ($1::int8[]) AND t.holder > 0 RETURNING 1",
            )),
            // Who waits for a seat may have come after its row had gone.
            remove: query(
                "WITH seats AS (DELETE FROM @seats WHERE holder = ANY ($1::int8[])),
                 wanted AS (DELETE FROM @seats_wanted w WHERE w.holder = ANY ($1::int8[])
                     OR NOT EXISTS (SELECT FROM @holders h WHERE h.holder = w.holder))
                 DELETE FROM @holders WHERE holder = ANY ($1::int8[])",
            ),
            hand_over: query(concat!(
                "UPDATE @tasks t SET ",
                set_free!("FALSE"),
                " WHERE t.holder = $1::int8 AND t.holder > 0 AND t.id <> ALL ($2::text[])",
            )),
        }
    }
}

impl Ledger {
    /// Begins to hold tasks, under a new number.
    pub(super) async fn enlist(&self, server: &Server) -> Result<(), StoreError> {
        if let Some(me) = self.holder() {
            // What ran here has died with it.
            self.remove(&self.queries.holders.lock_own, me.id, true)
                .await?;
            self.set_holder(None);
        }
        let asked = Instant::now();
        let lease_ms = i64::try_from(server.lease_ms).unwrap_or(i64::MAX / 2);
        let rows = self
            .connections
            .write(
                &self.queries.holders.enlist,
                &[&&*server.name, &&*server.scope, &&*server.build, &lease_ms],
            )
            .await?;
        let Some(row) = rows.first() else {
            return Err(StoreError::Unavailable("no holder was entered".to_owned()));
        };
        self.clock.set(time(row.get(1)), asked);
        let lease = Duration::from_millis(server.lease_ms);
        self.touch().note(lease);
        let id = HolderId(row.get(0));
        self.set_holder(Some(Arc::new(Me {
            id,
            server: server.name.clone(),
            scope: server.scope.clone(),
            build: server.build.clone(),
            retention: server.retention,
            lease,
            codes: Codes::default(),
        })));
        self.news.begin_as(id);
        Ok(())
    }

    /// Renews the lease; false if it was lost.
    pub(super) async fn renew(&self) -> Result<bool, StoreError> {
        let Some(me) = self.holder() else {
            return Ok(false);
        };
        let asked = Instant::now();
        let rows = self
            .beats
            .write(&self.queries.holders.renew, &[&me.id.0])
            .await?;
        let Some(row) = rows.first() else {
            return Ok(false);
        };
        let (renewed, now): (bool, i64) = (row.get(0), row.get(1));
        let first_lease: Option<i64> = row.get(2);
        self.clock.set(time(now), asked);
        self.touch().note(me.lease);
        self.news.has_others(first_lease.is_some());
        let left = first_lease.map(|until| u64::try_from(until - now).unwrap_or(0));
        let left = left.map(Duration::from_millis);
        if renewed && left.is_some_and(|left| left.is_zero()) {
            self.bury_the_late().await?;
        }
        let until_sure = self.touch().lacks(me.lease);
        self.deaths.expect(left.map(|left| left.max(until_sure)));
        Ok(renewed)
    }

    /// Removes the holders whose leases are over, and sets their tasks free, if this
    /// one can be sure that they have died.
    pub(super) async fn bury_the_late(&self) -> Result<(), StoreError> {
        let Some(me) = self.holder() else {
            return Ok(());
        };
        if !self.touch().is_as_long_as(me.lease) {
            return Ok(());
        }
        let (holders, tasks) = self
            .remove(&self.queries.holders.lock_late, me.id, true)
            .await?;
        if !holders.is_empty() {
            tracing::info!(?holders, tasks, "holders of tasks have died");
            // They may have had something to tell.
            self.news.tell_that_there_was_more();
            self.news.may_have_missed_something();
        }
        Ok(())
    }

    /// Removes holders that a statement finds, and sets their tasks and seats free; what ran
    /// is to be recovered if they have died. Gives the holders and the number of
    /// their tasks.
    ///
    /// In this order, each with what is there by then: so no claim is overlooked
    /// that was made at the last moment.
    async fn remove(
        &self,
        found_by: &Query,
        holder: HolderId,
        died: bool,
    ) -> Result<(Vec<i64>, usize), StoreError> {
        let queries = &self.queries.holders;
        for _ in 0..ATTEMPTS {
            let removed = async {
                let mut transaction = self.beats.begin().await?;
                let found = transaction.run(found_by, &[&holder.0]).await?;
                let holders: Vec<i64> = found.iter().map(|row| row.get(0)).collect();
                let freed = transaction
                    .run(&queries.set_free, &[&holders, &died])
                    .await?;
                transaction.run(&queries.remove, &[&holders]).await?;
                transaction.commit().await?;
                Ok((holders, freed.len()))
            };
            match removed.await {
                Ok(removed) => return Ok(removed),
                Err(Trouble::Again) => {}
                Err(Trouble::Refused(error)) => return Err(error),
            }
        }
        Err(busy())
    }

    /// Gives up the lease in good order: what ran here is free, and not suspected
    /// of anything.
    pub(super) async fn leave(&self) -> Result<(), StoreError> {
        let Some(me) = self.holder() else {
            return Ok(());
        };
        self.remove(&self.queries.holders.lock_own, me.id, false)
            .await?;
        self.set_holder(None);
        // The process may end at once.
        self.tell_of_work_now().await;
        Ok(())
    }

    /// Gives up all claims but some.
    pub(super) async fn hand_over(&self, kept: &[TaskId]) -> Result<(), StoreError> {
        let Some(me) = self.holder() else {
            return Ok(());
        };
        let kept: Vec<_> = kept.iter().map(|id| text::kept(id.as_str())).collect();
        self.connections
            .write(&self.queries.holders.hand_over, &[&me.id.0, &kept])
            .await?;
        self.tell_of_work_now().await;
        Ok(())
    }

    fn touch(&self) -> std::sync::MutexGuard<'_, Touch> {
        self.touch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
