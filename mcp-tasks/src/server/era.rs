//! Which of the two protocols a message belongs to, and what the newer one
//! asks of every message (P3).
//!
//! Under 2026-07-28 each request says everything about itself; before that, an
//! `initialize` request opened a session whose terms held for what followed.
//! Both transports ask here, so that they cannot disagree.

use rmcp::ServerHandler;
use rmcp::model::ProtocolVersion;

use crate::protocol::{Message, MessageKind, PROTOCOL_VERSION, ProtocolError, Reply};

/// The method that opens an older session, whatever version it asks for.
pub(super) const INITIALIZE: &str = "initialize";

/// The methods that 2026-07-28 has taken out.
const GONE: [&str; 5] = [
    INITIALIZE,
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// The two ways in which a message can be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Stands alone, under 2026-07-28 or a version that we do not know.
    Standalone,
    /// Part of an older session, or about to open one.
    Session,
}

/// The protocol versions that one server speaks.
#[derive(Debug)]
pub(super) struct Versions {
    supported: Vec<String>,
}

impl Versions {
    /// The versions of a handler, and 2026-07-28, which is ours to answer.
    pub(super) fn of(handler: &impl ServerHandler) -> Self {
        let mut supported: Vec<String> = handler
            .supported_protocol_versions()
            .iter()
            .map(|version| version.as_str().to_owned())
            .filter(|version| version.as_str() < PROTOCOL_VERSION)
            .collect();
        supported.push(PROTOCOL_VERSION.to_owned());
        Self { supported }
    }

    /// The era of a message, judged by the version that it names.
    ///
    /// `outside` is a version that the transport carries beside the message,
    /// which counts only where the message itself names none.
    pub(super) fn era(message: &Message<'_>, outside: Option<&str>) -> Option<Era> {
        let named = message.meta().protocol_version.as_deref();
        if message.kind() == MessageKind::Request && message.method() == INITIALIZE {
            let asks_for_a_version = message.params().protocol_version.is_some();
            // Without one it is no handshake, and may be of a client that looks
            // for what a server still has.
            if asks_for_a_version || named.is_none() {
                return Some(Era::Session);
            }
        }
        let named = named.or(outside)?;
        // A version that nobody knows is refused like a newer one, by its name.
        Some(if opens_sessions(named) {
            Era::Session
        } else {
            Era::Standalone
        })
    }

    /// Checks what a request under 2026-07-28 must say about itself (P3).
    ///
    /// # Errors
    ///
    /// The reply to send, with HTTP status 400: `-32022` for a version that is
    /// not supported, `-32602` for a member that is missing.
    pub(super) fn admit(&self, message: &Message<'_>, outside: Option<&str>) -> Result<(), Reply> {
        let refuse = |error: &ProtocolError| Reply::error(message.id(), error).with_status(400);
        let named = message.meta().protocol_version.as_deref().or(outside);
        if let Some(requested) = named.filter(|named| *named != PROTOCOL_VERSION) {
            let supported: Vec<&str> = self.supported.iter().map(String::as_str).collect();
            return Err(refuse(&ProtocolError::unsupported_version(
                &supported, requested,
            )));
        }
        message
            .meta()
            .required()
            .map(drop)
            .map_err(|error| refuse(&error))
    }
}

/// Refuses a request under 2026-07-28 for a method that is older.
///
/// rmcp looks at the parameters of some first, and at a header that the
/// specification does not have for them.
///
/// # Errors
///
/// `-32601`, with HTTP status 404.
pub(super) fn refuse_gone(message: &Message<'_>) -> Result<(), ProtocolError> {
    if GONE.contains(&message.method()) {
        return Err(ProtocolError::method_not_found(message.method()));
    }
    Ok(())
}

/// Whether a version is one of those that begin with `initialize`.
pub(super) fn opens_sessions(version: &str) -> bool {
    ProtocolVersion::KNOWN_VERSIONS
        .iter()
        .any(|known| known.has_initialize() && known.as_str() == version)
}

#[cfg(test)]
mod tests {
    use super::super::NoHandler;
    use super::*;

    fn request(method: &str, version: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{
                "io.modelcontextprotocol/protocolVersion":"{version}"}}}}}}"#
        )
    }

    fn era(text: &str, outside: Option<&str>) -> Option<Era> {
        Versions::era(&Message::parse(text.as_bytes()).unwrap(), outside)
    }

    #[test]
    fn the_message_decides_before_the_transport() {
        assert_eq!(
            era(&request("tools/list", "2026-07-28"), Some("2025-11-25")),
            Some(Era::Standalone)
        );
        assert_eq!(
            era(&request("tools/list", "2025-11-25"), Some("2026-07-28")),
            Some(Era::Session)
        );
        let bare = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        assert_eq!(era(bare, Some("2026-07-28")), Some(Era::Standalone));
        assert_eq!(era(bare, None), None);
    }

    #[test]
    fn initialize_opens_a_session_whatever_it_asks_for() {
        let handshake = |version: &str, meta: &str| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{
                    "protocolVersion":"{version}"{meta}}}}}"#
            );
            era(&text, Some("2026-07-28"))
        };
        let meta = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        for meta in ["", meta] {
            for version in ["2025-11-25", "2026-07-28"] {
                assert_eq!(handshake(version, meta), Some(Era::Session));
            }
        }
        // Asks for none, and says by itself what it is meant as.
        assert_eq!(
            era(&request("initialize", "2026-07-28"), None),
            Some(Era::Standalone)
        );
        let bare = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
        assert_eq!(era(bare, None), Some(Era::Session));
    }

    #[test]
    fn an_unknown_version_is_refused_with_the_known_ones() {
        let versions = Versions::of(&NoHandler::new("test", "1"));
        for unknown in ["2099-01-01", "1.0", ""] {
            let text = request("tools/list", unknown);
            let message = Message::parse(text.as_bytes()).unwrap();
            let reply = versions.admit(&message, None).unwrap_err();
            assert_eq!(reply.status, 400);
            assert!(reply.body.contains("-32022"), "{}", reply.body);
            assert!(reply.body.contains("2025-11-25"), "{}", reply.body);
            assert!(reply.body.contains("2026-07-28"), "{}", reply.body);
        }
    }

    #[test]
    fn a_request_without_capabilities_is_refused() {
        let versions = Versions::of(&NoHandler::new("test", "1"));
        let text = request("tools/list", "2026-07-28");
        let message = Message::parse(text.as_bytes()).unwrap();
        let reply = versions.admit(&message, None).unwrap_err();
        assert_eq!(reply.status, 400);
        assert!(reply.body.contains("-32602"), "{}", reply.body);
        assert!(reply.body.contains("clientCapabilities"), "{}", reply.body);
    }
}
