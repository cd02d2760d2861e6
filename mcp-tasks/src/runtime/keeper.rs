//! What a runtime does of its own accord: keeps its lease, takes up tasks that
//! must run and have nobody, and does what time makes due.
//!
//! One loop sleeps until the first of these is due. What is done here in the
//! meantime only makes that earlier, so an idle server hardly wakes. The
//! heartbeat has a loop of its own, which nothing else can hold up.

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::clock::Clock;
use super::known::KnownTasks;
use super::lease::both_clocks;
use super::seating::Seating;
use super::watch::Watchers;
use super::{Mark, RETRY_MS, Shared};
use crate::observe::{figures, story};
use crate::store::{Change, Claim, StoreError, TaskStore, Wanted};
use crate::task::{TaskId, Timestamp};

/// When something is to be done next, as far as is known.
pub(super) struct Agenda {
    elapse: AtomicU64,
    claim: AtomicU64,
    sooner: Notify,
    /// Whether there were more tasks to take up than there was room for.
    more: AtomicBool,
    /// Room for functions that are run through their journals.
    resuming: Arc<Semaphore>,
}

/// How many functions are run through their journals at once.
const RESUMING: usize = 64;

/// How much room there must be before more tasks are looked for.
const ROOM: usize = 16;

/// Leave for a function to be run through its journal. When it is given back,
/// there may be room for more.
pub(super) struct ResumePermit {
    permit: Option<OwnedSemaphorePermit>,
    agenda: Arc<Agenda>,
    /// Whether its function had to wait for room to run.
    waited: bool,
}

impl ResumePermit {
    /// Notes that its function had to wait for room to run: others will too, and
    /// should not be looked for later than they could be.
    pub(super) fn has_waited(&mut self) {
        self.waited = true;
    }
}

impl Drop for ResumePermit {
    fn drop(&mut self) {
        drop(self.permit.take());
        let agenda = &self.agenda;
        let is_room = self.waited || agenda.resuming.available_permits() >= ROOM;
        if is_room && agenda.more.swap(false, Ordering::AcqRel) {
            agenda.claim_at(Timestamp::default());
        }
    }
}

/// What runs in the background; ends with the runtime.
#[derive(Default)]
pub(super) struct Loops(OnceLock<[AbortHandle; 2]>);

const NEVER: u64 = u64::MAX;

/// How many tasks are expired or deleted in one go.
const ELAPSE_AT_ONCE: usize = 256;

impl Default for Agenda {
    fn default() -> Self {
        Self {
            elapse: AtomicU64::new(0),
            claim: AtomicU64::new(0),
            sooner: Notify::new(),
            more: AtomicBool::new(false),
            resuming: Arc::new(Semaphore::new(RESUMING)),
        }
    }
}

