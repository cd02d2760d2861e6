//! What a program must do with a journal, by the rules as the design states
//! them. The engine is compared with this; it shares no code with it.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use mcp_tasks::task::{Entry, Event};

use super::interpreter::{Awaited, Awaits, Trace, run};
use super::program::{Ask, Block, Name, Step};
use super::record::{Record, answer_of, result_of};
use super::trace::{Mark, TIMED_OUT, Want, timeout_of};

/// What becomes of a program that is run through a journal.
pub(crate) struct Prophecy {
    pub(crate) marks: Vec<Mark>,
    /// Why it is held, if it is.
    pub(crate) held: Option<String>,
}

/// What was drawn by chance, which the oracle does not know by itself.
pub(crate) type Draws = HashMap<String, i64>;

/// Runs a program through a journal, as far as that goes.
pub(crate) fn foresee(program: &Arc<Block>, journal: &[Entry], draws: &Draws) -> Prophecy {
    let record = Record::read(journal);
    let oracle = Oracle(Arc::new(Mutex::new(State {
        now: journal.first().map_or(0, |first| first.at.as_millis()),
        draws: draws.clone(),
        recorded: record.keys.keys().cloned().collect(),
        markers: record.markers.clone(),
        ..State::default()
    })));
    let trace = Trace::default();
    let held = oracle.replay(program, &trace, &record, journal).err();
    let marks = trace.marks().clone();
    Prophecy { marks, held }
}

#[derive(Clone)]
struct Oracle(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    wanted: BTreeMap<String, (Want, Slot)>,
    now: u64,
    draws: Draws,
    signals: HashMap<String, VecDeque<i64>>,
    cancelled: bool,
    /// The keys of all that is recorded.
    recorded: Vec<String>,
    markers: HashSet<String>,
    patches: HashMap<Name, bool>,
}

#[derive(Clone, Copy, PartialEq)]
enum Slot {
    Open,
    Ready(i64),
    Done,
    Dropped,
}

impl Oracle {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn replay(
        &self,
        program: &Arc<Block>,
        trace: &Trace,
        record: &Record,
        journal: &[Entry],
    ) -> Result<(), String> {
        let mut function = pin!(run(self.clone(), program.clone(), trace.clone()));
        let mut cx = Context::from_waker(Waker::noop());
        let mut returned = function.as_mut().poll(&mut cx).is_ready();
        for entry in journal {
            if returned {
                break;
            }
            if entry.event.is_outcome() {
                self.deliver(entry, record)?;
                returned = function.as_mut().poll(&mut cx).is_ready();
            }
        }
        self.check_end(record, returned)
    }

    fn deliver(&self, entry: &Entry, record: &Record) -> Result<(), String> {
        let mut state = self.lock();
        state.now = entry.at.as_millis();
        let (key, value) = match &entry.event {
            Event::Answered { key, response } => (key, answer_of(response)),
            Event::StepDone { key, outcome, .. } => (key, result_of(outcome.get())),
            Event::TimerFired { key } | Event::Ran { key } => (key, 0),
            Event::Signalled { name, value } => {
                let value = value.get().parse().expect("signals are numbers here");
                let queue = state.signals.entry(name.to_string()).or_default();
                queue.push_back(value);
                return Ok(());
            }
            Event::CancelRequested => {
                state.cancelled = true;
                return Ok(());
            }
            _ => return Ok(()),
        };
        let key = key.as_str();
        let (recorded, _) = record
            .keys
            .get(key)
            .expect("what has an outcome was asked for");
        let Some((wanted, slot)) = state.wanted.get_mut(key) else {
            return Err(format!("{key} is due and was not requested"));
        };
        match slot {
            Slot::Dropped => same_kind(wanted, recorded)
                .then_some(())
                .ok_or_else(|| format!("{key} is due and is of another kind")),
            _ if wanted != recorded => Err(format!("{key} is due and is another")),
            _ => {
                *slot = Slot::Ready(value);
                Ok(())
            }
        }
    }

    fn check_end(&self, record: &Record, returned: bool) -> Result<(), String> {
        let state = self.lock();
        for (key, (recorded, withdrawn)) in &record.keys {
            let Some((wanted, slot)) = state.wanted.get(key) else {
                if *withdrawn {
                    continue;
                }
                return Err(format!("{key} was not requested at the end"));
            };
            let open = *slot == Slot::Open && !returned;
            if !same_kind(wanted, recorded) || (open && wanted != recorded) {
                return Err(format!("{key} is another at the end"));
            }
            if *withdrawn && open {
                return Err(format!("{key} was dropped and is awaited"));
            }
        }
        Ok(())
    }

    fn wait(&self, key: &str, want: Want) -> Leaf {
        Leaf {
            oracle: self.clone(),
            key: key.to_owned(),
            want: Some(want),
        }
    }
}

fn same_kind(one: &Want, other: &Want) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Something that is waited for from the first poll on.
struct Leaf {
    oracle: Oracle,
    key: String,
    /// Until it is polled.
    want: Option<Want>,
}

