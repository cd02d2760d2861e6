//! One program that is tried, and what is said of it if it fails.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mcp_tasks::task::{Entry, Event};

use super::beginnings;
use super::change::{Change, Kind};
use super::check;
use super::generate::{size, smaller};
use super::program::{Block, Listing};
use super::random::Random;
use super::world::{Schedule, World};

/// A program, and what is changed in it while a task is under way.
pub(crate) struct Case {
    pub(crate) program: Block,
    pub(crate) change: Option<Change>,
}

/// What went wrong.
pub(crate) struct Failure {
    broken: Vec<String>,
    schedule: Vec<String>,
    journal: Vec<Entry>,
}

/// Runs a future on a clock of its own.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("there is a runtime").block_on(future)
}

impl Case {
    /// Lets the task of this program live a life that is given by the seed.
    pub(crate) fn run(&self, seed: u64) -> Result<(), Failure> {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            block_on(async {
                let mut random = Random::new(seed);
                let schedule = Schedule {
                    seed: random.seed(),
                    grace: random.percent(50),
                    cancels: random.percent(30),
                };
                let program = Arc::new(self.program.clone());
                let mut world = World::new(program.clone(), schedule);
                world.call().await;
                let (events, bad) = (*random.pick(&[10, 40, 120]), *random.pick(&[0, 10, 30]));
                world.live_through(events, bad).await;
                let mut broken = match self.change {
                    None => {
                        world.bring_to_an_end().await;
                        world.end().await;
                        let mut broken = check::ended(&world, &program, 1).await;
                        broken.extend(check::old_sides(&world));
                        broken
                    }
                    Some(change) => {
                        world.end().await;
                        change_code(&mut world, &program, change, events / 2, bad).await
                    }
                };
                broken.append(&mut world.observed.lock().broken);
                if broken.is_empty() {
                    return Ok(());
                }
                Err(Failure {
                    broken,
                    schedule: world.journal.logged(),
                    journal: world.journal.entries(),
                })
            })
        }));
        outcome.unwrap_or_else(|_| {
            Err(Failure {
                broken: vec!["something panicked, see above".to_owned()],
                schedule: Vec::new(),
                journal: Vec::new(),
            })
        })
    }

    /// Makes what fails smaller as long as that still fails.
    pub(crate) fn shrink(mut self, mut failure: Failure, seed: u64) -> (Self, Failure) {
        'smaller: loop {
            for case in self.smaller() {
                for seed in seed..seed + 30 {
                    if let Err(failed) = case.run(seed) {
                        (self, failure) = (case, failed);
                        continue 'smaller;
                    }
                }
            }
            return (self, failure);
        }
    }

    fn smaller(&self) -> Vec<Self> {
        let programs = smaller(&self.program).into_iter();
        let Some(Change { kind, .. }) = self.change else {
            let case = |program| Self {
                program,
                change: None,
            };
            return programs.map(case).collect();
        };
        let mut cases = Vec::new();
        for program in programs {
            for at in 0..size(&program) {
                let change = Change { kind, at };
                if change.apply(&program).is_some() {
                    cases.push(Self {
                        program: program.clone(),
                        change: Some(change),
                    });
                }
            }
        }
        cases
    }

    pub(crate) fn report(&self, seed: u64, failure: &Failure) -> String {
        let mut report = format!("seed {seed}\n\n{}\n", Listing(&self.program));
        if let Some(change) = self.change
            && let Some(changed) = change.apply(&self.program)
        {
            let _ = writeln!(report, "{change}:\n\n{}", Listing(&changed));
        }
        for line in &failure.schedule {
            let _ = writeln!(report, "  {line}");
        }
        report.push('\n');
        for entry in &failure.journal {
            let event = match &entry.event {
                Event::Created(_) => "created".to_owned(),
                event => serde_json::to_string(event).expect("JSON"),
            };
            let _ = writeln!(report, "  {:>3} {event}", entry.seq);
        }
        report.push('\n');
        for words in &failure.broken {
            let _ = writeln!(report, "  ! {words}");
        }
        report
    }
}

/// Goes on with other code; if that does not fit, with the first code again.
async fn change_code(
    world: &mut World,
    program: &Arc<Block>,
    change: Change,
    events: usize,
    bad: u32,
) -> Vec<String> {
    if world.ended() {
        return Vec::new();
    }
    let changed = change.apply(program).expect("the change can be made");
    let changed = Arc::new(changed);
    let before = world.journal.entries();
    let live = check::before_the_end(&before, world.grace());
    let draws = world.journal.draws();
    let mut broken = beginnings::changed(&changed, live, &draws, world.grace()).await;
    let effects = world.observed.lock().effects.len();
    world.change(changed.clone());
    world.live_through(events, bad).await;
    world.bring_to_an_end().await;
    world.end().await;
    if !world.was_held() {
        match world.first_run_of(&changed) {
            Some(from) if !world.is_cancelled() || check::fits(world, &changed, from) => {
                broken.extend(check::ended(world, &changed, from).await);
            }
            // It was cancelled before it came to be held.
            _ => broken.extend(check::untouched(world, &changed, before.len())),
        }
        return broken;
    }
    if change.kind == Kind::Patched {
        broken.push("a task is held though the change is behind `patched`".to_owned());
    }
    broken.extend(check::untouched(world, &changed, before.len()));
    if world.observed.lock().effects.len() != effects {
        broken.push("a step ran before the task was held".to_owned());
    }
    if !world.ended() {
        world.change(program.clone());
        world.live_through(events, bad).await;
        world.bring_to_an_end().await;
        world.end().await;
        broken.extend(check::ended(world, program, 1).await);
    }
    broken
}
