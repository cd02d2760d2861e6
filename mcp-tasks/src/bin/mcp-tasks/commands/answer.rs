//! `answer`: one answer to one question.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use mcp_tasks::client::{ClientError, Question, QuestionKind, TaskClient};
use serde_json::json;

use super::call::unknown;
use super::{close, json_line};
use crate::arguments::Pair;
use crate::book;
use crate::exit::{Exit, Stop};
use crate::flags;
use crate::form::{Asked, Reply, field};
use crate::given;
use crate::prompt::{Matter, Prompt, Said};
use crate::screen::{Look, Screen};
use crate::target::{Log, Target};

pub(super) async fn answer(flags: flags::Answer) -> Result<Exit, Stop> {
    let pairs: Vec<Pair> = flags
        .fields
        .iter()
        .map(|text| Pair::parse(text))
        .collect::<Result<_, _>>()
        .map_err(Stop::usage)?;
    let book = book::open()?;
    let (id, entry) = book::find(&book, &flags.id)?;
    let target = Target::find(&flags.server, entry.as_ref()).map_err(|stop| unknown(stop, &id))?;
    let (log, _) = Log::new(false);
    let client = target.connect(None, None, log).await?;
    let done = run(&client, &id, &flags, &pairs).await;
    close(client).await;
    done
}

async fn run(
    client: &TaskClient,
    id: &str,
    flags: &flags::Answer,
    pairs: &[Pair],
) -> Result<Exit, Stop> {
    let state = client.get(id).await?;
    let question = pick(&state.questions, id, flags.question.as_deref())?;
    let reply = if flags.decline {
        Reply::Decline
    } else if flags.dismiss {
        Reply::Dismiss
    } else {
        match filled_in(question, pairs).await? {
            Ok(reply) => reply,
            Err(exit) => {
                if flags.json {
                    json_line(&json!({ "event": "detached", "task": id, "exit": exit as u8 }))?;
                }
                return Ok(exit);
            }
        }
    };
    let answer = reply.to_answer().map_err(Stop::usage)?;
    match client.answer(id, &question.key, &answer).await {
        Ok(()) => {}
        Err(ClientError::Refused { error, .. }) => {
            return Err(Stop::new(
                Exit::Unanswered,
                format_args!("the server does not take the answer: {}", error.message),
            ));
        }
        Err(error) => return Err(error.into()),
    }
    if flags.json {
        json_line(&json!({
            "event": "answered", "task": id, "key": question.key, "how": reply.words(),
            "exit": Exit::Done as u8,
        }))?;
    } else {
        let words = format!("✓ question `{}` {}", question.key, reply.words());
        Screen::stdout().prose(0, Look::Good, &words)?;
    }
    Ok(Exit::Done)
}

/// The question that is meant.
fn pick<'q>(questions: &'q [Question], id: &str, key: Option<&str>) -> Result<&'q Question, Stop> {
    let keys = || {
        let keys = questions
            .iter()
            .map(|question| format!("`{}`", question.key));
        keys.collect::<Vec<_>>().join(", ")
    };
    match (key, questions) {
        (_, []) => Err(Stop::usage(format_args!("task {id} has no open question"))),
        (None, [only]) => Ok(only),
        (None, _) => Err(Stop::usage(format_args!(
            "task {id} has several open questions: {}. Say which one with --question KEY",
            keys()
        ))),
        (Some(key), questions) => {
            let named = questions.iter().find(|question| &*question.key == key);
            named.ok_or_else(|| {
                Stop::usage(format_args!(
                    "task {id} has no open question `{key}`; there is {}",
                    keys()
                ))
            })
        }
    }
}

/// The answer of the command line, or of the person at the terminal.
async fn filled_in(question: &Question, pairs: &[Pair]) -> Result<Result<Reply, Exit>, Stop> {
    let needs_nothing = match &question.kind {
        QuestionKind::Form { form, .. } => form.is_empty(),
        _ => false,
    };
    let attended = io::stdin().is_terminal() && io::stderr().is_terminal();
    if pairs.is_empty() && attended && !needs_nothing {
        return ask(question).await;
    }
    let given: Vec<_> = pairs
        .iter()
        .map(|pair| (Some(pair.key.as_str()), &pair.value))
        .collect();
    let reply = given::reply(&question.kind, &given);
    reply.map(Ok).map_err(|words| {
        Stop::usage(format_args!(
            "the answer to `{}` does not fit: {words}{}",
            question.key,
            fields(question)
        ))
    })
}

async fn ask(question: &Question) -> Result<Result<Reply, Exit>, Stop> {
    let matter = Matter::Question {
        question: Box::new(question.clone()),
        refusal: None,
    };
    let prompt = Prompt::start(matter, true)?;
    let broken = || Stop::file("the terminal cannot be used");
    match prompt.said.await.map_err(|_| broken())? {
        Said::Asked(Asked::Replied(reply)) => Ok(Ok(reply)),
        Said::Asked(Asked::Broken(words)) => Err(Stop::file(format_args!(
            "the terminal cannot be used: {words}"
        ))),
        Said::Asked(Asked::LeftOpen | Asked::Detach) => Ok(Err(Exit::Detached)),
        // To cancel the whole task there is another command.
        Said::Asked(Asked::CancelTask) => Err(Stop::new(
            Exit::Detached,
            "the task is left as it is; `mcp-tasks cancel` cancels it",
        )),
        Said::Leaving(_) => Err(broken()),
    }
}

/// The fields that there are, for people.
fn fields(question: &Question) -> String {
    let QuestionKind::Form { form, .. } = &question.kind else {
        return String::new();
    };
    let lines = form.fields().map(|(name, field)| {
        let line = field::line(name, field, form.is_required(name));
        format!("\n  - {line}")
    });
    let lines: String = lines.collect();
    if lines.is_empty() {
        return ". Without a field the answer is yes; --decline says no".to_owned();
    }
    let key: &Arc<str> = &question.key;
    format!("\n\nThe fields of `{key}`:{lines}")
}
