//! What a task function can await, in a server that may stop at any moment.

#[path = "../replay/world.rs"]
#[allow(dead_code, reason = "shared with the tests of replay")]
mod world;

mod at_most_once;
mod drawn;
mod keys;
mod patches;
mod retries;
mod signals;
mod unrecorded;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

/// The world outside: does what it is scripted to, and notes who came when.
#[derive(Clone, Default)]
pub(crate) struct Outside(Arc<Mutex<Notes>>);

#[derive(Default)]
struct Notes {
    since: Option<Instant>,
    visits: Vec<(Duration, String)>,
    script: VecDeque<Reply>,
}

/// What the world outside does next.
#[derive(Clone, Copy)]
pub(crate) enum Reply {
    Succeed,
    Fail,
    /// Takes an hour, and succeeds.
    Hang,
}

impl Outside {
    /// An outside that does this, and from then on succeeds.
    pub(crate) fn scripted(script: impl IntoIterator<Item = Reply>) -> Self {
        let outside = Self::default();
        outside.0.lock().unwrap().script.extend(script);
        outside
    }

    /// Is visited under a name; gives how many visits there have been.
    pub(crate) async fn visit(&self, name: &str) -> Result<usize, std::io::Error> {
        let (reply, count) = {
            let mut notes = self.0.lock().unwrap();
            let since = *notes.since.get_or_insert_with(Instant::now);
            notes.visits.push((since.elapsed(), name.to_owned()));
            let reply = notes.script.pop_front().unwrap_or(Reply::Succeed);
            (reply, notes.visits.len())
        };
        match reply {
            Reply::Succeed => Ok(count),
            Reply::Fail => Err(std::io::Error::other(format!("no luck with {count}"))),
            Reply::Hang => {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                Ok(count)
            }
        }
    }

    /// Who came, in order.
    pub(crate) fn visits(&self) -> Vec<String> {
        let notes = self.0.lock().unwrap();
        notes.visits.iter().map(|(_, name)| name.clone()).collect()
    }

    /// How many seconds after the first each visit was.
    pub(crate) fn seconds(&self) -> Vec<u64> {
        let notes = self.0.lock().unwrap();
        notes.visits.iter().map(|(at, _)| at.as_secs()).collect()
    }
}
