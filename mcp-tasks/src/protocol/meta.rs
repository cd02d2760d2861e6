//! What a request says of itself in `_meta` (P1, P3).

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::jsonrpc::{object, text};
use super::{Capabilities, META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION, ProtocolError};

/// The protocol version and capabilities that one request declares.
///
/// Nothing is remembered between requests: only what stands here counts (P1).
#[derive(Debug, Default)]
pub struct RequestMeta<'a> {
    /// The version, if the request names one.
    pub protocol_version: Option<Cow<'a, str>>,
    /// The capabilities, if the request declares any.
    pub capabilities: Option<Capabilities>,
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
}

impl<'a> RequestMeta<'a> {
    /// Reads a `_meta`.
    ///
    /// # Errors
    ///
    /// `-32602` naming the member that has the wrong type.
    pub fn parse(raw: &'a RawValue) -> Result<Self, ProtocolError> {
        let wire: Wire<'a> = object(raw).map_err(|error| {
            ProtocolError::invalid_params(format!("`_meta` must be an object: {error}"))
        })?;
        let protocol_version = wire
            .protocol_version
            .map(|raw| {
                text(raw).ok_or_else(|| {
                    ProtocolError::invalid_params(format!(
                        "`_meta[\"{META_PROTOCOL_VERSION}\"]` must be a string"
                    ))
                })
            })
            .transpose()?;
        let capabilities = wire
            .capabilities
            .map(|raw| {
                object(raw).map_err(|error| {
                    ProtocolError::invalid_params(format!(
                        "`_meta[\"{META_CLIENT_CAPABILITIES}\"]` is malformed: {error}"
                    ))
                })
            })
            .transpose()?;
        Ok(Self {
            protocol_version,
            capabilities,
        })
    }

    /// The capabilities of a request under 2026-07-28, which must carry them.
    ///
    /// # Errors
    ///
    /// `-32602` naming the member that is missing (P3).
    pub fn required(&self) -> Result<Capabilities, ProtocolError> {
        if self.protocol_version.is_none() {
            return Err(missing(META_PROTOCOL_VERSION));
        }
        self.capabilities
            .ok_or_else(|| missing(META_CLIENT_CAPABILITIES))
    }
}

fn missing(member: &str) -> ProtocolError {
    ProtocolError::invalid_params(format!("every request must carry `_meta[\"{member}\"]`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(Option<String>, Option<Capabilities>), ProtocolError> {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        RequestMeta::parse(raw).map(|meta| {
            (
                meta.protocol_version.map(Cow::into_owned),
                meta.capabilities,
            )
        })
    }

    #[test]
    fn the_extension_counts_only_where_it_belongs() {
        let declared = r#"{"io.modelcontextprotocol/clientCapabilities":
            {"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
        assert!(parse(declared).unwrap().1.unwrap().tasks);
        // c04: directly in `_meta`, or as the old capability.
        assert!(
            parse(r#"{"io.modelcontextprotocol/tasks":{}}"#)
                .unwrap()
                .1
                .is_none()
        );
        let old = r#"{"io.modelcontextprotocol/clientCapabilities":{"tasks":{}}}"#;
        assert!(!parse(old).unwrap().1.unwrap().tasks);
    }

    #[test]
    fn a_member_of_the_wrong_type_is_named() {
        let error = parse(r#"{"io.modelcontextprotocol/protocolVersion":7}"#).unwrap_err();
        assert!(error.message.contains("protocolVersion"), "{error}");
        let error = parse(r#"{"io.modelcontextprotocol/clientCapabilities":[]}"#).unwrap_err();
        assert!(error.message.contains("clientCapabilities"), "{error}");
    }
}
