//! Waits for a manager who decides somewhere else, and reminds of it meanwhile.

use std::sync::{Arc, Mutex};

use mcp_tasks::Tasks;
use mcp_tasks::prelude::*;
use mcp_tasks::task::TaskId;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{open, server, tool_error};

/// What the manager's page sends.
#[derive(Serialize, Deserialize)]
struct Decision {
    approved: bool,
    by: String,
}

/// The mail that was sent, with the ids of the tasks that it is about.
#[derive(Clone, Default)]
struct Mail(Arc<Mutex<Vec<(String, TaskId)>>>);

impl Mail {
    async fn send(&self, text: &str, about: TaskId) -> std::io::Result<()> {
        tokio::task::yield_now().await;
        self.0.lock().unwrap().push((text.to_owned(), about));
        Ok(())
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// How long a manager is left alone, and how long in all.
#[derive(Clone, Copy)]
struct Pace {
    reminder: Duration,
    all: Duration,
}

/// Asks a manager to approve an expense.
#[mcp_task(ttl = "30d")]
async fn expense(
    /// In cents
    #[arg(min = 1)]
    amount: u64,
    State(mail): State<Mail>,
    State(pace): State<Pace>,
) -> Result<String, ToolError> {
    if amount < 10_000 {
        return Ok("approved, as it is little".to_owned());
    }
    let id = task_id();
    step(mail.send("please decide", id.clone())).await?;
    set_status("waiting for a manager");
    let decision = race!(
        decision: signal::<Decision>("decision").timeout(pace.all),
        reminders: async {
            loop {
                sleep(pace.reminder).await;
                // A mail that is lost is no reason to give up.
                step(mail.send("still waiting", id.clone())).await.ok();
            }
        },
    )?;
    if !decision.approved {
        return Err(ToolError::new(format!("rejected by {}", decision.by)));
    }
    Ok(format!("approved by {}", decision.by))
}

#[tokio::test]
async fn an_expense_is_decided_or_forgotten() {
    let serve = |mail: &Mail, reminder, all| {
        let server = server().task(expense).state(mail.clone());
        open(server.state(Pace { reminder, all }))
    };
    let (soon, never) = (Duration::from_millis(5), Duration::from_secs(3600));
    let mail = Mail::default();
    let (server, client) = serve(&mail, soon, never).await;
    let little = client.task("expense", json!({"amount": 500})).await;
    assert_eq!(
        client.until_text(&little).await,
        "approved, as it is little"
    );
    assert_eq!(mail.count(), 0);

    let id = client.task("expense", json!({"amount": 20_000})).await;
    let status = "waiting for a manager";
    client
        .until_task(&id, "reminded twice", |task| {
            mail.count() > 2 && task["statusMessage"] == status
        })
        .await;
    let about = mail.0.lock().unwrap()[0].1.clone();
    assert_eq!(about.as_str(), id);
    let tasks: Tasks = server.runtime().tasks();
    let decision = Decision {
        approved: false,
        by: "Eve".to_owned(),
    };
    assert!(tasks.signal(&about, "decision", &decision).await.unwrap());
    assert_eq!(tool_error(&client, &id).await, "rejected by Eve");

    let mail = Mail::default();
    let (_server, client) = serve(&mail, never, soon).await;
    let id = client.task("expense", json!({"amount": 20_000})).await;
    let words = tool_error(&client, &id).await;
    assert_eq!(words, "the signal `decision` did not come in time");
    assert_eq!(mail.count(), 1);
}
