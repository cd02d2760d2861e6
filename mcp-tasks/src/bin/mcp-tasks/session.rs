//! Follows one call from a terminal or a script: shows how it gets on, has its
//! questions answered, and ends with it or leaves it.

mod end;
mod questions;

use std::future::Future;
use std::io::{self, IsTerminal as _};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_tasks::client::{Call, CallError, CallState, Question, QuestionKind};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::exit::{Exit, Stop};
use crate::flags::{Asking, Output};
use crate::form::{Asked, Leave, Refusal, Reply};
use crate::given::Given;
use crate::prompt::{Matter, Prompt, Said, below_prompt};
use crate::screen::{Look, Screen, is_dumb};
use crate::show::Live;
use crate::show::events::Events;
use crate::signals::{Signal, Signals};
use crate::target::{Log, Target};
use questions::Questions;

/// How long to wait for what a call that has ended says of its last answer.
const LAST_WORD: Duration = Duration::from_secs(1);

/// How long a call may take to end after it has taken a question back: then
/// there is nothing to be told.
const GRACE: Duration = Duration::from_millis(500);

/// What a call is followed with.
pub(crate) struct Session<'a> {
    pub(crate) target: &'a Target,
    pub(crate) in_book: bool,
    pub(crate) live: Live,
    pub(crate) events: Events,
    given: Given,
    manner: Manner,
    log: Log,
    lines: mpsc::UnboundedReceiver<String>,
    /// What people were told last that a server had said before it ended.
    last_words: String,
}

/// What is done with a question to which no answer was given beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// A person is asked.
    Ask,
    /// Somebody else is waited for.
    Wait,
    /// The program ends.
    End,
}

/// How following ends.
enum End {
    /// With the call.
    Over,
    /// The person leaves.
    Leave(Leave),
    /// A signal has come that says so.
    Told,
    /// Nobody can answer these.
    Unanswered(Vec<Question>),
    /// What was given does not fit.
    Unfit {
        question: Box<Question>,
        words: String,
    },
    /// The terminal cannot be used.
    Broken(String),
}

type Sent = (Question, Reply, Result<(), CallError>);
type Sending<'c> = Pin<Box<dyn Future<Output = Sent> + 'c>>;

impl<'a> Session<'a> {
    pub(crate) fn new(
        target: &'a Target,
        in_book: bool,
        asking: &Asking,
        output: &Output,
        (log, lines): (Log, mpsc::UnboundedReceiver<String>),
    ) -> Result<Self, Stop> {
        let given = Given::read(asking.answers.as_deref(), &asking.answer)?;
        let attended = io::stdin().is_terminal() && io::stderr().is_terminal();
        Ok(Self {
            target,
            in_book,
            live: Live::new(output.quiet, output.json, target.is_child()),
            events: Events::new(output.json),
            given,
            manner: if asking.wait {
                Manner::Wait
            } else if attended && !asking.no_input {
                Manner::Ask
            } else {
                Manner::End
            },
            log,
            lines,
            last_words: String::new(),
        })
    }

    /// Follows a call to its end, or until somebody leaves.
    pub(crate) async fn follow(mut self, call: Call) -> Result<Exit, Stop> {
        self.live.go_on();
        let mut prompt = None;
        let end = self.watch(&call, &mut prompt).await?;
        if let Some(prompt) = prompt {
            let is_stale = prompt.is_stale();
            prompt.end().await;
            if is_stale {
                let words = "The question is no longer open.";
                Screen::stderr().prose(0, Look::Notable, words)?;
            }
        }
        self.live.pause();
        let mut signals = Signals::new()?;
        let (target, in_book) = (self.target, self.in_book);
        let id = call.id();
        tokio::select! {
            done = self.finish(call, end) => done,
            // Whoever says so again does not want to wait for the server.
            _ = signals.next() => {
                let words = "Left before the server has said what has become of the call.";
                Screen::stderr().prose(0, Look::Notable, words)?;
                if let Some(id) = id {
                    end::tell_how_to_resume(target, &id, target.command("resume", &id, in_book));
                }
                Ok(Exit::Detached)
            }
        }
    }