impl Future for Leaf {
    type Output = i64;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<i64> {
        let this = &mut *self;
        let mut state = this.oracle.lock();
        if let Some(want) = this.want.take() {
            let before = state.wanted.insert(this.key.clone(), (want, Slot::Open));
            assert!(before.is_none(), "the key {} is there twice", this.key);
        }
        let (_, slot) = state.wanted.get_mut(&this.key).expect("it was entered");
        match *slot {
            Slot::Ready(value) => {
                *slot = Slot::Done;
                Poll::Ready(value)
            }
            _ => Poll::Pending,
        }
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        if let Some((_, slot)) = self.oracle.lock().wanted.get_mut(&self.key)
            && self.want.is_none()
            && *slot == Slot::Open
        {
            *slot = Slot::Dropped;
        }
    }
}

/// Polls branches in order; those that are done are not polled again.
struct Arms<'a, T>(Vec<(Awaited<'a, T>, Option<T>)>);

impl<'a, T> Arms<'a, T> {
    fn new(branches: Vec<Awaited<'a, T>>) -> Self {
        Self(branches.into_iter().map(|branch| (branch, None)).collect())
    }

    /// Waits until all are done, or one is that is enough.
    async fn until(&mut self, enough: impl Fn(&T) -> bool) -> Option<T> {
        poll_fn(|cx| {
            for (branch, output) in &mut self.0 {
                if output.is_some() {
                    continue;
                }
                if let Poll::Ready(value) = branch.as_mut().poll(cx) {
                    if enough(&value) {
                        return Poll::Ready(Some(value));
                    }
                    *output = Some(value);
                }
            }
            if self.0.iter().all(|(_, output)| output.is_some()) {
                Poll::Ready(None)
            } else {
                Poll::Pending
            }
        })
        .await
    }

    fn outputs(self) -> Vec<T> {
        self.0
            .into_iter()
            .filter_map(|(_, output)| output)
            .collect()
    }
}

impl Awaits for Oracle {
    fn branch(&self, _: Name, _: u32) -> Self {
        self.clone()
    }

    fn ask<'a>(&'a self, ask: &'a Ask, key: &'a str, words: String) -> Awaited<'a, i64> {
        let answer: Awaited<'a, i64> = Box::pin(self.wait(key, Want::Ask(words)));
        if ask.timeout.is_none() {
            return answer;
        }
        let timer = self.wait(&timeout_of(key), Want::Timer);
        self.race(vec![
            answer,
            Box::pin(async {
                timer.await;
                TIMED_OUT
            }),
        ])
    }

    fn step<'a>(&'a self, step: &'a Step, key: &'a str) -> Awaited<'a, i64> {
        Box::pin(self.wait(key, Want::Step(step.function)))
    }

    fn sleep<'a>(&'a self, _: Name, key: &'a str, _: u32) -> Awaited<'a, ()> {
        Box::pin(async {
            self.wait(key, Want::Timer).await;
        })
    }

    fn signal(&self, name: Name) -> Awaited<'_, i64> {
        Box::pin(poll_fn(move |_| {
            let taken = self
                .lock()
                .signals
                .get_mut(name)
                .and_then(VecDeque::pop_front);
            taken.map_or(Poll::Pending, Poll::Ready)
        }))
    }

    fn cancelled(&self) -> Awaited<'_, ()> {
        Box::pin(poll_fn(|_| {
            if self.lock().cancelled {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }))
    }

    fn unrecorded<'a>(&'a self, _: Name, key: &'a str, _: u32) -> Awaited<'a, ()> {
        Box::pin(async {
            self.wait(key, Want::Unrecorded).await;
        })
    }

    fn now(&self) -> u64 {
        self.lock().now
    }

    fn random(&self, _: Name, key: &str) -> i64 {
        self.lock().draws.get(key).copied().unwrap_or_default()
    }

    fn patched(&self, id: Name) -> bool {
        let mut state = self.lock();
        if let Some(decided) = state.patches.get(id) {
            return *decided;
        }
        let asked = |key| state.wanted.contains_key(key);
        let decided = state.markers.contains(id) || state.recorded.iter().all(asked);
        state.patches.insert(id, decided);
        decided
    }

    fn set_status(&self, _: Name) {}

    fn join<'a>(&'a self, branches: Vec<Awaited<'a, i64>>) -> Awaited<'a, Vec<i64>> {
        Box::pin(async {
            let mut arms = Arms::new(branches);
            arms.until(|_| false).await;
            arms.outputs()
        })
    }

    fn try_join<'a>(
        &'a self,
        branches: Vec<Awaited<'a, Result<i64, i64>>>,
    ) -> Awaited<'a, Result<Vec<i64>, i64>> {
        Box::pin(async {
            let mut arms = Arms::new(branches);
            match arms.until(Result::is_err).await {
                Some(failed) => failed.map(|_| Vec::new()),
                None => arms.outputs().into_iter().collect(),
            }
        })
    }

    fn race<'a>(&'a self, branches: Vec<Awaited<'a, i64>>) -> Awaited<'a, i64> {
        Box::pin(async {
            let first = Arms::new(branches).until(|_| true).await;
            first.expect("a race has branches")
        })
    }

    fn join_all<'a>(&'a self, branches: Vec<Awaited<'a, i64>>) -> Awaited<'a, Vec<i64>> {
        self.join(branches)
    }
}
