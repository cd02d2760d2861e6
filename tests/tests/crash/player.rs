//! Plays a task's client against one life of the server.

use std::collections::HashMap;
use std::time::Duration;

use mcp_tasks_tests::trial::{Cancel, Chance, LETTERS, Policy, Record, Sent};
use mcp_tasks_tests::{Client, Gone, Reply};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// Why the client stops before the task has ended.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The server is gone.
    Gone(String),
    /// Something is not as it must be.
    Problem(String),
}

impl From<Gone> for Stop {
    fn from(gone: Gone) -> Self {
        Self::Gone(gone.reason)
    }
}

impl From<String> for Stop {
    fn from(problem: String) -> Self {
        Self::Problem(problem)
    }
}

/// When the client does what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How long it thinks at most, before it does anything.
    pub(crate) longest_ms: u64,
}

/// The client of one task, in one life of the server.
pub(crate) struct Player<'a> {
    pub(crate) record: &'a mut Record,
    pub(crate) client: &'a Client,
    pub(crate) chance: Chance,
    pub(crate) pace: Pace,
}

impl Player<'_> {
    /// Plays until the task has ended, and has been seen to.
    pub(crate) async fn play(mut self) -> Result<(), Stop> {
        let id = match &self.record.id {
            Some(id) => id.clone(),
            None => self.call().await?,
        };
        let mut due: HashMap<String, Instant> = HashMap::new();
        let (mut cancel_at, mut post_at) = (self.soon(), self.soon());
        loop {
            let task = self.get(&id).await?;
            self.record.see(&task)?;
            if self.record.end.is_some() {
                return Ok(());
            }
            let open = task["inputRequests"].as_object();
            for key in open.into_iter().flat_map(|open| open.keys()) {
                let at = *due.entry(key.clone()).or_insert_with(|| self.soon());
                if at <= Instant::now() && self.record.case.policy.answers() {
                    self.answer(&id, key).await?;
                }
            }
            if self.record.case.policy.cancels() && cancel_at <= Instant::now() {
                self.cancel(&id).await?;
                cancel_at = self.soon();
            }
            if self.record.case.policy == Policy::Post
                && post_at <= Instant::now()
                && self.record.delivered() < LETTERS
            {
                self.post(&id).await?;
                post_at = self.soon();
            }
            sleep(Duration::from_millis(4)).await;
        }
    }

    /// When it has thought for long enough.
    fn soon(&mut self) -> Instant {
        Instant::now() + self.chance.millis(0, self.pace.longest_ms)
    }

    async fn call(&mut self) -> Result<String, Stop> {
        sleep(self.chance.millis(0, self.pace.longest_ms)).await;
        self.record.called = true;
        let (tool, label) = (self.record.case.tool, self.record.label.as_str());
        let params = json!({"name": tool, "arguments": {"label": label}});
        let result = result(&self.client.attempt("tools/call", params).await?)?;
        let id = result["taskId"].as_str();
        let id = id.ok_or_else(|| format!("the call did not become a task: {result}"))?;
        self.record.id = Some(id.to_owned());
        Ok(id.to_owned())
    }

    async fn get(&mut self, id: &str) -> Result<Value, Stop> {
        let params = json!({ "taskId": id });
        Ok(result(&self.client.attempt("tasks/get", params).await?)?)
    }

    async fn answer(&mut self, id: &str, key: &str) -> Result<(), Stop> {
        let declines =
            matches!(self.record.case.policy, Policy::Decline(declined) if declined == key);
        let value = (!declines).then(|| self.record.fresh(key));
        let response = match &value {
            Some(value) => json!({"action": "accept", "content": {"answer": value}}),
            None => json!({"action": "decline"}),
        };
        let sent = self.record.answers.entry(key.to_owned()).or_default();
        sent.push(Sent::new(value));
        let params = json!({"taskId": id, "inputResponses": {key: response}});
        result(&self.client.attempt("tasks/update", params).await?)?;
        acknowledge(self.record.answers.get_mut(key));
        Ok(())
    }

    async fn cancel(&mut self, id: &str) -> Result<(), Stop> {
        if self.record.cancel == Cancel::Acknowledged {
            return Ok(());
        }
        self.record.cancel = Cancel::Sent;
        let params = json!({ "taskId": id });
        result(&self.client.attempt("tasks/cancel", params).await?)?;
        self.record.cancel = Cancel::Acknowledged;
        Ok(())
    }

    async fn post(&mut self, id: &str) -> Result<(), Stop> {
        let letter = self.record.fresh("letter");
        self.record.letters.push(Sent::new(Some(letter.clone())));
        let arguments = json!({"task": id, "letter": letter});
        let params = json!({"name": "post", "arguments": arguments});
        let result = result(&self.client.attempt("tools/call", params).await?)?;
        if result["content"][0]["text"] != "sent" {
            return Err(format!("a letter was not sent: {result}").into());
        }
        acknowledge(Some(&mut self.record.letters));
        Ok(())
    }
}

/// Notes that the last thing that was sent was acknowledged.
fn acknowledge(sent: Option<&mut Vec<Sent>>) {
    let last = sent.and_then(|sent| sent.last_mut());
    last.expect("it was just sent").acknowledge();
}

/// The result of a request that must go well.
fn result(reply: &Reply) -> Result<Value, String> {
    if reply.message["result"].is_object() {
        return Ok(reply.message["result"].clone());
    }
    Err(format!("a request was refused: {}", reply.text))
}
