//! Several replicas of a server on one store, of which now one is killed and now
//! another stopped for longer than its lease, under a load of tasks with questions,
//! steps, timers, joins, signals and cancellations.
//!
//! The replicas are real processes (`crash_server`, in this package) that are
//! spoken to over HTTP. A client speaks to any of them at random, tries again when
//! that one fails, and notes what was acknowledged. What is written to the store
//! the database itself notes, by triggers, in the same transaction: who wrote it,
//! under which claim, and when. What steps do they note in files. When the storm is
//! over, everything must come to its end, and then:
//!
//! - every task ended as its answers, signals and steps say that it must, and every
//!   replica says so;
//! - every answer, signal and cancellation that was acknowledged counts, and none
//!   that was not given appears;
//! - no step ran after its result was recorded, and none where the task was not;
//! - journals grew one entry at a time, claims one number at a time and never from
//!   a holder whose lease held, and what needs a claim was written by the process
//!   that had it;
//! - the replicas live and rest, the store's counts agree with its rows, and nothing
//!   of the dead is left.
//!
//! ```sh
//! cargo test -p mcp-tasks-tests --test chaos -- --nocapture
//! CHAOS_SEED=7 CHAOS_SECONDS=180 CHAOS_KILLS=200 CHAOS_PAUSES=100 CHAOS_RESTARTS=10 \
//!     cargo test -p mcp-tasks-tests --test chaos -- --nocapture --ignored
//! ```
//!
//! | variable | is |
//! |---|---|
//! | `CHAOS_SEED` | what chance starts from |
//! | `CHAOS_REPLICAS` | how many replicas there are |
//! | `CHAOS_TASKS` | how many tasks are under way at once |
//! | `CHAOS_TOOLS` | the tools to use, with commas between them; otherwise all |
//! | `CHAOS_LEASE_MS` | how long a replica may be without a sign of life |
//! | `CHAOS_SECONDS` | over what time the faults are spread |
//! | `CHAOS_KILLS` | how often a replica is killed |
//! | `CHAOS_PAUSES` | how often one is stopped for longer than its lease |
//! | `CHAOS_SERVER` | a program to use instead of this package's own |
//! | `CHAOS_NAPS` | how often one is stopped for a shorter time |
//! | `CHAOS_LEAVES` | how often one is told to end, as in a deployment |
//! | `CHAOS_RESTARTS` | how often the database is restarted, one half of them by a crash |
//! | `CHAOS_CUTS` | how often the database ends one connection of a replica, or all |
//!
//! That it sees what it should was tried with servers that were built wrong, each
//! of which it found within a minute:
//!
//! | what was wrong | what was seen |
//! |---|---|
//! | commits are not compared with the claim | another than the holder ended a task |
//! | a process that wakes does not look at its lease | a step ran after its result was recorded |
//! | a holder is taken for dead too early | a holder was removed whose lease held |
//! | tasks are claimed from living holders | a step ran where the task was not |
//! | of forty answers one is acknowledged and dropped | a question that was answered is asked |
//! | commits do not wait for the disk, and the database crashes | the same |
//!
//! With `CHAOS_LOG=1` a run tells what was done, and what clients were told. A
//! failure tells the seed, and of the task its client, the trail that it left, its
//! effects, and what happened meanwhile. A seed gives the same faults and answers
//! again, but the machine has a say in what they meet.

#![cfg(unix)]

mod faults;
mod fleet;
mod grip;
mod ground;
mod log;
mod outages;
mod plan;
mod player;
mod run;
mod trail;
mod verdict;

use std::time::Duration;

use mcp_tasks_tests::trial::setting;

use self::ground::{Ground, Postgres, Sqlite};
use self::plan::{Counts, Plan};
use self::run::Run;

/// What is done where nobody says how much.
fn a_little(restarts: u64, cuts: u64) -> Plan {
    Plan {
        seed: 1,
        replicas: 4,
        tasks: 24,
        lease: Duration::from_millis(800),
        time: Duration::from_secs(6),
        faults: Counts {
            kills: 8,
            pauses: 4,
            naps: 2,
            leaves: 2,
            restarts,
            cuts,
        },
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_on_one_file_lose_nothing() {
    let plan = a_little(0, 0).or_as_asked();
    happen(plan, Ground::Sqlite(Sqlite::new())).await;
}

#[ignore = "needs PostgreSQL"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_on_one_database_lose_nothing() {
    let plan = a_little(2, 4).or_as_asked();
    let postgres = Postgres::new().await;
    happen(plan, Ground::Postgres(postgres)).await;
}

async fn happen(plan: Plan, ground: Ground) {
    println!("{plan:?}");
    let run = Run::new(plan, ground);
    let happened = run.happen().await;
    if setting("CHAOS_LOG").is_some() {
        println!("{}", run.log());
    }
    match happened {
        Ok(tally) => println!("{tally}"),
        Err(failure) => panic!("{failure}"),
    }
}
