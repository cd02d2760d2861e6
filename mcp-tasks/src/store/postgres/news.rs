//! What replicas tell each other, and hear.
//!
//! After a change its task's id goes out with NOTIFY, together with others that
//! have piled up meanwhile: each NOTIFY takes a lock of the whole database, so that
//! there should be few, and none inside of a commit that waits for the disk. Nobody
//! relies on hearing: what has arrived for a holder stands in its rows, and is
//! looked for now and again.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::ledger::Ledger;
use super::query::Query;
use super::row::HolderId;
use super::text::{kept, was};
use crate::store::{self, StoreError};
use crate::task::TaskId;

/// How often a holder looks for what it has not heard of, if it hears.
const LOOK: Duration = Duration::from_secs(30);

/// How often, if it does not: behind a pooler, or while the connection is gone.
const LOOK_WHEN_DEAF: Duration = Duration::from_secs(1);

/// What was found once is looked for again so soon, until it is dealt with.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What could not be told is told so much later.
const TELL_AGAIN: Duration = Duration::from_millis(500);

/// Bytes of ids in one message; PostgreSQL takes 8,000 in all.
const ROOM: usize = 7000;

/// How many changes that nobody has asked for are known by name.
const MOST: usize = 10_000;

/// What is to be told and what was heard.
pub(super) struct News {
    me: AtomicI64,
    /// Whether there is anybody to tell.
    others: AtomicBool,
    /// Whether what others tell is heard.
    pub(super) hears: AtomicBool,
    to_tell: Mutex<Message>,
    pub(super) something_to_tell: Notify,
    heard: Mutex<Heard>,
    something_heard: Notify,
}

/// One NOTIFY.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a word of the message"
)]
pub(super) struct Message {
    from: i64,
    /// The holders of tasks that others have appended to.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    to: BTreeSet<i64>,
    /// Whether there are tasks to claim.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    work: bool,
    /// Whether there are seats that others wait for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    seats: bool,
    /// Whether a new holder wants to be known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hello: bool,
    /// Whether there was more, which could not be told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    more: bool,
    /// Tasks that have changed.
    #[serde(default, skip_serializing_if = "HashSet::is_empty")]
    ids: HashSet<TaskId>,
    /// Whether it is for those too who have not been heard of yet.
    #[serde(skip)]
    to_anybody: bool,
}

impl Message {
    fn is_empty(&self) -> bool {
        let says = self.work || self.seats || self.hello || self.more;
        !says && self.to.is_empty() && self.ids.is_empty()
    }
}

#[derive(Default)]
struct Heard {
    /// Tasks that have changed.
    changed: HashSet<TaskId>,
    /// Whether others may have changed that were not heard of.
    any: bool,
    work: bool,
    seats: bool,
    /// How often this holder was told to look, and as of which it has.
    calls: u64,
    looked: u64,
    next_look: Option<Instant>,
    /// Tasks that have ended, of which the holder was told when it last asked.
    told_of_end: Vec<TaskId>,
}

impl Heard {
    fn is_empty(&self) -> bool {
        self.changed.is_empty() && !self.any && !self.work && !self.seats
    }

    fn take(&mut self, grown: Vec<TaskId>) -> store::News {
        let changed = std::mem::take(&mut self.changed).into_iter().collect();
        let any = std::mem::take(&mut self.any);
        store::News {
            grown,
            changed: (!any).then_some(changed),
            work: std::mem::take(&mut self.work),
            seats: std::mem::take(&mut self.seats),
        }
    }
}

impl News {
    pub(super) fn new() -> Self {
        Self {
            me: AtomicI64::new(0),
            others: AtomicBool::new(false),
            hears: AtomicBool::new(false),
            to_tell: Mutex::default(),
            something_to_tell: Notify::new(),
            heard: Mutex::default(),
            something_heard: Notify::new(),
        }
    }

    fn to_tell(&self) -> MutexGuard<'_, Message> {
        self.to_tell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name under which something is told, and heard if others tell it.
    pub(super) fn begin_as(&self, me: HolderId) {
        self.me.store(me.0, Ordering::Relaxed);
        let mut message = self.to_tell();
        message.hello = true;
        message.to_anybody = true;
        drop(message);
        self.something_to_tell.notify_one();
        // What was told before there was anybody to hear it.
        self.heard().next_look = Some(Instant::now() + LOOK_AGAIN);
    }

    pub(super) fn has_others(&self, others: bool) {
        self.others.store(others, Ordering::Relaxed);
    }

    /// Tells others of a change; `grown` is whose task it is.
    pub(super) fn tell(&self, id: &TaskId, grown: Option<HolderId>, work: bool) {
        if !self.others.load(Ordering::Relaxed) && grown.is_none() {
            return;
        }
        let mut message = self.to_tell();
        message.ids.insert(id.clone());
        message.to.extend(grown.map(|holder| holder.0));
        message.work |= work;
        drop(message);
        self.something_to_tell.notify_one();
    }