impl Loops {
    pub(super) fn stop(&self) {
        for task in self.0.get().into_iter().flatten() {
            task.abort();
        }
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Agenda {
    /// Something expires, or is to be deleted, at this time.
    pub(super) fn elapse_at(&self, at: Timestamp) {
        self.lower(&self.elapse, at);
    }

    /// A task without a holder must run at this time.
    pub(super) fn claim_at(&self, at: Timestamp) {
        self.lower(&self.claim, at);
    }

    fn lower(&self, next: &AtomicU64, at: Timestamp) {
        let at = at.as_millis();
        if next.load(Ordering::Acquire) > at && next.fetch_min(at, Ordering::AcqRel) > at {
            self.sooner.notify_one();
        }
    }

    /// Whether this is due; if so, it is taken off.
    fn take(next: &AtomicU64, now: Timestamp) -> bool {
        let at = next.load(Ordering::Acquire);
        at <= now.as_millis()
            && next
                .compare_exchange(at, NEVER, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
    }

    fn next(&self) -> Option<Timestamp> {
        let at = self
            .elapse
            .load(Ordering::Acquire)
            .min(self.claim.load(Ordering::Acquire));
        (at != NEVER).then(|| Timestamp::from_millis(at))
    }
}

impl Shared {
    /// Starts what runs in the background, once, as soon as there is a tokio
    /// runtime to run it.
    pub(super) fn start(self: &Arc<Self>) {
        if self.loops.0.get().is_some() {
            return;
        }
        let Ok(tokio) = tokio::runtime::Handle::try_current() else {
            return;
        };
        self.loops.0.get_or_init(|| {
            [
                tokio.spawn(keep(Idle::of(self))).abort_handle(),
                tokio.spawn(beat(Arc::downgrade(self))).abort_handle(),
            ]
        });
    }

    /// Counts the tasks that live, where only this process knows them.
    pub(super) fn one_more(&self) {
        if !self.lease.is_needed() {
            figures::one_more_is_live();
        }
    }

    pub(super) fn one_less(&self) {
        if !self.lease.is_needed() {
            figures::one_less_is_live();
        }
    }

    /// Lets everybody concerned know of a change that was made in the store.
    pub(super) fn follow_up(self: &Arc<Self>, change: &Change) {
        if change.changed {
            self.has_news(&change.snapshot.id, change.unclaimed);
            if change.snapshot.is_terminal() {
                story::ended_from_outside(&change.snapshot);
                self.one_less();
            }
        }
        if let Some((at, _)) = change.snapshot.due(self.server.retention) {
            self.agenda.elapse_at(at);
        }
    }

    /// Does for a task whatever may have to be done for it.
    pub(super) fn look_after(&self, id: &TaskId) {
        self.known.poke(id);
        self.watchers.changed(id);
        self.agenda.claim_at(Timestamp::default());
        self.agenda.elapse_at(Timestamp::default());
    }

    /// Lets a task's driver know that its journal has grown, or starts one; and
    /// whoever watches it.
    pub(super) fn has_news(self: &Arc<Self>, id: &TaskId, unclaimed: bool) {
        self.watchers.changed(id);
        if unclaimed {
            tokio::spawn(take_up(self.clone(), id.clone()));
        } else {
            self.known.poke(id);
        }
    }

    /// Claims tasks that must run, and runs them.
    async fn claim(self: &Arc<Self>) -> Result<(), StoreError> {
        if self.stop.is_cancelled() {
            return Ok(());
        }
        self.enlisted().await?;
        let limit = self.agenda.resuming.available_permits();
        if limit == 0 {
            self.agenda.more.store(true, Ordering::Release);
            return Ok(());
        }
        let tools = self.seating.with_room(&self.versions);
        let wanted = Wanted {
            only: None,
            tools: &tools,
            limit,
        };
        let (work, mark) = self.claim_under_lease(&wanted).await?;
        if let Some(at) = work.next {
            self.agenda.claim_at(at);
        }
        if work.claims.len() >= limit {
            self.agenda.more.store(true, Ordering::Release);
        }
        for claim in work.claims {
            self.resume(claim, mark);
        }
        Ok(())
    }

    /// Runs a claimed task in a driver of its own.
    fn resume(self: &Arc<Self>, claim: Claim, mark: Mark) {
        let permit = self.agenda.resuming.clone().try_acquire_owned().ok();
        let permit = permit.map(|permit| ResumePermit {
            permit: Some(permit),
            agenda: self.agenda.clone(),
            waited: false,
        });
        tokio::spawn(super::resume::resume(self.clone(), claim, mark, permit));
    }

    async fn elapse(self: &Arc<Self>) -> Result<(), StoreError> {
        self.enlisted().await?;
        let elapsed = self.store.elapse(ELAPSE_AT_ONCE, self.now()).await?;
        for change in &elapsed.changes {
            self.follow_up(change);
        }
        if let Some(at) = elapsed.next {
            self.agenda.elapse_at(at);
        }
        Ok(())
    }
}

/// Claims one task and runs it, after something arrived for it.
async fn take_up(shared: Arc<Shared>, id: TaskId) {
    if shared.stop.is_cancelled() {
        return;
    }
    let wanted = Wanted {
        only: Some(&id),
        tools: &shared.versions,
        limit: 1,
    };
    let claimed = match shared.enlisted().await {
        Ok(()) => shared.claim_under_lease(&wanted).await,
        Err(error) => Err(error),
    };
    match claimed {
        Ok((work, mark)) => {
            for claim in work.claims {
                shared.resume(claim, mark);
            }
        }
        Err(error) => {
            tracing::warn!(task = %id, %error, "could not take up a task, trying again");
            shared.forget_claims_after(&error).await;
            let retry = shared.now().plus_millis(RETRY_MS);
            shared.agenda.claim_at(retry);
        }
    }
}

/// Does what is due, until the runtime is gone.
async fn keep(idle: Idle) {
    loop {
        idle.rest().await;
        let Some(shared) = idle.shared.upgrade() else {
            return;
        };
        let now = shared.now();
        if Agenda::take(&shared.agenda.elapse, now)
            && let Err(error) = shared.elapse().await
        {
            tracing::error!(%error, "could not expire tasks, trying again");
            if matches!(error, StoreError::Unsure(_)) {
                // Some may have ended.
                shared.known.poke_all();
                shared.watchers.any_may_have_changed();
            }
            shared.agenda.elapse_at(now.plus_millis(RETRY_MS));
        }
        if Agenda::take(&shared.agenda.claim, now)
            && let Err(error) = shared.claim().await
        {
            tracing::error!(%error, "could not take up tasks, trying again");
            shared.forget_claims_after(&error).await;
            shared.agenda.claim_at(now.plus_millis(RETRY_MS));
        }
        drop(shared);
        // Many may come due at once; others want to run meanwhile.
        tokio::task::coop::consume_budget().await;
    }
}

/// What the loop needs while there is nothing to do. The runtime is not among
/// it: it must be able to end meanwhile.
struct Idle {
    shared: Weak<Shared>,
    agenda: Arc<Agenda>,
    known: Arc<KnownTasks>,
    watchers: Arc<Watchers>,
    store: Arc<dyn TaskStore>,
    seating: Arc<Seating>,
    clock: Clock,
    /// Whether other processes may change tasks.
    shares: bool,
    /// Whether that is heard of without looking.
    hears: bool,
}

impl Idle {
    fn of(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::downgrade(shared),
            agenda: shared.agenda.clone(),
            known: shared.known.clone(),
            watchers: shared.watchers.clone(),
            store: shared.store.clone(),
            seating: shared.seating.clone(),
            clock: shared.clock.clone(),
            shares: shared.lease.is_needed(),
            hears: shared.store.hears(),
        }
    }

    /// Waits until there is something to do.
    async fn rest(&self) {
        let next = self.agenda.next();
        let due = async {
            match next {
                Some(at) => tokio::time::sleep_until(self.clock.instant(at)).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = self.agenda.sooner.notified() => {}
            () = due => {}
            () = self.news(), if self.shares => {}
        }
    }

    /// Hears what other processes have changed; where it must look for that, only
    /// while somebody waits.
    async fn news(&self) {
        while !self.hears && self.known.resident() == 0 && self.watchers.are_none() {
            tokio::select! {
                () = self.known.first.notified() => {}
                () = self.watchers.first.notified() => {}
            }
        }
        match self.store.news().await {
            Ok(news) => {
                for id in &news.grown {
                    self.known.poke(id);
                }
                // Tasks that others hold are not among them.
                match &news.changed {
                    Some(changed) => changed.iter().for_each(|id| self.watchers.changed(id)),
                    None => self.watchers.any_may_have_changed(),
                }
                if news.work {
                    self.agenda.claim_at(Timestamp::default());
                }
                if news.seats {
                    self.seating.look_again();
                }
            }
            Err(error) => {
                tracing::warn!(%error, "cannot see what others change, trying again");
                tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
            }
        }
    }
}

/// A heartbeat that failed is tried again so much later: a database that restarts may
/// not be there for long each time.
const BEAT_AGAIN: Duration = Duration::from_millis(500);

/// Renews the lease every third of it; if that fails, tries again sooner.
async fn beat(weak: Weak<Shared>) {
    let Some(shared) = weak.upgrade() else { return };
    if !shared.lease.is_needed() {
        return;
    }
    let lease = shared.lease_time();
    drop(shared);
    let (often, sooner) = (lease / 3, BEAT_AGAIN.min(lease / 3));
    let mut next = Instant::now() + often;
    loop {
        tokio::time::sleep_until(next).await;
        next = (next + often).max(Instant::now());
        let Some(shared) = weak.upgrade() else { return };
        if shared.enlisted().await.is_err() {
            next = Instant::now() + sooner;
            continue;
        }
        let asked = both_clocks();
        match shared.store.renew(shared.now()).await {
            Ok(true) => {
                shared.lease.extend(asked, lease);
                if figures::ARE_WANTED
                    && let Ok(stats) = shared.store.stats().await
                {
                    figures::live(stats.live);
                }
                // Others may have died, and with them what they had in mind.
                shared.agenda.claim_at(Timestamp::default());
                shared.agenda.elapse_at(Timestamp::default());
            }
            Ok(false) => shared.begin_anew().await,
            Err(error) => {
                tracing::warn!(%error, "the heartbeat failed, trying again");
                next = Instant::now() + sooner;
            }
        }
    }
}
