//! What happened to a task, in a line.

use std::collections::HashMap;
use std::time::Duration;

use mcp_tasks::protocol::InputRequest;
use mcp_tasks::task::{Entry, Event, InputKey, Outcome, Timestamp};
use serde::Deserialize;

use crate::screen::Look;
use crate::words;

/// Tells entries one after the other, and remembers what later ones refer to.
#[derive(Default)]
pub(super) struct Teller {
    begun: HashMap<InputKey, Timestamp>,
}

/// An entry as it is told.
pub(super) struct Told {
    /// What happened.
    pub(super) what: String,
    /// With which content.
    pub(super) content: Option<String>,
    pub(super) look: Look,
}

/// The signal whose timeout the timer of this key is.
fn signal_of(key: &InputKey) -> Option<&str> {
    key.as_str().strip_suffix("#signal#timeout")
}

fn set(key: &InputKey, wait: Duration) -> String {
    let wait = words::duration(wait);
    match signal_of(key) {
        Some(name) => format!("waits for the signal `{name}`, at most {wait}"),
        None => format!("timer `{key}` set, for {wait}"),
    }
}

fn gone_off(key: &InputKey) -> String {
    match signal_of(key) {
        Some(name) => format!("the signal `{name}` did not come"),
        None => format!("timer `{key}` went off"),
    }
}

impl Teller {
    pub(super) fn tell(&mut self, entry: &Entry) -> Told {
        let plain = |what: String| Told {
            what,
            content: None,
            look: Look::Plain,
        };
        let with = |what: String, content: &str| Told {
            what,
            content: Some(content.to_owned()),
            look: Look::Plain,
        };
        match &entry.event {
            Event::Created(created) => with(
                format!("created by a call of {}", created.tool),
                created.arguments.get(),
            ),
            Event::Asked { key, request } => {
                self.begun.insert(key.clone(), entry.at);
                Told {
                    look: Look::Notable,
                    ..with(format!("asked `{key}`"), &question(request))
                }
            }
            Event::Answered { key, response } => {
                let after = self.since(key, entry.at);
                let response = serde_json::to_string(response).unwrap_or_default();
                with(format!("answered `{key}`{after}"), &response)
            }
            Event::StepIntended { key, function } => {
                self.begun.insert(key.clone(), entry.at);
                plain(format!("step `{key}` begins{}", of(key, function)))
            }
            Event::StepAttempt {
                key,
                function,
                n,
                retry_at,
            } => Told {
                look: Look::Bad,
                ..plain(format!(
                    "step `{key}` failed, attempt {n}{}; again in {}",
                    of(key, function),
                    words::duration(retry_at.since(entry.at))
                ))
            },
            Event::StepDone {
                key,
                function,
                outcome,
            } => {
                let after = self.since(key, entry.at);
                with(
                    format!("step `{key}` done{}{after}", of(key, function)),
                    outcome.get(),
                )
            }
            Event::TimerSet { key, at } => {
                self.begun.insert(key.clone(), entry.at);
                plain(set(key, at.since(entry.at)))
            }
            Event::TimerFired { key } => {
                let after = self.since(key, entry.at);
                plain(format!("{}{after}", gone_off(key)))
            }
            Event::Ran { key } => plain(format!("`{key}` ran, unrecorded")),
            Event::Signalled { name, value } => with(format!("signal `{name}` came"), value.get()),
            Event::Patched { id } => plain(format!("took the new side of patch `{id}`")),
            Event::Withdrawn { key } => {
                let after = self.since(key, entry.at);
                plain(format!("`{key}` withdrawn{after}"))
            }
            Event::Status { message, progress } => {
                let progress = progress.map(|at| format!(" {}/{}", at.done, at.total));
                Told {
                    what: format!("status{}", progress.unwrap_or_default()),
                    content: message.as_deref().map(str::to_owned),
                    look: Look::Plain,
                }
            }
            Event::TtlChanged { ttl_ms } => plain(match ttl_ms {
                Some(ms) => format!(
                    "time to live is now {}",
                    words::duration(Duration::from_millis(*ms))
                ),
                None => "time to live is now unlimited".to_owned(),
            }),
            Event::CancelRequested => plain("cancellation requested".to_owned()),
            Event::RecoveryStarted { .. } => Told {
                look: Look::Notable,
                ..plain("taken over from a process that had died".to_owned())
            },
            Event::Held(held) => Told {
                look: Look::Bad,
                ..with(format!("held, by build {}", held.build), &held.reason)
            },
            Event::Resumed => plain("goes on".to_owned()),
            Event::Finished(outcome) => self.finished(outcome),
        }
    }

    #[expect(clippy::unused_self, reason = "beside the others")]
    fn finished(&self, outcome: &Outcome) -> Told {
        let (what, content, look) = match outcome {
            Outcome::Completed { result } => {
                #[derive(Deserialize)]
                struct Failed {
                    #[serde(rename = "isError", default)]
                    is_error: bool,
                }
                let failed = serde_json::from_str::<Failed>(result.get());
                let content = Some(result.get().to_owned());
                match failed {
                    Ok(Failed { is_error: true }) => {
                        ("completed: the tool failed", content, Look::Bad)
                    }
                    _ => ("completed", content, Look::Good),
                }
            }
            Outcome::Failed { error } => (
                "failed",
                Some(format!("{} ({})", error.message, error.code.0)),
                Look::Bad,
            ),
            Outcome::Cancelled => ("cancelled", None, Look::Bad),
        };
        Told {
            what: what.to_owned(),
            content,
            look,
        }
    }

    /// How long after its beginning something came, as a part of a sentence.
    fn since(&mut self, key: &InputKey, at: Timestamp) -> String {
        self.begun.remove(key).map_or_else(String::new, |begun| {
            format!(" after {}", words::duration(at.since(begun)))
        })
    }
}

/// The function of a step, where the key does not say it.
fn of(key: &InputKey, function: &str) -> String {
    let name = key.as_str().rsplit('/').next().unwrap_or_default();
    let name = name.split('#').next().unwrap_or_default();
    if function.is_empty() || name == function {
        String::new()
    } else {
        format!(" ({function})")
    }
}

/// The words of a question.
pub(super) fn question(request: &InputRequest) -> String {
    #[derive(Deserialize)]
    struct Params {
        message: String,
    }
    match serde_json::from_str::<Params>(request.params.get()) {
        Ok(params) => params.message,
        Err(_) => request.method.clone().into_owned(),
    }
}
