//! Functions of which only so many may run at once, over all processes on the
//! store: those of a limited tool, and of one caller if callers are limited.
//!
//! Who wants to run stands in a line. Whoever is first in it has the store
//! asked for seats; the others behind it need not ask, as there would be none
//! for them either. The store is asked in a task of its own, so that nobody who
//! goes away leaves a seat behind of which nobody knows.

mod line;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::Instant;

use self::line::{Ask, Line, Waiter};
use super::lease::{Epoch, Standing};
use super::turns::Ticket;
use super::{RETRY_MS, Shared};
use crate::store::{Lane, RunNumber, Seated, SeatsWanted, StoreError};
use crate::task::{Caller, Timestamp};

/// What a server limits, and who waits for it.
pub(super) struct Seating {
    /// How many functions of each limited tool may run at once.
    tools: HashMap<Arc<str>, usize>,
    /// How many of one authenticated caller, if that is limited.
    per_caller: Option<usize>,
    line: Mutex<Line>,
    runs: AtomicU64,
    shared: Weak<Shared>,
}

/// What a function counts towards; one of the two at least.
#[derive(Debug)]
pub(super) struct Lanes {
    tool: Option<(Arc<str>, usize)>,
    caller: Option<(Caller, usize)>,
}

/// The seats of one run; given back when it is dropped.
pub(super) struct Seats {
    seating: Arc<Seating>,
    run: RunNumber,
    lanes: Arc<Lanes>,
    /// The lease under which they were taken.
    epoch: Epoch,
    /// Done when that is lost, once somebody has waited for it.
    lost: Option<Lost>,
}

type Lost = Pin<Box<dyn Future<Output = ()> + Send>>;

/// So many of one tool wait in memory; the store keeps the rest until there are
/// fewer.
const CROWD: usize = 64;

impl Lanes {
    /// Its lanes, as stores know them.
    fn wanted(&self) -> Vec<(Lane<'_>, usize)> {
        let tool = self.tool.iter();
        let tool = tool.map(|(name, seats)| (Lane::Tool(name), *seats));
        let caller = self.caller.iter();
        let caller = caller.map(|(caller, seats)| (Lane::Caller(caller), *seats));
        tool.chain(caller).collect()
    }
}

