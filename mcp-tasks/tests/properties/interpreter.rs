//! Runs a program: on the engine, or on the oracle.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::program::{Ask, Block, How, Name, Statement, Step};
use super::trace::{Mark, Want, timeout_of};

/// Something that a function awaits.
pub(crate) type Awaited<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a function can await, and where the outcomes come from.
pub(crate) trait Awaits: Clone + Send + Sync + 'static {
    fn branch(&self, name: Name, place: u32) -> Self;
    /// `key` is `ask.key` with its scope and pass.
    fn ask<'a>(&'a self, ask: &'a Ask, key: &'a str, words: String) -> Awaited<'a, i64>;
    fn step<'a>(&'a self, step: &'a Step, key: &'a str) -> Awaited<'a, i64>;
    fn sleep<'a>(&'a self, site: Name, key: &'a str, seconds: u32) -> Awaited<'a, ()>;
    fn signal(&self, name: Name) -> Awaited<'_, i64>;
    fn cancelled(&self) -> Awaited<'_, ()>;
    fn unrecorded<'a>(&'a self, site: Name, key: &'a str, seconds: u32) -> Awaited<'a, ()>;
    /// In milliseconds.
    fn now(&self) -> u64;
    fn random(&self, site: Name, key: &str) -> i64;
    fn patched(&self, id: Name) -> bool;
    fn set_status(&self, words: Name);
    fn join<'a>(&'a self, branches: Vec<Awaited<'a, i64>>) -> Awaited<'a, Vec<i64>>;
    fn try_join<'a>(
        &'a self,
        branches: Vec<Awaited<'a, Result<i64, i64>>>,
    ) -> Awaited<'a, Result<Vec<i64>, i64>>;
    fn race<'a>(&'a self, branches: Vec<Awaited<'a, i64>>) -> Awaited<'a, i64>;
    fn join_all<'a>(&'a self, branches: Vec<Awaited<'a, i64>>) -> Awaited<'a, Vec<i64>>;
}

/// What one run has done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<Mark>>>);

impl Trace {
    fn add(&self, mark: Mark) {
        self.marks().push(mark);
    }

    pub(crate) fn marks(&self) -> MutexGuard<'_, Vec<Mark>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a function from the top to its end.
pub(crate) async fn run<A: Awaits>(awaits: A, program: Arc<Block>, trace: Trace) -> i64 {
    let interpreter = Interpreter {
        awaits,
        scope: String::new(),
        passes: Arc::default(),
        trace: trace.clone(),
    };
    let value = interpreter.run(&program, 0).await;
    trace.add(Mark::Returned(value));
    value
}

/// A function or one of its branches.
struct Interpreter<A> {
    awaits: A,
    scope: String,
    /// How often each key was passed at each place.
    passes: Arc<Mutex<HashMap<(String, u32), u32>>>,
    trace: Trace,
}

/// A block that was left by `return`.
struct Return(i64);

impl<A: Awaits> Interpreter<A> {
    /// The key of one pass through a place, by the documented rule: written
    /// down here again, so that the engine's is checked by it.
    fn pass(&self, site: &str, place: u32) -> String {
        let key = format!("{}{site}", self.scope);
        let mut passes = self.passes.lock().unwrap_or_else(PoisonError::into_inner);
        let passes = passes.entry((key.clone(), place)).or_default();
        *passes += 1;
        match *passes {
            1 => key,
            n => format!("{key}#{n}"),
        }
    }

    fn branch(&self, name: Name, place: u32) -> Self {
        Self {
            awaits: self.awaits.branch(name, place),
            scope: format!("{}/", self.pass(name, place)),
            passes: self.passes.clone(),
            trace: self.trace.clone(),
        }
    }

    async fn run(&self, block: &Block, last: i64) -> i64 {
        let mut last = last;
        match self.block(block, &mut last).await {
            Ok(()) => last,
            Err(Return(value)) => value,
        }
    }

