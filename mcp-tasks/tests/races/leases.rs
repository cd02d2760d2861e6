//! A lease that is lost while tasks are claimed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use mcp_tasks::SqliteStore;
use mcp_tasks::prelude::*;
use mcp_tasks::store::{Server, StoreFuture, StoreLayer, TaskStore, Wanted, Work};
use mcp_tasks::task::Timestamp;
use serde_json::json;
use tempfile::TempDir;

use crate::builder;
use crate::client::Client;

/// The file, as it is for a server that others have taken for dead.
struct Lapsing {
    inner: SqliteStore,
    /// Whether the next heartbeat hears that the lease was lost.
    is_lost: Arc<AtomicBool>,
    /// How long it takes until a claim, or an enlisting, gets to the store.
    slow_claims: Duration,
    slow_enlisting: Duration,
}

impl StoreLayer for Lapsing {
    fn inner(&self) -> &dyn TaskStore {
        &self.inner
    }

    fn enlist<'a>(&'a self, server: &'a Server, now: Timestamp) -> StoreFuture<'a, ()> {
        StoreFuture::new(async move {
            tokio::time::sleep(self.slow_enlisting).await;
            self.inner.enlist(server, now).await
        })
    }

    fn renew(&self, now: Timestamp) -> StoreFuture<'_, bool> {
        if self.is_lost.swap(false, Ordering::Relaxed) {
            return StoreFuture::ready(Ok(false));
        }
        self.inner.renew(now)
    }

    fn claim<'a>(&'a self, wanted: &'a Wanted<'a>, now: Timestamp) -> StoreFuture<'a, Work> {
        StoreFuture::new(async move {
            tokio::time::sleep(self.slow_claims).await;
            self.inner.claim(wanted, now).await
        })
    }
}

/// How often the step was taken.
#[derive(Clone, Default)]
pub(crate) struct Taken(Arc<AtomicUsize>);

impl Taken {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[mcp_task]
pub(crate) async fn acts(State(taken): State<Taken>) -> Result<String, ToolError> {
    let answer: String = ask_user("go on?").await?;
    step_value(async move { taken.0.fetch_add(1, Ordering::Relaxed) })
        .key("act")
        .await;
    Ok(answer)
}

/// A server with a task that waits on disk; its lease is lost with the next
/// heartbeat.
async fn about_to_lose_its_lease(
    slow_claims: Duration,
    slow_enlisting: Duration,
) -> (Client, mcp_tasks::task::TaskId, Taken, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let is_lost = Arc::new(AtomicBool::new(false));
    let store = Lapsing {
        inner: SqliteStore::open(directory.path().join("tasks.db")).unwrap(),
        is_lost: is_lost.clone(),
        slow_claims,
        slow_enlisting,
    };
    let taken = Taken::default();
    let server = builder()
        .task(acts)
        .state(taken.clone())
        .store(store)
        .lease(Duration::from_millis(300))
        .park_after(Duration::from_millis(1));
    let client = Client::new(server);
    let id = client.task("acts", json!({})).await;
    client.until_asked(&id, 1).await;
    client.until_resident(0).await;
    is_lost.store(true, Ordering::Relaxed);
    (client, id, taken, directory)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_claimed_while_the_lease_is_lost_has_somebody_who_runs_it() {
    // A heartbeat comes every 100 ms, so that it comes meanwhile.
    let slow = Duration::from_millis(250);
    let (client, id, taken, _directory) = about_to_lose_its_lease(slow, Duration::ZERO).await;
    client.answer(&id, &[("answer", "yes")]).await;
    assert_eq!(client.until_text(&id).await, "yes");
    assert_eq!(taken.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_under_a_lease_that_was_lost() {
    let slow = Duration::from_millis(250);
    let (client, id, taken, _directory) = about_to_lose_its_lease(Duration::ZERO, slow).await;
    // The heartbeat has come, and the server is about to begin anew.
    tokio::time::sleep(Duration::from_millis(200)).await;
    client.answer(&id, &[("answer", "yes")]).await;
    assert_eq!(client.until_text(&id).await, "yes");
    assert_eq!(taken.count(), 1);
}
