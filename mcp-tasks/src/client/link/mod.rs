//! The connection to a server: made again when it is lost, and asked one request
//! at a time by any number of calls.

mod connect;
mod desk;
#[cfg(feature = "client")]
mod http;
#[cfg(feature = "client")]
mod mirrors;
mod stdio;
mod tap;
mod trouble;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientRequest, CustomRequest, Implementation, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RunningService};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::Instant;

use super::answer::AnyAnswers;
use super::book::ServerAddress;
use super::call::back_off;
use super::{ClientError, ServerInfo};
use desk::Handler;
pub(super) use desk::{Desk, Seated};
#[cfg(feature = "client")]
pub(in crate::client) use http::Http;
#[cfg(feature = "client")]
pub(in crate::client) use mirrors::Mirrors;
pub(super) use stdio::Launch;
pub use tap::Direction;
use tap::Slot;
pub(super) use tap::{Ear, Show, Tap, Told};
pub(super) use trouble::Trouble;

/// How long a server may take to say what it is, which for one that is started here
/// may mean to be built first. One of an older session that passes over what it does
/// not know is asked once more after ten seconds.
const HANDSHAKE: Duration = Duration::from_secs(120);

/// Who is handed the lines that a server writes to its stderr.
pub(super) type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Where the server is.
pub(super) enum Route {
    Stdio(Launch, Option<Log>),
    #[cfg(feature = "client")]
    Http(super::address::HttpAddress),
    /// Somebody else's connection, which is taken as it is.
    Peer(Peer<RoleClient>),
}

/// A connection that is made when it is needed.
pub(super) struct Link {
    route: Route,
    /// What this client is and can do; declared with every request.
    identity: Implementation,
    capabilities: ClientCapabilities,
    /// Who is shown every message.
    show: Option<Show>,
    /// How long the server may take until the connection stands.
    patience: Duration,
    standing: tokio::sync::Mutex<Standing>,
    desk: Arc<Desk>,
}

/// How it stands with the connection.
#[derive(Default)]
struct Standing {
    live: Option<Arc<Live>>,
    /// That it could not be made, last and so many times in a row.
    failed: Option<Failed>,
}

struct Failed {
    at: Instant,
    times: u32,
    error: ClientError,
}

/// For how long at most a connection that could not be made is not tried again.
/// All calls share it: a server that ends as soon as it is started is not started
/// by each of them.
const COOLEST: Duration = Duration::from_secs(5);

/// A connection that stood when it was last looked at.
pub(super) struct Live {
    peer: Peer<RoleClient>,
    pub(super) server: ServerInfo,
    tap: Arc<Tap>,
    /// Whether the tap is in the wire; it is not in somebody else's connection.
    is_tapped: bool,
    desk: Arc<Desk>,
    /// The number of the server's process, if it is a child of ours.
    pub(super) process: Option<u32>,
    running: Mutex<Option<RunningService<RoleClient, Handler>>>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("server", &self.name())
            .finish_non_exhaustive()
    }
}

impl Link {
    pub(super) fn new(
        route: Route,
        identity: Implementation,
        capabilities: ClientCapabilities,
        show: Option<Show>,
        patience: Duration,
        answers: Option<Arc<dyn AnyAnswers>>,
    ) -> Self {
        Self {
            route,
            identity,
            capabilities,
            show,
            patience,
            standing: tokio::sync::Mutex::default(),
            desk: Arc::new(Desk::new(answers)),
        }
    }

    /// Where the server is, for a book.
    pub(super) fn address(&self) -> Option<ServerAddress> {
        match &self.route {
            Route::Stdio(launch, _) => {
                let command = launch.command();
                let text = |argument: &std::ffi::OsStr| argument.to_str().map(str::to_owned);
                Some(ServerAddress::Stdio {
                    program: command.get_program().into(),
                    arguments: command.get_args().map(text).collect::<Option<_>>()?,
                    directory: command.get_current_dir().map(Into::into),
                })
            }
            #[cfg(feature = "client")]
            Route::Http(address) => Some(ServerAddress::Http(address.url().to_owned())),
            Route::Peer(_) => None,
        }
    }

    /// Takes note of a tool that is called over HTTP.
    ///
    /// # Errors
    ///
    /// Why such a tool is not to be shown to anybody.
    #[cfg(feature = "client")]
    pub(super) fn learn(&self, tool: &super::ToolInfo) -> Result<(), String> {
        match &self.route {
            Route::Http(address) => {
                let schema = tool.input_schema.get();
                address.mirrors().learn(&tool.name, schema)
            }
            Route::Stdio(..) | Route::Peer(_) => Ok(()),
        }
    }

    fn name(&self) -> String {
        match &self.route {
            Route::Stdio(launch, _) => format!("`{}`", launch.name()),
            #[cfg(feature = "client")]
            Route::Http(address) => address.shown(),
            Route::Peer(_) => "the server".to_owned(),
        }
    }

    /// The connection; makes one if there is none.
    pub(super) async fn live(&self) -> Result<Arc<Live>, Trouble> {
        let mut standing = self.standing.lock().await;
        if let Some(live) = &standing.live
            && !live.peer.is_transport_closed()
        {
            return Ok(Arc::clone(live));
        }
        if let Some(failed) = &standing.failed
            && failed.at.elapsed() < back_off(failed.times).min(COOLEST)
        {
            return Err(Trouble::Connect(failed.error.clone()));
        }
        // The last one is dropped first: a server may allow no second.
        if let Some(lost) = standing.live.take() {
            lost.close().await;
        }
        let limit = HANDSHAKE.min(self.patience);
        let fresh = match tokio::time::timeout(limit, self.connect()).await {
            Ok(fresh) => fresh,
            Err(_) => Err(ClientError::Connect {
                server: self.name(),
                problem: format!("it did not say what it is within {limit:?}"),
            }),
        };
        match fresh {
            Ok(fresh) => {
                let fresh = Arc::new(fresh);
                standing.failed = None;
                standing.live = Some(Arc::clone(&fresh));
                Ok(fresh)
            }
            Err(error) => {
                standing.failed = Some(Failed {
                    at: Instant::now(),
                    times: standing.failed.as_ref().map_or(0, |it| it.times) + 1,
                    error: error.clone(),
                });
                Err(Trouble::Connect(error))
            }
        }
    }

