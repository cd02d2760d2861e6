//! The stopwatch: fills a world with waiting tasks, and times one more.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tokio::task::yield_now;

use crate::{Side, Status};

/// How often every world gets its turn.
pub(crate) const ROUNDS: usize = 20;

const ARGUMENTS: &str = r#"{"greeting":"Hello"}"#;
const INPUT_RESPONSES: &str = r#"{"text":{"action":"accept","content":{"answer":"Ada"}}}"#;

/// What happens in one turn.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Bursts of tasks; before each, what has ended is given time to go.
    pub(crate) bursts: usize,
    /// Tasks of a burst that only warm the caches.
    pub(crate) warm: usize,
    /// Tasks of a burst that are timed.
    pub(crate) timed: usize,
    /// Reads that are timed as one, being too short for the clock.
    pub(crate) gets: usize,
    /// How many tasks fewer wait: about as many as have just ended while one is
    /// timed. Rmcp looks at these too, and must not pay for them.
    pub(crate) fewer: usize,
    /// How long an ended task is given to be deleted.
    pub(crate) settle: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            bursts: 20,
            warm: 2,
            timed: 3,
            gets: 16,
            fewer: 3,
            settle: Duration::from_millis(4),
        }
    }
}

/// Times of one operation, in nanoseconds.
#[derive(Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    fn add(&mut self, time: Duration, of: usize) {
        #[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
        self.0.push(time.as_nanos() as f64 / of as f64);
    }

    pub(crate) fn median(&mut self) -> f64 {
        self.0.sort_by(f64::total_cmp);
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// The operations, in the order of a task's life.
#[derive(Default)]
pub(crate) struct Operations<T> {
    pub(crate) create: T,
    pub(crate) ask: T,
    pub(crate) get: T,
    pub(crate) get_any: T,
    pub(crate) answer: T,
    pub(crate) finish: T,
}

/// What came out for one world.
pub(crate) struct Column {
    /// How many tasks waited.
    pub(crate) waiting: usize,
    /// Resident bytes for each of them.
    pub(crate) bytes: Option<f64>,
    /// Medians in nanoseconds.
    pub(crate) medians: Operations<f64>,
}

/// One side with a number of tasks that wait.
pub(crate) struct World<S: Side> {
    side: S,
    plan: Plan,
    waiting: Vec<S::Id>,
    bytes: Option<f64>,
    times: Operations<Times>,
    /// The state of a generator of numbers that need not be good.
    dice: u64,
}

impl<S: Side> World<S> {
    pub(crate) async fn fill(side: S, count: usize, plan: Plan) -> Self {
        let before = resident_bytes();
        let mut waiting = Vec::with_capacity(count);
        for _ in plan.fewer..count {
            waiting.push(side.create(ARGUMENTS, true).await);
            yield_now().await;
        }
        #[expect(clippy::cast_precision_loss, reason = "memory is not that large")]
        let bytes = before
            .zip(resident_bytes())
            .map(|(before, after)| after.saturating_sub(before) as f64 / count as f64);
        for id in &waiting {
            assert_eq!(side.get(id).await, Status::Asking);
        }
        Self {
            side,
            plan,
            waiting,
            bytes,
            times: Operations::default(),
            dice: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// Times some tasks.
    pub(crate) async fn turn(&mut self) {
        for _ in 0..self.plan.bursts {
            for _ in 0..self.plan.warm {
                self.cycle(false).await;
            }
            for _ in 0..self.plan.timed {
                self.cycle(true).await;
            }
            self.any().await;
        }
    }

    async fn cycle(&mut self, counts: bool) {
        let side = &self.side;
        let begun = Instant::now();
        let id = side.create(black_box(ARGUMENTS), false).await;
        let created = Instant::now();
        let mut working = 0;
        while side.get(&id).await == Status::Working {
            working += 1;
            yield_now().await;
        }
        let asked = Instant::now();
        let id = S::incoming(&id);
        let getting = Instant::now();
        for _ in 0..self.plan.gets {
            black_box(side.get(black_box(&id)).await);
        }
        let got = Instant::now();
        side.seen().take();
        let answering = Instant::now();
        side.update(&id, black_box(INPUT_RESPONSES)).await;
        let mut status = Status::Asking;
        while matches!(status, Status::Asking | Status::Working) {
            yield_now().await;
            status = side.get(&id).await;
        }
        let finished = Instant::now();
        // On a busy machine one of rmcp's short ttls may be over too soon.
        if let Some(seen) = side.seen().take()
            && counts
            && working == 1
            && status == Status::Completed
        {
            let times = &mut self.times;
            times.create.add(created - begun, 1);
            times.ask.add(asked - created, 1);
            times.get.add(got - getting, self.plan.gets);
            times.answer.add(seen - answering, 1);
            times.finish.add(finished - seen, 1);
        }
    }

    /// Reads tasks at random, and waits until those that have ended are deleted.
    async fn any(&mut self) {
        let ids: Vec<S::Id> = (0..self.plan.gets)
            .map(|_| {
                let index = self.dice();
                S::incoming(&self.waiting[index])
            })
            .collect();
        let getting = Instant::now();
        for id in &ids {
            black_box(self.side.get(id).await);
        }
        let got = Instant::now();
        self.times.get_any.add(got - getting, ids.len());
        while got.elapsed() < self.plan.settle {
            self.side.get(&ids[0]).await;
            yield_now().await;
        }
    }

    fn dice(&mut self) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        usize::try_from(self.dice % self.waiting.len() as u64).expect("less than a length")
    }

    pub(crate) fn into_column(mut self) -> Column {
        let times = &mut self.times;
        Column {
            waiting: self.waiting.len() + self.plan.fewer,
            bytes: self.bytes,
            medians: Operations {
                create: times.create.median(),
                ask: times.ask.median(),
                get: times.get.median(),
                get_any: times.get_any.median(),
                answer: times.answer.median(),
                finish: times.finish.median(),
            },
        }
    }
}

/// What the process holds in memory, where the system says it.
fn resident_bytes() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}
