//! Who runs functions of which only so many may run at once, and who waits to.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{HolderId, MemoryStore, lock};
use crate::store::{Lane, RunNumber, Seated, SeatsWanted, WaitingHolder};
use crate::task::{Caller, Timestamp};

/// All lanes in which anybody has a seat, or waits for one.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: HashMap<LaneOf, Seats>,
    /// Where each run has a seat.
    runs: HashMap<(HolderId, RunNumber), Vec<LaneOf>>,
}

/// A lane of one server.
#[derive(Clone, PartialEq, Eq, Hash)]
struct LaneOf {
    server: Arc<(Arc<str>, Arc<str>)>,
    lane: OwnLane,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum OwnLane {
    Tool(Box<str>),
    Caller(Caller),
}

#[derive(Default)]
struct Seats {
    taken: BTreeSet<(HolderId, RunNumber)>,
    waiting: HashMap<HolderId, WaitingHolder>,
}

impl From<Lane<'_>> for OwnLane {
    fn from(lane: Lane<'_>) -> Self {
        match lane {
            Lane::Tool(tool) => Self::Tool(tool.into()),
            Lane::Caller(caller) => Self::Caller(caller.clone()),
        }
    }
}

impl MemoryStore {
    pub(super) fn take_seats_now(&self, wanted: &SeatsWanted<'_>, now: Timestamp) -> Seated {
        let me = self.me().clone();
        let is_alive = |holder| self.is_alive(holder, me.id, now);
        if !is_alive(me.id) {
            return Seated::Full(0);
        }
        let run = (me.id, wanted.run);
        let lanes: Vec<_> = wanted
            .lanes
            .iter()
            .map(|(lane, seats)| {
                let server = me.server.clone();
                let lane = OwnLane::from(*lane);
                (LaneOf { server, lane }, *seats)
            })
            .collect();
        let mut all = lock(&self.shared.lanes);
        if all.runs.contains_key(&run) {
            return Seated::Yes;
        }
        for (at, (lane, seats)) in lanes.iter().enumerate() {
            let lane = all.lanes.entry(lane.clone()).or_default();
            lane.taken.retain(|(holder, _)| is_alive(*holder));
            lane.waiting.retain(|holder, _| is_alive(*holder));
            if !lane.has_room(me.id, *seats, now.as_millis()) {
                return Seated::Full(at);
            }
        }
        let lanes: Vec<_> = lanes.into_iter().map(|(lane, _)| lane).collect();
        for lane in &lanes {
            let lane = all.lanes.entry(lane.clone()).or_default();
            lane.taken.insert(run);
        }
        all.runs.insert(run, lanes);
        Seated::Yes
    }

    pub(super) fn give_back_seats_now(&self, run: RunNumber) {
        let me = self.me().id;
        let given_back = lock(&self.shared.lanes).give_back(me, run);
        if given_back {
            self.tell_the_others();
        }
    }
}

impl Lanes {
    fn give_back(&mut self, holder: HolderId, run: RunNumber) -> bool {
        let Some(lanes) = self.runs.remove(&(holder, run)) else {
            return false;
        };
        for lane in lanes {
            if let Some(seats) = self.lanes.get_mut(&lane) {
                seats.taken.remove(&(holder, run));
                if seats.taken.is_empty() && seats.waiting.is_empty() {
                    self.lanes.remove(&lane);
                }
            }
        }
        true
    }

    /// Frees whatever a holder had that is no more.
    pub(super) fn forget(&mut self, gone: HolderId) {
        self.runs.retain(|(holder, _), _| *holder != gone);
        self.lanes.retain(|_, seats| {
            seats.taken.retain(|(holder, _)| *holder != gone);
            seats.waiting.remove(&gone);
            !seats.taken.is_empty() || !seats.waiting.is_empty()
        });
    }
}

impl Seats {
    /// Whether there is a seat for this holder; if not, it waits for one.
    fn has_room(&mut self, holder: HolderId, seats: usize, now: u64) -> bool {
        let since = self.waiting.get(&holder).map(|waiting| waiting.since);
        let first = self
            .waiting
            .iter()
            .filter(|(other, waiting)| **other != holder && waiting.goes_before(since, now))
            .count();
        if self.taken.len() + first < seats {
            self.waiting.remove(&holder);
            return true;
        }
        let since = since.unwrap_or(now);
        self.waiting
            .insert(holder, WaitingHolder { since, asked: now });
        false
    }
}
