//! An rmcp server that has been there for a while gains one tool that asks.
//!
//! `Notebook` below is an rmcp handler as people have them: two tools, a prompt,
//! and nothing of this library. All that changes is how it is served. Before:
//!
//! ```ignore
//! let running = Notebook::new().serve(rmcp::transport::stdio()).await?;
//! running.waiting().await?;
//! ```
//!
//! After: `main` at the end of this file. Its own tools stay what they were;
//! `publish` is a task.
//!
//! ```sh
//! cargo build # a server must be there within two minutes of its start
//! cargo run -p mcp-tasks --features cli -- \
//!     tools -- cargo run --quiet --bin existing-server
//! cargo run -p mcp-tasks --features cli -- \
//!     call publish title=Turin -- cargo run --quiet --bin existing-server
//! ```

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Parser;
use mcp_tasks::prelude::*;
use rmcp::handler::server::router::prompt::PromptRouter;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{Implementation, PromptMessage, Role, ServerCapabilities, ServerConfig};
use rmcp::{ServerHandler, prompt, prompt_handler, prompt_router, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

// The handler: not a line of it knows of tasks.

/// Notes by their titles.
#[derive(Clone)]
struct Notebook {
    notes: Arc<Mutex<BTreeMap<String, String>>>,
    tool_router: ToolRouter<Self>,
    prompt_router: PromptRouter<Self>,
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    /// What the note is about
    title: String,
    /// What it says
    text: String,
}

#[tool_router]
impl Notebook {
    fn new() -> Self {
        let turin = ("Turin".to_owned(), "Has a fine river.".to_owned());
        Self {
            notes: Arc::new(Mutex::new(BTreeMap::from([turin]))),
            tool_router: Self::tool_router(),
            prompt_router: Self::prompt_router(),
        }
    }

    #[tool(description = "Writes a note down")]
    async fn write(&self, Parameters(Note { title, text }): Parameters<Note>) -> String {
        let written = format!("`{title}` is written down");
        self.notes().insert(title, text);
        written
    }

    #[tool(description = "Lists the titles of all notes")]
    async fn titles(&self) -> String {
        let titles: Vec<String> = self.notes().keys().cloned().collect();
        titles.join("\n")
    }

    fn notes(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        // Nothing panics while it is locked.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[prompt_router]
impl Notebook {
    #[prompt(description = "Asks for a summary of all notes")]
    async fn summary(&self) -> Vec<PromptMessage> {
        let notes: Vec<String> = self.notes().values().cloned().collect();
        let words = format!("Sum this up in one sentence:\n{}", notes.join("\n"));
        vec![PromptMessage::new_text(Role::User, words)]
    }
}

#[tool_handler(router = self.tool_router)]
#[prompt_handler(router = self.prompt_router)]
impl ServerHandler for Notebook {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .build();
        let version = env!("CARGO_PKG_VERSION");
        ServerConfig::new(capabilities).with_server_info(Implementation::new("notebook", version))
    }
}

// What is new: a tool that is a task, and works with the same notes.

/// What a person is asked before a note goes out.
#[derive(Elicit)]
struct Approval {
    /// Publish it?
    publish: bool,
    /// The name that it is published under
    #[elicit(max_len = 40)]
    author: Option<String>,
}

/// Publishes a note once a person has read it.
#[mcp_task(ttl = "24h", poll_interval = "200ms")]
async fn publish(
    /// The title of the note
    title: String,
    State(notebook): State<Notebook>,
) -> Result<String, ToolError> {
    // Notes change while a person reads: what they are shown is what is published,
    // also after a restart, since the result of a step is recorded.
    let text = step(async { read(&notebook, &title) }).await?;
    let approval: Approval = ask_user(format!("{title}\n\n{text}")).await?;
    if !approval.publish {
        return Err(ToolError::new(format!("`{title}` is not to be published")));
    }
    let author = approval.author.as_deref().unwrap_or("anonymous");
    Ok(format!("{title}, by {author}: {text}"))
}

fn read(notebook: &Notebook, title: &str) -> Result<String, String> {
    let text = notebook.notes().get(title).cloned();
    text.ok_or_else(|| format!("there is no note `{title}`"))
}

/// Serves notes over stdin and stdout.
#[derive(Parser)]
struct Cli {
    /// Serve over HTTP instead, at the path /mcp
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
}

#[tokio::main]
async fn main() -> Result<(), mcp_tasks::Error> {
    let notebook = Notebook::new();
    let server = TaskServer::wrap(notebook.clone())
        .task(publish)
        .state(notebook);
    match Cli::parse().http {
        None => server.serve_stdio().await,
        Some(address) => server.serve_http(address).await,
    }
}
