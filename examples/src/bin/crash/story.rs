//! What happens to the server, act by act.

use std::time::Duration;

use mcp_tasks_examples::answers::{self, Answer, Answers, AnswersError};
use mcp_tasks_examples::client::{self, Called, Task};
use mcp_tasks_examples::drive;
use mcp_tasks_examples::screen::Style;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Trouble;
use crate::ledger::Line;
use crate::life::{Life, is_over};
use crate::stage::Stage;
use crate::tool;

/// Everything that was seen, to be held against what was promised.
pub(crate) struct Played {
    /// The processes, in the order of their lives.
    pub(crate) processes: [u32; 3],
    /// How long each but the first took from its start to its first reply.
    pub(crate) first_replies: [Duration; 2],
    /// What was asked before the first kill, and what after.
    pub(crate) asked: [Question; 2],
    /// The name that was acknowledged before the second kill; `None` for a no.
    pub(crate) signature: Option<String>,
    /// Whether the answered question was put again after it.
    pub(crate) asked_again: bool,
    /// The text of the result.
    pub(crate) result: String,
    /// Whether the result says that the tool did not do its work.
    pub(crate) is_error: bool,
    /// What was done to the world.
    pub(crate) ledger: Vec<Line>,
}

/// A question as a client sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) key: String,
    /// The request, word for word.
    pub(crate) request: String,
}

impl Played {
    /// How many steps the function has come to.
    pub(crate) fn steps(&self) -> usize {
        if self.signature.is_some() { 2 } else { 1 }
    }
}

const PAYEE: &str = "Grace";
const EUROS: u32 = 120;

pub(crate) async fn play(stage: &mut Stage) -> Result<Played, Trouble> {
    introduce(stage)?;

    stage
        .act("A call becomes a task, and the task asks")
        .await?;
    let mut first = Life::start(stage)?;
    let first_process = first.process;
    let id = call(stage, &mut first).await?;
    let (_, before) = question(stage, &mut first, &id).await?;
    stage.show_ledger()?;

    stage
        .act("The server is killed while the task waits")
        .await?;
    first.kill(stage, &id).await?;
    let words = format!(
        "What is left of the task is in {}.",
        stage.database().display()
    );
    stage.say(&words)?;

    stage.act("Started again, the server asks the same").await?;
    let mut second = Life::start(stage)?;
    let second_process = second.process;
    let second_reply = first_reply(stage, &mut second, &id).await?;
    let (task, after) = question(stage, &mut second, &id).await?;
    let signature = answer(stage, &mut second, &task).await?;

    // Not a moment between the acknowledgement and this.
    stage.cut("It is killed again, right after it has acknowledged the answer")?;
    second.kill(stage, &id).await?;
    stage.show_ledger()?;
    stage.say("No transfer yet: if it had begun, it has come to nothing.")?;

    stage.act("Started once more, it goes on by itself").await?;
    let mut third = Life::start(stage)?;
    let third_process = third.process;
    let third_reply = first_reply(stage, &mut third, &id).await?;
    let asked_again = !third.client.get_task(&id).await?.input_requests.is_empty();
    let (result, is_error) = result(stage, &mut third, &id).await?;
    let ledger = stage.show_ledger()?;
    third.end().await;

    Ok(Played {
        processes: [first_process, second_process, third_process],
        first_replies: [second_reply, third_reply],
        asked: [before, after],
        signature,
        asked_again,
        result,
        is_error,
        ledger,
    })
}

fn introduce(stage: &mut Stage) -> Result<(), Trouble> {
    stage.screen.show(
        0,
        Style::Plain,
        "A task function that stops to ask a person, and a server that gets killed:",
    )?;
    stage.screen.space()?;
    let source = tool::source();
    for line in source.lines() {
        stage
            .screen
            .show_as_is(Style::Dim, &format!("    {line}"))?;
    }
    stage.screen.space()?;
    let paths = [
        ("database", stage.database()),
        ("ledger", stage.ledger.path().to_owned()),
    ];
    for (name, path) in paths {
        stage
            .screen
            .show_as_is(Style::Plain, &format!("{name:<8}  {}", path.display()))?;
    }
    Ok(())
}

