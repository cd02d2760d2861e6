//! What durability costs, beside what the disk and SQLite can do at all.
//!
//! ```text
//! cargo bench -p mcp-tasks --bench durable              # measures and prints
//! cargo bench -p mcp-tasks --bench durable -- --check   # fails if a bound is broken
//! ```
//!
//! # What is measured
//!
//! - **commits per second** of 1 and of 64 callers that call a tool and see its
//!   question, and of as many that also answer and read the result: through the
//!   runtime, without a wire, over a [`SqliteStore`](mcp_tasks::SqliteStore).
//!   Both sides take turns, so that whatever else the machine does hits them
//!   alike; see [`raw`] for what the raw figure is. `fdatasync`s of a bare file
//!   stand beside them.
//! - **memory** of a task that waits, and of one that is parked, and of a whole
//!   process after it has parked 100,000
//! - **start**: from opening a file with 100,000 waiting tasks, whose process
//!   was killed with all of them in memory, to the first task that was read, and
//!   to the first question of a new call
//! - **resuming**: from the answer to a parked task to its result, and what each
//!   recorded step adds to that
//! - **idle**: the processor's time of a process in which one task waits
//!
//! Memory, starts and idle processes are measured in processes of their own.
//!
//! It is no criterion benchmark: most of what is measured is not one closure,
//! and what is held to bounds are ratios within one run.

mod child;
mod engine;
mod file;
mod life;
mod listening;
mod process;
mod raw;
mod resume;
mod table;
mod throughput;

use std::path::Path;
use std::process::ExitCode;

use self::child::{Figures, Job};
use self::life::Life;
use self::table::{Memory, Report, Start};

/// How many tasks wait.
const WAITING: u32 = 100_000;

fn main() -> ExitCode {
    if child::main() {
        return ExitCode::SUCCESS;
    }
    let check = std::env::args().any(|argument| argument == "--check");
    // Where the build is, and not in a folder for temporary files: those are
    // often not on a disk.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))
        .expect("there is room where the build is");
    let report = measure(directory.path());
    print!("{report}");
    if check && !report.holds() {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn measure(directory: &Path) -> Report {
    let tokio = tokio::runtime::Runtime::new().expect("the system has threads");
    let life = tokio.block_on(Life::observe());
    drop(tokio);
    let commit = life.mean();
    let bare = file::measure(directory, commit).expect("the disk takes a file");
    let pairs = throughput::measure(directory, &life);

    let (killed, parked) = (directory.join("killed.db"), directory.join("parked.db"));
    let count = WAITING.to_string();
    let filling = child::run(Job::Fill, &killed, &count);
    let parking = child::run(Job::Park, &parked, &count);
    let start = child::run(Job::Start, &killed, resume::an_id(&killed).as_str());
    let idle = child::run(Job::Idle, &parked, "");
    Report {
        bare,
        commit,
        pairs,
        waiting: WAITING as usize,
        memory: memory(&filling, &parking),
        start: Start {
            get: start.get("get"),
            call: start.get("call"),
            bytes: start.get("bytes"),
        },
        idle: idle.get("share"),
        resumed: resume::measure(&parked, &directory.join("long.db")),
    }
}

fn memory(filling: &Figures, parking: &Figures) -> Memory {
    let each = |of: &Figures, name: &str| (of.get(name) - of.get("before")) / f64::from(WAITING);
    Memory {
        resident: each(filling, "filled"),
        parked: each(parking, "parked"),
        after_parking: parking.get("parked"),
    }
}
