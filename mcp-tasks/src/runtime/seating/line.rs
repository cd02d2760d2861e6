//! Who waits for seats in this process, and whom the store is asked for next.
//!
//! There is a line for each limited tool, and one for what counts towards its
//! caller alone. In each, callers have their turns one after the other; one
//! whose own lane is full is passed by. In each lane the store is asked for one
//! run at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Lanes, Seats};
use crate::runtime::turns::{Ticket, Turns};
use crate::store::RunNumber;
use crate::task::Caller;

/// A function that waits.
pub(super) struct Waiter {
    pub(super) run: RunNumber,
    pub(super) lanes: Arc<Lanes>,
    pub(super) give: oneshot::Sender<Seats>,
    /// Whether it may have seats without knowing.
    pub(super) unsure: bool,
}

/// What the store is to be asked.
pub(super) struct Ask {
    pub(super) run: RunNumber,
    pub(super) lanes: Arc<Lanes>,
    caller: Caller,
    ticket: Ticket,
}

/// Everybody who waits.
#[derive(Default)]
pub(super) struct Line {
    /// By tool; under none those that no tool limits. A line stays when it is
    /// empty: no ticket may be given twice.
    waiting: HashMap<Option<Arc<str>>, Waiting>,
    /// Counts who was served.
    served: u64,
    /// What is known of the lanes that somebody waits for.
    lanes: HashMap<LaneName, State>,
    /// When the line is looked at again by itself.
    alarm: Option<Instant>,
    /// Whether tasks were left to the store because too many wait.
    pub(super) passed_over: bool,
}

struct Waiting {
    turns: Turns<Waiter>,
    /// When somebody of these was served last: of two lines that one caller
    /// stands in, the other is next.
    served: u64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum LaneName {
    Tool(Arc<str>),
    Caller(Caller),
}

#[derive(Default)]
struct State {
    /// Whether the store is being asked.
    asking: bool,
    full: Option<Full>,
}

/// A lane in which there was no seat.
#[derive(Clone, Copy)]
struct Full {
    asked: Instant,
    /// When to ask again, if nothing is heard before.
    until: Instant,
    pause: Duration,
}

/// How long to wait before the store is asked again, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(25), Duration::from_secs(1)];

/// How long at least, if others have done something meanwhile.
const AFTER_NEWS: Duration = Duration::from_millis(50);

impl Lanes {
    fn names(&self) -> impl Iterator<Item = LaneName> {
        let tool = self.tool.iter();
        let caller = self.caller.iter();
        let tool = tool.map(|(tool, _)| LaneName::Tool(tool.clone()));
        tool.chain(caller.map(|(caller, _)| LaneName::Caller(caller.clone())))
    }

    fn line(&self) -> Option<Arc<str>> {
        self.tool.as_ref().map(|(tool, _)| tool.clone())
    }
}

impl State {
    fn is_open(&self, now: Instant) -> bool {
        !self.asking && self.full.is_none_or(|full| full.until <= now)
    }

    fn fill(&mut self, now: Instant, pause: Option<Duration>) {
        let [first, longest] = PAUSES;
        let pause = pause.unwrap_or_else(|| {
            self.full
                .map_or(first, |before| (before.pause * 2).min(longest))
        });
        self.full = Some(Full {
            asked: now,
            until: now + scattered(pause),
            pause,
        });
    }
}

impl Line {
    pub(super) fn join(&mut self, caller: &Caller, waiter: Waiter) -> Ticket {
        let served = self.served;
        let line = self.waiting.entry(waiter.lanes.line());
        let line = line.or_insert_with(|| Waiting {
            turns: Turns::default(),
            served,
        });
        line.turns.join(caller, waiter)
    }

    pub(super) fn leave(
        &mut self,
        lanes: &Lanes,
        caller: &Caller,
        ticket: Ticket,
    ) -> Option<Waiter> {
        let line = self.waiting.get_mut(&lanes.line())?;
        line.turns.leave(caller, ticket)
    }

    fn is_empty(&self) -> bool {
        self.waiting.values().all(|line| line.turns.is_empty())
    }

    /// How many wait for a tool.
    pub(super) fn waiting_for(&self, tool: &Arc<str>) -> usize {
        let line = self.waiting.get(&Some(tool.clone()));
        line.map_or(0, |line| line.turns.len())
    }

    /// Whether tasks that were left to the store may be taken up.
    pub(super) fn may_claim_more(&mut self, crowd: usize) -> bool {
        let may = self.passed_over && self.waiting.values().all(|line| line.turns.len() <= crowd);
        self.passed_over &= !may;
        may
    }

