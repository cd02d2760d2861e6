//! The one thread that writes.
//!
//! It takes everything that has been asked for into one transaction, commits,
//! and only then tells: many tasks, one wait for the disk. While it waits, the
//! next operations queue up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::fail_point::FailPoint;
use super::ledger::Ledger;
use super::news::News;
use super::queue::{Received, Receiver, Sender, queue};
use super::trouble::{Failure, Fault, in_words};
use crate::store::StoreError;

/// How many operations may queue up before their callers wait.
const QUEUE: usize = 1024;

/// How many operations are one transaction at most.
const BATCH: usize = 512;

/// An operation: does its part of a transaction, and gives what is to be told
/// when that is over. If there is no transaction it only tells why.
type Operation = Box<dyn FnOnce(Result<&mut Ledger, &Failure>) -> Option<Report> + Send>;

/// Tells whoever waits; takes why the transaction as a whole failed, if it did.
type Report = Box<dyn FnOnce(Option<&Failure>) + Send>;

/// How often to look for what other processes have done, while somebody waits
/// for it.
const LOOK_EVERY: Duration = Duration::from_millis(100);

enum Command {
    Do(Operation),
    Watch(Watch),
}

/// Somebody who waits until others have changed something.
struct Watch {
    /// The version of the file that they know.
    known: i64,
    tell: oneshot::Sender<Result<News, StoreError>>,
}

/// The way to the thread. Dropping it lets the thread finish what has been
/// asked for, give up the lease, and end.
pub(super) struct Writer {
    /// None while it is dropped.
    queue: Option<Sender<Command>>,
    thread: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
}

impl Writer {
    pub(super) fn start(ledger: Ledger) -> std::io::Result<Self> {
        let (queue, commands) = queue(QUEUE);
        let commits = Arc::new(AtomicU64::new(0));
        let mut clerk = Clerk {
            commands,
            ledger,
            commits: commits.clone(),
            fail_point: FailPoint::from_environment(),
            watches: Vec::new(),
            rhythm: Rhythm::new(),
        };
        let thread = thread::Builder::new()
            .name("mcp-tasks-write".to_owned())
            .spawn(move || clerk.serve())?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
            commits,
        })
    }

    /// How many operations have appended to journals.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Has an operation done; comes back when it is durable.
    pub(super) async fn perform<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Ledger) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = oneshot::channel();
        let operation = reported(operation, tell);
        self.send(Command::Do(operation)).await?;
        let died = "the thread that writes has died";
        told.await
            .map_err(|_| StoreError::Unsure(died.to_owned()))?
    }

    /// Waits until others have changed anything since the version that is known.
    pub(super) async fn watch(&self, known: i64) -> Result<News, StoreError> {
        let (tell, told) = oneshot::channel();
        let watch = Watch { known, tell };
        self.send(Command::Watch(watch)).await?;
        told.await.map_err(|_| stopped())?
    }

    async fn send(&self, command: Command) -> Result<(), StoreError> {
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(command).await.map_err(|_| stopped())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // It has said what went wrong, if it panicked.
            let _ = thread.join();
        }
    }
}

/// An operation whose outcome is told once it counts. It is not done if whoever
/// asked has gone away: nobody would hear of it.
fn reported<T: Send + 'static>(
    operation: impl FnOnce(&mut Ledger) -> Result<T, Fault> + Send + 'static,
    tell: oneshot::Sender<Result<T, StoreError>>,
) -> Operation {
    Box::new(move |ledger| match ledger {
        Ok(_) if tell.is_closed() => None,
        Ok(ledger) => {
            let done = ledger.run(operation);
            Some(Box::new(move |failure| {
                // Whoever asked may have gone away meanwhile.
                let _ = tell.send(failure.map_or(done, |failure| Err(failure.to_error())));
            }))
        }
        Err(failure) => {
            let _ = tell.send(Err(failure.to_error()));
            None
        }
    })
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the store has been closed".to_owned())
}

/// What the thread works with.
struct Clerk {
    commands: Receiver<Command>,
    ledger: Ledger,
    commits: Arc<AtomicU64>,
    fail_point: FailPoint,
    /// Who waits for news.
    watches: Vec<Watch>,
    rhythm: Rhythm,
}

/// How the last transactions went.
struct Rhythm {
    /// How many there are who have something to say: those who were answered,
    /// and those who came meanwhile.
    callers: usize,
    /// How long the last transaction took, and the one before.
    spent: [Duration; 2],
    ended: Instant,
}

