//! How following a call ends, and what is said then.

use std::io;
use std::sync::Arc;

use mcp_tasks::ToolResult;
use mcp_tasks::client::{Call, CallError, ClientError, Question, QuestionKind};
use mcp_tasks::protocol::{ErrorCode, ProtocolError};
use serde_json::{Value, json};

use super::{End, Session};
use crate::exit::{Exit, Stop};
use crate::form::{Leave, field};
use crate::screen::{Look, Screen, harmless};
use crate::show::events::Events;
use crate::show::result;
use crate::target::{Target, quoted};
use crate::words;

impl Session<'_> {
    pub(super) async fn finish(mut self, call: Call, end: End) -> Result<Exit, Stop> {
        for answer in self.given.unused() {
            let words = format!("The answer `{answer}` was not used: nothing asked for it.");
            say(Look::Notable, &words);
        }
        match end {
            End::Over => self.outcome(call).await,
            End::Leave(Leave::Cancel) => self.cancel(call).await,
            End::Leave(Leave::Detach | Leave::GoOn) | End::Told => {
                self.detach(call, Exit::Detached, "detached", "").await
            }
            End::Unanswered(questions) => {
                for question in &questions {
                    self.tell_question(question, call.id().as_deref());
                }
                let words = "There is nobody here to answer.";
                self.detach(call, Exit::Unanswered, "unanswered", words)
                    .await
            }
            End::Unfit { question, words } => {
                let words = format!("The answer to `{}` does not fit: {words}.", question.key);
                say(Look::Bad, &words);
                self.tell_question(&question, call.id().as_deref());
                self.detach(call, Exit::Unanswered, "unanswered", &words)
                    .await
            }
            End::Broken(words) => {
                let words = format!("The terminal cannot be used: {words}.");
                say(Look::Bad, &words);
                self.detach(call, Exit::Unanswered, "unanswered", &words)
                    .await
            }
        }
    }

    pub(super) fn tell_question(&self, question: &Question, id: Option<&str>) {
        let screen = Screen::stderr();
        say(Look::Notable, &format!("Question `{}`:", question.key));
        drop(screen.prose(2, Look::Plain, question.message()));
        match &question.kind {
            QuestionKind::Form { form, .. } => {
                for (name, field) in form.fields() {
                    let line = field::line(name, field, form.is_required(name));
                    drop(screen.prose(2, Look::Plain, &format!("- {line}")));
                }
            }
            QuestionKind::Url { url, .. } => drop(screen.line(&format!("  {}", harmless(url)))),
            QuestionKind::Other { problem, .. } => drop(screen.prose(2, Look::Bad, problem)),
            // This program has not said that it could.
            QuestionKind::Model { .. } => say(Look::Bad, "  It asks for a model's reply."),
            QuestionKind::Roots => say(Look::Bad, "  It asks for the folders you work in."),
            _ => {}
        }
        let Some(id) = id else {
            return;
        };
        let mut command = self.target.command("answer", id, self.in_book);
        // Before what starts a server.
        let end = command
            .iter()
            .position(|word| word == "--")
            .unwrap_or(command.len());
        let mut more = vec!["--question".to_owned(), question.key.to_string()];
        if let QuestionKind::Form { form, .. } = &question.kind {
            let required = form.fields().filter(|(name, _)| form.is_required(name));
            more.extend(required.map(|(name, _)| format!("{name}=..")));
        }
        command.splice(end..end, more);
        say(
            Look::Plain,
            "Answer it with (or with --decline, or --dismiss):",
        );
        say_command(command);
    }

    /// Leaves the task to itself. A call that is none ends.
    async fn detach(
        &mut self,
        call: Call,
        exit: Exit,
        event: &str,
        words: &str,
    ) -> Result<Exit, Stop> {
        let id = match call.detach() {
            Ok(id) => id,
            Err(call) => {
                say(
                    Look::Notable,
                    "The call is no task that could go on: it is cancelled.",
                );
                drop(call.cancel().await);
                let exit = if exit == Exit::Detached {
                    Exit::Cancelled
                } else {
                    exit
                };
                let event = if exit == Exit::Cancelled {
                    "cancelled"
                } else {
                    event
                };
                self.events.end(event, None, exit, words, &json!({}))?;
                return Ok(exit);
            }
        };
        let resume = self.target.command("resume", &id, self.in_book);
        let more = json!({ "resume": resume });
        self.events.end(event, Some(&id), exit, words, &more)?;
        tell_how_to_resume(self.target, &id, resume);
        Ok(exit)
    }

    async fn cancel(&mut self, call: Call) -> Result<Exit, Stop> {
        self.live.begin("cancelling");
        let mut states = call.states();
        let cancelled = {
            let mut cancelled = std::pin::pin!(call.cancel());
            loop {
                tokio::select! {
                    done = &mut cancelled => break done,
                    Some(state) = states.next() => if state.trouble.is_some() {
                        self.live.show(&state);
                    } else {
                        self.live.begin("cancelling");
                    },
                }
            }
        };
        match cancelled {
            Ok(()) | Err(CallError::Ended) => {}
            Err(error) => {
                self.live.pause();
                say(Look::Bad, &format!("It cannot be cancelled now: {error}."));
                return self.detach(call, Exit::NoConnection, "lost", "").await;
            }
        }
        self.outcome(call).await
    }

    /// The call has ended, or is about to.
    async fn outcome(&mut self, mut call: Call) -> Result<Exit, Stop> {
        let outcome = (&mut call).await;
        self.live.pause();
        let id = call.id();
        match outcome {
            Ok(result) => Ok(self.done(id.as_deref(), &result)?),
            Err(error) => Ok(self.failed(id.as_ref(), &error)?),
        }
    }

    fn done(&self, id: Option<&str>, result: &ToolResult) -> io::Result<Exit> {
        let took = self.live.elapsed().map(words::duration);
        let (exit, look, words) = match (result.is_error, took) {
            (true, Some(took)) => {
                let words = format!("✗ the tool failed, after {took}");
                (Exit::ToolFailed, Look::Bad, words)
            }
            (true, None) => (Exit::ToolFailed, Look::Bad, "✗ the tool failed".to_owned()),
            (false, Some(took)) => (Exit::Done, Look::Good, format!("✓ completed in {took}")),
            (false, None) => (Exit::Done, Look::Good, "✓ completed".to_owned()),
        };
        self.live.say(look, &words);
        if self.events.are_wanted() {
            self.events.result(id, result)?;
        } else {
            result::show(result)?;
        }
        Ok(exit)
    }

    fn failed(&self, id: Option<&Arc<str>>, error: &CallError) -> io::Result<Exit> {
        let (event, exit, words, more) = match error {
            CallError::Failed(error) => (
                "failed",
                Exit::CallFailed,
                format!("✗ failed: {}", result::error_words(error)),
                Events::error(error),
            ),
            CallError::Cancelled { message } => {
                let message = message.as_deref().map(|message| format!(": {message}"));
                let words = format!("✗ cancelled{}", message.unwrap_or_default());
                ("cancelled", Exit::Cancelled, words, json!({}))
            }
            CallError::Deadline { after, .. } => {
                let after = words::duration(*after);
                let words = format!("✗ not done within {after}: cancelled");
                ("timed_out", Exit::TimedOut, words, json!({}))
            }
            CallError::Lost {
                error: ClientError::Refused { error, .. },
                ..
            } => {
                let words = result::error_words(error);
                let words = if error.code == ErrorCode::INVALID_PARAMS {
                    format!("✗ the server no longer knows the task: {words}")
                } else {
                    format!("✗ the server refuses: {words}")
                };
                ("failed", Exit::CallFailed, words, Events::error(error))
            }
            error => {
                let exit = exit_of(error);
                let event = if exit == Exit::NoConnection {
                    "lost"
                } else {
                    "failed"
                };
                let more = refused(error).map_or_else(|| json!({}), Events::error);
                (event, exit, format!("✗ {error}"), more)
            }
        };
        say(Look::Bad, &words);
        let id_text = id.map(|id| &**id);
        let plain = words.trim_start_matches("✗ ");
        let mut more: Value = more;
        if let Some(id) = id.filter(|_| may_go_on(error)) {
            let resume = self.target.command("resume", id, self.in_book);
            more["resume"] = json!(resume);
            tell_how_to_resume(self.target, id, resume);
        }
        self.events.end(event, id_text, exit, plain, &more)?;
        Ok(exit)
    }
}

