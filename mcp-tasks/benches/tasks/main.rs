//! What one operation on one task costs while N other tasks wait, beside
//! rmcp's `TaskManager` in the same run.
//!
//! ```text
//! cargo bench -p mcp-tasks --bench tasks              # measures and prints
//! cargo bench -p mcp-tasks --bench tasks -- --check   # fails if a bound is broken
//! ```
//!
//! # What is measured
//!
//! Medians of the time from one point to the next in the life of one task:
//!
//! - **create**: from the text of the call's `arguments`, until the task exists
//!   for everybody and its function has been spawned
//! - **ask**: from there, until `get` shows the question of the function
//! - **get**: reading the task, by an id whose text has just come in
//! - **answer**: from the text of `inputResponses`, as it stands in a request,
//!   until the function has its answer
//! - **finish**: from there, until `get` shows the result
//!
//! and, of both sides, **get of any**: reading one of the N at random, whose
//! memory nobody has touched for a while.
//!
//! Both sides do the same: the function takes one argument, puts a question
//! together, looks at whether it was accepted, and returns the text that it was
//! given. Tasks that wait have a ttl that is far away; those that were timed end
//! and are deleted soon, so that hardly more than N are there at any time. Both
//! sides run on one thread of tokio: the time is work, and not the operating
//! system's waking of threads. They take turns, so that whatever else the
//! machine does hits both alike.
//!
//! # What is not
//!
//! The wire (see the bench `wire`), threads that compete for locks, stores on
//! disk. What only our side does is in its figures: it judges answers against
//! their form and keeps a journal, owners and limits.
//!
//! It is no criterion benchmark: criterion repeats one closure, and here the
//! parts of one sequence are timed, on many worlds in turn. `rmcp` is not asked
//! for 100,000 tasks, since it looks at every task on every call: creating them
//! would take a quarter of an hour.

mod ours;
mod peer;
mod rounds;
mod table;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ours::Ours;
use peer::Peer;
use rounds::{Plan, World};

/// When a function had its answer: the function's end of a stopwatch.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Option<Instant>>>);

impl Seen {
    fn now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn take(&self) -> Option<Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What `get` says, as far as it is looked at here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Working,
    Asking,
    Completed,
    Other,
}

/// One of the two that are compared.
trait Side {
    type Id;

    async fn create(&self, arguments: &str, lasting: bool) -> Self::Id;
    /// The id as a request brings it: its text in fresh memory.
    fn incoming(id: &Self::Id) -> Self::Id;
    async fn get(&self, id: &Self::Id) -> Status;
    async fn update(&self, id: &Self::Id, input_responses: &str);
    fn seen(&self) -> &Seen;
}

fn main() -> ExitCode {
    let check = std::env::args().any(|argument| argument == "--check");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime without I/O needs nothing of the system");
    let report = runtime.block_on(measure());
    print!("{report}");
    let broken = report.broken();
    for bound in &broken {
        println!("out of bounds: {bound}");
    }
    if check && !broken.is_empty() {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

async fn measure() -> table::Report {
    let many = Plan::default();
    // Each call of rmcp takes half a millisecond here: fewer turns do.
    let few = Plan {
        bursts: 1,
        timed: 5,
        gets: 2,
        settle: std::time::Duration::ZERO,
        ..many
    };
    let mut ours = [
        World::fill(Ours::new(), 10, many).await,
        World::fill(Ours::new(), 1_000, many).await,
        World::fill(Ours::new(), 100_000, many).await,
    ];
    let mut peers = [
        World::fill(Peer::new(), 10, many).await,
        World::fill(Peer::new(), 1_000, many).await,
        World::fill(Peer::beside_many(), 10_000, few).await,
    ];
    for _ in 0..rounds::ROUNDS {
        for (ours, peer) in ours.iter_mut().zip(&mut peers) {
            ours.turn().await;
            peer.turn().await;
        }
    }
    table::Report::new(ours.map(World::into_column), peers.map(World::into_column))
}
