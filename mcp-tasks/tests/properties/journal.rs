//! The journal of the one task there is, and what happens to it by chance.

use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp_tasks::MemoryStore;
use mcp_tasks::store::TaskStore as _;
use mcp_tasks::task::{Access, Answer, Entry, Event, Seq, TaskId, Timestamp};

use super::oracle::Draws;
use super::random::Random;

/// The journal of the one task there is, with what the store itself does not
/// keep; and what happens by chance.
pub(crate) struct Journal {
    entries: Mutex<Vec<Entry>>,
    /// How much of it the last function that is run again was given.
    loaded: AtomicUsize,
    /// How often anything was asked of a store.
    calls: AtomicUsize,
    random: Mutex<Random>,
    /// In how many cases of a hundred somebody else is faster than a commit.
    pub(crate) rush: AtomicUsize,
    /// What was drawn by chance the first time.
    draws: Mutex<Draws>,
    /// What is done to the task, for people.
    log: Mutex<Vec<String>>,
}

impl Journal {
    pub(crate) fn new(random: Random) -> Self {
        Self {
            draws: Mutex::default(),
            entries: Mutex::default(),
            loaded: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            random: Mutex::new(random),
            rush: AtomicUsize::new(0),
            log: Mutex::default(),
        }
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        lock(&self.entries).clone()
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.entries).len()
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn any(&self, what: impl Fn(&Event) -> bool) -> bool {
        lock(&self.entries).iter().any(|entry| what(&entry.event))
    }

    pub(crate) fn count(&self, what: impl Fn(&Event) -> bool) -> usize {
        let entries = lock(&self.entries);
        entries.iter().filter(|entry| what(&entry.event)).count()
    }

    /// Notes what was drawn under a key; gives what was drawn first.
    pub(crate) fn drawn(&self, key: &str, value: i64) -> i64 {
        *lock(&self.draws).entry(key.to_owned()).or_insert(value)
    }

    pub(crate) fn draws(&self) -> Draws {
        lock(&self.draws).clone()
    }

    /// The beginning of a journal, as another server finds it.
    pub(crate) fn prefix(entries: &[Entry], draws: Draws) -> Self {
        let journal = Self::new(Random::new(0));
        *lock(&journal.entries) = entries.to_vec();
        *lock(&journal.draws) = draws;
        journal
    }

    pub(crate) fn random(&self) -> MutexGuard<'_, Random> {
        lock(&self.random)
    }

    /// Notes what is done to the task, for people.
    pub(crate) fn log(&self, words: impl Display) {
        lock(&self.log).push(format!("[{:>3}] {words}", self.len()));
    }

    pub(crate) fn logged(&self) -> Vec<String> {
        lock(&self.log).clone()
    }

    /// Takes over what a store has just been told, and does not keep for long.
    pub(crate) fn add(&self, events: &[Event], at: Timestamp) {
        let mut entries = lock(&self.entries);
        for event in events {
            let seq = entries.len() as Seq + 1;
            let event = event.clone();
            entries.push(Entry { seq, at, event });
        }
    }

    /// Notes that a function is made of what is there now.
    pub(crate) fn load(&self) {
        self.loaded.store(self.len(), Ordering::Relaxed);
    }

    /// How much a function that is about to run was given of the journal.
    pub(crate) fn loaded(&self) -> usize {
        self.loaded.load(Ordering::Relaxed)
    }

    /// Counts what is asked of a store.
    pub(crate) fn call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes over what the store has and this does not.
    pub(crate) async fn sync(&self, store: &MemoryStore, id: &TaskId) {
        let last = lock(&self.entries).last().map_or(0, |entry| entry.seq);
        let missing = store.read(id, last).await.expect("memory does not fail");
        let mut entries = lock(&self.entries);
        for entry in missing {
            // The store forgets what comes before the end.
            if entry.seq == entries.len() as Seq + 2 {
                entries.push(Entry {
                    seq: entry.seq - 1,
                    at: entry.at,
                    event: Event::CancelRequested,
                });
            }
            assert_eq!(entry.seq, entries.len() as Seq + 1, "{entry:?}");
            entries.push(entry);
        }
    }
}

/// Answers one of the questions that wait, straight at the store.
pub(crate) async fn answer_any(
    store: &MemoryStore,
    journal: &Journal,
    id: &TaskId,
    now: Timestamp,
) {
    let task = store.get(id, Access::Server).await;
    let Some(task) = task.expect("memory does not fail") else {
        return;
    };
    if task.input_requests.is_empty() {
        return;
    }
    let (key, response) = {
        let mut random = journal.random();
        let (key, _) = random.pick(&task.input_requests).clone();
        (key, super::clients::response(&mut random, journal.len()))
    };
    journal.log(format_args!("elsewhere: {key} = {response}"));
    let answers = [Answer {
        key,
        response: &response,
    }];
    let delivered = store.deliver(id, Access::Server, &answers, now).await;
    delivered.expect("memory does not fail");
    journal.sync(store, id).await;
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
