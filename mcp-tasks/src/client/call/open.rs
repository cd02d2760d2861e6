//! A call that is no task (yet): the request, its rounds (P60), and the questions
//! of an older session (P70).

use std::collections::HashMap;
use std::sync::Arc;
use std::task::Poll;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::driver::{Driver, Event};
use super::{Command, Outcome, back_off};
use crate::client::link::{Seated, Sent, Told, Trouble};
use crate::client::wire::{self, Called, Round};
use crate::client::{Answer, CallError, ClientError, Question, QuestionKind};
use crate::protocol::ErrorCode;

const METHOD: &str = "tools/call";

/// The parameters of `tools/call`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    name: Arc<str>,
    arguments: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_responses: Option<IndexMap<Arc<str>, Answer>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_state: Option<Box<RawValue>>,
    #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
    meta: Map<String, Value>,
}

/// What a request came to.
enum Sending {
    Called(Called),
    /// It did not reach the server.
    Unheard(Trouble),
    Ended(Outcome),
}

impl Driver {
    /// Calls the tool, and follows the task that the call becomes.
    pub(super) async fn call(
        mut self,
        arguments: Result<Box<RawValue>, String>,
        meta: Map<String, Value>,
    ) -> Outcome {
        let name = self.tool.clone().unwrap_or_default();
        let mut params = Params {
            name,
            arguments: arguments.and_then(object).map_err(unsendable)?,
            input_responses: None,
            request_state: None,
            meta,
        };
        let mut rounds_without_questions = 0;
        let mut rounds_in_vain = 0;
        loop {
            let round = match self.called(&params).await? {
                Called::Result(result) => return Ok(result),
                Called::Task(seen) => return Box::pin(self.follow(*seen)).await,
                Called::Round(round) => round,
            };
            let Round { questions, state } = round;
            params.request_state = state;
            let before = params.input_responses.take();
            if questions.is_empty() {
                // The server wants to be called again, and says no more.
                rounds_without_questions += 1;
                let pause = back_off(rounds_without_questions);
                if let Some(outcome) = self.pause(pause).await {
                    return outcome;
                }
            } else {
                rounds_without_questions = 0;
                let answers = self.answers(questions).await?;
                // A server that does not take no for an answer asks again at once, and
                // whoever answers may be a program.
                rounds_in_vain = match &before {
                    Some(before) if is_said_again(before, &answers) => rounds_in_vain + 1,
                    _ => 0,
                };
                if rounds_in_vain > 0
                    && let Some(outcome) = self.pause(back_off(rounds_in_vain)).await
                {
                    return outcome;
                }
                params.input_responses = Some(answers);
            }
        }
    }

    /// The reply to one request, which is sent again as long as it surely has not
    /// reached the server.
    async fn called(&mut self, params: &Params) -> Result<Called, CallError> {
        let begun = Instant::now();
        let mut failed = 0;
        let mut has_asked = false;
        loop {
            let trouble = match self.send(params).await {
                Sending::Called(called) => return Ok(called),
                // The server wants arguments in headers, as the list of its tools says.
                Sending::Ended(Err(CallError::Failed(error)))
                    if error.code == ErrorCode::HEADER_MISMATCH && !has_asked =>
                {
                    has_asked = true;
                    let inner = Arc::clone(&self.inner);
                    match self.unless_ended(inner.tools()).await {
                        Ok(Ok(_)) => continue,
                        Ok(Err(_)) => return Err(CallError::Failed(error)),
                        Err(outcome) => return Err(outcome.err().unwrap_or(CallError::Ended)),
                    }
                }
                Sending::Ended(outcome) => return Err(outcome.err().unwrap_or(CallError::Ended)),
                Sending::Unheard(trouble) => trouble,
            };
            failed += 1;
            let pause = trouble.wait().unwrap_or_else(|| back_off(failed));
            if trouble.wait().is_none() && begun.elapsed() + pause > self.inner.settings.patience {
                return Err(trouble.into_error(METHOD).into());
            }
            self.show(|state| state.trouble = Some(trouble.words()));
            if let Some(outcome) = self.pause(pause).await {
                return Err(outcome.err().unwrap_or(CallError::Ended));
            }
        }
    }

    async fn send(&mut self, params: &Params) -> Sending {
        let inner = Arc::clone(&self.inner);
        let live = match self.unless_ended(inner.link.live()).await {
            Ok(Ok(live)) => live,
            // Whoever connects has waited for as long as it takes.
            Ok(Err(trouble)) => return Sending::Ended(Err(trouble.into_error(METHOD).into())),
            Err(outcome) => return Sending::Ended(outcome),
        };
        let sent = match self.unless_ended(live.send(METHOD, params)).await {
            Ok(Ok(sent)) => sent,
            Ok(Err(trouble)) => return Sending::Ended(Err(trouble.into_error(METHOD).into())),
            Err(outcome) => return Sending::Ended(outcome),
        };
        let tasks_declared = live.is_modern();
        let desk = live.desk().sit(sent.id.clone());
        match self.reply(sent, desk).await {
            Err(outcome) => Sending::Ended(outcome),
            Ok(Ok(reply)) => {
                self.show(|state| state.trouble = None);
                match wire::called(&reply, tasks_declared) {
                    Ok(called) => Sending::Called(called),
                    Err(error) => Sending::Ended(Err(error.into())),
                }
            }
            Ok(Err(trouble)) if trouble.is_unheard() => Sending::Unheard(trouble),
            Ok(Err(Trouble::Refused(error))) => Sending::Ended(Err(CallError::Failed(error))),
            // It has surely not run.
            Ok(Err(trouble @ Trouble::Denied(_))) => {
                Sending::Ended(Err(trouble.into_error(METHOD).into()))
            }
            Ok(Err(trouble)) => Sending::Ended(Err(self.lost(trouble.into_error(METHOD)))),
        }
    }

