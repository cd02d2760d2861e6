//! A listener of our own, for servers that are not part of an application.

use std::io;

use axum::Router;
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};

use super::{BuiltServer, InboxService, say};
use crate::Error;

/// Where the inbox is.
const INBOX: &str = "/inbox";

const NOBODY_KNOWN: &str = "the inbox shows people their own questions, and this server cannot \
     tell people apart: say who calls with `.bearer_tokens(..)` or `.caller(..)`, or let \
     everybody who reaches it see and answer everything with `.inbox_for_anybody()`";

/// Listens and serves until the process is told to stop.
pub(super) async fn serve(server: &BuiltServer, address: impl ToSocketAddrs) -> Result<(), Error> {
    if server
        .inbox
        .as_ref()
        .is_some_and(InboxService::needs_a_layer)
    {
        return Err(Error::Config(NOBODY_KNOWN.to_owned()));
    }
    let addresses: Vec<_> = lookup_host(address)
        .await
        .map_err(doing("looking up the address to listen on"))?
        .collect();
    let listener = TcpListener::bind(&*addresses)
        .await
        .map_err(doing(&format!("listening on {addresses:?}")))?;
    let address = listener.local_addr().map_err(doing("listening"))?;
    let mut application = Router::new().route_service("/mcp", server.service());
    if let Some(inbox) = &server.inbox {
        say(&format!("inbox at http://{address}{INBOX}"));
        application = application.route_service(INBOX, inbox.clone());
    }
    // The last line: whoever waits for it has read the others.
    say(&format!("listening on http://{address}/mcp"));
    let serving = axum::serve(listener, application)
        .with_graceful_shutdown(server.stop.clone().cancelled_owned());
    match server.until_told(serving.into_future()).await {
        Some(ended) => ended.map_err(doing("serving over HTTP")),
        None => Ok(()),
    }
}

/// Says what was tried when the operating system refused it.
fn doing(what: &str) -> impl FnOnce(io::Error) -> Error {
    let doing = what.to_owned();
    move |error| Error::Io { doing, error }
}