    /// For whom the store is to be asked now.
    pub(super) fn asks(&mut self, now: Instant) -> Vec<Ask> {
        let mut asks = Vec::new();
        let mut lines: Vec<_> = self.waiting.values().collect();
        lines.sort_by_key(|line| line.served);
        for line in lines {
            let may_ask = |lanes: &HashMap<_, State>, waiter: &Waiter| {
                let is_open = |lane| lanes.get(&lane).is_none_or(|state| state.is_open(now));
                waiter.lanes.names().all(is_open)
            };
            while let Some((caller, ticket, waiter)) =
                line.turns.first(|waiter| may_ask(&self.lanes, waiter))
            {
                for lane in waiter.lanes.names() {
                    self.lanes.entry(lane).or_default().asking = true;
                }
                asks.push(Ask {
                    run: waiter.run,
                    lanes: waiter.lanes.clone(),
                    caller: caller.clone(),
                    ticket,
                });
            }
        }
        asks
    }

    /// The store has given the seats that were asked for.
    pub(super) fn served(&mut self, ask: &Ask) -> Option<Waiter> {
        for lane in ask.lanes.names() {
            self.lanes.remove(&lane);
        }
        let line = self.waiting.get_mut(&ask.lanes.line())?;
        self.served += 1;
        line.served = self.served;
        line.turns.serve(&ask.caller, ask.ticket)
    }

    /// It has not: this lane is full, of those of the run.
    pub(super) fn refused(&mut self, ask: &Ask, lane: usize, now: Instant) {
        for (at, name) in ask.lanes.names().enumerate() {
            let state = self.lanes.entry(name).or_default();
            state.asking = false;
            if lane == at {
                state.fill(now, None);
            }
        }
        if let Some(waiter) = self.waiter(ask) {
            waiter.unsure = false;
        }
        self.forget_lanes(now);
    }

    /// It could not say, or was not asked; true if the run may have seats and is
    /// not there any more to ask again.
    pub(super) fn put_off(
        &mut self,
        ask: &Ask,
        unsure: bool,
        pause: Option<Duration>,
        now: Instant,
    ) -> bool {
        for name in ask.lanes.names() {
            let state = self.lanes.entry(name).or_default();
            state.asking = false;
            state.fill(now, pause);
        }
        match self.waiter(ask) {
            Some(waiter) => {
                waiter.unsure |= unsure;
                false
            }
            None => unsure,
        }
    }

    fn waiter(&mut self, ask: &Ask) -> Option<&mut Waiter> {
        let line = self.waiting.get_mut(&ask.lanes.line())?;
        line.turns.get_mut(&ask.caller, ask.ticket)
    }

    /// There is room in lanes, as far as this process knows.
    pub(super) fn given_back(&mut self, lanes: &Lanes) {
        for lane in lanes.names() {
            if let Some(state) = self.lanes.get_mut(&lane) {
                state.full = None;
            }
        }
    }

    /// There may be room in any; whether that is of interest to anybody.
    pub(super) fn hurry(&mut self, now: Instant) -> bool {
        for state in self.lanes.values_mut() {
            if let Some(full) = &mut state.full {
                full.until = full.until.min(now.max(full.asked + AFTER_NEWS));
            }
        }
        !self.is_empty()
    }

    /// When to look again, if nothing is heard before, now that everybody asks
    /// who may; none if that is known already, or of no interest.
    pub(super) fn next_alarm(&mut self, now: Instant) -> Option<Instant> {
        if self.is_empty() {
            return None;
        }
        let full = self.lanes.values().filter_map(|state| state.full);
        let later = full.map(|full| full.until).filter(|until| *until > now);
        let next = later.min()?;
        if self.alarm.is_some_and(|alarm| alarm <= next) {
            return None;
        }
        self.alarm = Some(next);
        Some(next)
    }

    pub(super) fn has_rung(&mut self, alarm: Instant) {
        if self.alarm == Some(alarm) {
            self.alarm = None;
        }
    }

    /// Forgets what is known of lanes that nobody has waited for lately.
    fn forget_lanes(&mut self, now: Instant) {
        let [_, longest] = PAUSES;
        self.lanes.retain(|_, state| {
            let full = state.full;
            state.asking || full.is_some_and(|full| full.until + longest > now)
        });
    }
}

/// Longer or shorter by up to a quarter, so that processes do not ask at once.
fn scattered(pause: Duration) -> Duration {
    let chance = getrandom::u32().unwrap_or(u32::MAX / 2);
    pause.mul_f64(0.75 + f64::from(chance) / f64::from(u32::MAX) / 2.0)
}
