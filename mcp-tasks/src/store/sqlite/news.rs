//! What others have done to the tasks of a holder.
//!
//! An entry that others have appended is news until the holder commits
//! something after it. Nobody commits anything for a task that has ended: that
//! is news until the holder has heard of it, which it says when it looks again.

use super::holders::HolderId;
use super::ledger::Ledger;
use super::trouble::Fault;
use crate::task::TaskId;

/// What others have done.
pub(super) struct News {
    /// Changes whenever another connection writes.
    pub(super) version: i64,
    /// The tasks of this holder that others have appended to, if anything is
    /// new.
    pub(super) tasks: Vec<TaskId>,
}

/// What was found at the last look, and whoever asked may not have waited for.
#[derive(Default)]
pub(super) struct Told {
    version: i64,
    /// The tasks that have ended.
    ended: Vec<TaskId>,
}

impl Ledger {
    /// Looks once whether others have changed anything since `heard`, the
    /// version of the last news that have reached whoever asks.
    pub(super) fn look(&mut self, heard: i64) -> Result<News, Fault> {
        if self.told.version == heard {
            self.drop_news_of_ended()?;
        }
        let mut news = News {
            version: self.version_of_others()?,
            tasks: Vec::new(),
        };
        self.told = Told {
            version: news.version,
            ended: Vec::new(),
        };
        if news.version != heard {
            self.handover.clear();
        }
        let me = self.me.as_ref().map_or(HolderId::NOBODY, |me| me.id);
        if news.version == heard || me == HolderId::NOBODY {
            return Ok(news);
        }
        let mut unseen = self
            .connection
            .prepare_cached("SELECT id, ended FROM tasks WHERE holder = ?1 AND unseen = 1")?;
        let mut rows = unseen.query([me.0])?;
        while let Some(row) = rows.next()? {
            let id = TaskId::from_text(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?);
            if row.get(1)? {
                self.told.ended.push(id.clone());
            }
            news.tasks.push(id);
        }
        Ok(news)
    }

    /// Notes that the holder has heard of the tasks that have ended.
    fn drop_news_of_ended(&mut self) -> rusqlite::Result<()> {
        if self.told.ended.is_empty() {
            return Ok(());
        }
        let ids = serde_json::to_string(&self.told.ended).expect("texts are JSON");
        self.connection
            .prepare_cached(
                "UPDATE tasks SET unseen = 0
                 WHERE ended = 1 AND id IN (SELECT value FROM json_each(?1))",
            )?
            .execute([ids])
            .map(drop)
    }
}
