//! Programs as task functions: run through the calls that `#[mcp_task]` writes.

use std::sync::Arc;
use std::time::Duration;

use mcp_tasks::__private::{
    Arguments, Bind, BindLazy, Body, CallContext, DecodeError, Definition, Flow, Site, TaskCall,
    branch, durable, join, race, try_join,
};
use mcp_tasks::prelude::*;
use mcp_tasks::task::{Event, Outcome};

use super::interpreter::{Awaited, Awaits, Trace, run};
use super::journal::Journal;
use super::observed::{Observed, Run};
use super::program::{Ask, Block, Care, Name, Step};
use super::random::Random;
use super::trace::{DECLINED, DISMISSED, FAILED, SKIPPED, TIMED_OUT};

/// A server's code, and what its tests see of it: a state of the server.
#[derive(Clone)]
pub(crate) struct Code {
    pub(crate) program: Arc<Block>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) observed: Arc<Observed>,
    /// Whether steps never end: then nothing goes beyond what is recorded.
    pub(crate) frozen: bool,
    /// Which life of which server runs it.
    pub(crate) life: usize,
}

/// The tool, with or without time to clean up.
pub(crate) fn program<const GRACE: bool>(State(code): State<Code>) -> ProgramCall<GRACE> {
    ProgramCall(Arguments(code).body(|flow, code: Code| {
        let trace = Trace::default();
        code.observed.run(Run {
            life: code.life,
            program: code.program.clone(),
            loaded: code.journal.loaded(),
            trace: trace.clone(),
        });
        let running = Running {
            flow,
            code: code.clone(),
        };
        async move {
            let value = run(running, code.program, trace).await;
            value.to_string()
        }
    }))
}

/// A call of a program.
pub(crate) struct ProgramCall<const GRACE: bool>(Body);

impl<const GRACE: bool> TaskCall<(State<Code>,)> for ProgramCall<GRACE> {
    fn definition() -> Definition {
        let definition = Definition::new("program")
            .ttl_ms(None)
            .extract(mcp_tasks::__private::Of::<State<Code>>::extractor());
        if GRACE {
            definition.cancel_grace_ms(30_000)
        } else {
            definition
        }
    }

    fn decode(call: &CallContext<'_>) -> Result<Self, DecodeError> {
        Ok(program(call.extract::<State<Code>>()?))
    }

    fn into_body(self) -> Body {
        self.0
    }
}

/// A function or a branch of it on the engine.
#[derive(Clone)]
struct Running {
    flow: Flow,
    code: Code,
}

impl Running {
    /// Does what the step of this key does to the world outside.
    async fn perform(&self, step: &Step, key: &str) -> Result<i64, String> {
        let done = |event: &Event| match event {
            Event::StepDone { key: its, .. } => its.as_str() == key,
            // A cancellation takes its time to get about.
            Event::Finished(outcome) => !matches!(outcome, Outcome::Cancelled),
            _ => false,
        };
        let journal = &self.code.journal;
        let (number, effects) = self.code.observed.effect(key);
        if journal.any(done) {
            self.broken(format!("the step {key} runs though its end is recorded"));
        }
        let intends = |event: &Event| matches!(event, Event::StepIntended { key: its, .. } if its.as_str() == key);
        let said = journal.count(intends);
        let most = match step.care {
            Care::None | Care::Typed => usize::MAX,
            Care::RunAgain if said > 0 => usize::MAX,
            Care::Fail | Care::RunAgain | Care::Skip => said,
        };
        if effects > most && !self.code.frozen {
            self.broken(format!(
                "{key} runs for the {effects}th time, said to {said} times"
            ));
        }
        if self.code.frozen {
            std::future::pending::<()>().await;
        }
        if step.seconds > 0 {
            tokio::time::sleep(Duration::from_secs(step.seconds.into())).await;
        }
        let mut random = self.code.journal.random();
        if random.percent(step.fails) {
            return Err(format!("failure {number}"));
        }
        Ok(value(number, &mut random))
    }

    /// What is done again in every run.
    async fn look(&self, key: &str, seconds: u32) {
        let ran = |event: &Event| matches!(event, Event::Ran { key: its } if its.as_str() == key);
        if self.code.frozen && !self.code.journal.any(ran) {
            std::future::pending::<()>().await;
        }
        if seconds > 0 && !self.code.frozen {
            tokio::time::sleep(Duration::from_secs(seconds.into())).await;
        }
    }

    fn broken(&self, words: String) {
        self.code.observed.broken(words);
    }
}

/// A value that says which it is, and is otherwise random.
pub(crate) fn value(number: i64, random: &mut Random) -> i64 {
    number * 12 + i64::from(random.between(0, 11))
}

impl Awaits for Running {
    fn branch(&self, name: Name, place: u32) -> Self {
        Self {
            flow: self.flow.branch(name, place),
            ..self.clone()
        }
    }

