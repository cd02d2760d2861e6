//! The thread that reads: polls do not wait for writes.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::changes::OwnedAccess;
use super::counts::Totals;
use super::journal;
use super::row::caller_of;
use super::trouble::Fault;
use crate::store::near::{Brief, Snapshots};
use crate::store::{StoreError, StoreStats};
use crate::task::{Entry, Seq, Snapshot, TaskId};

/// How many reads may queue up before their callers wait.
const QUEUE: usize = 1024;

/// How many reads see the file at one moment.
const BATCH: usize = 256;

type Query = Box<dyn FnOnce(&mut Archive) + Send>;

/// The way to the thread; dropping it ends the thread.
pub(super) struct Reader {
    /// None while it is dropped.
    queue: Option<mpsc::Sender<Query>>,
    thread: Option<JoinHandle<()>>,
}

/// The file as the reader sees it at one moment.
pub(super) struct Archive {
    pub(super) connection: Connection,
    pub(super) snapshots: Snapshots,
}

impl Reader {
    pub(super) fn start(connection: Connection, snapshots: Snapshots) -> std::io::Result<Self> {
        let (queue, queries) = mpsc::channel(QUEUE);
        let mut archive = Archive {
            connection,
            snapshots,
        };
        let thread = thread::Builder::new()
            .name("mcp-tasks-read".to_owned())
            .spawn(move || archive.serve(queries))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    pub(super) async fn ask<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut Archive) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let stopped = || StoreError::Unavailable("the store has been closed".to_owned());
        let (tell, told) = oneshot::channel();
        let query: Query = Box::new(move |archive| {
            // Whoever asked may not be there any more.
            let _ = tell.send(query(archive).map_err(StoreError::from));
        });
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(query).await.map_err(|_| stopped())?;
        told.await.map_err(|_| stopped())?
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // It has said what went wrong, if it panicked.
            let _ = thread.join();
        }
    }
}

impl Archive {
    fn serve(&mut self, mut queries: mpsc::Receiver<Query>) {
        while let Some(first) = queries.blocking_recv() {
            // What is asked after this moment may have to see more.
            let mut batch = vec![first];
            while batch.len() < BATCH
                && let Ok(query) = queries.try_recv()
            {
                batch.push(query);
            }
            // Without a transaction each looks at a moment of its own, which
            // is just as good.
            let together = batch.len() > 1 && self.statement("BEGIN");
            for query in batch {
                query(self);
            }
            if together {
                self.statement("COMMIT");
            }
        }
    }

    fn statement(&self, sql: &str) -> bool {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(()))
            .is_ok()
    }

    pub(super) fn get(
        &mut self,
        id: &TaskId,
        access: &OwnedAccess,
    ) -> Result<Option<Arc<Snapshot>>, Fault> {
        let mut find = self.connection.prepare_cached(
            "SELECT seq, snapshot FROM tasks WHERE id = ?1 AND caller = ifnull(?2, caller)",
        )?;
        // Whose it is is for SQLite to compare, as in `Row::find`.
        let mut rows = find.query((id.as_str(), caller_of(access.get())))?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let seq = row.get::<_, i64>(0)?.cast_unsigned();
        if let Some(known) = self.snapshots.get(id, seq) {
            return Ok(Some(known));
        }
        let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let snapshot = journal::from_json(id, text)?;
        self.snapshots
            .put(Brief::new(seq, &snapshot, text).into_iter());
        Ok(Some(snapshot))
    }

    pub(super) fn read(&mut self, id: &TaskId, last: Seq) -> Result<Vec<Entry>, Fault> {
        let mut find = self
            .connection
            .prepare_cached("SELECT task, ended, seq FROM tasks WHERE id = ?1")?;
        let mut rows = find.query([id.as_str()])?;
        let Some(row) = rows.next()? else {
            return Ok(Vec::new());
        };
        let ended: bool = row.get(1)?;
        let seq = row.get::<_, i64>(2)?.cast_unsigned();
        let end = ended.then_some(seq);
        journal::read_after(&self.connection, id, row.get(0)?, end, last)
    }

    pub(super) fn stats(&mut self, commits: u64) -> Result<StoreStats, Fault> {
        stats(&self.connection, commits)
    }
}

/// Counts what there is in the file.
pub(super) fn stats(connection: &Connection, commits: u64) -> Result<StoreStats, Fault> {
    let totals = Totals::read(connection)?;
    let number = |sql| -> rusqlite::Result<i64> { connection.query_row(sql, (), |row| row.get(0)) };
    // Free pages stay in the file, for the next tasks.
    let pages = number("PRAGMA page_count")? - number("PRAGMA freelist_count")?;
    let bytes = pages * number("PRAGMA page_size")?;
    Ok(StoreStats {
        live: totals.live.cast_unsigned(),
        stored: totals.stored.cast_unsigned(),
        commits,
        bytes: bytes.cast_unsigned(),
    })
}
