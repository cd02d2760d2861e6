//! A task, followed to its end (P81, P82).

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep_until, timeout};

use super::asking::Given;
use super::driver::{Driver, Event};
use super::following::{Done, Following, LAST_WORDS, Work, persist, tell};
use super::listen::Heard;
use super::{Command, Outcome, Update, back_off, pace, state_of};
use crate::client::book::{BookEntry, Recorded};
use crate::client::link::Trouble;
use crate::client::wire::{self, TaskSeen};
use crate::client::{Answer, CallError, ClientError, Question};
use crate::protocol::{ErrorCode, ProtocolError, TaskStatus};

impl Driver {
    /// Follows a task that is there already.
    pub(super) async fn resume(mut self, id: Arc<str>) -> Outcome {
        self.show(|state| state.id = Some(Arc::clone(&id)));
        let mut entry = BookEntry::new(Arc::clone(&id));
        entry.server = self.inner.link.address();
        self.open_page(entry);
        self.tool = self.page.as_ref().and_then(|page| page.entry().tool);
        let following = Following::new(id, &self.inner, Instant::now());
        self.drive(following).await
    }

    /// Follows the task that the call has become.
    pub(super) async fn follow(mut self, seen: TaskSeen) -> Outcome {
        let mut entry = BookEntry::new(Arc::clone(&seen.id));
        entry.tool = self.tool.clone();
        entry.server = self.inner.link.address();
        entry.created_at.clone_from(&seen.created_at);
        entry.ttl_ms = seen.ttl_ms;
        self.open_page(entry);
        // It was looked at just now.
        let mut following = Following::new(Arc::clone(&seen.id), &self.inner, Instant::now());
        following.next_poll = Instant::now() + pace::interval(following.interval, false);
        if seen.status.is_terminal() {
            // It is done already, and how is in the reply to a poll.
            following.next_poll = Instant::now();
        }
        match self.saw(&mut following, seen).await {
            Some(outcome) => self.ended(outcome).await,
            None => self.drive(following).await,
        }
    }

    fn open_page(&mut self, entry: BookEntry) {
        let Some(book) = &self.inner.settings.book else {
            return;
        };
        match book.enter(entry) {
            Ok(page) => self.page = Some(page),
            Err(error) => tracing::warn!("{error}"),
        }
    }

    async fn drive(mut self, mut following: Following) -> Outcome {
        let outcome = loop {
            let next_poll = following.next_poll;
            tokio::select! {
                event = self.event() => {
                    if let Some(outcome) = self.happened(&mut following, event).await {
                        break outcome;
                    }
                }
                Some(heard) = following.heard.recv() => {
                    if let Some(outcome) = self.heard(&mut following, heard).await {
                        break outcome;
                    }
                }
                Some(Ok(work)) = following.works.join_next() => {
                    if let Some(outcome) = self.worked(&mut following, work).await {
                        break outcome;
                    }
                }
                () = sleep_until(next_poll), if !following.is_polling => {
                    following.poll(&self.inner);
                }
            }
        };
        following.listener.abort();
        following.finish().await;
        self.ended(outcome).await
    }

    /// The end of the task, and of its page in the book.
    async fn ended(self, outcome: Outcome) -> Outcome {
        let has_ended = match &outcome {
            Ok(_) | Err(CallError::Failed(_) | CallError::Cancelled { .. }) => true,
            Err(CallError::Lost { error, .. }) => is_unknown(error),
            Err(_) => false,
        };
        if let Some(page) = self.page.as_ref().filter(|_| has_ended) {
            page.close().await;
        }
        outcome
    }

