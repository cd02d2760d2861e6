//! How a connection is made: which version is spoken, and what is said if there is
//! none.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientConfig, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RunningService,
};

use super::desk::Handler;
use super::stdio::Ending;
use super::{Launch, Link, Live, Log, Route, Tap, Trouble, trouble};
use crate::client::{ClientError, ServerInfo};

/// How long a server that said nothing is given to end by itself.
const ENDING: Duration = Duration::from_millis(500);

impl Link {
    pub(super) async fn connect(&self) -> Result<Live, ClientError> {
        let mut way = Way::Either;
        // What was wrong before older sessions were tried, if that was not that the
        // server is an older one.
        let mut broken = None;
        loop {
            let attempt = match &self.route {
                Route::Peer(peer) => return Ok(self.theirs(peer)),
                Route::Stdio(launch, log) => self.start(launch, log.clone(), way).await,
                #[cfg(feature = "client")]
                Route::Http(address) => self.open(address, way).await,
            };
            let (error, words) = match attempt {
                Ok(live) => return Ok(live),
                Err(failed) => failed,
            };
            let is_process = matches!(self.route, Route::Stdio(..));
            let Some(next) = way.after(&error, is_process) else {
                return Err(broken.unwrap_or(words));
            };
            if matches!(error, ClientInitializeError::ExpectedInitResult(_)) {
                broken = Some(words);
            }
            way = next;
        }
    }

    fn theirs(&self, peer: &Peer<RoleClient>) -> Live {
        Live {
            peer: peer.clone(),
            server: ServerInfo::of(peer),
            tap: Arc::default(),
            is_tapped: false,
            desk: Arc::clone(&self.desk),
            process: None,
            running: Mutex::default(),
        }
    }

    #[cfg(feature = "client")]
    async fn open(
        &self,
        address: &crate::client::address::HttpAddress,
        way: Way,
    ) -> Result<Live, (ClientInitializeError, ClientError)> {
        let tap = Arc::new(Tap::new(self.show.clone()));
        let transport = address
            .transport(&tap, self.patience)
            .map_err(|error| (ClientInitializeError::Cancelled, error))?;
        let handler = self.handler(&tap);
        match handler.serve_with_lifecycle(transport, way.mode()).await {
            Ok(running) => Ok(self.running(running, tap, None)),
            Err(error) => {
                let words = self.cannot_connect(&error);
                Err((error, words))
            }
        }
    }

    async fn start(
        &self,
        launch: &Launch,
        log: Option<Log>,
        way: Way,
    ) -> Result<Live, (ClientInitializeError, ClientError)> {
        let tap = Arc::new(Tap::new(self.show.clone()));
        let transport = launch.start(Arc::clone(&tap), log).map_err(|error| {
            let problem = error.to_string();
            let closed = ClientInitializeError::Cancelled;
            let server = self.name();
            (closed, ClientError::Connect { server, problem })
        })?;
        let (mut ended, process) = (transport.ended(), transport.process());
        let handler = self.handler(&tap);
        match handler.serve_with_lifecycle(transport, way.mode()).await {
            Ok(running) => Ok(self.running(running, tap, process)),
            Err(error) => {
                // One that has ended by itself is why there is no connection.
                let words = match ended.within(ENDING).await {
                    Some(Ending::ByItself(Some(status))) => ClientError::Connect {
                        server: self.name(),
                        problem: format!("it ended before it had answered ({status})"),
                    },
                    _ => self.cannot_connect(&error),
                };
                Err((error, words))
            }
        }
    }

    fn handler(&self, tap: &Arc<Tap>) -> Handler {
        let config = ClientConfig::new(self.capabilities.clone(), self.identity.clone());
        Handler {
            config,
            desk: Arc::clone(&self.desk),
            tap: Arc::clone(tap),
        }
    }

    fn running(
        &self,
        running: RunningService<RoleClient, Handler>,
        tap: Arc<Tap>,
        process: Option<u32>,
    ) -> Live {
        let peer = running.peer().clone();
        Live {
            server: ServerInfo::of(&peer),
            peer,
            tap,
            is_tapped: true,
            desk: Arc::clone(&self.desk),
            process,
            running: Mutex::new(Some(running)),
        }
    }