    pub(super) fn tell_of_work(&self) {
        self.to_tell().work = true;
        self.something_to_tell.notify_one();
    }

    /// Tells those who wait for seats that there are some.
    pub(super) fn tell_of_seats(&self) {
        let mut message = self.to_tell();
        message.seats = true;
        message.to_anybody = true;
        drop(message);
        self.something_to_tell.notify_one();
    }

    /// Tells others, whoever they are, to look for what they have not been told.
    pub(super) fn tell_that_there_was_more(&self) {
        let mut message = self.to_tell();
        message.more = true;
        message.to_anybody = true;
        drop(message);
        self.something_to_tell.notify_one();
    }

    /// What is to be told now, as texts that each fit.
    fn take_texts(&self) -> Vec<String> {
        let mut message = std::mem::take(&mut *self.to_tell());
        message.from = self.me.load(Ordering::Relaxed);
        let others = self.others.load(Ordering::Relaxed);
        let wanted = others || message.to_anybody || !message.to.is_empty();
        if message.is_empty() || !wanted {
            return Vec::new();
        }
        let mut ids = std::mem::take(&mut message.ids).into_iter().peekable();
        let mut texts = Vec::new();
        loop {
            let mut room = ROOM;
            while let Some(id) = ids.next_if(|id| id.as_str().len() + 3 <= room) {
                room -= id.as_str().len() + 3;
                message.ids.insert(id);
            }
            if message.ids.is_empty() && ids.next().is_some() {
                // One that fits into none: whoever cares looks now and again.
                continue;
            }
            texts.extend(serde_json::to_string(&message));
            if ids.peek().is_none() {
                return texts;
            }
            message = Message {
                from: message.from,
                ..Message::default()
            };
        }
    }

    /// Takes in what another has told; gives the tasks that it has changed.
    pub(super) fn hear(&self, text: &str) -> HashSet<TaskId> {
        let Ok(message) = serde_json::from_str::<Message>(text) else {
            // From a later version, perhaps.
            self.may_have_missed_something();
            return HashSet::new();
        };
        let me = self.me.load(Ordering::Relaxed);
        if message.from == me {
            return HashSet::new();
        }
        self.has_others(true);
        if message.more {
            self.may_have_missed_something();
        }
        let mut heard = self.heard();
        heard.changed.extend(message.ids.iter().cloned());
        if heard.changed.len() > MOST {
            heard.changed.clear();
            heard.any = true;
        }
        heard.work |= message.work;
        heard.seats |= message.seats;
        heard.calls += u64::from(message.to.contains(&me));
        drop(heard);
        self.something_heard.notify_one();
        message.ids
    }

    /// What others told may not have been heard.
    pub(super) fn may_have_missed_something(&self) {
        let mut heard = self.heard();
        heard.any = true;
        heard.work = true;
        heard.seats = true;
        heard.calls += 1;
        drop(heard);
        self.something_heard.notify_one();
    }

    /// When the next look is due if nothing is heard.
    fn next_look(&self) -> Instant {
        let often = if self.hears.load(Ordering::Relaxed) {
            LOOK
        } else {
            LOOK_WHEN_DEAF
        };
        // Replicas that started together should not look together.
        let me = self.me.load(Ordering::Relaxed).unsigned_abs();
        let part = u32::try_from(me.wrapping_mul(7919) % 256).unwrap_or_default();
        Instant::now() + often - often * part / 1024
    }
}

pub(super) struct Queries {
    unseen: Query,
    heard_of_end: Query,
    pub(super) notify: Query,
}

impl Queries {
    pub(super) fn new(query: impl Fn(&str) -> Query) -> Self {
        Self {
            unseen: query(
                "SELECT t.id, t.ended FROM @tasks t
                 WHERE t.holder = $1::int8 AND t.holder > 0 AND t.unseen = 1",
            ),
            heard_of_end: query(
                "UPDATE @tasks t SET revision = t.revision + 1, holder = 0, unseen = 0
                 WHERE t.id = ANY ($1::text[]) AND t.holder = $2::int8 AND t.ended",
            ),
            notify: query("SELECT pg_notify($1::text, $2::text)"),
        }
    }
}

