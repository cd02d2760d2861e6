//! Drives a task to its end: looks at it no more often than the server likes,
//! shows what changes, and has its questions answered, each once.

use std::collections::HashSet;
use std::io::{self, Write};

use mcp_tasks::protocol::{ErrorCode, InputRequest, ProtocolError, TaskStatus};
use tokio::time::{Instant, sleep_until};

use crate::Error;
use crate::answers::{Action, Answers};
use crate::client::{self, Client, Task, ToolResult};
use crate::screen::{Screen, Style};

/// How a call ended.
#[derive(Debug)]
pub enum Outcome {
    /// The tool returned; it may still say that it failed.
    Result(ToolResult),
    /// The call ended in an error.
    Failed(ProtocolError),
    /// The task was cancelled, with the server's reason if it has one.
    Cancelled(Option<String>),
}

/// Drives a task from its creation to its outcome.
///
/// # Errors
///
/// [`Error`] if the server does not answer as it should, or if there is no
/// answer to one of its questions.
pub async fn drive<W: Write>(
    client: &mut Client,
    mut task: Task,
    answers: &mut dyn Answers,
    screen: &mut Screen<W>,
) -> Result<Outcome, Error> {
    let mut answered = HashSet::new();
    let mut shown: Option<(TaskStatus, Option<String>)> = None;
    let mut looked = Instant::now();
    loop {
        let news = (task.status, task.status_message.clone());
        if shown.as_ref() != Some(&news) {
            // A message that has been read is not news in the next status.
            let old = shown.and_then(|(_, message)| message);
            let message = news.1.as_deref().filter(|&new| Some(new) != old.as_deref());
            show_status(screen, task.status, message)?;
            shown = Some(news);
        }
        match task.status {
            TaskStatus::Completed => return completed(task),
            TaskStatus::Failed => return failed(task),
            TaskStatus::Cancelled => return Ok(Outcome::Cancelled(task.status_message)),
            TaskStatus::Working | TaskStatus::InputRequired => {}
        }
        for (key, request) in &task.input_requests {
            // A server may acknowledge an answer and list its question once
            // more: the key says that it is the same.
            if answered.insert(key.clone()) {
                answer(client, &task.task_id, (key, request), answers, screen).await?;
            }
        }
        sleep_until(looked + task.poll_interval()).await;
        looked = Instant::now();
        task = client.get_task(&task.task_id).await?;
    }
}

/// Has one question answered until the server takes the answer.
///
/// # Errors
///
/// [`Error`] if the server does not answer as it should, or if there is no
/// answer to the question.
pub async fn answer<W: Write>(
    client: &mut Client,
    task: &str,
    (key, request): (&str, &InputRequest),
    answers: &mut dyn Answers,
    screen: &mut Screen<W>,
) -> Result<(), Error> {
    let question = client::question(key, request)?;
    let mut refusal: Option<String> = None;
    loop {
        // A person may take hours, and the runtime has other things to do.
        let answer = tokio::task::block_in_place(|| answers.answer(&question, refusal.as_deref()))?;
        match client.answer(task, key, &answer).await {
            Err(Error::Refused { error, .. }) if error.code == ErrorCode::INVALID_PARAMS => {
                refusal = Some(error.message);
            }
            outcome => {
                outcome?;
                let done = match answer.action {
                    Action::Accept => "answered",
                    Action::Decline => "declined",
                    Action::Cancel => "closed without an answer",
                };
                screen.show(2, Style::Plain, &format!("question `{key}` {done}"))?;
                return Ok(());
            }
        }
    }
}

fn show_status<W: Write>(
    screen: &mut Screen<W>,
    status: TaskStatus,
    message: Option<&str>,
) -> io::Result<()> {
    let (style, words) = match status {
        TaskStatus::Working => (Style::Plain, "working"),
        TaskStatus::InputRequired => (Style::Bold, "input required"),
        TaskStatus::Completed => (Style::Good, "completed"),
        TaskStatus::Failed => (Style::Bad, "failed"),
        TaskStatus::Cancelled => (Style::Bad, "cancelled"),
    };
    match message {
        Some(message) => screen.show(2, style, &format!("{words}: {message}")),
        None => screen.show(2, style, words),
    }
}

fn completed(task: Task) -> Result<Outcome, Error> {
    task.result
        .map(Outcome::Result)
        .ok_or_else(|| incomplete("completed", "result"))
}

fn failed(task: Task) -> Result<Outcome, Error> {
    task.error
        .map(Outcome::Failed)
        .ok_or_else(|| incomplete("failed", "error"))
}

fn incomplete(status: &str, member: &str) -> Error {
    Error::Unexpected {
        method: "tasks/get".to_owned(),
        problem: format!("the task is {status} and has no `{member}`"),
    }
}

#[cfg(test)]
mod tests;