    fn cannot_connect(&self, error: &ClientInitializeError) -> ClientError {
        if error.is_authorization_required() {
            return ClientError::Denied(format!(
                "{} wants credentials, or others than these",
                self.name()
            ));
        }
        let problem = words(error);
        if let Some(words) = denied(error) {
            return ClientError::Denied(format!("{}: {words}", self.name()));
        }
        ClientError::Connect {
            server: self.name(),
            problem,
        }
    }
}

/// How a server is spoken to first.
#[derive(Clone, Copy)]
enum Way {
    /// As 2026-07-28 wants it, and if it does not know that within some seconds, as
    /// older sessions begin.
    Either,
    /// As 2026-07-28 wants it, however long that takes.
    Discover,
    /// As older sessions begin.
    Initialize,
}

impl Way {
    fn mode(self) -> ClientLifecycleMode {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        match self {
            Self::Either => ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: None,
            },
            Self::Discover => ClientLifecycleMode::Discover { preferred_versions },
            Self::Initialize => ClientLifecycleMode::Initialize,
        }
    }

    /// What is tried next; `None` if nothing is left.
    fn after(self, error: &ClientInitializeError, is_process: bool) -> Option<Self> {
        use ClientInitializeError as Error;

        match (self, error) {
            (Self::Initialize, _) => None,
            // It took its time to start, and was thought to be an older one.
            (Self::Either, Error::ConflictInitResponseId(..)) => Some(Self::Discover),
            // The same, and it is one; or it says something to what it does not know.
            (Self::Either, Error::UncorrelatedErrorResponse { .. })
            | (Self::Discover, Error::JsonRpcError(_))
            | (Self::Either | Self::Discover, Error::ExpectedInitResult(_)) => {
                Some(Self::Initialize)
            }
            // There are such that end when the first message is another than they
            // expect.
            (_, Error::ConnectionClosed(_) | Error::TransportError { .. }) if is_process => {
                Some(Self::Initialize)
            }
            (
                _,
                Error::NoCompatibleProtocolVersion {
                    server_supported, ..
                },
            ) if speaks_older(server_supported) => Some(Self::Initialize),
            _ => None,
        }
    }
}

/// Whether there is a version among these that begins with `initialize`: a server
/// may know the question and none of the versions that it came with.
fn speaks_older(versions: &[ProtocolVersion]) -> bool {
    versions.iter().any(ProtocolVersion::has_initialize)
}

/// That the server lets nobody in without, or with these, credentials, and does not say
/// which it wants.
fn denied(error: &ClientInitializeError) -> Option<String> {
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            match Trouble::of_transport(error.error.as_ref()) {
                Trouble::Denied(words) => Some(words),
                _ => None,
            }
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => denied(fallback),
        _ => None,
    }
}

/// Why no connection stands.
fn words(error: &ClientInitializeError) -> String {
    match error {
        // The type of the transport, which stands before it, is our affair.
        ClientInitializeError::TransportError { error, .. } => {
            let words = Trouble::of_transport(error.error.as_ref()).words();
            if ["404", "405"].iter().any(|status| words.ends_with(status)) {
                return format!(
                    "{words}: nothing speaks streamable HTTP there; is the URL's path right? \
                     (The HTTP with SSE of 2024 is not spoken here)"
                );
            }
            words
        }
        // What it says to what every server knows is what is wrong with it.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => words(fallback),
        ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ExpectedInitResponse(_) => {
            "it does not say what an MCP server is to say when it is asked what it is".to_owned()
        }
        ClientInitializeError::ConnectionClosed(_) => {
            "it hung up before it had said what it is".to_owned()
        }
        ClientInitializeError::NoCompatibleProtocolVersion {
            server_supported, ..
        } => {
            let theirs: Vec<_> = server_supported.iter().map(ToString::to_string).collect();
            format!(
                "it speaks MCP {}, which this client does not",
                theirs.join(", ")
            )
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!("it said: {} (code {})", error.message, error.code.0)
        }
        other => trouble::chain(other),
    }
}