    async fn watch(&mut self, call: &Call, prompt: &mut Option<Prompt>) -> Result<End, Stop> {
        let mut states = call.states();
        let mut signals = Signals::new()?;
        let mut questions = Questions::default();
        let mut sending: Option<Sending<'_>> = None;
        loop {
            if sending.is_none()
                && let Some(end) = self.put(call, &mut questions, &mut sending, prompt)?
            {
                return Ok(end);
            }
            let tell_at = prompt.as_ref().and_then(|prompt| prompt.tell_at);
            tokio::select! {
                state = states.next() => {
                    if let Some(state) = state {
                        self.saw(&state, &mut questions, prompt)?;
                        continue;
                    }
                    // What became of the last answer is known by now, too.
                    if let Some(sending) = sending.take()
                        && let Ok(sent) = timeout(LAST_WORD, sending).await
                    {
                        self.sent(sent, &mut questions)?;
                    }
                    return Ok(End::Over);
                }
                sent = when(&mut sending) => {
                    sending = None;
                    if let Some(end) = self.sent(sent, &mut questions)? {
                        return Ok(end);
                    }
                }
                said = said(prompt) => {
                    let was = prompt.take();
                    self.live.go_on();
                    if let Some(end) = self.heard(call, was, said, &mut questions, &mut sending)? {
                        return Ok(end);
                    }
                }
                () = at(tell_at) => {
                    if let Some(prompt) = prompt {
                        prompt.tell_at = None;
                    }
                    // The terminal does nothing by itself while somebody types.
                    let words = "The question is no longer open. Press Esc to go on.";
                    let screen = Screen::stderr();
                    let words = screen.paint(Look::Notable, words);
                    if is_dumb() {
                        screen.raw(&format!("\n{words}\n"))?;
                    } else {
                        below_prompt()?;
                        screen.raw(&format!("{words}\r\n"))?;
                    }
                }
                Some(line) = self.lines.recv() => self.live.say(Look::Dim, &format!("server: {line}")),
                signal = signals.next() => {
                    let may_ask = self.manner == Manner::Ask && signal == Signal::Interrupt;
                    if prompt.is_some() || !may_ask {
                        return Ok(End::Told);
                    }
                    self.live.pause();
                    *prompt = Some(Prompt::start(Matter::Leaving, call.id().is_some())?);
                }
            }
        }
    }

    /// Takes in a new state.
    fn saw(
        &mut self,
        state: &CallState,
        questions: &mut Questions,
        prompt: &mut Option<Prompt>,
    ) -> Result<(), Stop> {
        self.events.state(state)?;
        if state.trouble.is_some() && prompt.is_none() {
            self.tell_last_words();
        }
        questions.update(&state.questions);
        if let Some(prompt) = prompt {
            let is_open = |key: &Arc<str>| questions.open.iter().any(|q| q.key == *key);
            if !prompt.is_stale() && prompt.key.as_ref().is_some_and(|key| !is_open(key)) {
                prompt.is_over(Instant::now() + GRACE);
            }
        }
        self.live.show(state);
        Ok(())
    }

    /// What a server that has ended under a call has said is why, once.
    fn tell_last_words(&mut self) {
        let words = self.log.take_last();
        if !words.is_empty() && words != self.last_words {
            let told = format!("The server is gone. It has said:{words}");
            self.live.say(Look::Notable, &told);
            self.last_words = words;
        }
    }