/// Says something for people that is not about how the call gets on.
fn say(look: Look, words: &str) {
    // Whoever has gone is told nothing.
    drop(Screen::stderr().prose(0, look, words));
}

/// Something to be copied: not broken into lines.
fn say_command(words: Vec<String>) {
    let screen = Screen::stderr();
    let command = screen.paint(Look::Bold, quoted(words));
    drop(screen.line(&format!("  {command}")));
}

pub(super) fn tell_how_to_resume(target: &Target, id: &str, resume: Vec<String>) {
    let words = format!("Detached from task {id}. Come back to it with:");
    say(Look::Plain, &words);
    say_command(resume);
    if target.is_child() {
        let words = "Its server ends with this program: the task is there again if the \
                     server keeps its tasks on the disk.";
        say(Look::Dim, words);
    }
    if target.hides_headers() {
        let words = "and the --header that you gave, whose value is not shown.";
        say(Look::Plain, words);
    }
}

/// Whether there may be a task that goes on, and is worth coming back to.
fn may_go_on(error: &CallError) -> bool {
    match error {
        CallError::Lost {
            error: ClientError::Refused { error, .. },
            ..
        } => error.code != ErrorCode::INVALID_PARAMS,
        CallError::Lost { .. } | CallError::Client(_) => true,
        _ => false,
    }
}

fn refused(error: &CallError) -> Option<&ProtocolError> {
    match error {
        CallError::Refused { error, .. }
        | CallError::Client(ClientError::Refused { error, .. })
        | CallError::Lost {
            error: ClientError::Refused { error, .. },
            ..
        } => Some(error),
        _ => None,
    }
}

fn exit_of(error: &CallError) -> Exit {
    match error {
        CallError::Lost { .. }
        | CallError::Client(
            ClientError::Connect { .. } | ClientError::Denied(_) | ClientError::NoReply { .. },
        ) => Exit::NoConnection,
        CallError::Client(ClientError::Book { .. }) => Exit::File,
        CallError::Unanswered { .. } | CallError::Refused { .. } => Exit::Unanswered,
        _ => Exit::CallFailed,
    }
}