    fn ask<'a>(&'a self, ask: &'a Ask, _: &'a str, words: String) -> Awaited<'a, i64> {
        Box::pin(async move {
            let mut question = ask_user::<i64>(words);
            if let Some(seconds) = ask.timeout {
                question = question.timeout(Duration::from_secs(seconds.into()));
            }
            match durable(Bind(question).bind(&self.flow, Site::new(ask.key))).await {
                Ok(value) => value,
                Err(AskError::Declined) => DECLINED,
                Err(AskError::Dismissed) => DISMISSED,
                Err(AskError::TimedOut) => TIMED_OUT,
                Err(error) => panic!("no client is like that: {error}"),
            }
        })
    }

    fn step<'a>(&'a self, step: &'a Step, key: &'a str) -> Awaited<'a, i64> {
        Box::pin(async move {
            let site = Site::new(step.key).function(step.function);
            let at_most_once = match step.care {
                Care::None | Care::Typed => None,
                // Nothing that is decided anew is part of what is recorded.
                Care::Fail | Care::Skip if self.code.frozen => Some(OnAmbiguous::RunAgain),
                Care::Fail => Some(OnAmbiguous::Fail),
                Care::RunAgain => Some(OnAmbiguous::RunAgain),
                Care::Skip => Some(OnAmbiguous::Skip(SKIPPED)),
            };
            // What `step` and `step_with` give differs in its type.
            macro_rules! run {
                ($call:expr) => {{
                    let call = async { Bind($call).evaluated().await };
                    let bound = BindLazy(call).bind(&self.flow, site);
                    match at_most_once {
                        _ if step.care == Care::Typed => {
                            durable(bound.typed()).await.unwrap_or(FAILED)
                        }
                        None => durable(bound).await.unwrap_or(FAILED),
                        Some(ambiguous) => durable(bound.at_most_once(ambiguous))
                            .await
                            .unwrap_or(FAILED),
                    }
                }};
            }
            if step.attempts == 1 {
                run!(mcp_tasks::step(self.perform(step, key)))
            } else {
                let policy = Retry::attempts(step.attempts).first(Duration::from_secs(5));
                run!(step_with(policy, || self.perform(step, key)))
            }
        })
    }

    fn sleep<'a>(&'a self, site: Name, _: &'a str, seconds: u32) -> Awaited<'a, ()> {
        Box::pin(async move {
            let timer = sleep(Duration::from_secs(seconds.into()));
            durable(Bind(timer).bind(&self.flow, Site::new(site))).await;
        })
    }

    fn signal(&self, name: Name) -> Awaited<'_, i64> {
        Box::pin(async move {
            let value: Result<i64, SignalError> =
                durable(Bind(signal(name)).bind(&self.flow, Site::new("signal"))).await;
            value.expect("signals are numbers here")
        })
    }

    fn cancelled(&self) -> Awaited<'_, ()> {
        let cancelled = Bind(cancelled()).bind(&self.flow, Site::new("cancelled"));
        Box::pin(durable(cancelled))
    }

    fn unrecorded<'a>(&'a self, site: Name, key: &'a str, seconds: u32) -> Awaited<'a, ()> {
        let look = unrecorded(self.look(key, seconds));
        Box::pin(durable(Bind(look).bind(&self.flow, Site::new(site))))
    }

    fn now(&self) -> u64 {
        let now = Bind(now()).bind(&self.flow, Site::new("now"));
        mcp_tasks::task::Timestamp::from(now).as_millis()
    }

    fn random(&self, site: Name, key: &str) -> i64 {
        let drawn = Bind(random::<u32>()).bind(&self.flow, Site::new(site));
        let drawn = i64::from(drawn);
        let first = self.code.journal.drawn(key, drawn);
        if first != drawn {
            self.broken(format!("{key} is {drawn} now, and was {first}"));
        }
        drawn
    }

    fn patched(&self, id: Name) -> bool {
        Bind(patched(id)).bind(&self.flow, Site::new("patched"))
    }

    fn set_status(&self, words: Name) {
        Bind(set_status(words)).bind(&self.flow, Site::new("set_status"));
    }

    fn join<'a>(&'a self, branches: Vec<Awaited<'a, i64>>) -> Awaited<'a, Vec<i64>> {
        Box::pin(async {
            let mut all = branches.into_iter().map(branch);
            let mut next = || all.next();
            match (next(), next(), next()) {
                (Some(a), None, _) => vec![join(&self.flow, (a,)).await.0],
                (Some(a), Some(b), None) => {
                    let (a, b) = join(&self.flow, (a, b)).await;
                    vec![a, b]
                }
                (Some(a), Some(b), Some(c)) => {
                    let (a, b, c) = join(&self.flow, (a, b, c)).await;
                    vec![a, b, c]
                }
                (None, ..) => Vec::new(),
            }
        })
    }

    fn try_join<'a>(
        &'a self,
        branches: Vec<Awaited<'a, Result<i64, i64>>>,
    ) -> Awaited<'a, Result<Vec<i64>, i64>> {
        Box::pin(async {
            let mut all = branches.into_iter().map(branch);
            let mut next = || all.next();
            Ok(match (next(), next(), next()) {
                (Some(a), None, _) => vec![try_join(&self.flow, (a,)).await?.0],
                (Some(a), Some(b), None) => {
                    let (a, b) = try_join(&self.flow, (a, b)).await?;
                    vec![a, b]
                }
                (Some(a), Some(b), Some(c)) => {
                    let (a, b, c) = try_join(&self.flow, (a, b, c)).await?;
                    vec![a, b, c]
                }
                (None, ..) => Vec::new(),
            })
        })
    }

    fn race<'a>(&'a self, branches: Vec<Awaited<'a, i64>>) -> Awaited<'a, i64> {
        Box::pin(async {
            let mut all = branches.into_iter().map(branch);
            let mut next = || all.next();
            match (next(), next(), next()) {
                (Some(a), None, _) => race(&self.flow, (a,)).await,
                (Some(a), Some(b), None) => race(&self.flow, (a, b)).await,
                (Some(a), Some(b), Some(c)) => race(&self.flow, (a, b, c)).await,
                (None, ..) => unreachable!("a race has branches"),
            }
        })
    }

    fn join_all<'a>(&'a self, branches: Vec<Awaited<'a, i64>>) -> Awaited<'a, Vec<i64>> {
        let branches = branches.into_iter().map(branch);
        Box::pin(Bind(join_all(branches)).bind(&self.flow, Site::new("each")))
    }
}
