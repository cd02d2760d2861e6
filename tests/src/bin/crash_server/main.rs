//! A server that is made to be killed: a tool for everything durable, and
//! nothing else.
//!
//! All that it does to the world is to append lines to files of effects, so that
//! the tests `crash` and `chaos` can see what ran, how often, and where. What a
//! tool saw is in its result.

mod tools;
mod world;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgGroup, Parser, ValueEnum};
use mcp_tasks::{PostgresStore, SqliteStore, TaskServer};

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
    #[arg(long, value_name = "sqlite:FILE|postgres:URL", value_parser = place)]
    store: Place,

    /// The folder for the files that effects are appended to
    #[arg(long, value_name = "FOLDER")]
    effects: PathBuf,

    /// Which state of the code to be
    #[arg(long, value_enum, default_value = "new")]
    code: Code,

    /// How long a step takes before its effect, and after it
    #[arg(long, value_name = "MS", default_value = "1", value_parser = millis)]
    moment: Duration,

    /// How long questions and clocks are given
    #[arg(long, value_name = "MS", default_value = "30", value_parser = millis)]
    soon: Duration,

    /// How long this process may be without a sign of life
    #[arg(long, value_name = "MS", default_value = "10000", value_parser = millis)]
    lease: Duration,

    /// How long a task waits before it leaves memory; by default it comes and
    /// goes in the middle of it all
    #[arg(long, value_name = "MS", default_value = "60", value_parser = millis)]
    park_after: Duration,
}

/// Where tasks are kept.
#[derive(Clone)]
enum Place {
    Sqlite(PathBuf),
    Postgres(String),
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
        .state(World {
            effects: flags.effects,
            moment: flags.moment,
            soon: flags.soon,
        })
        .state(flags.code)
        .lease(flags.lease)
        .park_after(flags.park_after)
        // The default takes a task for poison that brings down five processes
        // in a row. These die of the test, and many more than five may die
        // before a task gets anywhere.
        .max_recoveries(1000);
    let server = match flags.store {
        Place::Sqlite(file) => server.store(SqliteStore::open(file)?),
        Place::Postgres(url) => server.store(PostgresStore::connect(url).await?),
    };
    let server = tools::register(server).build()?;
    match flags.http {
        Some(address) => server.serve_http(address).await,
        None => server.serve_stdio().await,
    }
}

fn millis(text: &str) -> Result<Duration, std::num::ParseIntError> {
    text.parse().map(Duration::from_millis)
}

fn place(text: &str) -> Result<Place, String> {
    match text.split_once(':') {
        Some(("sqlite", file)) => Ok(Place::Sqlite(file.into())),
        Some(("postgres", url)) => Ok(Place::Postgres(url.to_owned())),
        _ => Err("expected sqlite:FILE or postgres:URL".to_owned()),
    }
}