    async fn unless_ended<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Outcome> {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                event = self.event() => {
                    if let Some(outcome) = self.ended_by(event) {
                        return Err(outcome);
                    }
                }
            }
        }
    }

    /// Waits for the reply to a call that is open, answers what is asked
    /// meanwhile, and shows how it gets on.
    async fn reply(
        &mut self,
        sent: Sent,
        mut desk: Seated,
    ) -> Result<Result<Arc<RawValue>, Trouble>, Outcome> {
        let mut progress = sent.progress();
        let mut reply = std::pin::pin!(sent.reply());
        let mut visits = Visits::default();
        loop {
            tokio::select! {
                reply = &mut reply => {
                    self.asking.start_over();
                    self.show(|_| {});
                    return Ok(reply);
                }
                told = progress.next() => self.progressed(told),
                visit = desk.next() => {
                    let key = visits.enter(visit.reply);
                    let question = self.question(key, visit.kind);
                    self.asking.put(question);
                    self.show(|_| {});
                }
                key = visits.withdrawn() => {
                    self.asking.close(&key);
                    self.show(|_| {});
                }
                event = self.event() => {
                    if let Some(outcome) = self.visited(event, &mut visits) {
                        return Err(outcome);
                    }
                }
            }
        }
    }

    /// Takes answers to the server's questions in a call that is open.
    fn visited(&mut self, event: Event, visits: &mut Visits) -> Option<Outcome> {
        match event {
            Event::Given(given) => {
                if let Some(answer) = given.answer {
                    self.asking.close(&given.key);
                    visits.answer(&given.key, answer);
                }
            }
            Event::Command(Command::Answer { key, answer, done }) if self.asking.is_open(&key) => {
                self.asking.close(&key);
                visits.answer(&key, answer);
                // Whoever asked may have gone.
                let _ = done.send(Ok(()));
            }
            event => return self.ended_by(event),
        }
        self.show(|_| {});
        None
    }

    fn progressed(&self, told: Told) {
        if let Told::Progress(progress, message) = told {
            self.show(|state| {
                state.progress = Some(progress);
                state.message = message.or_else(|| state.message.take());
            });
        }
    }

    /// The answers to all questions of a round.
    async fn answers(
        &mut self,
        questions: Vec<(Arc<str>, QuestionKind)>,
    ) -> Result<IndexMap<Arc<str>, Answer>, CallError> {
        let mut answers = IndexMap::new();
        let count = questions.len();
        self.asking.start_over();
        for (key, kind) in questions {
            let question = self.question(key, kind);
            self.asking.put(question);
        }
        self.show(|_| {});
        while answers.len() < count {
            let event = self.event().await;
            match event {
                Event::Given(given) => {
                    if let Some(answer) = given.answer {
                        self.asking.close(&given.key);
                        answers.insert(given.key, answer);
                    }
                }
                Event::Command(Command::Answer { key, answer, done })
                    if self.asking.is_open(&key) =>
                {
                    self.asking.close(&key);
                    answers.insert(key, answer);
                    // Whoever asked may have gone.
                    let _ = done.send(Ok(()));
                }
                event => {
                    if let Some(outcome) = self.ended_by(event) {
                        return Err(outcome.err().unwrap_or(CallError::Ended));
                    }
                }
            }
            self.show(|_| {});
        }
        Ok(answers)
    }

    fn question(&self, key: Arc<str>, kind: QuestionKind) -> Question {
        Question {
            key,
            task: None,
            tool: self.tool.clone(),
            kind,
        }
    }
}

/// The questions of an older session that wait for their answers.
#[derive(Default)]
struct Visits {
    count: usize,
    waiting: HashMap<Arc<str>, oneshot::Sender<Answer>>,
}

impl Visits {
    /// These have no keys of the server's.
    fn enter(&mut self, reply: oneshot::Sender<Answer>) -> Arc<str> {
        self.count += 1;
        let key: Arc<str> = format!("question-{}", self.count).into();
        self.waiting.insert(Arc::clone(&key), reply);
        key
    }

    fn answer(&mut self, key: &str, answer: Answer) {
        if let Some(reply) = self.waiting.remove(key) {
            // The server may have taken the question back just now.
            let _ = reply.send(answer);
        }
    }

    /// The next that the server no longer waits for. Cancel-safe.
    async fn withdrawn(&mut self) -> Arc<str> {
        let key = std::future::poll_fn(|context| {
            let gone = self.waiting.iter_mut().find_map(|(key, reply)| {
                reply
                    .poll_closed(context)
                    .is_ready()
                    .then(|| Arc::clone(key))
            });
            gone.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        self.waiting.remove(&key);
        key
    }
}

/// Whether the same was answered in the round before.
fn is_said_again(before: &IndexMap<Arc<str>, Answer>, now: &IndexMap<Arc<str>, Answer>) -> bool {
    before.len() == now.len()
        && now.iter().all(|(key, answer)| {
            let said = before.get(key).map(|answer| answer.as_json().get());
            said == Some(answer.as_json().get())
        })
}

/// Arguments are an object; none at all are an empty one.
fn object(arguments: Box<RawValue>) -> Result<Box<RawValue>, String> {
    match arguments.get() {
        text if text.starts_with('{') => Ok(arguments),
        "null" => RawValue::from_string("{}".to_owned()).map_err(|error| error.to_string()),
        _ => Err("the arguments are no object".to_owned()),
    }
}

fn unsendable(problem: String) -> CallError {
    ClientError::Unsendable {
        method: METHOD.to_owned(),
        problem,
    }
    .into()
}
