//! The raw figure: what the same disk and library can do when nothing but the
//! writing is left of a commit.
//!
//! One connection with the settings of our own store, cached statements, and
//! for each of our commits one journal entry inserted and one task row written,
//! with the columns that ours have and values of the same sizes, but no index.
//! Nothing is checked, looked up, read or put into words.
//! Callers hand their commits to a thread that takes as many into one
//! transaction as are waiting.
//!
//! Beside that stands the same without callers: a loop that always finds as
//! many commits waiting as there would be callers, and tells nobody.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::life::Written;
use crate::throughput::rate;

pub(crate) struct Raw {
    connection: Connection,
    next: i64,
}

/// As long as the texts and numbers of our rows.
const ID: &str = "2345678abcdefghijkmnpqrstuvwxyz234";
const NOW: i64 = 1_800_000_000_000;

/// A commit: of which task, the how manyth of its life, and who waits for it.
struct Commit {
    task: i64,
    nth: usize,
    done: oneshot::Sender<()>,
}

impl Raw {
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch(
            "CREATE TABLE tasks (
                 task INTEGER PRIMARY KEY, id TEXT NOT NULL, code INTEGER NOT NULL,
                 caller TEXT NOT NULL, holder INTEGER NOT NULL, fencing INTEGER NOT NULL,
                 seq INTEGER NOT NULL, status INTEGER NOT NULL, ended INTEGER NOT NULL,
                 running INTEGER NOT NULL, unseen INTEGER NOT NULL, distrust INTEGER NOT NULL,
                 held INTEGER NOT NULL, held_first INTEGER NOT NULL, held_last INTEGER NOT NULL,
                 held_build TEXT NOT NULL, wake_at INTEGER NOT NULL, due_at INTEGER NOT NULL,
                 snapshot TEXT NOT NULL);
             CREATE TABLE journal (task INTEGER NOT NULL, seq INTEGER NOT NULL,
                 at INTEGER NOT NULL, format INTEGER NOT NULL, event TEXT NOT NULL,
                 PRIMARY KEY (task, seq)) WITHOUT ROWID;",
        )?;
        Ok(Self {
            connection,
            next: 1,
        })
    }

    /// So many callers write lives of tasks for as long as given; gives the
    /// commits per second.
    pub(crate) fn called(
        &mut self,
        tokio: &tokio::runtime::Runtime,
        life: &[Written],
        callers: usize,
        time: Duration,
    ) -> rusqlite::Result<f64> {
        let (queue, commits) = mpsc::channel(callers);
        let first = self.next;
        thread::scope(|scope| {
            let writer = scope.spawn(|| self.serve(life, commits));
            let begun = Instant::now();
            let count = tokio.block_on(async {
                let mut tasks = JoinSet::new();
                for caller in (0..).take(callers) {
                    let queue = queue.clone();
                    let step = i64::try_from(callers).expect("a few callers");
                    let lives = (first + caller..).step_by(usize::try_from(step).expect("so"));
                    tasks.spawn(live(queue, lives, life.len(), begun, time));
                }
                drop(queue);
                tasks.join_all().await.iter().sum()
            });
            let time = begun.elapsed();
            writer.join().expect("the writer does not panic")?;
            Ok(rate(count, time))
        })
    }

    fn serve(
        &mut self,
        life: &[Written],
        mut commits: mpsc::Receiver<Commit>,
    ) -> rusqlite::Result<()> {
        let mut batch = Vec::new();
        while let Some(first) = commits.blocking_recv() {
            batch.push(first);
            while let Ok(next) = commits.try_recv() {
                batch.push(next);
            }
            self.transact(batch.iter().map(|commit| (commit.task, commit.nth)), life)?;
            for commit in batch.drain(..) {
                self.next = self.next.max(commit.task + 1);
                let _ = commit.done.send(());
            }
        }
        Ok(())
    }

    /// Writes lives of tasks, always as many at once as there would be callers.
    pub(crate) fn looped(
        &mut self,
        life: &[Written],
        callers: usize,
        time: Duration,
    ) -> rusqlite::Result<f64> {
        let callers = i64::try_from(callers).expect("a few callers");
        let begun = Instant::now();
        let mut commits = 0;
        while begun.elapsed() < time {
            let tasks = self.next..self.next + callers;
            self.next = tasks.end;
            for nth in 0..life.len() {
                self.transact(tasks.clone().map(|task| (task, nth)), life)?;
                commits += callers;
            }
        }
        Ok(rate(commits.cast_unsigned(), begun.elapsed()))
    }

    /// Removes the journals, as ours does when tasks end.
    pub(crate) fn end_all(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch("DELETE FROM journal")
    }

    fn transact(
        &self,
        commits: impl Iterator<Item = (i64, usize)>,
        life: &[Written],
    ) -> rusqlite::Result<()> {
        let prepare = |sql| self.connection.prepare_cached(sql);
        prepare("BEGIN IMMEDIATE")?.execute(())?;
        let mut entry = prepare("INSERT INTO journal VALUES (?1, ?2, ?3, 1, ?4)")?;
        let mut first = prepare(
            "INSERT INTO tasks VALUES (?1, ?3, 1, 'anonymous', 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, '',
                 ?4, ?4, ?2)",
        )?;
        let mut next = prepare(
            "UPDATE tasks SET seq = ?3, running = ?3, wake_at = ?4, snapshot = ?2 WHERE task = ?1",
        )?;
        for (task, nth) in commits {
            let written = &life[nth];
            let seq = i64::try_from(nth).expect("a life is short");
            if nth == 0 {
                first.execute(params![task, written.snapshot, ID, NOW])?;
            } else {
                next.execute(params![task, written.snapshot, seq, NOW])?;
            }
            entry.execute(params![task, seq, NOW, written.event])?;
        }
        prepare("COMMIT")?.execute(()).map(drop)
    }
}

/// One caller: tasks from their creation to their end, one after another.
async fn live(
    queue: mpsc::Sender<Commit>,
    tasks: impl Iterator<Item = i64>,
    commits: usize,
    begun: Instant,
    time: Duration,
) -> u64 {
    let mut count = 0;
    for task in tasks {
        for nth in 0..commits {
            let (done, told) = oneshot::channel();
            let sent = queue.send(Commit { task, nth, done }).await;
            sent.expect("the writer outlives its callers");
            told.await.expect("the writer tells everybody");
            count += 1;
        }
        if begun.elapsed() >= time {
            break;
        }
    }
    count
}
