//! A task that ends between being claimed and being run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use mcp_tasks::SqliteStore;
use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::store::{StoreFuture, StoreLayer, TaskStore};
use mcp_tasks::task::{Access, Entry, Seq, Snapshot, TaskId, Timestamp};
use serde_json::json;

use crate::builder;
use crate::client::Client;
use crate::leases::{Taken, acts};

/// A store that has the journal of a task at hand when it ends, as stores may that
/// read it with the claim.
struct Ending {
    inner: SqliteStore,
    /// Whether a task is cancelled while its journal is on its way.
    cancels: Arc<AtomicBool>,
}

impl StoreLayer for Ending {
    fn inner(&self) -> &dyn TaskStore {
        &self.inner
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        StoreFuture::new(async move {
            let mut journal = self.inner.read(id, last).await?;
            if self.cancels.swap(false, Ordering::Relaxed) {
                let known = journal.last().map_or(last, |entry| entry.seq);
                let now = UNIX_EPOCH.elapsed().unwrap().as_millis();
                let now = Timestamp::from_millis(now.try_into().unwrap());
                self.inner.cancel(id, Access::Server, now).await?;
                journal.extend(self.inner.read(id, known).await?);
            }
            Ok(journal)
        })
    }
}

#[tokio::test]
async fn a_task_that_ends_before_its_function_is_run_again_does_nothing_more() {
    let directory = tempfile::tempdir().unwrap();
    let cancels = Arc::new(AtomicBool::new(false));
    let store = Ending {
        inner: SqliteStore::open(directory.path().join("tasks.db")).unwrap(),
        cancels: cancels.clone(),
    };
    let taken = Taken::default();
    let server = builder()
        .task(acts)
        .state(taken.clone())
        .store(store)
        .park_after(Duration::from_millis(1));
    let client = Client::new(server);
    let id = client.task("acts", json!({})).await;
    client.until_asked(&id, 1).await;
    client.until_resident(0).await;

    cancels.store(true, Ordering::Relaxed);
    client.answer(&id, &[("answer", "yes")]).await;
    let task = client.until(&id, Snapshot::is_terminal).await;
    assert_eq!(task.status(), TaskStatus::Cancelled);
    // Whatever would come now is under way.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(taken.count(), 0);
    client.until_resident(0).await;
}