/// On a disk that is faster than this nobody is waited for: while one half of
/// the callers is written down, the other half finds something to say.
const SLOW: Duration = Duration::from_millis(2);

/// At most so much is waited for others, however slow the disk is.
const PATIENCE: Duration = Duration::from_micros(500);

impl Rhythm {
    fn new() -> Self {
        Self {
            callers: 0,
            spent: [Duration::ZERO; 2],
            ended: Instant::now(),
        }
    }

    fn note(&mut self, callers: usize, began: Instant) {
        self.callers = callers;
        self.ended = Instant::now();
        self.spent = [self.ended - began, self.spent[0]];
    }

    /// How many operations to wait for, and for how long: a fraction of what a
    /// transaction of their own would cost them.
    fn expects(&self) -> Option<(usize, Duration)> {
        // One that is slow by itself has tidied up the log.
        let spent = self.spent[0].min(self.spent[1]);
        let patience = (spent / 4).min(PATIENCE);
        // Whoever was answered longer ago has something else to do.
        let at_once = spent >= SLOW && self.ended.elapsed() < patience;
        at_once.then(|| (self.callers.min(BATCH), patience))
    }
}

impl Clerk {
    fn serve(&mut self) {
        let mut batch = Vec::new();
        let mut looked = Instant::now();
        loop {
            let limit = if self.watches.is_empty() {
                None
            } else {
                Some(LOOK_EVERY.saturating_sub(looked.elapsed()))
            };
            let mut next = match self.commands.wait(limit) {
                Received::Value(command) => Some(command),
                Received::Nothing => None,
                Received::End => break,
            };
            let due = looked.elapsed() >= LOOK_EVERY;
            while let Some(command) = next {
                self.accept(command, &mut batch);
                next = (batch.len() < BATCH)
                    .then(|| self.commands.take())
                    .flatten();
            }
            if !batch.is_empty() {
                self.gather(&mut batch);
                self.transact(&mut batch);
            }
            if due {
                self.look();
                looked = Instant::now();
            }
        }
        let (tell, mut told) = oneshot::channel();
        self.transact(&mut vec![reported(Ledger::leave, tell)]);
        if let Ok(Err(error)) = told.try_recv() {
            tracing::warn!("the lease is not given up, and ends by itself: {error}");
        }
    }

    fn accept(&mut self, command: Command, batch: &mut Vec<Operation>) {
        match command {
            Command::Do(operation) => batch.push(operation),
            Command::Watch(watch) => self.watches.push(watch),
        }
    }

    /// Waits a little for those who were answered just now: they are likely to
    /// have more to say, and would else wait for a transaction of their own.
    fn gather(&mut self, batch: &mut Vec<Operation>) {
        let Some((expected, patience)) = self.rhythm.expects() else {
            return;
        };
        let until = Instant::now() + patience;
        while batch.len() < expected {
            let left = until.saturating_duration_since(Instant::now());
            match self.commands.wait(Some(left)) {
                Received::Value(command) => self.accept(command, batch),
                Received::Nothing | Received::End => return,
            }
        }
    }

    /// Does a batch in one transaction, and tells.
    fn transact(&mut self, batch: &mut Vec<Operation>) {
        let began = Instant::now();
        let size = batch.len();
        if let Err(error) = self.ledger.begin() {
            let failure = Failure::before_commit(in_words(&error));
            for operation in batch.drain(..) {
                operation(Err(&failure));
            }
            return;
        }
        let reports: Vec<Report> = batch
            .drain(..)
            .filter_map(|operation| operation(Ok(&mut self.ledger)))
            .collect();
        let committed = self.commit();
        if committed.is_err() {
            self.ledger.roll_back();
        }
        self.rhythm.note(size + self.commands.len(), began);
        let failure = committed.err();
        for report in reports {
            report(failure.as_ref());
        }
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.ledger.complete()?;
        let appended = self.ledger.appended;
        self.fail_point.before_commit(appended > 0);
        self.ledger.commit()?;
        self.fail_point.after_commit();
        self.commits.fetch_add(appended, Ordering::Relaxed);
        Ok(())
    }

    /// Tells those who wait for news, if there are any.
    fn look(&mut self) {
        for watch in std::mem::take(&mut self.watches) {
            if watch.tell.is_closed() {
                continue;
            }
            match self.ledger.look(watch.known) {
                Ok(news) if news.version == watch.known => self.watches.push(watch),
                // If it is not heard, it is told again.
                told => drop(watch.tell.send(told.map_err(StoreError::from))),
            }
        }
    }
}
