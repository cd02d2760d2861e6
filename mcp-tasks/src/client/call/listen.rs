//! Hears of a task from a server that tells of its tasks (`subscriptions/listen`
//! with `taskIds`, P40), and goes on doing so when the connection is lost.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::back_off;
use crate::client::Inner;
use crate::client::link::{Live, Told, Trouble};

/// How long a subscription lives that is worth being made again at once.
const LASTING: Duration = Duration::from_secs(10);

/// What is heard.
pub(super) enum Heard {
    /// The server will tell of the task.
    Listening,
    /// The task, as the parameters of `notifications/tasks`.
    Task(Arc<RawValue>),
    /// The server no longer tells of it.
    Deaf,
}

/// How a subscription ended.
enum End {
    /// The server does not do such things, or not for this task.
    Never,
    /// It may do so again.
    Again,
}

/// Listens until the task ends, which aborts this, or the server has no wish to.
pub(super) async fn listen(inner: Weak<Inner>, id: Arc<str>, heard: mpsc::UnboundedSender<Heard>) {
    let mut failed = 0;
    loop {
        let Some(inner) = inner.upgrade() else {
            return;
        };
        let began = Instant::now();
        let end = match inner.link.live().await {
            Ok(live) if live.can_listen() => once(&live, &id, &heard).await,
            Ok(_) => End::Never,
            Err(_) => End::Again,
        };
        drop(inner);
        if heard.send(Heard::Deaf).is_err() || matches!(end, End::Never) {
            return;
        }
        // That it has agreed says little, if it ends what it agreed to at once.
        let has_lasted = began.elapsed() >= LASTING;
        failed = if has_lasted { 1 } else { failed + 1 };
        tokio::time::sleep(back_off(failed)).await;
    }
}

async fn once(live: &Live, id: &Arc<str>, heard: &mpsc::UnboundedSender<Heard>) -> End {
    let params = json!({ "notifications": { "taskIds": [id] } });
    let Ok(sent) = live.send("subscriptions/listen", &params).await else {
        return End::Again;
    };
    let mut ear = sent.subscription();
    let mut reply = std::pin::pin!(sent.reply());
    loop {
        let told = tokio::select! {
            told = ear.next() => told,
            reply = &mut reply => {
                return match reply {
                    Err(Trouble::Refused(_) | Trouble::Denied(_) | Trouble::Odd(_)) => End::Never,
                    _ => End::Again,
                };
            }
        };
        let told = match told {
            Told::Agreed(ids) if ids.iter().any(|agreed| **agreed == **id) => Heard::Listening,
            // The task is not among those that it tells of.
            Told::Agreed(_) => return End::Never,
            Told::Task(task) => Heard::Task(task),
            Told::Progress(..) => continue,
        };
        if heard.send(told).is_err() {
            return End::Never;
        }
    }
}
