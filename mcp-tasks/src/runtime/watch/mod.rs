//! Hearing of what becomes of tasks, without asking again and again.

mod watchers;

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

use self::watchers::Changed;
pub(super) use self::watchers::Watchers;
use super::{RETRY_MS, Runtime, Shared, store_failed};
use crate::protocol::ProtocolError;
use crate::store::StoreError;
use crate::task::{Access, ByTask, Caller, Snapshot, TaskId};

/// What becomes of tasks: their states, each as it is when it is read.
///
/// States that nobody has read in time are passed over; the last is not. What
/// shows no difference is passed over too. It does not keep the server alive.
pub(crate) struct Watch {
    shared: Weak<Shared>,
    changed: Arc<Changed>,
    /// What is known of each task that has not ended.
    known: ByTask<Known>,
    /// A task that has changed and is to be read.
    next: Option<TaskId>,
    /// When the store, which has failed, is asked again.
    retry_at: Option<Instant>,
}

/// What whoever watches knows of a task.
enum Known {
    /// Nothing.
    Nothing,
    /// How it was created.
    Creation,
    /// How it was when it was last read.
    State(Arc<Snapshot>),
}

impl Runtime {
    /// Watches those among these tasks that exist for a caller, who was told of
    /// their creation and perhaps of nothing since; gives them in the order of
    /// `ids`, each once.
    ///
    /// What has changed since the creation comes first.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails.
    pub(crate) async fn watch(
        &self,
        ids: &[TaskId],
        caller: &Caller,
    ) -> Result<(Watch, Vec<TaskId>), ProtocolError> {
        let mut watch = Watch::new(&self.shared).await?;
        let mut watched = Vec::new();
        for id in ids {
            let found = self.shared.store.get(id, Access::Caller(caller)).await;
            let found = found.map_err(|error| store_failed(&error))?;
            // Only ids of tasks get this far: no client chooses them.
            if found.is_some() && !watch.known.contains_key(id) {
                watch.add(id, Known::Creation);
                watched.push(id.clone());
            }
        }
        Ok((watch, watched))
    }
}

impl Watch {
    async fn new(shared: &Arc<Shared>) -> Result<Self, ProtocolError> {
        // What other processes change is heard of in the background.
        shared.start();
        let enlisted = shared.enlisted().await;
        enlisted.map_err(|error| store_failed(&error))?;
        Ok(Self {
            shared: Arc::downgrade(shared),
            changed: Arc::default(),
            known: ByTask::default(),
            next: None,
            retry_at: None,
        })
    }

    /// Watches a task of which nothing is known.
    pub(super) async fn of(shared: &Arc<Shared>, id: &TaskId) -> Result<Self, ProtocolError> {
        let mut watch = Self::new(shared).await?;
        watch.add(id, Known::Nothing);
        Ok(watch)
    }

    fn add(&mut self, id: &TaskId, known: Known) {
        self.known.insert(id.clone(), known);
        if let Some(shared) = self.shared.upgrade() {
            shared.watchers.enter(id, &self.changed);
        }
    }

    /// Waits until a task may have changed; forever, if nothing more comes.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(crate) async fn ready(&mut self) {
        self.ready_or_over().await;
        if self.next.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until a task may have changed, or there is nothing more to come:
    /// all have ended, or the server has.
    async fn ready_or_over(&mut self) {
        while self.next.is_none() && !self.known.is_empty() {
            match self.changed.next().await {
                None => self.known.clear(),
                Some(id) if self.known.contains_key(&id) => self.next = Some(id),
                Some(_) => {}
            }
        }
        if let Some(at) = self.retry_at {
            tokio::time::sleep_until(at).await;
            self.retry_at = None;
        }
    }

    /// Reads a task that may have changed, if there is one; `None` if it shows
    /// nothing new.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(crate) async fn read(&mut self) -> Option<Arc<Snapshot>> {
        let id = self.next.as_ref()?;
        let task = match self.shared.upgrade() {
            Some(shared) => match shared.store.get(id, Access::Server).await {
                Ok(task) => task,
                // It will not be another time either.
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::error!("a task cannot be read: {error}");
                    None
                }
                Err(error) => {
                    tracing::warn!(task = %id, %error, "cannot see how a task is, trying again");
                    self.retry_at = Some(Instant::now() + Duration::from_millis(RETRY_MS));
                    return None;
                }
            },
            None => None,
        };
        let id = self.next.take()?;
        let Some(task) = task else {
            self.forget(&id);
            return None;
        };
        let is_news = match self.known.get(&id)? {
            Known::Nothing => true,
            Known::Creation => !self.is_as_created(&task),
            Known::State(earlier) => !task.looks_like(earlier),
        };
        if task.is_terminal() {
            self.forget(&id);
        } else if is_news {
            self.known.insert(id, Known::State(task.clone()));
        }
        is_news.then_some(task)
    }

    /// The next state; `None` once there is nothing more to come.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<Arc<Snapshot>> {
        loop {
            self.ready_or_over().await;
            self.next.as_ref()?;
            if let Some(task) = self.read().await {
                return Some(task);
            }
        }
    }

    fn is_as_created(&self, task: &Snapshot) -> bool {
        let Some(shared) = self.shared.upgrade() else {
            return false;
        };
        // How a tool creates tasks only its code can tell, if it is here.
        let tool = shared.tool_of(&task.tool, task.version);
        tool.is_some_and(|tool| task.looks_new(tool.definition.ttl_ms))
    }

    fn forget(&mut self, id: &TaskId) {
        self.known.remove(id);
        if let Some(shared) = self.shared.upgrade() {
            shared.watchers.leave(id, &self.changed);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            for id in self.known.keys() {
                shared.watchers.leave(id, &self.changed);
            }
        }
    }
}
