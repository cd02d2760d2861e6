//! A job that runs elsewhere, and calls back when it is done.
//!
//! The tool `build` has a job system build a release, and waits for its webhook: a
//! `signal`, which a route of this application fulfils. Nothing polls, nothing
//! stays open, and the wait outlives restarts if tasks are kept in a file. (So must
//! the job system: the one to play with forgets its jobs when it ends, and the task
//! gives up in time. With `--jobs URL` it is another.)
//!
//! ```sh
//! cargo run --bin webhook
//! ```
//!
//! serves MCP at `http://127.0.0.1:8000/mcp` and the webhook beside it, and a job
//! system to play with, which takes five seconds for a job. Then, in another
//! terminal:
//!
//! ```sh
//! cargo run -p mcp-tasks --features cli -- \
//!     call build project=billing --http http://127.0.0.1:8000/mcp
//! ```
//!
//! A project called `broken` does not build. Whoever forges a callback is refused:
//!
//! ```sh
//! curl -i http://127.0.0.1:8000/jobs/ended -H 'x-signature: forged' -d '{}'
//! ```
//!
//! - `tool.rs` is the tool: start the job once, wait, give up in time;
//! - `jobs.rs` speaks to the job system, and says what both sides send;
//! - `signature.rs` is how a callback proves where it comes from;
//! - `job_system.rs` is the job system to play with.

mod job_system;
mod jobs;
mod signature;
mod tool;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use clap::Parser;
use mcp_tasks::{SqliteStore, TaskServer, Tasks};
use tokio::net::TcpListener;

use self::jobs::{Ended, Jobs};
use self::signature::{SIGNATURE, Secret};

/// Serves the tool `build` and the webhook that it waits for.
#[derive(Parser)]
struct Cli {
    /// Where to serve
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8000")]
    http: SocketAddr,

    /// A job system that is there already; `WEBHOOK_SECRET` is what it signs
    /// callbacks with [default: one to play with]
    #[arg(long, value_name = "URL")]
    jobs: Option<String>,

    /// Keep tasks in this file [default: in memory]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let (system, secret) = if let Some(url) = cli.jobs {
        (url, Secret::from_environment()?)
    } else {
        let secret = Secret::random()?;
        (job_system::start(secret.clone()).await?, secret)
    };
    let listener = TcpListener::bind(cli.http).await;
    let listener = listener.with_context(|| format!("listening on {}", cli.http))?;
    // Behind a proxy, this is the address at which the job system gets through.
    let url = format!("http://{}", listener.local_addr()?);

    let mut server = TaskServer::new("webhook", env!("CARGO_PKG_VERSION"))
        .task(tool::build)
        .state(Jobs::new(system, format!("{url}/jobs/ended"))?);
    if let Some(file) = cli.db {
        server = server.store(SqliteStore::open(file)?);
    }
    let server = server.build()?;

    let webhook = Webhook {
        tasks: server.tasks(),
        secret,
    };
    let application = Router::new()
        .route("/jobs/ended", post(ended))
        .with_state(webhook)
        .route_service("/mcp", server.service());
    eprintln!("listening on {url}/mcp");
    let stopped = async move { server.shut_down_when_told().await };
    axum::serve(listener, application)
        .with_graceful_shutdown(stopped)
        .await?;
    Ok(())
}

/// What the route needs: the way to the tasks, and the way to tell who calls.
#[derive(Clone)]
struct Webhook {
    tasks: Tasks,
    secret: Secret,
}

/// The job system calls here when a job has ended.
async fn ended(
    State(webhook): State<Webhook>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, (StatusCode, String)> {
    // First of all, and over the bytes as they came: nothing is read of what
    // others send. The task's id is inside of what is signed, so that a callback
    // cannot be bent to another task.
    let signature = headers
        .get(SIGNATURE)
        .map_or(&[][..], |value| value.as_bytes());
    if !webhook.secret.has_signed(&body, signature) {
        let words = "the signature does not fit the body".to_owned();
        return Err((StatusCode::UNAUTHORIZED, words));
    }
    let ended: Ended = serde_json::from_slice(&body)
        .map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
    // When this returns the outcome is recorded. Only then the job system is told
    // so; until then it tries again, and a second callback does no harm: nobody
    // waits for another signal of this name.
    let signal = jobs::signal_of(&ended.job);
    match webhook
        .tasks
        .signal(&ended.reference, &signal, &ended.outcome)
        .await
    {
        Ok(true) => Ok(StatusCode::NO_CONTENT),
        Ok(false) => Err((StatusCode::NOT_FOUND, "nobody waits for it".to_owned())),
        Err(error) => Err((StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
    }
}
