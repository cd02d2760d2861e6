//! Ending in good order when the process is told to.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use super::BuiltServer;

/// How long steps may take to end; a little less than the ten seconds after
/// which impatient supervisors kill.
pub(super) const GRACE: Duration = Duration::from_secs(8);

impl BuiltServer {
    /// Serves until that is over, or until the process is told to stop; then
    /// lets what is under way end. `None` if that took too long.
    pub(super) async fn until_told<T>(&self, serving: impl Future<Output = T>) -> Option<T> {
        let mut serving = pin!(serving);
        tokio::select! {
            served = &mut serving => return Some(served),
            () = told_to_stop() => {}
        }
        self.stop.cancel();
        let (served, ()) = tokio::join!(timeout(self.grace, serving), self.shut_down());
        served.ok()
    }

    /// Ends the server in good order: calls are refused from now on, subscriptions
    /// get their result, tasks that are not inside a step are put down so that
    /// another process, or the next start of this one, can go on with them, and
    /// steps that run have the time of
    /// [`shutdown_grace`](super::TaskServer::shutdown_grace) to end.
    ///
    /// [`serve_stdio`](Self::serve_stdio) and `serve_http` do so themselves when
    /// the process is told to stop. An application that mounts the
    /// service calls it when it ends, beside the graceful shutdown of its own
    /// listener; or it leaves the whole of it to
    /// [`shut_down_when_told`](Self::shut_down_when_told).
    pub async fn shut_down(&self) {
        self.stop.cancel();
        if let Err(error) = self.runtime().shut_down(self.grace).await {
            tracing::warn!(%error, "others take over when the lease is over: it could not be given up");
        }
    }

    /// Waits for Ctrl-C or SIGTERM, and then [shuts the server
    /// down](Self::shut_down): for an application that mounts the service, and ends
    /// with it.
    ///
    /// ```no_run
    /// # #[cfg(feature = "http")]
    /// # mod application {
    /// # use mcp_tasks::server::BuiltServer;
    /// async fn serve(server: BuiltServer) -> std::io::Result<()> {
    ///     let application = axum::Router::new().route_service("/mcp", server.service());
    ///     let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    ///     axum::serve(listener, application)
    ///         .with_graceful_shutdown(async move { server.shut_down_when_told().await })
    ///         .await
    /// }
    /// # }
    /// ```
    ///
    /// # Cancellation
    ///
    /// From its first poll on, Ctrl-C no longer ends the process by itself. Dropping
    /// it shuts nothing down.
    pub async fn shut_down_when_told(&self) {
        told_to_stop().await;
        self.shut_down().await;
    }
}

/// Waits for Ctrl-C or SIGTERM.
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