impl Ledger {
    /// Waits until others may have changed something.
    pub(super) async fn news(&self) -> Result<store::News, StoreError> {
        self.drop_news_of_ended().await?;
        let news = &self.news;
        loop {
            let (calls, next_look) = {
                let mut heard = news.heard();
                let next_look = *heard.next_look.get_or_insert_with(|| news.next_look());
                (heard.calls, next_look.min(news.next_look()))
            };
            let late = Instant::now() >= next_look;
            if late || calls > news.heard().looked {
                let found = self.unseen().await?;
                let mut heard = news.heard();
                heard.looked = calls;
                let again = (!found.is_empty()).then(|| Instant::now() + LOOK_AGAIN);
                heard.next_look = Some(again.unwrap_or_else(|| news.next_look()));
                heard.any |= late;
                heard.work |= late;
                heard.seats |= late;
                if found.is_empty() && heard.is_empty() {
                    continue;
                }
                let ended = found.iter().filter(|(_, ended)| *ended);
                heard.told_of_end = ended.map(|(id, _)| id.clone()).collect();
                let grown = found.into_iter().map(|(id, _)| id).collect();
                return Ok(heard.take(grown));
            }
            {
                let mut heard = news.heard();
                if !heard.is_empty() {
                    return Ok(heard.take(Vec::new()));
                }
            }
            tokio::select! {
                () = news.something_heard.notified() => {}
                () = tokio::time::sleep_until(next_look) => {}
            }
        }
    }

    /// Tasks of this holder that others have appended to, and whether each has
    /// ended.
    async fn unseen(&self) -> Result<Vec<(TaskId, bool)>, StoreError> {
        let Some(me) = self.holder() else {
            return Ok(Vec::new());
        };
        let rows = self
            .connections
            .read(&self.queries.news.unseen, &[&me.id.0])
            .await?;
        let unseen = rows.iter().map(|row| {
            let id = TaskId::from_text(&was(row.get(0)));
            self.handover.forget(&id);
            (id, row.get(1))
        });
        Ok(unseen.collect())
    }

    /// Notes that the holder has heard of the tasks that have ended.
    async fn drop_news_of_ended(&self) -> Result<(), StoreError> {
        let ended = self.news.heard().told_of_end.clone();
        let Some(me) = self.holder().filter(|_| !ended.is_empty()) else {
            return Ok(());
        };
        let ids: Vec<_> = ended.iter().map(|id| kept(id.as_str())).collect();
        self.connections
            .write(&self.queries.news.heard_of_end, &[&ids, &me.id.0])
            .await?;
        self.news.heard().told_of_end.clear();
        Ok(())
    }

    /// Tells others that there are tasks to claim, and perhaps seats to take, and
    /// returns when it is told.
    pub(super) async fn tell_of_work_now(&self) {
        self.news.tell_of_work();
        self.news.tell_of_seats();
        // If it cannot be told, whoever takes the lease will find out.
        self.tell_others().await.ok();
    }

    /// Tells others what there is to tell; if that fails, there is still to tell that
    /// there was something.
    async fn tell_others(&self) -> Result<(), StoreError> {
        for text in self.news.take_texts() {
            let channel = self.name.channel();
            let told = self
                .beats
                .write(&self.queries.news.notify, &[&channel, &text])
                .await;
            if let Err(error) = told {
                self.news.tell_that_there_was_more();
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Tells others of changes for as long as the store is there.
pub(super) async fn tell(ledger: Arc<Ledger>) {
    loop {
        ledger.news.something_to_tell.notified().await;
        while let Err(error) = ledger.tell_others().await {
            tracing::debug!(%error, "other replicas could not be told of changes, trying again");
            tokio::time::sleep(TELL_AGAIN).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u32) -> TaskId {
        TaskId::from_text(&format!("task-{n}"))
    }

    #[test]
    fn any_number_of_changes_is_told_in_texts_that_fit() {
        let (here, there) = (News::new(), News::new());
        here.begin_as(HolderId(1));
        there.begin_as(HolderId(2));
        here.has_others(true);
        for n in 0..2000 {
            here.tell(&id(n), (n == 7).then_some(HolderId(2)), false);
        }
        let texts = here.take_texts();
        assert!(texts.len() > 2);
        assert!(texts.iter().all(|text| text.len() < 7999));
        let heard: HashSet<TaskId> = texts.iter().flat_map(|text| there.hear(text)).collect();
        assert_eq!(heard.len(), 2000);
        assert_eq!(there.heard().calls, 1);
        assert!(here.take_texts().is_empty());
        assert!(texts.iter().all(|text| here.hear(text).is_empty()));
    }

    #[test]
    fn who_hears_that_there_was_more_looks_for_it() {
        let (here, there) = (News::new(), News::new());
        here.begin_as(HolderId(1));
        there.begin_as(HolderId(2));
        here.take_texts();
        // What was to be told then is gone.
        here.tell_that_there_was_more();
        let texts = here.take_texts();
        assert_eq!(texts.len(), 1);
        there.hear(&texts[0]);
        let heard = there.heard();
        assert!(heard.any && heard.work);
        assert_eq!(heard.calls, 1);
    }

    #[test]
    fn who_is_alone_tells_nothing_but_that_it_is_there() {
        let here = News::new();
        here.begin_as(HolderId(1));
        assert_eq!(here.take_texts().len(), 1);
        here.tell(&id(1), None, true);
        assert!(here.take_texts().is_empty());
    }
}
