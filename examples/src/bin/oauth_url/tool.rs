//! The tool: it asks for a sign-in, waits for it, and uses the account.

use mcp_tasks::prelude::*;
use serde::{Deserialize, Serialize};

use crate::accounts::{Accounts, Handle};

/// The signal that tells how a sign-in ended.
pub(crate) const SIGNED_IN: &str = "signed-in";

/// How it ended. It is recorded with the task: there is no token in it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SignIn {
    /// The person agreed; the token is kept under this handle.
    Connected(Handle),
    /// It came to nothing, for this reason.
    Failed(String),
}

/// Lists the albums of whoever signs in.
#[mcp_task(ttl = "1h", poll_interval = "200ms")]
pub(crate) async fn list_albums(
    caller: Caller,
    State(accounts): State<Accounts>,
) -> Result<String, ToolError> {
    // A step, since a ticket is random and must not be another one after a restart.
    let page: String = step(async { accounts.issue_ticket(task_id(), caller) }).await?;
    // The answer says that they agree to open the page, and no more. A client that
    // cannot show URLs is told so: nothing is asked in a form instead.
    ask_user_url("Please sign in, so that your albums can be listed.", page).await?;

    set_status("waiting for the sign-in");
    let sign_in: SignIn = signal(SIGNED_IN).timeout(Duration::from_secs(600)).await?;
    let account = match sign_in {
        SignIn::Connected(account) => account,
        SignIn::Failed(reason) => return Err(ToolError::new(reason)),
    };
    let albums = step(accounts.albums(&account)).await?;
    Ok(albums.join("\n"))
}
