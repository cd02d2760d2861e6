//! When a function may run: once there is room for it in this process, and if
//! only so many of its kind may run at once, a seat for it as well.
//!
//! A function with seats must not keep them while it waits, and not take them
//! for nothing: it is only polled when there is something for it to see.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use tokio::time::timeout;

use super::record::Record;
use super::{Driver, Stop};
use crate::protocol::ProtocolError;
use crate::runtime::lease::{Epoch, Standing};
use crate::runtime::seating::{Lanes, Seats};
use crate::store::Activity;
use crate::task::Event;

/// What a function has of which only so many may run at once.
pub(super) struct Limited {
    lanes: Arc<Lanes>,
    pub(super) seats: Option<Seats>,
    bell: Arc<Bell>,
    /// Whether it waits, and was polled since anything has changed for it.
    pub(super) is_asleep: bool,
}

/// Rung by what the function waits for inside itself.
struct Bell {
    has_rung: AtomicBool,
    driver: Mutex<Waker>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_rung.store(true, Ordering::Release);
        let driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
        let driver = driver.clone();
        driver.wake();
    }
}

impl Limited {
    pub(super) fn new(lanes: Arc<Lanes>) -> Self {
        Self {
            lanes,
            seats: None,
            bell: Arc::new(Bell {
                has_rung: AtomicBool::new(false),
                driver: Mutex::new(Waker::noop().clone()),
            }),
            is_asleep: false,
        }
    }

    /// What the function is polled with, on behalf of its driver.
    pub(super) fn waker(&mut self, driver: &Waker) -> Waker {
        let bell = &self.bell;
        bell.has_rung.store(false, Ordering::Release);
        let mut known = bell.driver.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone_from(driver);
        bell.clone().into()
    }

    /// Whether there is nothing that the function should be polled for.
    pub(super) fn sleeps(&self) -> bool {
        self.is_asleep && !self.bell.has_rung.load(Ordering::Acquire)
    }
}

/// A task that has waited for so long for a seat is no longer said to be
/// running: whoever kills this process would lay that at its door.
const QUEUED_AFTER: Duration = Duration::from_millis(100);

impl Driver {
    /// Takes a permit to run the function, if there is one left, or waits for
    /// it.
    pub(super) async fn get_permit(&mut self) -> Result<(), Stop> {
        if self.function.has_permit(&self.shared) {
            return Ok(());
        }
        Box::pin(self.wait_for_permit()).await
    }

    async fn wait_for_permit(&mut self) -> Result<(), Stop> {
        if let Some(limited) = &self.function.limited
            && limited.seats.is_none()
        {
            let lanes = limited.lanes.clone();
            let seats = Some(self.wait_for_seats(&lanes).await?);
            if let Some(limited) = &mut self.function.limited {
                limited.seats = seats;
            }
        }
        if self.function.has_permit(&self.shared) {
            return Ok(());
        }
        let (running, caller) = (self.shared.running.clone(), self.context.caller.clone());
        let permit = self.meanwhile(running.enter(&caller)).await?;
        self.function.permit = Some(permit);
        if let Some(replay) = &mut self.replay
            && let Some(permit) = &mut replay.permit
        {
            permit.has_waited();
        }
        Ok(())
    }

    async fn wait_for_seats(&mut self, lanes: &Arc<Lanes>) -> Result<Seats, Stop> {
        let (seating, caller) = (self.shared.seating.clone(), self.context.caller.clone());
        let mut seats = pin!(seating.sit(lanes, &caller));
        let soon = timeout(QUEUED_AFTER, seats.as_mut());
        if let Ok(seats) = self.meanwhile(soon).await? {
            return Ok(seats);
        }
        self.queue_up().await?;
        let seats = self.meanwhile(seats).await?;
        if matches!(&self.record, Record::Task(journal) if journal.noted == Activity::Queued) {
            self.append(&mut Vec::new(), Activity::Running).await?;
        }
        Ok(seats)
    }

    /// Lets everybody know that it takes a while until the function runs.
    async fn queue_up(&mut self) -> Result<(), Stop> {
        let replays = match &mut self.replay {
            Some(replay) => {
                replay.permit = None;
                true
            }
            None => false,
        };
        if !matches!(self.record, Record::Task(_)) || !self.shared.lease.is_needed() {
            return Ok(());
        }
        let status = (!replays).then(|| self.context.take_status()).flatten();
        let status = status.map(|(message, progress)| Event::Status { message, progress });
        let mut events: Vec<_> = status.into_iter().collect();
        self.append(&mut events, Activity::Queued).await?;
        Ok(())
    }

    /// Waits for leave to run the function. Meanwhile the window may close, or
    /// nobody may want the function any more.
    async fn meanwhile<T>(&mut self, leave: impl Future<Output = T>) -> Result<T, Stop> {
        let poke = self.poke.clone();
        let mut leave = pin!(leave);
        loop {
            tokio::select! {
                biased;
                leave = &mut leave => return Ok(leave),
                () = poke.notified() => {
                    if self.standing() == Standing::Lost || self.is_put_down() {
                        return Err(Stop::TaskOver);
                    }
                    self.read_journal().await?;
                }
                over = self.record.window_over() => {
                    over?;
                    self.promote().await?;
                }
            }
        }
    }

    /// Whether the function does nothing now that anybody could count.
    pub(super) fn rests(&self) -> bool {
        if self.context.is_running() {
            return false;
        }
        // What a function awaits that cannot be run again, nobody sees.
        self.replayable || self.function.limited.is_none() || self.context.awaits_others()
    }

    /// The lease without which the function may not run on.
    pub(super) fn epoch(&self) -> Option<Epoch> {
        match &self.record {
            Record::Task(journal) => Some(journal.epoch),
            Record::Nowhere | Record::Call(_) | Record::Window(_) => {
                let limited = self.function.limited.as_ref();
                limited?.seats.as_ref().map(Seats::epoch)
            }
        }
    }

    pub(super) fn standing(&self) -> Standing {
        let epoch = self.epoch();
        epoch.map_or(Standing::Held, |epoch| self.shared.lease.standing(epoch))
    }

    /// Whether the seats of a call are another's by now; tasks are told of it.
    pub(super) fn seats_are_lost(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(limited) = &mut self.function.limited else {
            return false;
        };
        let is_call = !matches!(self.record, Record::Task(_));
        let seats = limited.seats.as_mut().filter(|_| is_call);
        seats.is_some_and(|seats| seats.poll_lost(&self.shared, cx).is_ready())
    }

    pub(super) async fn wait_for_lease(&mut self) -> Result<(), Stop> {
        let Some(epoch) = self.epoch() else {
            return Ok(());
        };
        self.shared.lease.settled(epoch).await;
        match self.standing() {
            Standing::Held | Standing::Late => Ok(()),
            Standing::Lost if matches!(self.record, Record::Task(_)) => Err(Stop::TaskOver),
            // Its seat is another's by now.
            Standing::Lost => Err(Stop::Fail(ProtocolError::internal(
                "the server was out of touch with its task store for too long while this ran, and \
                 has stopped it: try again",
            ))),
        }
    }
}
