//! Lists tasks that are in memory.
//!
//! Tasks with questions are what people look for again and again, so they are
//! found without a look at any other. All else is for administration, and is
//! found by looking at every task.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::record::Record;
use super::{MemoryStore, lock};
use crate::protocol::TaskStatus;
use crate::store::Listing;
use crate::task::{Access, Caller, Snapshot, TaskId, Timestamp};

/// Tasks with questions that wait for an answer, by caller and age.
#[derive(Default)]
pub(super) struct Asking(HashMap<Caller, BTreeSet<(Timestamp, TaskId)>>);

impl Asking {
    /// Puts a task where it belongs.
    pub(super) fn enter(&mut self, record: &mut Record) {
        let task = record.state.snapshot();
        let asks = task.status() == TaskStatus::InputRequired;
        if asks == record.asks {
            return;
        }
        record.asks = asks;
        let place = (task.created_at, task.id.clone());
        if asks {
            self.0.entry(task.caller.clone()).or_default().insert(place);
        } else if let Some(its) = self.0.get_mut(&task.caller) {
            its.remove(&place);
            if its.is_empty() {
                self.0.remove(&task.caller);
            }
        }
    }

    /// The tasks of one caller, newest first.
    fn of(&self, caller: &Caller) -> Vec<TaskId> {
        let its = self.0.get(caller).into_iter().flatten();
        its.rev().map(|(_, id)| id.clone()).collect()
    }
}

impl MemoryStore {
    pub(super) fn list_now(&self, listing: &Listing<'_>) -> Vec<Arc<Snapshot>> {
        let known = match (listing.access, listing.status) {
            (Access::Caller(caller), Some(TaskStatus::InputRequired)) => {
                // Apart: a task's own lock comes before that of the list.
                let ids = lock(&self.shared.asking).of(caller);
                Some(ids.into_iter().filter_map(|id| self.find(&id)))
            }
            _ => None,
        };
        if let Some(newest_first) = known {
            let fitting = newest_first.filter_map(|record| fitting(&record, listing));
            return fitting.take(listing.limit).collect();
        }
        let all: Vec<_> = {
            let tasks = self.shared.tasks.read();
            let tasks = tasks.unwrap_or_else(PoisonError::into_inner);
            tasks.values().cloned().collect()
        };
        let mut tasks: Vec<_> = all
            .iter()
            .filter_map(|record| fitting(record, listing))
            .collect();
        tasks.sort_by(|one, other| {
            let age = |task: &Snapshot| Reverse((task.created_at, task.id.clone()));
            age(one).cmp(&age(other))
        });
        tasks.truncate(listing.limit);
        tasks
    }
}

/// The task, if it is one to be listed.
fn fitting(record: &Mutex<Record>, listing: &Listing<'_>) -> Option<Arc<Snapshot>> {
    let record = lock(record);
    let task = record.state.snapshot();
    let (name, scope) = &*record.server;
    let fits = *name == listing.server.name
        && *scope == listing.server.scope
        && listing.access.may_see(&task.caller)
        && listing.status.is_none_or(|status| status == task.status());
    fits.then(|| task.clone())
}
