//! A server is killed, again and again, and its tasks do not notice.
//!
//! A real server process (`crash_server`, in this package) with a tool for
//! everything durable is spoken to over stdio and HTTP, and killed:
//!
//! - at every durable event: for each commit of each tool's life, right before
//!   it and right after it, by a fail point that is compiled in for tests only;
//! - at random times, 5 to 300 ms after its start, with several tasks under way,
//!   or before that at a random commit.
//!
//! After each kill the store's file is looked at, to learn what was recorded at
//! that moment. At last all tasks are driven to their ends. In the end:
//!
//! - no acknowledged answer, signal, cancellation or call is lost, and the
//!   first answer counts;
//! - no step whose result was recorded runs again, and none that must not run
//!   twice runs without being recorded first;
//! - the same questions are asked under the same keys, in the same order, and
//!   the results are those of a run that nobody disturbed;
//! - tasks that have ended do not change; none is held, and none is stuck.
//!
//! ```sh
//! cargo test -p mcp-tasks-tests --test crash
//! CRASH_SEED=7 CRASH_KILLS=3000 cargo test -p mcp-tasks-tests --test crash -- --nocapture
//! ```
//!
//! | variable | is | default |
//! |---|---|---|
//! | `CRASH_KILLS` | how many random kills there are at least | 60; without a limit if `CRASH_SECONDS` is set |
//! | `CRASH_SECONDS` | after how long no further random kill is begun | no limit |
//! | `CRASH_TOOLS` | the tools to use, with commas between them | all |
//! | `CRASH_SEED` | what chance starts from | 1 |
//!
//! A failure tells the seed, the tool, the kill, and all that is known of the
//! task; a seed gives the same tools, answers and times again, but the machine
//! has a say in what happens at those times.

#![cfg(unix)]

mod boundaries;
mod evidence;
mod player;
mod random;
mod remains;
mod world;

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_tasks_tests::trial::{Case, Undisturbed, setting};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::random::Tally;
use self::world::Code;

/// How many stores are worked with at once.
const WORLDS: usize = 4;

/// How often the servers of one store are killed.
const KILLS_PER_WORLD: u32 = 25;

fn cases() -> Vec<Case> {
    mcp_tasks_tests::trial::cases("CRASH_TOOLS")
}

fn seed() -> u64 {
    setting("CRASH_SEED").unwrap_or(1)
}

/// How every case goes when nothing is killed.
async fn models() -> Vec<Undisturbed> {
    let mut models = Vec::new();
    for case in cases() {
        let model = boundaries::undisturbed(case).await;
        models.push(model.unwrap_or_else(|failure| panic!("{failure}")));
    }
    models
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_at_any_durable_event_changes_nothing() {
    let models = models().await;
    let room = Arc::new(Semaphore::new(WORLDS));
    let mut runs = JoinSet::new();
    let begun = Instant::now();
    for case in cases() {
        let model = models.iter().find(|model| model.is_of(case));
        let model = model.expect("it has been run").clone();
        let deployed = case.is_patched().then_some((Code::Old, Code::New));
        let codes = [(Code::New, Code::New)].into_iter().chain(deployed);
        for codes in codes {
            let (room, model) = (room.clone(), model.clone());
            runs.spawn(async move {
                let _turn = room.acquire().await;
                boundaries::every_boundary(case, &model, codes, seed()).await
            });
        }
    }
    let mut kills = 0;
    while let Some(run) = runs.join_next().await {
        let run = run.expect("it does not panic");
        kills += run.unwrap_or_else(|failure| panic!("{failure}"));
    }
    println!("{kills} kills at commits in {:.0?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_at_random_times_change_nothing() {
    let models: Arc<[Undisturbed]> = models().await.into();
    let begun = Instant::now();
    let until = setting("CRASH_SECONDS").map(|seconds| begun + Duration::from_secs(seconds));
    let wanted = setting("CRASH_KILLS").unwrap_or(if until.is_some() { u64::MAX } else { 60 });
    let (mut sum, mut seed, mut planned) = (Tally::default(), seed(), 0);
    let mut worlds = JoinSet::new();
    loop {
        let is_time = until.is_none_or(|until| Instant::now() < until);
        while worlds.len() < WORLDS && planned < wanted && is_time {
            let left = u32::try_from(wanted - planned).unwrap_or(KILLS_PER_WORLD);
            let (kills, models) = (left.min(KILLS_PER_WORLD), models.clone());
            worlds.spawn(async move { random::one_world(seed, kills, until, &models).await });
            planned += u64::from(kills);
            seed += 1;
        }
        let Some(world) = worlds.join_next().await else {
            break;
        };
        let world = world.expect("it does not panic");
        sum.add(world.unwrap_or_else(|failure| panic!("{failure}")));
    }
    let Tally {
        kills,
        tasks,
        hit,
        hit_again,
    } = sum;
    println!(
        "{kills} kills at random times in {:.0?}; {tasks} tasks, of which {hit} outlived a kill \
         and {hit_again} several",
        begun.elapsed()
    );
}
