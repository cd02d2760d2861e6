//! The server: one tool, which asks a person before it does anything.

use std::path::PathBuf;
use std::process::ExitCode;

use mcp_tasks::prelude::*;

use crate::fleet::{Deployed, Environment, Fleet, Window};

/// What the reviewer is asked.
#[derive(Elicit)]
struct Approval {
    /// Ship this plan?
    approve: bool,
    /// Share of traffic in the first hour
    #[elicit(min = 1, max = 100, default = 10)]
    percent: u8,
    /// When may it take all traffic?
    window: Window,
    /// Who is to be told then?
    #[elicit(format = "email")]
    notify: Option<String>,
}

/// Deploys a service once a person has signed off.
#[mcp_task(ttl = "24h", poll_interval = "200ms")]
async fn deploy(
    /// Service to deploy
    service: String,
    /// Target environment
    env: Environment,
    State(fleet): State<Fleet>,
) -> Result<Json<Deployed>, ToolError> {
    let plan = step(fleet.plan(&service, env)).await?;
    let approval: Approval = ask_user(format!("Deploy {service}?\n{plan}"))
        .timeout(Duration::from_secs(8 * 3600))
        .await?;
    if !approval.approve {
        return Err(ToolError::new("not approved"));
    }
    set_status(format!("rolling out to {}%", approval.percent));
    step(fleet.roll_out(&plan, approval.percent)).await?;
    Ok(Json(fleet.report(&plan, approval.window, approval.notify)))
}

/// Serves the tool on stdin and stdout until the client is gone; tasks are kept in
/// memory, or in a file.
pub(crate) async fn serve(db: Option<PathBuf>) -> Result<ExitCode, mcp_tasks::Error> {
    let mut server = TaskServer::new("deployer", env!("CARGO_PKG_VERSION"))
        .state(Fleet::connect())
        .task(deploy);
    if let Some(db) = db {
        server = server.store(SqliteStore::open(db)?);
    }
    server.serve_stdio().await?;
    Ok(ExitCode::SUCCESS)
}
