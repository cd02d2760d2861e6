//! Servers that come and go over one store while clients do what they like.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use mcp_tasks::protocol::{Capabilities, ElicitationModes};
use mcp_tasks::runtime::{CallRequest, Called, Runtime};
use mcp_tasks::store::TaskStore as _;
use mcp_tasks::task::{Access, Event, Outcome, Snapshot, TaskId, Timestamp};
use mcp_tasks::{Caller, MemoryStore};
use tokio::time::{Instant, sleep};

use super::engine::{Code, program};
use super::journal::{Journal, answer_any};
use super::observed::Observed;
use super::program::Block;
use super::random::Random;
use super::store::{Fuse, Life, Watched};

/// How a task fares.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) seed: u64,
    /// Whether a cancelled task may clean up.
    pub(crate) grace: bool,
    pub(crate) cancels: bool,
}

/// A store, the servers that use it now, and the one task in it.
pub(crate) struct World {
    store: MemoryStore,
    start: (SystemTime, Instant),
    schedule: Schedule,
    pub(crate) random: Random,
    pub(crate) program: Arc<Block>,
    builds: usize,
    /// How long the journal was when the code was changed.
    changed_at: usize,
    park_after: Duration,
    pub(crate) servers: Vec<Server>,
    lives: usize,
    pub(crate) journal: Arc<Journal>,
    pub(crate) observed: Arc<Observed>,
    id: Option<TaskId>,
}

pub(crate) struct Server {
    pub(crate) number: usize,
    runtime: Runtime,
    pub(crate) life: Arc<Life>,
}

/// The name of all servers.
pub(crate) const SERVER: &str = "properties";

/// As if every world had begun then.
pub(crate) fn beginning() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

impl World {
    pub(crate) fn new(program: Arc<Block>, schedule: Schedule) -> Self {
        let mut random = Random::new(schedule.seed);
        let journal = Journal::new(Random::new(random.seed()));
        journal
            .rush
            .store(*random.pick(&[0, 5, 30]), Ordering::Relaxed);
        let park_after = Duration::from_secs(*random.pick(&[3, 20, 3600]));
        Self {
            store: MemoryStore::new(),
            start: (beginning(), Instant::now()),
            schedule,
            random,
            program,
            builds: 1,
            changed_at: 0,
            park_after,
            servers: Vec::new(),
            lives: 0,
            journal: Arc::new(journal),
            observed: Arc::default(),
            id: None,
        }
    }

    fn now(&self) -> Timestamp {
        (self.start.0 + self.start.1.elapsed()).into()
    }

    pub(crate) fn broken(&self, words: String) {
        self.observed.broken(words);
    }

    fn start_server(&mut self) {
        self.lives += 1;
        let life = Arc::new(Life::default());
        let store = Watched::new(&self.store, self.journal.clone(), life.clone());
        let builder = Runtime::builder(SERVER, "1")
            .build_id(self.builds.to_string())
            .lease(Duration::from_secs(10))
            .park_after(self.park_after)
            .max_recoveries(u32::MAX)
            .tokio_clock(self.start.0, self.start.1)
            .store(store)
            .state(Code {
                program: self.program.clone(),
                journal: self.journal.clone(),
                observed: self.observed.clone(),
                frozen: false,
                life: self.lives,
            });
        let builder = if self.schedule.grace {
            builder.task(program::<true>)
        } else {
            builder.task(program::<false>)
        };
        let runtime = builder.build().expect("the server is put together");
        runtime.start();
        self.journal
            .log(format_args!("server {} starts", self.lives));
        self.servers.push(Server {
            number: self.lives,
            runtime,
            life,
        });
    }

    async fn crash(&mut self, index: usize) {
        let server = self.servers.remove(index);
        self.journal
            .log(format_args!("server {} is gone", server.number));
        server.life.end();
        server.runtime.crash().await.expect("memory does not fail");
    }

    /// Buries the dead, and sees to it that somebody lives.
    async fn tend(&mut self) {
        while let Some(dead) = self.servers.iter().position(|one| one.life.is_over()) {
            self.crash(dead).await;
        }
        if self.servers.is_empty() {
            self.start_server();
        }
    }

    /// All servers die.
    pub(crate) async fn end(&mut self) {
        while !self.servers.is_empty() {
            self.crash(0).await;
        }
        turns(20).await;
    }

    /// From now on servers run other code.
    pub(crate) fn change(&mut self, program: Arc<Block>) {
        self.journal.log("the code is changed");
        self.program = program;
        self.builds += 1;
        self.changed_at = self.journal.len();
    }

