//! A server that is made to be killed: a tool for everything durable, and
//! nothing else.
//!
//! All that it does to the world is to append lines to a file of effects, so
//! that the test `crash` can see what ran, and how often. What a tool saw is in
//! its result.

mod tools;
mod world;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgGroup, Parser, ValueEnum};
use mcp_tasks::{SqliteStore, TaskServer};

use self::world::World;

/// Serves tools that survive.
#[derive(Parser)]
#[command(name = "crash_server")]
#[command(group = ArgGroup::new("transport").required(true))]
struct Flags {
    /// Serve one client over stdin and stdout
    #[arg(long, group = "transport")]
    stdio: bool,

    /// Serve over HTTP at the path /mcp; with port 0 the system chooses one
    #[arg(long, group = "transport", value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,

    /// Where tasks are kept
    #[arg(long, value_name = "sqlite:FILE", value_parser = store)]
    store: PathBuf,

    /// The file that effects are appended to
    #[arg(long, value_name = "FILE")]
    effects: PathBuf,

    /// Which state of the code to be
    #[arg(long, value_enum, default_value = "new")]
    code: Code,
}

/// Stands for the code before and after a change.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Code {
    Old,
    New,
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::INFO)
        .with_writer(std::io::stderr)
        .init();
    match serve(Flags::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crash_server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(flags: Flags) -> Result<(), mcp_tasks::Error> {
    let server = TaskServer::new("crash_server", env!("CARGO_PKG_VERSION"))
        .state(World::new(flags.effects))
        .state(flags.code)
        .store(SqliteStore::open(flags.store)?)
        // A task leaves memory, and comes back, in the middle of it all.
        .park_after(Duration::from_millis(60))
        // The default takes a task for poison that brings down five processes
        // in a row. These die of the test, and many more than five may die
        // before a task gets anywhere.
        .max_recoveries(1000);
    let server = tools::register(server).build()?;
    match flags.http {
        Some(address) => server.serve_http(address).await,
        None => server.serve_stdio().await,
    }
}

fn store(text: &str) -> Result<PathBuf, String> {
    text.strip_prefix("sqlite:")
        .map(PathBuf::from)
        .ok_or_else(|| "expected sqlite:FILE".to_owned())
}