/// Calls the tool; gives the task's id.
async fn call(stage: &mut Stage, life: &mut Life) -> Result<String, Trouble> {
    #[derive(Serialize)]
    struct Arguments {
        payee: &'static str,
        euros: u32,
    }
    let arguments = Arguments {
        payee: PAYEE,
        euros: EUROS,
    };
    let words = format!(
        "The server runs: this program again, process {}.",
        life.process
    );
    stage.say(&words)?;
    match life.client.call_tool("pay", arguments).await? {
        Called::Task(task) => {
            stage.say(&format!("The call of `pay` is task {}.", task.task_id))?;
            Ok(task.task_id)
        }
        Called::Result(_) => Err(Trouble::Plot(
            "the call of `pay` did not become a task".to_owned(),
        )),
    }
}

/// Waits for the task's question and shows it.
async fn question(
    stage: &mut Stage,
    life: &mut Life,
    id: &str,
) -> Result<(Task, Question), Trouble> {
    let asks = |task: &Task| task.input_requests.len() == 1;
    let task = life.until(id, "asking", asks).await?;
    let Some((key, request)) = task.input_requests.first() else {
        unreachable!("that is what was waited for");
    };
    let question = Question {
        key: key.clone(),
        request: format!("{} {}", request.method, request.params.get()),
    };
    let words = client::question(key, request)?.message;
    stage.say(&format!("It asks, under the key `{key}`:"))?;
    stage.screen.show(4, Style::Bold, &words)?;
    Ok((task, question))
}

/// Has the question answered; gives the name that was signed with.
async fn answer(
    stage: &mut Stage,
    life: &mut Life,
    task: &Task,
) -> Result<Option<String>, Trouble> {
    let Some((key, request)) = task.input_requests.first() else {
        unreachable!("it was waited for");
    };
    let mut overheard = Overheard {
        answers: stage.answers.as_mut(),
        last: None,
    };
    let (client, screen) = (&mut life.client, &mut stage.screen);
    drive::answer(
        client,
        &task.task_id,
        (key, request),
        &mut overheard,
        screen,
    )
    .await?;
    Ok(overheard.last)
}

/// Remembers the last answer that was given.
struct Overheard<'a> {
    answers: &'a mut dyn Answers,
    last: Option<String>,
}

impl Answers for Overheard<'_> {
    fn answer(
        &mut self,
        question: &answers::Question,
        refusal: Option<&str>,
    ) -> Result<Answer, AnswersError> {
        let answer = self.answers.answer(question, refusal)?;
        let content = answer.content.as_deref().map_or("null", RawValue::get);
        let content: Value = serde_json::from_str(content).unwrap_or_default();
        self.last = content["answer"].as_str().map(str::to_owned);
        Ok(answer)
    }
}

/// Waits for the server's first reply, which is about the task.
async fn first_reply(stage: &mut Stage, life: &mut Life, id: &str) -> Result<Duration, Trouble> {
    life.client.get_task(id).await?;
    let took = life.age();
    stage.say(&format!(
        "Process {} knows of the task, {} ms after its start.",
        life.process,
        took.as_millis()
    ))?;
    Ok(took)
}

/// Waits for the end; gives the text of the result, and whether it is a no.
async fn result(stage: &mut Stage, life: &mut Life, id: &str) -> Result<(String, bool), Trouble> {
    let task = life.until(id, "done", is_over).await?;
    let Some(result) = task.result else {
        let message = task.status_message.as_deref().unwrap_or("no message");
        return Err(Trouble::Plot(format!(
            "the task has ended as {:?}, without a result ({message})",
            task.status
        )));
    };
    let text = result
        .content
        .first()
        .and_then(|block| block["text"].as_str());
    let text = text.unwrap_or_default().to_owned();
    let style = if result.is_error {
        Style::Bad
    } else {
        Style::Good
    };
    stage.screen.show(2, style, &format!("Completed: {text}"))?;
    Ok((text, result.is_error))
}