impl Seating {
    pub(super) fn new(
        tools: HashMap<Arc<str>, usize>,
        per_caller: Option<usize>,
        shared: Weak<Shared>,
    ) -> Arc<Self> {
        Arc::new(Self {
            tools,
            per_caller: per_caller.map(|seats| seats.max(1)),
            line: Mutex::default(),
            runs: AtomicU64::new(0),
            shared,
        })
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a function of this tool and caller counts towards, if anything.
    pub(super) fn lanes(&self, tool: &str, caller: &Caller) -> Option<Arc<Lanes>> {
        if self.tools.is_empty() && self.per_caller.is_none() {
            return None;
        }
        let tool = self.tools.get_key_value(tool);
        let tool = tool.map(|(name, seats)| (name.clone(), *seats));
        let seats = self.per_caller.filter(|_| !caller.is_anonymous());
        let caller = seats.map(|seats| (caller.clone(), seats));
        (tool.is_some() || caller.is_some()).then(|| Arc::new(Lanes { tool, caller }))
    }

    /// Waits for seats.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the place in the line, and whatever was
    /// taken for it meanwhile.
    pub(super) async fn sit(self: &Arc<Self>, lanes: &Arc<Lanes>, caller: &Caller) -> Seats {
        let run = RunNumber(self.runs.fetch_add(1, Ordering::Relaxed));
        let (give, given) = oneshot::channel();
        let waiter = Waiter {
            run,
            lanes: lanes.clone(),
            give,
            unsure: false,
        };
        let ticket = self.line().join(caller, waiter);
        let place = Place {
            seating: self,
            lanes,
            caller,
            ticket,
        };
        self.pump();
        let seats = given.await;
        // Whoever gives them has taken it out of the line.
        std::mem::forget(place);
        seats.expect("nobody leaves the line by itself")
    }

    /// Those of `tools` of which not too many wait already.
    pub(super) fn with_room<'a>(
        &self,
        tools: &'a [(Arc<str>, u32)],
    ) -> std::borrow::Cow<'a, [(Arc<str>, u32)]> {
        if self.tools.is_empty() {
            return tools.into();
        }
        let mut line = self.line();
        let crowded = |tool: &Arc<str>| line.waiting_for(tool) >= CROWD;
        let some: Vec<_> = tools
            .iter()
            .filter(|(tool, _)| !crowded(tool))
            .cloned()
            .collect();
        line.passed_over = some.len() < tools.len();
        some.into()
    }

    /// Others may have given back seats.
    pub(super) fn look_again(self: &Arc<Self>) {
        if self.line().hurry(Instant::now()) {
            self.pump();
        }
    }

    /// Has the store asked for whoever is first, where that may have become
    /// possible.
    fn pump(self: &Arc<Self>) {
        let now = Instant::now();
        let (asks, alarm) = {
            let mut line = self.line();
            (line.asks(now), line.next_alarm(now))
        };
        for ask in asks {
            tokio::spawn(self.clone().ask(ask));
        }
        if let Some(at) = alarm {
            let seating = Arc::downgrade(self);
            tokio::spawn(async move {
                tokio::time::sleep_until(at).await;
                if let Some(seating) = seating.upgrade() {
                    seating.line().has_rung(at);
                    seating.pump();
                }
            });
        }
    }

    async fn ask(self: Arc<Self>, ask: Ask) {
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let (seated, epoch) = shared.take_seats(&ask).await;
        // Whatever was taken, under whichever lease.
        let seats = |epoch| Seats {
            seating: self.clone(),
            run: ask.run,
            lanes: ask.lanes.clone(),
            epoch,
            lost: None,
        };
        let newest = shared.lease.epoch();
        let now = Instant::now();
        let is_lost = match seated {
            Ok(Some(Seated::Yes)) if newest == epoch => {
                let waiter = self.line().served(&ask);
                let seats = seats(epoch);
                if let Some(waiter) = waiter {
                    // If it has just gone away, they are given back here.
                    waiter.give.send(seats).ok();
                }
                false
            }
            // They may be those of a lease that is no more.
            Ok(Some(Seated::Yes)) => self.line().put_off(&ask, true, None, now),
            Ok(Some(Seated::Full(lane))) => {
                self.line().refused(&ask, lane, now);
                false
            }
            Ok(None) => self.line().put_off(&ask, false, None, now),
            Err(error) => {
                tracing::warn!(%error, "the store cannot say whether a function may run, trying again");
                let unsure = matches!(error, StoreError::Unsure(_));
                let pause = Duration::from_millis(RETRY_MS);
                self.line().put_off(&ask, unsure, Some(pause), now)
            }
        };
        if is_lost {
            drop(seats(newest));
        }
        if self.line().may_claim_more(CROWD / 2) {
            shared.agenda.claim_at(Timestamp::default());
        }
        drop(shared);
        self.pump();
    }

    /// Gives back the seats of a run; tries until the store has heard it, or the
    /// lease under which they were taken is no more.
    async fn give_back(self: Arc<Self>, run: RunNumber, lanes: Arc<Lanes>, epoch: Epoch) {
        loop {
            let Some(shared) = self.shared.upgrade() else {
                return;
            };
            if shared.lease.epoch() != epoch {
                break;
            }
            match shared.store.give_back_seats(run).await {
                Ok(()) => break,
                Err(error) => {
                    tracing::warn!(%error, "could not give back a seat, trying again");
                }
            }
            drop(shared);
            tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
        }
        self.line().given_back(&lanes);
        self.pump();
    }

    fn spawn_give_back(self: &Arc<Self>, run: RunNumber, lanes: Arc<Lanes>, epoch: Epoch) {
        // Without tokio the process ends, and its seats with it.
        if let Ok(tokio) = Handle::try_current() {
            tokio.spawn(self.clone().give_back(run, lanes, epoch));
        }
    }
}

impl Shared {
    /// Asks the store for seats, unless the lease is over; gives the lease too
    /// under which it was asked.
    async fn take_seats(
        self: &Arc<Self>,
        ask: &Ask,
    ) -> (Result<Option<Seated>, StoreError>, Epoch) {
        self.start();
        let enlisted = self.enlisted().await;
        let epoch = self.lease.epoch();
        if let Err(error) = enlisted {
            return (Err(error), epoch);
        }
        // What is taken under a lease that is over is another's soon.
        if self.lease.standing(epoch) != Standing::Held {
            return (Ok(None), epoch);
        }
        let lanes = ask.lanes.wanted();
        let wanted = SeatsWanted {
            run: ask.run,
            lanes: &lanes,
        };
        let seated = self.store.take_seats(&wanted, self.now()).await;
        (seated.map(Some), epoch)
    }
}

impl Seats {
    /// The lease under which they were taken.
    pub(super) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Waits until the lease is lost.
    pub(super) fn poll_lost(&mut self, shared: &Arc<Shared>, cx: &mut Context<'_>) -> Poll<()> {
        let epoch = self.epoch;
        let lost = self.lost.get_or_insert_with(|| {
            let shared = shared.clone();
            Box::pin(async move { shared.lease.lost(epoch).await })
        });
        lost.as_mut().poll(cx)
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        self.seating
            .spawn_give_back(self.run, self.lanes.clone(), self.epoch);
    }
}

/// A place in the line, given up when it is dropped.
struct Place<'a> {
    seating: &'a Arc<Seating>,
    lanes: &'a Lanes,
    caller: &'a Caller,
    ticket: Ticket,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let waiter = self
            .seating
            .line()
            .leave(self.lanes, self.caller, self.ticket);
        let Some(waiter) = waiter else { return };
        if waiter.unsure
            && let Some(shared) = self.seating.shared.upgrade()
        {
            let epoch = shared.lease.epoch();
            self.seating
                .spawn_give_back(waiter.run, waiter.lanes, epoch);
        }
    }
}
