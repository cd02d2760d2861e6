//! The stopwatch: what one operation on one task takes while others wait, on all
//! sides in turn.

use std::time::{Duration, Instant};

use mcp_tasks::task::TaskId;

use crate::engine::Engine;

/// One of those that are compared.
pub(crate) trait Side {
    type Id;

    /// Makes so many tasks that wait for a day.
    async fn fill(&self, count: usize) -> Vec<Self::Id>;
    /// The id as a request brings it: its text in fresh memory.
    fn incoming(id: &Self::Id) -> Self::Id;
    async fn create(&self) -> Self::Id;
    /// Comes back when a read has shown the question, or that there will be none.
    async fn asked(&self, id: &Self::Id) -> bool;
    async fn get(&self, id: &Self::Id);
    async fn answer(&self, id: &Self::Id);
    /// Comes back when a read has shown how it ended; says whether well.
    async fn finished(&self, id: &Self::Id) -> bool;
    /// Gives what has ended the time to be deleted, where that makes a difference.
    async fn settle(&self) {}
}

/// How many callers fill a world.
const CALLERS: usize = 64;

impl Side for Engine {
    type Id = TaskId;

    async fn fill(&self, count: usize) -> Vec<TaskId> {
        let mut callers = tokio::task::JoinSet::new();
        for caller in 0..CALLERS {
            let engine = self.clone();
            callers.spawn(async move {
                let mut ids = Vec::new();
                for _ in (caller..count).step_by(CALLERS) {
                    ids.push(engine.create_and_see().await);
                }
                ids
            });
        }
        callers.join_all().await.concat()
    }

    fn incoming(id: &TaskId) -> TaskId {
        TaskId::from_text(id.as_str())
    }

    async fn create(&self) -> TaskId {
        Engine::create(self).await
    }

    async fn asked(&self, id: &TaskId) -> bool {
        Engine::asked(self, id).await;
        true
    }

    async fn get(&self, id: &TaskId) {
        std::hint::black_box(Engine::get(self, id).await);
    }

    async fn answer(&self, id: &TaskId) {
        Engine::answer(self, id).await;
    }

    async fn finished(&self, id: &TaskId) -> bool {
        Engine::finished(self, id).await;
        true
    }
}

/// Times of one operation.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn extend(&mut self, times: Vec<Duration>) {
        self.0.extend(times);
    }

    /// In seconds; not a number if there are none.
    pub(crate) fn median(&mut self) -> f64 {
        self.0.sort();
        let median = self.0.get(self.0.len() / 2);
        median.map_or(f64::NAN, Duration::as_secs_f64)
    }
}

/// What is timed, in the order in which it is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A task that has just been used.
    Get,
    /// One of those that wait, at random.
    GetAny,
    /// Until the task is durable and its call answered.
    Create,
    /// From there, until a read shows the question.
    Ask,
    /// Until the answer is acknowledged.
    Answer,
    /// From there, until a read shows the result.
    Finish,
    /// The last three.
    AskAnswerFinish,
    /// From the call until its question is durable and nothing of the task in
    /// memory.
    Park,
    /// From the answer to a parked task to its result.
    Resume,
}

impl Operation {
    pub(crate) const ALL: [Self; 9] = [
        Self::Get,
        Self::GetAny,
        Self::Create,
        Self::Ask,
        Self::Answer,
        Self::Finish,
        Self::AskAnswerFinish,
        Self::Park,
        Self::Resume,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "`tasks/get`",
            Self::GetAny => "`tasks/get` of any",
            Self::Create => "create",
            Self::Ask => "ask",
            Self::Answer => "answer",
            Self::Finish => "finish",
            Self::AskAnswerFinish => "ask, answer, finish",
            Self::Park => "create, ask, park",
            Self::Resume => "answer parked, finish",
        }
    }
}

/// Medians in seconds, by operation.
#[derive(Default)]
pub(crate) struct Stopwatch([Times; Operation::ALL.len()]);

impl Stopwatch {
    pub(crate) fn add(&mut self, operation: Operation, time: Duration) {
        self.0[operation as usize].add(time);
    }

    pub(crate) fn median(&mut self, operation: Operation) -> f64 {
        self.0[operation as usize].median()
    }
}

/// One side with a number of tasks that wait.
pub(crate) struct World<S: Side> {
    pub(crate) side: S,
    pub(crate) waiting: Vec<S::Id>,
    pub(crate) stopwatch: Stopwatch,
    dice: Dice,
}

/// Reads that are timed as one: some are too short for the clock.
const GETS: u32 = 8;

/// Tasks that are timed in a turn, and one more that only warms the caches.
const TIMED: usize = 4;

impl<S: Side> World<S> {
    pub(crate) fn new(side: S, waiting: Vec<S::Id>) -> Self {
        Self {
            side,
            waiting,
            stopwatch: Stopwatch::default(),
            dice: Dice::default(),
        }
    }

    /// Times some tasks.
    pub(crate) async fn turn(&mut self) {
        self.cycle(false).await;
        for _ in 0..TIMED {
            self.cycle(true).await;
        }
        let ids: Vec<S::Id> = (0..GETS)
            .map(|_| S::incoming(&self.waiting[self.dice.below(self.waiting.len())]))
            .collect();
        let getting = Instant::now();
        for id in &ids {
            self.side.get(id).await;
        }
        self.stopwatch
            .add(Operation::GetAny, getting.elapsed() / GETS);
        self.side.settle().await;
    }

    async fn cycle(&mut self, counts: bool) {
        let side = &self.side;
        let begun = Instant::now();
        let id = side.create().await;
        let created = Instant::now();
        let has_asked = side.asked(&id).await;
        let asked = Instant::now();
        let id = S::incoming(&id);
        let getting = Instant::now();
        for _ in 0..GETS {
            side.get(&id).await;
        }
        let got = Instant::now();
        side.answer(&id).await;
        let answered = Instant::now();
        let has_finished = side.finished(&id).await;
        let finished = Instant::now();
        // On a busy machine one of rmcp's short ttls may be over too soon.
        if counts && has_asked && has_finished {
            let stopwatch = &mut self.stopwatch;
            stopwatch.add(Operation::Create, created - begun);
            stopwatch.add(Operation::Ask, asked - created);
            stopwatch.add(Operation::Get, (got - getting) / GETS);
            stopwatch.add(Operation::Answer, answered - got);
            stopwatch.add(Operation::Finish, finished - answered);
            let all = (asked - created) + (finished - got);
            stopwatch.add(Operation::AskAnswerFinish, all);
        }
    }
}

/// Numbers that need not be good.
pub(crate) struct Dice(u64);

impl Default for Dice {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Dice {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("less than a length")
    }
}
