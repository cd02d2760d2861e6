//! One server that runs as several processes, on as many machines as you like, with
//! nothing but a PostgreSQL database between them. To make one:
//!
//! ```sh
//! sudo -u postgres createuser --pwprompt me
//! sudo -u postgres createdb --owner=me rollouts
//! ```
//!
//! The tool `rollout` brings a release to one region after the other, asks whether it
//! may become the default, and tells which replica did what. With a database that you
//! may use, in two terminals:
//!
//! ```sh
//! cargo run --features postgres --bin replicas -- \
//!     --db postgres://me:PASSWORD@localhost/rollouts --http 127.0.0.1:8001
//! cargo run --features postgres --bin replicas -- \
//!     --db postgres://me:PASSWORD@localhost/rollouts --http 127.0.0.1:8002
//! ```
//!
//! In a third, call the tool on one of them:
//!
//! ```sh
//! cargo run -p mcp-tasks --features cli -- \
//!     call rollout release=1.4 --http http://127.0.0.1:8001/mcp
//! ```
//!
//! End that replica in the middle. With Ctrl-C it ends the step that it is in, and
//! the other goes on within a second; with `kill -9` the other goes on when ten
//! seconds have passed without a sign of life. What was done is not done again. The
//! client has lost its server, and tries for two minutes whether it is there again:
//! press Ctrl-C and choose to detach, go on at the other replica with the id that it
//! shows, and answer there:
//!
//! ```sh
//! cargo run -p mcp-tasks --features cli -- resume ID --http http://127.0.0.1:8002/mcp
//! ```
//!
//! Behind a load balancer all replicas have one address, and the client notices
//! nothing: any of them answers anything, no request has to go where the last one
//! went.

use std::net::SocketAddr;

use clap::Parser;
use mcp_tasks::prelude::*;
use mcp_tasks::{PostgresStore, TaskServer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const REGIONS: [&str; 4] = ["eu-west", "eu-east", "us-west", "us-east"];

/// Brings a release to all regions, and makes it the default if you say so.
#[mcp_task(ttl = "24h", poll_interval = "500ms")]
async fn rollout(
    /// The release to bring out
    release: String,
    /// How long a region takes, in milliseconds
    #[arg(max = 60_000, default = 3000)]
    pause: u64,
    State(replica): State<Replica>,
) -> Result<Json<RolledOut>, ToolError> {
    let mut regions = Vec::new();
    for region in REGIONS {
        // Recorded in the database when it is done: whichever replica goes on after
        // that has the result, and does not do it again.
        regions.push(step_value(replica.deploy(&release, region, pause)).await);
        set_status(format!("{release} runs in {region}"));
    }
    let is_default: bool = ask_user(format!(
        "{release} runs in all regions. Make it the default?"
    ))
    .await?;
    Ok(Json(RolledOut {
        regions,
        is_default,
    }))
}

/// What came of it.
#[derive(Serialize, JsonSchema)]
struct RolledOut {
    regions: Vec<Region>,
    is_default: bool,
}

/// A region that has the release.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Region {
    name: String,
    /// The replica that brought it there
    by: String,
}

/// This process, among others like it.
#[derive(Clone)]
struct Replica {
    name: String,
}

impl Replica {
    /// Brings a release to a region. Here it only takes its time; a real one would
    /// tell the region `step_key()`, by which it knows an attempt that is repeated.
    async fn deploy(&self, release: &str, region: &str, pause: u64) -> Region {
        eprintln!("{}: {release} to {region}", self.name);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        Region {
            name: region.to_owned(),
            by: self.name.clone(),
        }
    }
}

/// Serves the tool `rollout` as one of several replicas.
#[derive(Parser)]
struct Cli {
    /// The database that the replicas share; tables are made in a schema of their own
    #[arg(long, value_name = "postgres://USER:PASSWORD@HOST:PORT/DATABASE")]
    db: String,

    /// Where to serve, at the path /mcp
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8001")]
    http: SocketAddr,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Cli { db, http } = Cli::parse();
    let replica = Replica {
        name: format!("replica {}", std::process::id()),
    };
    eprintln!("this is {}", replica.name);
    // Replicas are servers of one name on one database. All of them need the same
    // code, or each the versions of it whose tasks it is to run.
    TaskServer::new("replicas", env!("CARGO_PKG_VERSION"))
        .state(replica)
        .task(rollout)
        .store(PostgresStore::connect(db).await?)
        .serve_http(http)
        .await?;
    Ok(())
}