    async fn happened(&mut self, following: &mut Following, event: Event) -> Option<Outcome> {
        match event {
            Event::Given(given) => self.given(following, given).await,
            Event::Command(Command::Answer { key, answer, done }) => {
                match self.asking.settle(Arc::clone(&key)) {
                    Some(question) => {
                        self.send_answer(following, question, answer, Some(done))
                            .await;
                    }
                    None => {
                        // Whoever asked may have gone.
                        let _ = done.send(Err(CallError::NotOpen(key)));
                    }
                }
                None
            }
            Event::Command(Command::Cancel { done }) => {
                self.asking.fall_silent();
                self.show(|_| {});
                following.cancel(&self.inner, done);
                None
            }
            // Answers that are on their way are sent.
            Event::Dropped if self.is_detached() => Some(Err(CallError::Ended)),
            Event::Dropped => {
                self.cancel_for_good(&following.id).await;
                Some(Err(CallError::Ended))
            }
            Event::Late => {
                self.asking.fall_silent();
                self.show(|_| {});
                self.cancel_for_good(&following.id).await;
                Some(Err(self.late()))
            }
        }
    }

    async fn given(&mut self, following: &mut Following, given: Given) -> Option<Outcome> {
        let Given {
            key,
            answer,
            refusal,
        } = given;
        match (answer, refusal) {
            (Some(answer), _) => {
                if let Some(question) = self.asking.settle(key) {
                    self.send_answer(following, question, answer, None).await;
                }
                None
            }
            (None, Some(error)) => Some(Err(CallError::Refused { key, error })),
            (None, None) => None,
        }
    }

    /// Writes an answer down, shows that it was given, and sends it until the
    /// server has it.
    async fn send_answer(
        &mut self,
        following: &mut Following,
        question: Question,
        answer: Answer,
        done: Option<Done>,
    ) {
        let page = self.page.clone();
        if let Some(page) = &page {
            page.will_send(Arc::clone(&question.key), answer.clone())
                .await;
        }
        self.show(|_| {});
        let (inner, id) = (Arc::clone(&self.inner), Arc::clone(&following.id));
        following.on_their_way += 1;
        following.works.spawn(async move {
            let key = &question.key;
            let params = Update::new(&id, key, &answer);
            let sent = persist(&inner, "tasks/update", &params).await;
            if let Some(page) = &page {
                match &sent {
                    Ok(()) => page.was_sent(Arc::clone(key)).await,
                    Err(Trouble::Refused(_)) => page.was_refused(Arc::clone(key)).await,
                    Err(_) => {}
                }
            }
            Work::Answered {
                question: Box::new(question),
                done,
                sent,
            }
        });
    }

    async fn worked(&mut self, following: &mut Following, work: Work) -> Option<Outcome> {
        match work {
            Work::Polled(reply) => self.polled(following, reply).await,
            Work::Cancelled { done, sent } => {
                following.on_their_way -= 1;
                tell(Some(done), "tasks/cancel", sent);
                None
            }
            Work::Answered {
                question,
                done,
                sent,
            } => {
                following.on_their_way -= 1;
                match sent {
                    Err(Trouble::Refused(error)) => self.refused(*question, error, done),
                    Err(trouble) => {
                        let error = trouble.clone().into_error("tasks/update");
                        tell(done, "tasks/update", Err(trouble));
                        Some(Err(self.lost(error)))
                    }
                    Ok(()) => {
                        tell(done, "tasks/update", Ok(()));
                        None
                    }
                }
            }
        }
    }

    /// The server does not take an answer: the question is open again, for whoever
    /// gave the answer.
    fn refused(
        &mut self,
        question: Question,
        error: ProtocolError,
        done: Option<Done>,
    ) -> Option<Outcome> {
        let key = Arc::clone(&question.key);
        if let Some(done) = done {
            let _ = done.send(Err(CallError::Refused {
                key,
                error: error.clone(),
            }));
            self.asking.reopen(question);
        } else if !self.asking.put_again(question, error.clone()) {
            return Some(Err(CallError::Refused { key, error }));
        }
        self.show(|_| {});
        None
    }

    async fn heard(&mut self, following: &mut Following, heard: Heard) -> Option<Outcome> {
        match heard {
            Heard::Listening => {
                following.is_listening = true;
                None
            }
            Heard::Deaf => {
                if std::mem::take(&mut following.is_listening) {
                    following.look_soon();
                }
                None
            }
            Heard::Task(task) => match wire::notified(&task) {
                Ok(seen) if seen.id != following.id => None,
                Ok(seen) if following.is_news(&seen) => {
                    following.is_stale = following.is_polling;
                    self.saw(following, seen).await
                }
                // Old, or by another clock.
                Ok(_) => {
                    following.look_soon();
                    None
                }
                // The next poll tells more.
                Err(error) => {
                    tracing::debug!("{error}");
                    following.look_soon();
                    None
                }
            },
        }
    }