    /// Calls the tool.
    pub(crate) async fn call(&mut self) {
        self.start_server();
        let capabilities = Capabilities {
            tasks: true,
            elicitation: ElicitationModes {
                form: true,
                url: false,
            },
            ..Capabilities::default()
        };
        let call = CallRequest {
            arguments: None,
            caller: &Caller::anonymous(),
            capabilities,
            client: None,
            meta: None,
            retry: None,
            session: None,
            progress: None,
        };
        let runtime = &self.servers[0].runtime;
        let tool = runtime.tool("program").expect("the tool is there");
        match runtime.call(tool, call).await {
            Ok(Called::Task(snapshot)) => self.id = Some(snapshot.id.clone()),
            other => panic!("no task: {other:?}"),
        }
    }

    /// Whether a cancelled task may clean up.
    pub(crate) fn grace(&self) -> bool {
        self.schedule.grace
    }

    pub(crate) fn id(&self) -> &TaskId {
        self.id.as_ref().expect("the tool was called")
    }

    /// The task as everybody sees it.
    pub(crate) async fn get(&self) -> Arc<Snapshot> {
        let found = self.store.get(self.id(), Access::Server).await;
        found.expect("memory does not fail").expect("it is kept")
    }

    pub(crate) fn ended(&self) -> bool {
        self.journal
            .any(|event| matches!(event, Event::Finished(_)))
    }

    /// Whether servers have run other code before.
    pub(crate) fn has_changed(&self) -> bool {
        self.builds > 1
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        let cancelled = |event: &Event| matches!(event, Event::Finished(Outcome::Cancelled));
        self.journal.any(cancelled)
    }

    /// Whether the code of today was found not to fit.
    pub(crate) fn held(&self) -> bool {
        let journal = self.journal.entries();
        let mut since = journal[self.changed_at..].iter().rev();
        let last = since.find_map(|entry| match &entry.event {
            Event::Held(_) => Some(true),
            Event::Resumed | Event::Finished(_) => Some(false),
            _ => None,
        });
        last.unwrap_or(false)
    }

    /// Whether the code of today was ever found not to fit.
    pub(crate) fn was_held(&self) -> bool {
        let journal = self.journal.entries();
        let mut since = journal[self.changed_at..].iter();
        since.any(|entry| matches!(entry.event, Event::Held(_)))
    }

    /// How much of the journal the first run of a program was given.
    pub(crate) fn first_run_of(&self, program: &Arc<Block>) -> Option<usize> {
        let observed = self.observed.lock();
        let mut runs = observed.runs.iter();
        let first = runs.find(|run| Arc::ptr_eq(&run.program, program))?;
        Some(first.loaded)
    }

    /// Lets things happen, good and bad.
    pub(crate) async fn live_through(&mut self, events: usize, bad: u32) {
        for _ in 0..events {
            if self.ended() || self.held() {
                return;
            }
            self.tend().await;
            if self.random.percent(bad) {
                self.something_bad().await;
                continue;
            }
            match self.random.between(1, 100) {
                ..=30 => turns(self.random.below(12)).await,
                31..=50 => {
                    let most = *self.random.pick(&[2, 300, 20_000, 120_000]);
                    let millis = self.random.between(1, most);
                    self.journal.log(format_args!("{millis} ms go by"));
                    sleep(Duration::from_millis(millis.into())).await;
                }
                51..=78 => self.answer(),
                79..=83 => self.answer_late(),
                84..=89 => {
                    let now = self.now();
                    answer_any(&self.store, &self.journal, self.id(), now).await;
                }
                91..=93 => self.signal(),
                90 if self.schedule.cancels => {
                    let (runtime, id) = (self.any_server(), self.id().clone());
                    self.journal.log("cancel");
                    tokio::spawn(async move {
                        let caller = Caller::anonymous();
                        runtime.cancel(&id, &caller).await.expect("it is there");
                    });
                }
                _ => self.look().await,
            }
        }
    }

    async fn something_bad(&mut self) {
        let index = self.random.below(self.servers.len());
        match self.random.between(1, 100) {
            ..=35 => self.crash(index).await,
            36..=80 => {
                let fuse = Fuse {
                    commits: self.random.below(3),
                    before: self.random.percent(50),
                };
                self.servers[index].life.light(fuse);
            }
            _ if self.servers.len() < 3 => self.start_server(),
            _ => {}
        }
    }

    pub(crate) fn any_server(&mut self) -> Runtime {
        self.random.pick(&self.servers).runtime.clone()
    }

    /// Does what brings the task to its end; false if that was in vain.
    pub(crate) async fn bring_to_an_end(&mut self) -> bool {
        for round in 0..600 {
            self.tend().await;
            self.rest().await;
            if self.ended() || self.held() {
                return true;
            }
            let before = self.journal.len();
            self.answer();
            if round % 5 == 4 {
                self.signal();
            }
            self.rest().await;
            if self.journal.len() == before {
                let seconds = if round % 2 == 0 { 4 } else { 40 };
                sleep(Duration::from_secs(seconds)).await;
            }
        }
        false
    }
}

/// Lets others run.
pub(crate) async fn turns(turns: usize) {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
}
