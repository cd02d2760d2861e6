//! What happens to the server, act by act.

use std::time::Duration;

use anyhow::{Context as _, bail};
use mcp_tasks::client::{Answers as _, CallError, CallState, ClientError, Question, States};
use mcp_tasks::protocol::ErrorCode;
use mcp_tasks_examples::answers::what_was_done;
use mcp_tasks_examples::screen::Style;
use serde_json::{Value, json};

use crate::ledger::Line;
use crate::lives::Lives;
use crate::stage::Stage;
use crate::tool;

/// Everything that was seen, to be held against what was promised.
pub(crate) struct Played {
    /// The processes, in the order of their lives.
    pub(crate) processes: [u32; 3],
    /// How long each but the first took from its start to its first reply.
    pub(crate) first_replies: [Duration; 2],
    /// What was asked before the first kill, and what after.
    pub(crate) asked: [Asked; 2],
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

/// A question, as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
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

pub(crate) async fn play(stage: &mut Stage) -> anyhow::Result<Played> {
    introduce(stage)?;

    stage
        .act("A call becomes a task, and the task asks")
        .await?;
    let mut lives = Lives::begin(stage).await?;
    let first_process = lives.process;
    stage.say(&format!(
        "The server runs: this program again, process {first_process}."
    ))?;
    let (id, question) = call(stage, &lives).await?;
    let before = show(stage, &lives, &question)?;
    stage.show_ledger()?;

    stage
        .act("The server is killed while the task waits")
        .await?;
    lives.kill(stage).await?;
    let words = format!(
        "What is left of the task is in {}.",
        stage.database().display()
    );
    stage.say(&words)?;

    stage.act("Started again, the server asks the same").await?;
    let (task, second_reply) = lives.go_on(stage, &id).await?;
    let second_process = lives.process;
    let question = only_question(task).context("the task has not gone on asking")?;
    let after = show(stage, &lives, &question)?;
    let signature = answer(stage, &lives, &id, question).await?;

    // Not a moment between the acknowledgement and this.
    stage.cut("It is killed again, right after it has acknowledged the answer")?;
    lives.kill(stage).await?;
    stage.show_ledger()?;
    stage.say("No transfer yet: if it had begun, it has come to nothing.")?;

    stage.act("Started once more, it goes on by itself").await?;
    let (task, third_reply) = lives.go_on(stage, &id).await?;
    let asked_again = !task.questions.is_empty();
    let (result, is_error) = result(stage, &lives, &id).await?;
    let ledger = stage.show_ledger()?;
    let third_process = lives.process;
    lives.client.close().await;

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

fn introduce(stage: &Stage) -> anyhow::Result<()> {
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

/// Calls the tool; gives the id of the task, and the question that it comes to.
async fn call(stage: &Stage, lives: &Lives) -> anyhow::Result<(String, Question)> {
    let arguments = json!({ "payee": PAYEE, "euros": EUROS });
    let call = lives.client.call("pay", arguments);
    let question = first_question(call.states()).await;
    // From here on the task is on its own: nobody waits for it, or tells it to stop.
    let id = match call.detach() {
        Ok(id) => id,
        Err(call) => {
            call.await?;
            bail!("the call of `pay` did not become a task");
        }
    };
    stage.say(&format!("The call of `pay` is task {id}."))?;
    let question = question.context("the task has ended, and asked nothing")?;
    Ok((id.to_string(), question))
}

async fn first_question(mut states: States) -> Option<Question> {
    loop {
        let question = only_question(states.next().await?);
        if question.is_some() {
            return question;
        }
    }
}

/// The question of a task that asks one.
fn only_question(state: CallState) -> Option<Question> {
    let mut questions = state.questions.into_iter();
    questions.next().filter(|_| questions.next().is_none())
}

fn show(stage: &Stage, lives: &Lives, question: &Question) -> anyhow::Result<Asked> {
    stage.say(&format!("It asks, under the key `{}`:", question.key))?;
    stage.screen.show(4, Style::Bold, question.message())?;
    Ok(Asked {
        key: question.key.to_string(),
        request: lives.requests()?,
    })
}

/// Has the question answered, until the server takes the answer; gives the name
/// that was signed with.
async fn answer(
    stage: &Stage,
    lives: &Lives,
    id: &str,
    question: Question,
) -> anyhow::Result<Option<String>> {
    let key = &question.key;
    let mut answer = stage.signatory.answer(question.clone()).await;
    loop {
        let given = answer.with_context(|| format!("nobody answers `{key}`"))?;
        match lives.client.answer(id, key, &given).await {
            Ok(()) => {
                stage.say(&format!("question `{key}` {}", what_was_done(&given)))?;
                let sent: Value = serde_json::from_str(given.as_json().get())?;
                return Ok(sent["content"]["answer"].as_str().map(str::to_owned));
            }
            Err(ClientError::Refused { error, .. }) if error.code == ErrorCode::INVALID_PARAMS => {
                answer = stage.signatory.refused(question.clone(), error).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Waits for the end; gives the text of the result, and whether it is a no.
async fn result(stage: &Stage, lives: &Lives, id: &str) -> anyhow::Result<(String, bool)> {
    let result = match lives.client.resume(id).await {
        Err(CallError::Unanswered { questions, .. }) => {
            let asked: Vec<_> = questions.iter().map(ToString::to_string).collect();
            bail!("the task asks again: {}", asked.join("; "));
        }
        result => result?,
    };
    let text = result.to_text();
    let style = if result.is_error {
        Style::Bad
    } else {
        Style::Good
    };
    stage.screen.show(2, style, &format!("Completed: {text}"))?;
    Ok((text, result.is_error))
}
