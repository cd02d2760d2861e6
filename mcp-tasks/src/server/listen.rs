//! A listener of our own, for servers that are not part of an application.

use std::io;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};
use tokio_util::sync::CancellationToken;

use super::{TaskService, say};
use crate::Error;

/// How long requests may take to end once the server is told to stop.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// Listens and serves until the process is told to stop.
pub(super) async fn serve(service: TaskService, address: impl ToSocketAddrs) -> Result<(), Error> {
    let addresses: Vec<_> = lookup_host(address)
        .await
        .map_err(doing("looking up the address to listen on"))?
        .collect();
    let listener = TcpListener::bind(&*addresses)
        .await
        .map_err(doing(&format!("listening on {addresses:?}")))?;
    let address = listener.local_addr().map_err(doing("listening"))?;
    say(&format!("listening on http://{address}/mcp"));
    let stop = CancellationToken::new();
    let application = Router::new().route_service("/mcp", service.clone());
    let serving =
        axum::serve(listener, application).with_graceful_shutdown(stop.clone().cancelled_owned());
    tokio::select! {
        served = serving => served.map_err(doing("serving over HTTP")),
        () = async {
            told_to_stop().await;
            stop.cancel();
            // Streams of older sessions never end by themselves.
            service.stop();
            tokio::time::sleep(LAST_REQUESTS).await;
        } => Ok(()),
    }
}

/// Says what was tried when the operating system refused it.
fn doing(what: &str) -> impl FnOnce(io::Error) -> Error {
    let doing = what.to_owned();
    move |error| Error::Io { doing, error }
}

async fn told_to_stop() {
    let interrupted = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "Ctrl-C will not be noticed");
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(error) => {
                tracing::warn!(%error, "SIGTERM will not be noticed");
                std::future::pending::<()>().await;
            }
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}
