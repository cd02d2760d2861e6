//! The server: one tool, which pays a bill once a person has signed for it.
//!
//! Nothing in the function is about crashes. That it survives them is what the
//! store is for.

use std::path::Path;
use std::process::ExitCode;

use mcp_tasks::SqliteStore;
use mcp_tasks::prelude::*;

use crate::ledger::Ledger;

/// Pays a bill once a person has signed for it.
#[mcp_task(poll_interval = "50ms")]
async fn pay(
    /// Who gets the money
    payee: String,
    /// How much, in euros
    euros: u32,
    State(ledger): State<Ledger>,
) -> Result<String, ToolError> {
    step(ledger.reserve(euros)).await?;
    let bill = format!("Pay {payee} {euros} euros? Sign with your name.");
    let signature: String = ask_user(bill).await?;
    step(ledger.transfer(euros, &payee, &signature)).await?;
    Ok(format!("{payee} got {euros} euros, signed {signature}"))
}

/// Serves the tool on stdin and stdout until the client is gone.
pub(crate) async fn serve(directory: &Path) -> Result<ExitCode, mcp_tasks::Error> {
    TaskServer::new("cashier", env!("CARGO_PKG_VERSION"))
        .state(Ledger::in_directory(directory))
        .task(pay)
        .store(SqliteStore::open(directory.join(DATABASE))?)
        .serve_stdio()
        .await?;
    Ok(ExitCode::SUCCESS)
}

/// The name of the store's file.
pub(crate) const DATABASE: &str = "tasks.db";

/// The function as it stands above, to be shown.
pub(crate) fn source() -> &'static str {
    let this = include_str!("tool.rs");
    let function = this
        .split_once("#[mcp_task")
        .map_or(this, |(before, _)| &this[before.len()..]);
    function
        .split_once("\n}\n")
        .map_or(function, |(body, _)| &function[..body.len() + "\n}".len()])
}
