//! Clients that go away while the store is at it.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use mcp_tasks::SqliteStore;
use mcp_tasks::protocol::TaskStatus;
use serde_json::json;

use crate::client::Client;
use crate::{builder, waits};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_whose_client_goes_away_is_lost_whole_or_reaches_the_function() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path().join("tasks.db")).unwrap();
    let client = Client::new(builder().task(waits).store(store));
    let answers = [("answer", "yes")];
    let mut recorded = 0;
    for micros in (0..2000).step_by(10) {
        let id = client.task("waits", json!({})).await;
        client.until_asked(&id, 1).await;
        let patience = Instant::now() + Duration::from_micros(micros);
        let mut answer = Box::pin(client.answer(&id, &answers));
        // A timer would be too coarse.
        while polled(answer.as_mut()).await.is_pending() && Instant::now() < patience {
            tokio::task::yield_now().await;
        }
        drop(answer);
        tokio::time::sleep(Duration::from_millis(5)).await;
        if client.get(&id).await.status() == TaskStatus::InputRequired {
            client.answer(&id, &answers).await;
        } else {
            recorded += 1;
        }
        assert_eq!(client.until_text(&id).await, "yes", "after {micros} µs");
    }
    assert!(recorded > 0, "every client was gone before the store began");
}

async fn polled<F: Future + Unpin>(mut future: F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut future).poll(cx))).await
}