    fn block<'a>(&'a self, block: &'a Block, last: &'a mut i64) -> Awaited<'a, Result<(), Return>> {
        Box::pin(async move {
            for statement in block {
                self.statement(statement, last).await?;
            }
            Ok(())
        })
    }

    async fn statement(&self, statement: &Statement, last: &mut i64) -> Result<(), Return> {
        match statement {
            Statement::Ask(ask) => *last = self.ask(ask, *last).await,
            Statement::Step(step) => {
                let key = self.pass(step.key, 0);
                self.open(&key, Want::Step(step.function));
                *last = self.awaits.step(step, &key).await;
                self.trace.add(Mark::Got(key, *last));
            }
            Statement::Sleep { key: site, seconds } => {
                let key = self.pass(site, 0);
                self.open(&key, Want::Timer);
                self.awaits.sleep(site, &key, *seconds).await;
                self.trace.add(Mark::Got(key, 0));
            }
            Statement::Together {
                how,
                place,
                branches,
            } => *last = self.together(*how, *place, branches, *last).await,
            Statement::Each {
                name,
                place,
                count,
                body,
            } => {
                let value = *last;
                let branches = (0..*count).map(|_| self.start(name, *place, body, value).0);
                *last = self.awaits.join_all(branches.collect()).await.iter().sum();
            }
            Statement::If { odd, even } => {
                let side = if last.rem_euclid(2) == 1 { odd } else { even };
                self.block(side, last).await?;
            }
            Statement::Loop { passes, body } => {
                for pass in 0..*passes {
                    if pass > 0 && last.rem_euclid(3) == 0 {
                        break;
                    }
                    self.block(body, last).await?;
                }
            }
            Statement::Signal(name) => {
                *last = self.awaits.signal(name).await;
                self.trace.add(Mark::Took(name, *last));
            }
            Statement::Cancelled => {
                self.awaits.cancelled().await;
                self.trace.add(Mark::Cancelled);
            }
            Statement::Unrecorded { key: site, seconds } => {
                let key = self.pass(site, 0);
                self.open(&key, Want::Unrecorded);
                self.awaits.unrecorded(site, &key, *seconds).await;
                self.trace.add(Mark::Got(key, 0));
            }
            Statement::Random(site) => {
                let key = self.pass(&format!("{site}#drawn"), 0);
                *last = self.awaits.random(site, &key);
                self.trace.add(Mark::Drew(key, *last));
            }
            Statement::Patched { id, new, old } => {
                let patched = self.awaits.patched(id);
                self.trace.add(Mark::Patched(id, patched));
                self.block(if patched { new } else { old }, last).await?;
            }
            Statement::Now => {
                let now = self.awaits.now();
                self.trace.add(Mark::Now(now));
                *last = i64::try_from(now).expect("it is not that late");
            }
            Statement::Status(words) => {
                self.awaits.set_status(words);
                self.trace.add(Mark::Status(words));
            }
            Statement::Return => return Err(Return(*last)),
        }
        Ok(())
    }

    fn open(&self, key: &str, want: Want) {
        self.trace.add(Mark::Open(key.to_owned(), want));
    }

    async fn ask(&self, ask: &Ask, last: i64) -> i64 {
        let key = self.pass(ask.key, 0);
        let words = format!("{}:{last}", ask.words);
        self.open(&key, Want::Ask(words.clone()));
        if ask.timeout.is_some() {
            self.open(&timeout_of(&key), Want::Timer);
        }
        let value = self.awaits.ask(ask, &key, words).await;
        self.trace.add(Mark::Got(key, value));
        value
    }

    /// A branch that has not been polled, and its scope.
    fn start<'a>(
        &'a self,
        name: Name,
        place: u32,
        block: &'a Block,
        last: i64,
    ) -> (Awaited<'a, i64>, Arc<Mutex<String>>) {
        let scope = Arc::new(Mutex::new(String::new()));
        let told = scope.clone();
        let branch = Box::pin(async move {
            // Generated code does this inside the branch too.
            let branch = self.branch(name, place);
            told.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone_from(&branch.scope);
            branch.run(block, last).await
        });
        (branch, scope)
    }

    async fn together(&self, how: How, place: u32, branches: &[(Name, Block)], last: i64) -> i64 {
        let (branches, scopes): (Vec<_>, Vec<_>) = branches
            .iter()
            .map(|(name, block)| self.start(name, place, block, last))
            .unzip();
        let value = match how {
            How::Join => return self.awaits.join(branches).await.iter().sum(),
            How::TryJoin => {
                let branches = branches.into_iter().map(|branch| -> Awaited<'_, _> {
                    Box::pin(async {
                        match branch.await {
                            value if value.rem_euclid(4) == 0 => Err(value),
                            value => Ok(value),
                        }
                    })
                });
                match self.awaits.try_join(branches.collect()).await {
                    Ok(values) => return values.iter().sum(),
                    Err(value) => value,
                }
            }
            How::Race => {
                let branches = (0i64..)
                    .zip(branches)
                    .map(|(index, branch)| -> Awaited<'_, _> {
                        Box::pin(async move { branch.await + index })
                    });
                self.awaits.race(branches.collect()).await
            }
        };
        for scope in scopes {
            let scope = scope.lock().unwrap_or_else(PoisonError::into_inner);
            if !scope.is_empty() {
                self.trace.add(Mark::Closed(scope.clone()));
            }
        }
        value
    }
}
