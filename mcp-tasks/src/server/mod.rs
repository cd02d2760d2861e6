//! Serving task functions over MCP: the router put in front of rmcp.
//!
//! [`TaskServer`] collects what a server is made of; [`BuiltServer`] is the
//! server, checked; [`TaskService`] is the same as a tower service. Messages of
//! 2026-07-28 that concern our tools and tasks never reach rmcp, which serves
//! all others: discovery, prompts, resources, older sessions, and the tools of
//! a wrapped handler.

#[cfg(feature = "http")]
mod access;
mod builder;
mod callers;
mod catalogue;
mod convert;
mod engine;
mod era;
#[cfg(feature = "http")]
mod events;
mod handler;
#[cfg(feature = "http")]
mod headers;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod inbox;
#[cfg(feature = "http")]
mod listen;
#[cfg(feature = "http")]
mod mirrored;
#[cfg(feature = "http")]
mod resumed;
mod session;
mod stdio;
mod stop;
mod subscription;
#[cfg(test)]
mod tests;
#[cfg(feature = "http")]
mod told;

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub use self::builder::TaskServer;
pub use self::handler::NoHandler;
#[cfg(feature = "http")]
pub use self::http::TaskService;
#[cfg(feature = "http")]
pub use self::inbox::InboxService;
use self::stdio::StdioServer;
use crate::Error;
use crate::runtime::{Runtime, Tasks};

/// A server that is ready to serve, made by [`TaskServer::build`].
///
/// # Example
///
/// In an application of one's own, behind its authentication, which says who
/// calls by a [`Caller`](crate::Caller) in the request's extensions:
///
/// ```no_run
/// # #[cfg(feature = "http")]
/// # mod application {
/// use axum::extract::Request;
/// use axum::middleware::{Next, from_fn};
/// use axum::response::Response;
/// use mcp_tasks::prelude::*;
///
/// # #[mcp_task]
/// # async fn deploy() {}
/// # fn principal(_: &Request) -> String { String::new() }
/// async fn authenticate(mut request: Request, next: Next) -> Response {
///     let caller = Caller::new(principal(&request));
///     request.extensions_mut().insert(caller);
///     next.run(request).await
/// }
///
/// fn application() -> Result<axum::Router, mcp_tasks::Error> {
///     let server = TaskServer::new("deployer", "1.0.0").task(deploy).build()?;
///     Ok(axum::Router::new()
///         .route_service("/mcp", server.service())
///         .layer(from_fn(authenticate)))
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct BuiltServer {
    tasks: Tasks,
    stdio: Arc<StdioServer>,
    #[cfg(feature = "http")]
    http: TaskService,
    /// None if it is off.
    #[cfg(feature = "http")]
    inbox: Option<InboxService>,
    /// Once it fires, the server ends.
    stop: CancellationToken,
    /// How long steps may take to end then.
    grace: Duration,
    /// What to say when the server starts.
    notice: Option<&'static str>,
}

impl BuiltServer {
    /// The handle by which other code of this process reaches the tasks.
    pub fn tasks(&self) -> Tasks {
        self.tasks.clone()
    }

    /// The engine behind the server.
    pub fn runtime(&self) -> &Runtime {
        self.stdio.router.runtime()
    }

    /// Serves one client over stdin and stdout until it goes away, which ends its
    /// subscriptions in good order, or until Ctrl-C or SIGTERM, which
    /// [shuts the server down](Self::shut_down).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when stdin cannot be read or stdout cannot be written.
    ///
    /// # Cancellation
    ///
    /// Calls that still run inline when stdin ends are dropped; tasks are not
    /// theirs to end.
    pub async fn serve_stdio(&self) -> Result<(), Error> {
        self.say_notice();
        let server = Arc::clone(&self.stdio);
        let doing = |error| Error::Io {
            doing: "serving over stdin and stdout".to_owned(),
            error,
        };
        let stdin = stdio::Stdin::open().map_err(doing)?;
        let serving = stdio::serve(server, stdin, tokio::io::stdout());
        self.until_told(serving)
            .await
            .unwrap_or(Ok(()))
            .map_err(doing)
    }

    /// Serves over HTTP at the path `/mcp` until Ctrl-C or SIGTERM.
    ///
    /// Beside it there is the [inbox](TaskServer::inbox) at `/inbox`, if it is on.
    ///
    /// Says `listening on http://ADDRESS/mcp` on stderr once it does. When it is
    /// told to stop it [shuts the server down](Self::shut_down); requests that are
    /// on the way have as long to end as steps have.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the address cannot be listened on; [`Error::Config`] if
    /// there is an inbox, and nothing by which it could know anybody.
    #[cfg(feature = "http")]
    pub async fn serve_http(&self, address: impl tokio::net::ToSocketAddrs) -> Result<(), Error> {
        self.say_notice();
        listen::serve(self, address).await
    }

    /// The server as a tower service, to be mounted in an application.
    ///
    /// All services of one server share its older sessions and its tasks.
    #[cfg(feature = "http")]
    pub fn service(&self) -> TaskService {
        self.http.clone()
    }

    /// The inbox as a tower service, to be mounted in an application, at whatever
    /// path:
    ///
    /// ```no_run
    /// # use mcp_tasks::prelude::*;
    /// # #[mcp_task]
    /// # async fn deploy() {}
    /// # fn application() -> Result<axum::Router, mcp_tasks::Error> {
    /// let server = TaskServer::new("deployer", "1.0.0").task(deploy).inbox().build()?;
    /// # Ok(
    /// axum::Router::new()
    ///     .route_service("/mcp", server.service())
    ///     .route_service("/inbox", server.inbox_service()?)
    ///     // .layer(..): what says who calls, for both.
    /// # )
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if the server has none, which is so unless it was
    /// [asked for](TaskServer::inbox).
    #[cfg(feature = "http")]
    pub fn inbox_service(&self) -> Result<InboxService, Error> {
        let words = "this server has no inbox: call `.inbox()` before `.build()`";
        let inbox = self.inbox.clone();
        inbox.ok_or_else(|| Error::Config(words.to_owned()))
    }

    fn say_notice(&self) {
        if let Some(notice) = self.notice {
            say(notice);
        }
    }
}

impl std::fmt::Debug for BuiltServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuiltServer").finish_non_exhaustive()
    }
}

/// Tells whoever started the process; that nobody listens is no reason to stop.
fn say(words: &str) {
    let _ = writeln!(std::io::stderr(), "{words}");
}
