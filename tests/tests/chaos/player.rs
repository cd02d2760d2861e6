//! Plays a task's client, which speaks to any replica and tries again when that
//! one fails.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mcp_tasks_tests::trial::{Cancel, Chance, LETTERS, Policy, Record, Sent};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use crate::fleet::Fleet;

/// How long a client waits for a reply: one that stands still gives none.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long it is at least before a call whose reply never came is taken to have
/// made no task. One that is made later all the same is found in the end.
const DOUBT: Duration = Duration::from_secs(3);

/// A store that is away.
const INTERNAL_ERROR: i64 = -32603;

/// What came of a request.
enum Answered {
    Result(Value),
    /// Nothing, or an error that does not say whether it was done.
    Perhaps,
}

/// The client of one task.
pub(crate) struct Player {
    pub(crate) record: Arc<Mutex<Record>>,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) chance: Chance,
    /// How long it thinks at most before it does anything.
    pub(crate) longest_ms: u64,
}

impl Player {
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().expect("nobody panics with the lock")
    }

    /// Plays until the task has ended, and has been seen to; or until it is clear
    /// that there is none.
    ///
    /// # Errors
    ///
    /// What is not as it must be.
    pub(crate) async fn play(&mut self) -> Result<(), String> {
        let before = self.fleet.log.len();
        let played = self.play_on().await;
        let faults = u32::try_from(self.fleet.log.len() - before);
        self.record().faults += faults.unwrap_or(u32::MAX);
        played
    }

    async fn play_on(&mut self) -> Result<(), String> {
        let known = self.record().id.clone();
        let id = match known {
            Some(id) => id,
            None => match self.call().await? {
                Some(id) => id,
                None => return Ok(()),
            },
        };
        let policy = self.record().case.policy;
        let mut due: HashMap<String, Instant> = HashMap::new();
        let (mut cancel_at, mut post_at) = (self.soon(), self.soon());
        loop {
            if let Some(task) = self.get(&id).await? {
                self.record().see(&task)?;
                if self.record().end.is_some() {
                    return Ok(());
                }
                let open = task["inputRequests"].as_object();
                for key in open.into_iter().flat_map(|open| open.keys()) {
                    let at = *due.entry(key.clone()).or_insert_with(|| self.soon());
                    if at <= Instant::now() && policy.answers() {
                        self.answer(&id, key).await?;
                    }
                }
            }
            if policy.cancels() && cancel_at <= Instant::now() {
                self.cancel(&id).await?;
                cancel_at = self.soon();
            }
            let delivered = self.record().delivered();
            if policy == Policy::Post && post_at <= Instant::now() && delivered < LETTERS {
                self.post(&id).await?;
                post_at = self.soon();
            }
            sleep(self.chance.millis(30, 90)).await;
        }
    }

    /// When it has thought for long enough.
    fn soon(&mut self) -> Instant {
        Instant::now() + self.chance.millis(0, self.longest_ms)
    }

    /// Sends a request to any replica.
    async fn request(&mut self, method: &str, params: Value) -> Result<Answered, String> {
        let client = loop {
            if let Some(client) = self.fleet.client(&mut self.chance) {
                break client;
            }
            sleep(Duration::from_millis(5)).await;
        };
        let Ok(Ok(reply)) = timeout(PATIENCE, client.attempt(method, params)).await else {
            return Ok(Answered::Perhaps);
        };
        if reply.message["result"].is_object() {
            return Ok(Answered::Result(reply.message["result"].clone()));
        }
        let error = &reply.message["error"];
        if error["code"] == INTERNAL_ERROR {
            let words = error["message"].as_str().unwrap_or_default();
            self.fleet.log.told(format!("{method}: {words}"));
            return Ok(Answered::Perhaps);
        }
        Err(format!("{method} was refused: {}", reply.text))
    }

    /// Calls the tool; gives the task's id, if it has come to a task.
    async fn call(&mut self) -> Result<Option<String>, String> {
        sleep(self.chance.millis(0, self.longest_ms)).await;
        let (tool, label) = {
            let mut record = self.record();
            record.called = true;
            (record.case.tool, record.label.clone())
        };
        let params = json!({"name": tool, "arguments": {"label": label}});
        let id = match self.request("tools/call", params).await? {
            Answered::Result(result) => {
                let id = result["taskId"].as_str();
                let id = id.ok_or_else(|| format!("the call became no task: {result}"))?;
                Some(id.to_owned())
            }
            Answered::Perhaps => self.look_for(&label).await,
        };
        self.record().id.clone_from(&id);
        Ok(id)
    }

    /// Finds the task of a call whose reply never came.
    async fn look_for(&mut self, label: &str) -> Option<String> {
        let until = Instant::now() + DOUBT;
        loop {
            sleep(self.chance.millis(200, 400)).await;
            match self.fleet.ground.called(label).await {
                Ok(Some(id)) => return Some(id),
                Ok(None) if until <= Instant::now() => return None,
                Ok(None) | Err(_) => {}
            }
        }
    }

    async fn get(&mut self, id: &str) -> Result<Option<Value>, String> {
        let got = self.request("tasks/get", json!({ "taskId": id })).await?;
        Ok(match got {
            Answered::Result(task) => Some(task),
            Answered::Perhaps => None,
        })
    }

    async fn answer(&mut self, id: &str, key: &str) -> Result<(), String> {
        let params = {
            let mut record = self.record();
            let declines =
                matches!(record.case.policy, Policy::Decline(declined) if declined == key);
            let value = (!declines).then(|| record.fresh(key));
            let response = match &value {
                Some(value) => json!({"action": "accept", "content": {"answer": value}}),
                None => json!({"action": "decline"}),
            };
            let sent = record.answers.entry(key.to_owned()).or_default();
            sent.push(Sent::new(value));
            json!({"taskId": id, "inputResponses": {key: response}})
        };
        let updated = self.request("tasks/update", params).await?;
        if matches!(updated, Answered::Result(_)) {
            let mut record = self.record();
            let sent = record.answers.get_mut(key).and_then(|sent| sent.last_mut());
            sent.expect("it was just sent").acknowledge();
        }
        Ok(())
    }

    async fn cancel(&mut self, id: &str) -> Result<(), String> {
        {
            let mut record = self.record();
            if record.cancel == Cancel::Acknowledged {
                return Ok(());
            }
            record.cancel = Cancel::Sent;
        }
        let cancelled = self.request("tasks/cancel", json!({ "taskId": id }));
        if matches!(cancelled.await?, Answered::Result(_)) {
            self.record().cancel = Cancel::Acknowledged;
        }
        Ok(())
    }

    async fn post(&mut self, id: &str) -> Result<(), String> {
        let letter = {
            let mut record = self.record();
            let letter = record.fresh("letter");
            record.letters.push(Sent::new(Some(letter.clone())));
            letter
        };
        let arguments = json!({"task": id, "letter": letter});
        let params = json!({"name": "post", "arguments": arguments});
        let Answered::Result(result) = self.request("tools/call", params).await? else {
            return Ok(());
        };
        let text = &result["content"][0]["text"];
        if result["isError"] == true {
            // The store failed under it.
            self.fleet.log.told(format!("post: {text}"));
        } else if text == "sent" {
            let mut record = self.record();
            let sent = record.letters.last_mut();
            sent.expect("it was just sent").acknowledge();
        } else {
            return Err(format!("a letter was not sent: {result}"));
        }
        Ok(())
    }
}
