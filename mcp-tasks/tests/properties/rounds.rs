//! Random programs as calls of a client without tasks: each round is run by a
//! server that knows nothing but the state that the client brings.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_tasks::protocol::{Capabilities, ElicitationModes, InputRequest};
use mcp_tasks::runtime::{CallRequest, Called, InputRequired, Retry, Runtime};
use mcp_tasks::task::{Answer, InputKey};
use mcp_tasks::{Caller, MemoryStore};
use tokio::time::{Instant, sleep};

use super::clients::response;
use super::engine::{Code, program};
use super::generate;
use super::journal::Journal;
use super::observed::Observed;
use super::program::{Block, Care, Listing, Statement, blocks_mut};
use super::random::Random;
use super::trace::{Mark, compare};
use super::world::beginning;

/// A call whose client is asked in rounds.
struct Rounds {
    store: MemoryStore,
    start: Instant,
    program: Arc<Block>,
    random: Random,
    journal: Arc<Journal>,
    observed: Arc<Observed>,
    lives: usize,
    /// What was asked under each key, and whether it has been answered.
    asked: HashMap<InputKey, (InputRequest, bool)>,
}

impl Rounds {
    fn new(program: Block, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let journal = Journal::new(Random::new(random.seed()));
        Self {
            store: MemoryStore::new(),
            start: Instant::now(),
            program: Arc::new(program),
            random,
            journal: Arc::new(journal),
            observed: Arc::default(),
            lives: 0,
            asked: HashMap::new(),
        }
    }

    /// Plays the call to its end; gives what it returned, if it could.
    async fn play(&mut self) -> Result<Option<String>, String> {
        let mut runtime = self.server();
        let mut called = self.call(&runtime, None).await;
        loop {
            let required = match called {
                Ok(Called::Result(result)) => {
                    let result: serde_json::Value =
                        serde_json::from_str(result.get()).map_err(|error| error.to_string())?;
                    let text = result["content"][0]["text"].as_str();
                    return Ok(text.map(str::to_owned));
                }
                Ok(Called::InputRequired(required)) => required,
                // It waits for a signal, and nothing else.
                Err(error) if error.code.0 == -32021 => return Ok(None),
                other => return Err(format!("{other:?}")),
            };
            self.look_at(&required)?;
            if self.random.percent(40) {
                runtime = self.server();
            }
            if self.random.percent(40) {
                sleep(Duration::from_secs(self.random.between(1, 30).into())).await;
            }
            called = self.answer(&runtime, &required).await;
        }
    }

    fn server(&mut self) -> Runtime {
        self.lives += 1;
        Runtime::builder("properties", "1")
            .tokio_clock(beginning(), self.start)
            .store(self.store.share())
            .state(Code {
                program: self.program.clone(),
                journal: self.journal.clone(),
                observed: self.observed.clone(),
                frozen: false,
                life: self.lives,
            })
            .task(program::<true>)
            .build()
            .expect("the server is put together")
    }

    async fn call(
        &self,
        runtime: &Runtime,
        retry: Option<&Retry<'_>>,
    ) -> Result<Called, mcp_tasks::ProtocolError> {
        let call = CallRequest {
            arguments: None,
            caller: &Caller::anonymous(),
            capabilities: Capabilities {
                elicitation: ElicitationModes {
                    form: true,
                    url: false,
                },
                ..Capabilities::default()
            },
            client: None,
            meta: None,
            retry,
            session: None,
            progress: None,
        };
        let tool = runtime.tool("program").expect("the tool is there");
        runtime.call(tool, call).await
    }

    /// Whether each question is what it was, and waits for an answer.
    fn look_at(&mut self, required: &InputRequired) -> Result<(), String> {
        if required.requests.is_empty() {
            return Err("a round asks nothing".to_owned());
        }
        for (key, request) in &required.requests {
            match self.asked.get(key) {
                Some((_, true)) => return Err(format!("{key} is asked after its answer")),
                Some((before, _)) if before != request => {
                    return Err(format!("{key} is asked in other words"));
                }
                _ => {
                    self.asked.insert(key.clone(), (request.clone(), false));
                }
            }
        }
        Ok(())
    }

    /// Answers some of the questions, and some that were not asked.
    async fn answer(
        &mut self,
        runtime: &Runtime,
        required: &InputRequired,
    ) -> Result<Called, mcp_tasks::ProtocolError> {
        let mut chosen: Vec<InputKey> = Vec::new();
        for (key, _) in &required.requests {
            if self.random.percent(60) {
                chosen.push(key.clone());
            }
        }
        if self.random.percent(20) {
            chosen.push(InputKey::new("unheard-of"));
        }
        let responses: Vec<_> = chosen
            .iter()
            .map(|_| response(&mut self.random, self.asked.len()))
            .collect();
        let answers = chosen.iter().zip(&responses);
        let answers = answers.map(|(key, response)| Answer {
            key: key.clone(),
            response,
        });
        let retry = Retry {
            state: Cow::Borrowed(&required.state),
            answers: answers.collect(),
        };
        let called = self.call(runtime, Some(&retry)).await;
        for key in chosen {
            if let Some((_, answered)) = self.asked.get_mut(&key) {
                *answered = true;
            }
        }
        called
    }

    /// What must hold of all rounds together.
    fn check(&self, returned: Option<&str>) -> Vec<String> {
        let observed = self.observed.lock();
        let mut broken = observed.broken.clone();
        let Some(last) = observed.runs.last() else {
            return vec!["nothing ran".to_owned()];
        };
        let last = last.trace.marks().clone();
        for run in &observed.runs {
            if let Err(parted) = compare(&run.trace.marks(), &last) {
                broken.push(format!(
                    "the run of life {} went astray: {parted}",
                    run.life
                ));
            }
        }
        if let (Some(text), Some(Mark::Returned(value))) = (returned, last.last())
            && text != value.to_string()
        {
            broken.push(format!("the result is {text}, not {value}"));
        }
        let mut effects = observed.effects.clone();
        effects.sort();
        for twice in effects.windows(2).filter(|pair| pair[0] == pair[1]) {
            broken.push(format!("the step {} ran twice", twice[0]));
        }
        broken
    }
}

/// Leaves nothing to chance in steps: each that has run has done so once.
fn calm(block: &mut Block) {
    for statement in block {
        if let Statement::Step(step) = statement {
            step.fails = 0;
            step.attempts = 1;
            step.care = Care::None;
        }
        blocks_mut(statement).into_iter().for_each(calm);
    }
}

#[test]
fn a_call_in_rounds_does_what_one_run_would_have_done() {
    super::each_seed(250, |seed| {
        let mut program = generate::program(seed);
        calm(&mut program);
        let mut rounds = Rounds::new(program, seed);
        let played = super::case::block_on(async { rounds.play().await });
        let broken = match &played {
            Ok(returned) => rounds.check(returned.as_deref()),
            Err(words) => vec![words.clone()],
        };
        assert!(
            broken.is_empty(),
            "seed {seed}: {broken:#?}\n{}",
            Listing(&rounds.program)
        );
    });
}
