//! A person signs in somewhere else, in a browser, and the tool goes on with what
//! it was given there; no secret passes through the client.
//!
//! The tool `list_albums` asks its client to open a page (`ask_user_url`). The page
//! sends the browser to an authorization server, where the person agrees; the
//! browser comes back with a code, this server changes the code for a token (OAuth
//! 2.1, authorization code with PKCE), and tells the task by a `signal`.
//!
//! ```sh
//! cargo run --bin oauth-url
//! ```
//!
//! serves MCP at `http://127.0.0.1:8000/mcp` and the pages beside it, those of a
//! pretended authorization server among them. Then, in another terminal:
//!
//! ```sh
//! cargo run -p mcp-tasks --features cli -- \
//!     call list_albums --http http://127.0.0.1:8000/mcp
//! ```
//!
//! **What is stored where.** A task's journal holds the address of the page, with a
//! ticket in it that is good for one sign-in, and the *handle* of an account. The
//! token, the code and the verifier are in this program's memory and nowhere else;
//! in real life the token is in whatever keeps your secrets, under the handle, and
//! tickets are in your database. With `--db albums.db` you can look:
//! `grep -c pretended-token albums.db*` finds nothing.
//!
//! - `tool.rs` is the tool: ask, wait, use the account;
//! - `accounts.rs` keeps tickets and tokens, and speaks to the provider;
//! - `pages.rs` is where the browser leaves from and comes back to;
//! - `provider.rs` is the pretended provider.

mod accounts;
mod pages;
mod provider;
mod tool;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use axum::Router;
use clap::Parser;
use mcp_tasks::{SqliteStore, TaskServer};
use tokio::net::TcpListener;

use self::accounts::Accounts;

/// Serves the tool `list_albums` and the pages that it sends people to.
#[derive(Parser)]
struct Cli {
    /// Where to serve
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8000")]
    http: SocketAddr,

    /// Keep tasks in this file [default: in memory]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let listener = TcpListener::bind(cli.http).await;
    let listener = listener.with_context(|| format!("listening on {}", cli.http))?;
    // Beyond one machine: the public name of the server, and https.
    let url = format!("http://{}", listener.local_addr()?);
    let accounts = Accounts::new(&url)?;

    let mut server = TaskServer::new("oauth-url", env!("CARGO_PKG_VERSION"))
        .task(tool::list_albums)
        .state(accounts.clone());
    if let Some(file) = cli.db {
        server = server.store(SqliteStore::open(file)?);
    }
    let server = server.build()?;

    let application = Router::new()
        .merge(pages::routes(accounts, server.tasks()))
        .nest("/provider", provider::routes(&url))
        .route_service("/mcp", server.service());
    eprintln!("listening on {url}/mcp");
    let stopped = async move { server.shut_down_when_told().await };
    axum::serve(listener, application)
        .with_graceful_shutdown(stopped)
        .await?;
    Ok(())
}