    /// Ends the connection.
    pub(super) async fn close(&self) {
        if let Some(live) = self.standing.lock().await.live.take() {
            live.close().await;
        }
    }
}

impl Live {
    /// Whether the server speaks 2026-07-28; else it is an older session (P70).
    pub(super) fn is_modern(&self) -> bool {
        self.peer
            .peer_info()
            .is_none_or(|info| !info.protocol_version.has_initialize())
    }

    /// Whether what a server tells can be heard.
    pub(super) fn can_listen(&self) -> bool {
        self.is_tapped && self.is_modern()
    }

    pub(super) fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// If the parameters are no JSON object, or there is no connection.
    pub(super) async fn send(
        &self,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<Sent, Trouble> {
        let unsendable = |problem: String| {
            Trouble::Connect(ClientError::Unsendable {
                method: method.to_owned(),
                problem,
            })
        };
        let params = serde_json::to_value(params).map_err(|error| unsendable(error.to_string()))?;
        if !params.is_object() {
            return Err(unsendable("the parameters are no object".to_owned()));
        }
        let slot = Slot::default();
        let mut request = CustomRequest::new(method, Some(params));
        request.extensions.insert(slot.clone());
        let request = self
            .typed(method, request)
            .map_err(|error| unsendable(error.to_string()))?;
        let handle = self
            .peer
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .map_err(Trouble::of)?;
        Ok(Sent {
            id: handle.id.clone(),
            token: handle.progress_token.0.to_string(),
            slot,
            tap: Arc::clone(&self.tap),
            waiting: Waiting {
                handle: Some(handle),
            },
        })
    }

    /// In somebody else's connection a request is one that rmcp knows, so that
    /// its reply is, too.
    fn typed(&self, method: &str, request: CustomRequest) -> serde_json::Result<ClientRequest> {
        if self.is_tapped {
            return Ok(ClientRequest::CustomRequest(request));
        }
        let json = serde_json::json!({ "method": method, "params": request.params });
        serde_json::from_value(json)
    }

    /// Sends a request and waits for the reply, at most so long.
    pub(super) async fn request(
        &self,
        method: &'static str,
        params: &impl Serialize,
        limit: Duration,
    ) -> Result<Arc<RawValue>, Trouble> {
        let reply = async { self.send(method, params).await?.reply().await };
        match tokio::time::timeout(limit, reply).await {
            Ok(reply) => reply,
            Err(_) => Err(Trouble::NoReply(format!("no reply within {limit:?}"))),
        }
    }

    async fn close(&self) {
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(mut running) = running
            && let Err(error) = running.close().await
        {
            tracing::debug!("the connection ended badly: {error}");
        }
    }
}

/// A request under way. Dropped before its reply, the server is told that nobody
/// waits for it any more.
pub(super) struct Sent {
    pub(super) id: RequestId,
    token: String,
    slot: Slot,
    tap: Arc<Tap>,
    waiting: Waiting,
}

struct Waiting {
    handle: Option<RequestHandle<RoleClient>>,
}

impl Sent {
    /// Hears of the call's progress.
    pub(super) fn progress(&self) -> Ear {
        self.tap.listen(tap::progress(&self.token))
    }

    /// Hears of what is told under this request, which subscribes.
    pub(super) fn subscription(&self) -> Ear {
        self.tap.listen(tap::subscription(&self.id.to_string()))
    }

    /// Waits for the reply.
    pub(super) async fn reply(mut self) -> Result<Arc<RawValue>, Trouble> {
        let Some(handle) = self.waiting.handle.as_mut() else {
            unreachable!("taken when it is dropped");
        };
        let reply = (&mut handle.rx).await;
        self.waiting.handle = None;
        let reply = reply.map_err(|_| Trouble::NoReply("the connection was closed".to_owned()))?;
        let reply = reply.map_err(Trouble::of)?;
        match self.slot.take() {
            Some(text) => Ok(text),
            None => as_text(&reply),
        }
    }
}

/// A reply that was not seen on the wire, as rmcp's types have it.
fn as_text(reply: &ServerResult) -> Result<Arc<RawValue>, Trouble> {
    let text = match reply {
        ServerResult::CustomResult(result) => to_raw_value(&result.0),
        other => to_raw_value(other),
    };
    match text {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(Trouble::NoReply(error.to_string())),
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let reason = Some("the client no longer waits for it".to_owned());
                if let Err(error) = handle.cancel(reason).await {
                    tracing::debug!("a request could not be withdrawn: {error}");
                }
            });
        }
    }
}

impl ServerInfo {
    fn of(peer: &Peer<RoleClient>) -> Self {
        let Some(info) = peer.peer_info() else {
            return Self::default();
        };
        let named = info.server_info.clone();
        let tasks = info.capabilities.extensions.as_ref();
        let (name, version) = named.map(|it| (it.name, it.version)).unwrap_or_default();
        Self {
            name,
            version,
            protocol_version: info.protocol_version.to_string(),
            tasks: tasks.is_some_and(|all| all.contains_key(crate::protocol::TASKS_EXTENSION)),
            instructions: info.instructions.clone(),
        }
    }
}