    async fn polled(
        &mut self,
        following: &mut Following,
        reply: Result<Arc<RawValue>, Trouble>,
    ) -> Option<Outcome> {
        following.is_polling = false;
        let is_stale = std::mem::take(&mut following.is_stale);
        let trouble = match reply {
            Ok(reply) => match wire::task(&reply) {
                Ok(seen) if seen.id != following.id => {
                    let error = ClientError::Unexpected {
                        method: "tasks/get".to_owned(),
                        problem: "it is another task".to_owned(),
                    };
                    return Some(Err(error.into()));
                }
                Ok(seen) => {
                    following.schedule();
                    if is_stale {
                        return None;
                    }
                    return self.saw(following, seen).await;
                }
                Err(error) => return Some(Err(error.into())),
            },
            Err(trouble) => trouble,
        };
        if !trouble.is_passing() {
            return Some(Err(self.lost(trouble.into_error("tasks/get"))));
        }
        let now = Instant::now();
        let since = *following.silent_since.get_or_insert(now);
        following.failed += 1;
        // A server that says when to come again has been heard of.
        let pause = trouble.wait().unwrap_or_else(|| back_off(following.failed));
        if trouble.wait().is_none() && now - since > self.inner.settings.patience {
            return Some(Err(self.lost(trouble.into_error("tasks/get"))));
        }
        following.next_poll = now + pause;
        self.show(|state| state.trouble = Some(trouble.words()));
        None
    }

    /// The server has shown the task.
    async fn saw(&mut self, following: &mut Following, mut seen: TaskSeen) -> Option<Outcome> {
        following.failed = 0;
        following.silent_since = None;
        following.updated_at = seen.updated_at;
        following.interval = seen.poll_interval.unwrap_or(pace::DEFAULT_INTERVAL);
        let outcome = match seen.status {
            TaskStatus::Completed => seen.result.take().map(Ok),
            TaskStatus::Failed => seen.error.take().map(|error| Err(CallError::Failed(error))),
            TaskStatus::Cancelled => {
                let message = seen.message.clone();
                Some(Err(CallError::Cancelled { message }))
            }
            TaskStatus::Working | TaskStatus::InputRequired => None,
        };
        let state = state_of(seen, self.tool.as_ref());
        let keys: HashSet<_> = state
            .questions
            .iter()
            .map(|it| Arc::clone(&it.key))
            .collect();
        self.asking.keep(&keys);
        for question in &state.questions {
            self.put(following, question.clone()).await;
        }
        self.show(|shown| *shown = state);
        outcome
    }

    /// Puts a question, unless an earlier process has had its answer.
    async fn put(&mut self, following: &mut Following, question: Question) {
        if self.asking.knows(&question.key) {
            return;
        }
        let recorded = self.page.as_ref().and_then(|page| {
            let entry = page.entry();
            entry.recorded(&question.key).cloned()
        });
        match recorded {
            None => self.asking.put(question),
            Some(recorded) => {
                self.asking.settle(Arc::clone(&question.key));
                if let Recorded::ToSend(answer) = recorded {
                    self.send_answer(following, question, answer, None).await;
                }
            }
        }
    }

    /// Tells the server that nobody waits for the task any more.
    async fn cancel_for_good(&self, id: &Arc<str>) {
        let params = json!({ "taskId": id });
        let told = persist(&self.inner, "tasks/cancel", &params);
        match timeout(LAST_WORDS, told).await {
            Ok(Ok(())) => {
                if let Some(page) = &self.page {
                    page.close().await;
                }
            }
            Ok(Err(trouble)) => {
                tracing::warn!("task {id} could not be cancelled: {}", trouble.words());
            }
            Err(_) => tracing::warn!("task {id} could not be cancelled within {LAST_WORDS:?}"),
        }
    }
}

/// Whether the server says that there is no such task.
fn is_unknown(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::Refused { error, .. } if error.code == ErrorCode::INVALID_PARAMS
    )
}