    /// Answers a question, or has it answered, if there is one to be answered now.
    fn put<'c>(
        &mut self,
        call: &'c Call,
        questions: &mut Questions,
        sending: &mut Option<Sending<'c>>,
        prompt: &mut Option<Prompt>,
    ) -> Result<Option<End>, Stop> {
        let unsettled: Vec<Question> = questions.unsettled().cloned().collect();
        let mut unanswered = Vec::new();
        for question in unsettled {
            if questions.told.insert(Arc::clone(&question.key)) {
                self.given.was_asked(&question.key);
                self.events.question(&question)?;
            }
            let refusal = questions.refusals.get(&question.key).cloned();
            let given = match refusal {
                Some(refusal) => Err(refusal),
                None => self.given.take(&question).map_err(|words| Refusal {
                    words,
                    content: None,
                }),
            };
            let refusal = match given {
                Ok(Some(reply)) => {
                    questions.settled.insert(Arc::clone(&question.key));
                    *sending = Some(send(call, question, reply)?);
                    return Ok(None);
                }
                Ok(None) => None,
                Err(refusal) if self.manner == Manner::Ask => Some(refusal),
                Err(Refusal { words, .. }) => {
                    let question = Box::new(question);
                    return Ok(Some(End::Unfit { question, words }));
                }
            };
            let can_be_shown = matches!(
                question.kind,
                QuestionKind::Form { .. } | QuestionKind::Url { .. }
            );
            match self.manner {
                Manner::Ask if can_be_shown && prompt.is_some() => {}
                Manner::Ask if can_be_shown => {
                    self.live.pause();
                    let can_detach = call.id().is_some();
                    let question = Box::new(question);
                    let matter = Matter::Question { question, refusal };
                    *prompt = Some(Prompt::start(matter, can_detach)?);
                }
                Manner::Wait => {
                    self.tell_question(&question, call.id().as_deref());
                    questions.settled.insert(question.key);
                }
                Manner::Ask | Manner::End => unanswered.push(question),
            }
        }
        if unanswered.is_empty() || prompt.is_some() {
            return Ok(None);
        }
        Ok(Some(End::Unanswered(unanswered)))
    }

    /// What came of an answer.
    fn sent(
        &mut self,
        (question, reply, outcome): Sent,
        questions: &mut Questions,
    ) -> Result<Option<End>, Stop> {
        let key = &question.key;
        match outcome {
            Ok(()) => {
                self.events.answered(key, reply.words())?;
                self.live
                    .say(Look::Dim, &format!("question `{key}` {}", reply.words()));
            }
            Err(CallError::Refused { error, .. }) => {
                let words = error.message;
                if self.manner != Manner::Ask {
                    let question = Box::new(question);
                    return Ok(Some(End::Unfit { question, words }));
                }
                let content = match reply {
                    Reply::Accept(content) => Some(content),
                    _ => None,
                };
                questions.settled.remove(key);
                let refusal = Refusal { words, content };
                questions.refusals.insert(Arc::clone(key), refusal);
            }
            Err(CallError::NotOpen(_)) => {
                let words = format!("question `{key}` was no longer open");
                self.live.say(Look::Notable, &words);
            }
            // What has become of the call is told by itself.
            Err(_) => {}
        }
        Ok(None)
    }

    /// What a person has said.
    fn heard<'c>(
        &mut self,
        call: &'c Call,
        prompt: Option<Prompt>,
        said: Said,
        questions: &mut Questions,
        sending: &mut Option<Sending<'c>>,
    ) -> Result<Option<End>, Stop> {
        let asked = match said {
            Said::Leaving(Leave::GoOn) => return Ok(None),
            Said::Leaving(leave) => return Ok(Some(End::Leave(leave))),
            Said::Asked(asked) => asked,
        };
        let Some(prompt) = prompt else {
            return Ok(None);
        };
        if prompt.is_stale() {
            if prompt.tell_at.is_some() {
                let words = "The question is no longer open.";
                self.live.say(Look::Notable, words);
            }
            return Ok(None);
        }
        let question = questions
            .open
            .iter()
            .find(|q| Some(&q.key) == prompt.key.as_ref());
        match (asked, question.cloned()) {
            (Asked::Replied(reply), Some(question)) => {
                questions.settled.insert(Arc::clone(&question.key));
                questions.refusals.remove(&question.key);
                *sending = Some(send(call, question, reply)?);
            }
            (Asked::LeftOpen, Some(question)) => {
                let words = format!("question `{}` waits for somebody else", question.key);
                self.live.say(Look::Notable, &words);
                questions.settled.insert(question.key);
            }
            (Asked::Detach, _) => return Ok(Some(End::Leave(Leave::Detach))),
            (Asked::CancelTask, _) => return Ok(Some(End::Leave(Leave::Cancel))),
            (Asked::Broken(words), _) => return Ok(Some(End::Broken(words))),
            (Asked::Replied(_) | Asked::LeftOpen, None) => {}
        }
        Ok(None)
    }
}

fn send(call: &Call, question: Question, reply: Reply) -> Result<Sending<'_>, Stop> {
    let answer = reply.to_answer().map_err(Stop::usage)?;
    Ok(Box::pin(async move {
        let outcome = call.answer(&question.key, answer).await;
        (question, reply, outcome)
    }))
}

async fn when(sending: &mut Option<Sending<'_>>) -> Sent {
    match sending {
        Some(sending) => sending.await,
        None => std::future::pending().await,
    }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

async fn said(prompt: &mut Option<Prompt>) -> Said {
    match prompt {
        // A thread that has ended without a word has panicked.
        Some(prompt) => (&mut prompt.said).await.unwrap_or_else(|_| {
            Said::Asked(Asked::Broken("the terminal cannot be used".to_owned()))
        }),
        None => std::future::pending().await,
    }
}
