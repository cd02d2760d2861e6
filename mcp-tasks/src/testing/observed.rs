//! The store of a test: what a task's function has done, and the power that
//! may fail.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::CrashPoint;
use crate::MemoryStore;
use crate::store::{
    Change, Claim, Commit, Delivery, Elapsed, LiveLimits, StoreFuture, StoreLayer, TaskStore,
    ToCommit, Wanted, Work,
};
use crate::task::{Access, Answer, Entry, Event, Seq, Snapshot, TaskId, Timestamp};

/// Everything that functions have recorded, also what journals do not keep; a
/// shared handle.
#[derive(Clone, Default)]
pub(super) struct Record(Arc<Mutex<Vec<Event>>>);

impl Record {
    fn lock(&self) -> MutexGuard<'_, Vec<Event>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `of` makes of each event, in order.
    pub(super) fn all<T>(&self, of: impl Fn(&Event) -> Option<T>) -> Vec<T> {
        self.lock().iter().filter_map(of).collect()
    }
}

/// The power of one life of a server; a shared handle.
#[derive(Clone, Default)]
pub(super) struct Power(Arc<Supply>);

#[derive(Default)]
struct Supply {
    is_off: AtomicBool,
    /// Keeps the server's functions from running on.
    stop: OnceLock<Box<dyn Fn() + Send + Sync>>,
    failed: Notify,
}

impl Power {
    /// Stops this too when it fails.
    pub(super) fn supplies(&self, stop: impl Fn() + Send + Sync + 'static) {
        // A life has one server.
        self.0.stop.set(Box::new(stop)).ok();
    }

    /// From here on nothing is done, and nobody hears of what was.
    pub(super) fn fail(&self) {
        self.0.is_off.store(true, Ordering::Release);
        if let Some(stop) = self.0.stop.get() {
            stop();
        }
        self.0.failed.notify_one();
    }

    /// Waits until it has failed.
    pub(super) async fn failed(&self) {
        self.0.failed.notified().await;
    }

    fn is_off(&self) -> bool {
        self.0.is_off.load(Ordering::Acquire)
    }
}

/// The memory store of one life of a server, with everything that is committed
/// written down.
pub(super) struct Observed {
    pub(super) inner: MemoryStore,
    pub(super) record: Record,
    pub(super) power: Power,
    pub(super) crash: CrashPoint,
}

impl Observed {
    /// Does it if there is power; else it is never done.
    fn powered<'a, T: Send + 'a>(
        &'a self,
        call: impl FnOnce() -> StoreFuture<'a, T>,
    ) -> StoreFuture<'a, T> {
        if self.power.is_off() {
            StoreFuture::new(pending())
        } else {
            call()
        }
    }

    /// Counts a commit, after which the power may fail.
    fn has_committed(&self, recorded: impl FnOnce() -> String) {
        if self.crash.is_reached(recorded) {
            self.power.fail();
        }
    }
}

// What a client asks for is answered before the power fails, and what the
// server does of its own accord is not: the client would ask again, and a test
// counts on what it was told.
impl StoreLayer for Observed {
    fn inner(&self) -> &dyn TaskStore {
        &self.inner
    }

    fn begin(
        &self,
        journal: Vec<Entry>,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        self.powered(|| {
            StoreFuture::new(async move {
                let claim = self.inner.begin(journal, limits, now).await?;
                self.has_committed(|| "created".to_owned());
                Ok(claim)
            })
        })
    }

    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, now: Timestamp) -> StoreFuture<'a, Work> {
        self.powered(|| self.inner.claim(wanted, now))
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>> {
        self.powered(|| self.inner.get(id, access))
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        self.powered(|| self.inner.read(id, last))
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        StoreFuture::new(async move {
            if self.power.is_off() {
                return Ok(Commit::Lost);
            }
            let committed = self.inner.commit(commit, now).await?;
            if let Commit::Done(_) = committed {
                self.record.lock().extend_from_slice(commit.events);
                self.has_committed(|| describe(commit.events));
                if self.power.is_off() {
                    // The driver lets go of its function, as a dead process does.
                    return Ok(Commit::Lost);
                }
            }
            Ok(committed)
        })
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        self.powered(|| {
            StoreFuture::new(async move {
                let delivery = self.inner.deliver(id, access, answers, now).await?;
                if let Some(Delivery::Recorded(Change { changed: true, .. })) = delivery {
                    self.has_committed(|| {
                        let keys = answers.iter().map(|answer| format!(" `{}`", answer.key));
                        format!("answered{}", keys.collect::<String>())
                    });
                }
                Ok(delivery)
            })
        })
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        self.powered(|| {
            StoreFuture::new(async move {
                let change = self.inner.cancel(id, access, now).await?;
                if let Some(Change { changed: true, .. }) = change {
                    self.has_committed(|| "cancel requested".to_owned());
                }
                Ok(change)
            })
        })
    }

    fn signal<'a>(
        &'a self,
        id: &'a TaskId,
        name: &'a str,
        value: &'a Arc<RawValue>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        self.powered(|| {
            StoreFuture::new(async move {
                let change = self.inner.signal(id, name, value, now).await?;
                if let Some(Change { changed: true, .. }) = change {
                    self.has_committed(|| format!("signalled `{name}`"));
                }
                Ok(change)
            })
        })
    }

    fn elapse(&self, limit: usize, now: Timestamp) -> StoreFuture<'_, Elapsed> {
        self.powered(|| {
            StoreFuture::new(async move {
                let elapsed = self.inner.elapse(limit, now).await?;
                if !elapsed.changes.is_empty() {
                    self.has_committed(|| "expired".to_owned());
                }
                Ok(elapsed)
            })
        })
    }
}

/// What a commit has recorded, for people.
fn describe(events: &[Event]) -> String {
    if events.is_empty() {
        return "that it waits".to_owned();
    }
    let words = events.iter().map(|event| {
        let json = serde_json::to_value(event).unwrap_or_default();
        match json {
            Value::Object(kind) => {
                let (kind, event) = kind.into_iter().next().unwrap_or_default();
                let name = event["key"].as_str().map(|key| format!(" `{key}`"));
                format!("{}{}", kind.replace('_', " "), name.unwrap_or_default())
            }
            kind => kind.as_str().unwrap_or_default().replace('_', " "),
        }
    });
    words.collect::<Vec<_>>().join(", ")
}
