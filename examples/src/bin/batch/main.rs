//! A long job in many small steps, which goes on where it was after `kill -9`.
//!
//! The tool `batch` makes labels for 10,000 parcels, a hundred at a time. Each
//! hundred is a step: when it is done that is recorded in a SQLite file, and it is
//! never done again. The client sees how far it is.
//!
//! In one terminal:
//!
//! ```sh
//! cargo run --bin batch -- --http 127.0.0.1:8000
//! ```
//!
//! In another:
//!
//! ```sh
//! cargo run -p mcp-tasks --features cli -- \
//!     call batch --http http://127.0.0.1:8000/mcp
//! ```
//!
//! Kill the server in the middle (it says with which command), start it again with
//! the same line, and see the bar go on. The labels, and a log of which hundred was
//! made when, are in the directory that the server names.
//!
//! A step that is killed before its end is recorded runs again: it must do no harm
//! to run it twice. Here each step writes one file, whole or not at all.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Parser;
use mcp_tasks::prelude::*;
use tokio::fs;

/// Makes labels for parcels.
#[mcp_task(ttl = "24h", poll_interval = "200ms")]
async fn batch(
    /// How many parcels there are
    #[arg(min = 1, max = 100_000, default = 10_000)]
    parcels: u32,
    /// How many are labelled in one step
    #[arg(min = 1, max = 10_000, default = 100)]
    chunk: u32,
    /// How long the printer takes for that, in milliseconds
    #[arg(max = 60_000, default = 150)]
    pause: u64,
    State(printer): State<Printer>,
) -> Result<String, ToolError> {
    let mut bytes = 0;
    for first in (0..parcels).step_by(chunk as usize) {
        // Small steps cost little and lose little: what is not recorded yet is one
        // chunk. Its key is `print`, then `print#2`, and so on.
        let last = parcels.min(first + chunk);
        bytes += step(printer.print(first..last, Duration::from_millis(pause))).await?;
        set_status(format!("labels up to {last} are printed"));
        report_progress(last.into(), parcels.into());
    }
    Ok(format!(
        "{parcels} labels, {bytes} bytes, are in {}",
        printer.directory.display()
    ))
}

/// Where the labels go.
#[derive(Clone)]
struct Printer {
    directory: PathBuf,
}

impl Printer {
    /// Prints the labels of these parcels into a file of their own, and gives the
    /// number of bytes. Whoever prints them twice gets the same file.
    async fn print(&self, parcels: Range<u32>, pause: Duration) -> io::Result<u64> {
        let first = parcels.start;
        self.log(&format!("{first} began")).await?;
        let labels: Vec<String> = parcels.map(|n| format!("parcel {n:07}")).collect();
        let labels = labels.join("\n");
        // The printer is slow. Inside a step any future may be awaited.
        tokio::time::sleep(pause).await;
        let draft = self.directory.join(format!("{first:07}.draft"));
        fs::write(&draft, &labels).await?;
        // Until here there is no file of labels, and from here on it is whole.
        fs::rename(&draft, self.directory.join(format!("{first:07}.txt"))).await?;
        self.log(&format!("{first} done")).await?;
        Ok(labels.len() as u64)
    }

    /// Writes down what happens, for whoever wants to see that nothing happens
    /// twice.
    async fn log(&self, line: &str) -> io::Result<()> {
        use tokio::io::AsyncWriteExt as _;

        let path = self.directory.join("log.txt");
        let mut options = fs::OpenOptions::new();
        let mut log = options.create(true).append(true).open(path).await?;
        log.write_all(format!("{line}\n").as_bytes()).await?;
        log.flush().await
    }
}

/// Serves the tool `batch` over stdin and stdout.
#[derive(Parser)]
struct Cli {
    /// Serve over HTTP instead, at the path /mcp
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,

    /// Where tasks and labels are kept
    #[arg(long, default_value = "batch-files")]
    directory: PathBuf,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Cli { http, directory } = Cli::parse();
    std::fs::create_dir_all(&directory)
        .with_context(|| format!("making the directory {}", directory.display()))?;
    introduce(&directory);

    let server = TaskServer::new("batch", env!("CARGO_PKG_VERSION"))
        .task(batch)
        .store(SqliteStore::open(directory.join("tasks.db"))?)
        .state(Printer { directory });
    match http {
        None => server.serve_stdio().await?,
        Some(address) => server.serve_http(address).await?,
    }
    Ok(())
}

/// Stdout is the protocol's, if it is spoken there; words go to stderr.
fn introduce(directory: &Path) {
    let mut stderr = io::stderr();
    let _ = writeln!(stderr, "tasks and labels are in {}", directory.display());
    let _ = writeln!(stderr, "kill it by: kill -9 {}", std::process::id());
}
