//! What tasks cost in memory, in SQLite and in PostgreSQL, beside rmcp's task
//! manager and beside what SQLite and PostgreSQL can do at all.
//!
//! ```text
//! cargo bench -p mcp-tasks --bench stores --features postgres
//! cargo bench -p mcp-tasks --bench stores --features postgres -- --quick
//! ```
//!
//! The figures come as Markdown, and how it gets on beside them. The second command
//! does little of everything, to see that it works.
//!
//! PostgreSQL is the server that `MCP_TASKS_POSTGRES` names, by the URL of a role that
//! may create databases; else a private one, made from the installed programs, with
//! the settings that it comes with: each commit waits for the disk. SQLite does too.
//!
//! # What is measured
//!
//! - **one caller** ([`live`]): medians of the time of each operation while 10,
//!   1,000 and 100,000 other tasks live, through the runtime, without a wire. In
//!   SQLite and PostgreSQL these are parked, as tasks are that have waited for a
//!   while; in memory and with rmcp they cannot be. Beside rmcp's there are never more
//!   than 10,000: it looks at every task on every call, so that creating 100,000 would
//!   take a quarter of an hour.
//! - **64 callers** ([`rates`]) beside the 100,000, on as many threads as there are
//!   cores
//! - **end to end** ([`http`]): servers and clients over HTTP on loopback in one
//!   process; a call whose task ends at once, and a read of it
//! - **raw** ([`throughput`]): commits per second of 1 and of 64 callers that call,
//!   answer and read the result, beside the same rows written by the same library
//!   alone; what exactly that is say [`raw`] and [`raw_postgres`]
//! - **cost** ([`cost`], [`idle`]): statements, write-ahead log and room that a task
//!   takes in PostgreSQL, and what replicas take that have nothing to do
//!
//! All that are compared take turns, so that whatever else the machine does hits
//! them alike. It is no criterion benchmark: most of what is measured is not one
//! closure.

mod cost;
#[expect(dead_code, reason = "shared with the bench `durable`")]
#[path = "../durable/engine.rs"]
mod engine;
#[expect(dead_code, reason = "shared with the bench `durable`")]
#[path = "../durable/file.rs"]
mod file;
mod http;
mod idle;
#[expect(dead_code, reason = "shared with the bench `durable`")]
#[path = "../durable/life.rs"]
mod life;
#[path = "../durable/listening.rs"]
mod listening;
mod live;
mod machine;
mod markdown;
mod meter;
mod peer;
mod rates;
#[expect(dead_code, reason = "shared with the bench `durable`")]
#[path = "../durable/raw.rs"]
mod raw;
mod raw_postgres;
mod report;
mod rounds;
mod server;
mod stages;
/// How the tests come by a PostgreSQL.
#[expect(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "shared with the tests, which are a library"
)]
#[path = "../../../tests/src"]
mod tests {
    pub(crate) mod postgres;
}
mod throughput;

use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::report::Report;
use crate::server::Server;

/// Folders for temporary files are often not on a disk; this one is.
const ON_DISK: &str = "/var/tmp";

/// How much is measured.
struct Plan {
    /// How many other tasks live.
    live: [usize; 3],
    /// How often every side has its turn with one caller.
    turns: usize,
    /// How often with 64.
    rates: usize,
    /// How long a turn is in which things are counted.
    turn: Duration,
    /// Tasks over which costs are averaged.
    lives: usize,
    /// How long idle replicas are watched.
    idle: Duration,
}

impl Plan {
    const WHOLE: Self = Self {
        live: [10, 1_000, 100_000],
        turns: 50,
        rates: 5,
        turn: Duration::from_millis(400),
        lives: 1_000,
        idle: Duration::from_secs(60),
    };

    const QUICK: Self = Self {
        live: [10, 100, 2_000],
        turns: 5,
        rates: 1,
        turn: Duration::from_millis(200),
        lives: 100,
        idle: Duration::from_secs(6),
    };

    /// The most tasks that live.
    fn most(&self) -> usize {
        self.live[self.live.len() - 1]
    }
}

fn main() {
    LazyLock::force(&BEGUN);
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let plan = if is_quick { Plan::QUICK } else { Plan::WHOLE };
    let on_disk = Path::new(ON_DISK);
    // A private PostgreSQL is there too.
    tempfile::env::override_temp_dir(on_disk).expect("nobody else says where files go");
    let directory = tempfile::tempdir_in(on_disk).expect("there is room on the disk");
    let many = tokio::runtime::Runtime::new().expect("the system has threads");
    let server = many.block_on(Server::open());
    let machine = many.block_on(machine::describe(&server, directory.path(), is_quick));
    let report = measure(&plan, &many, directory.path(), &server, machine);
    progress("done");
    print!("{report}");
}

fn measure(
    plan: &Plan,
    many: &tokio::runtime::Runtime,
    directory: &Path,
    server: &Server,
    machine: String,
) -> Report {
    // One thread: the time is work, and not the operating system's waking of threads.
    let one = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("the system has sockets");
    let (room, latencies) = one.block_on(async {
        let filled = live::fill(plan, directory, server).await;
        let room = cost::room(plan.most(), server).await;
        (room, live::measure(plan, directory, server, filled).await)
    });
    drop(one);
    Report {
        machine,
        latencies,
        rates: many.block_on(rates::measure(plan, directory, server)),
        served: http::measure(plan, directory, server),
        pairs: throughput::measure(plan, many, directory, server),
        costs: many.block_on(cost::measure(plan, server, room)),
    }
}

static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Says what is measured next.
fn progress(next: &str) {
    eprintln!("{:>4} s  {next}", BEGUN.elapsed().as_secs());
}
