//! JSON-RPC errors and the codes that MCP gives them (P31).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{InputKind, TASKS_EXTENSION};

/// The error codes that this crate sends (P31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The message is not JSON.
    pub const PARSE: Self = Self(-32700);
    /// The message is JSON but not a JSON-RPC request.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// No such method.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The parameters are wrong, or name a task or tool that does not exist.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// Something failed on the server's side.
    pub const INTERNAL: Self = Self(-32603);
    /// An HTTP header and the message differ.
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The request needs a capability that the client did not declare on it.
    pub const MISSING_CAPABILITY: Self = Self(-32021);
    /// The protocol version is not one of ours.
    pub const UNSUPPORTED_VERSION: Self = Self(-32022);
}

/// A JSON-RPC error: what a request, or a `failed` task, ends with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} (code {})", code.0)]
pub struct ProtocolError {
    /// The code; MCP defines those from -32768 to -32000.
    pub code: ErrorCode,
    /// What was wrong, where, and what to do about it.
    pub message: String,
    /// Details for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl ProtocolError {
    /// An error with a code of the caller's choice and no data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds details for programs.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// `-32602`: the parameters are wrong.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// `-32600`: not a JSON-RPC request.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, message)
    }

    /// `-32601`: no such method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("method not found: {}", shortened(method)),
        )
    }

    /// `-32603` with the words that a client may see; the cause goes to the log.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INTERNAL, message)
    }

    /// `-32021` naming the Tasks extension (P5, P6).
    pub fn tasks_required(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::MISSING_CAPABILITY, message)
            .with_data(json!({ "requiredCapabilities": { "extensions": { TASKS_EXTENSION: {} } } }))
    }

    /// `-32021` naming the capability that a question needs (P21).
    pub fn input_required(kind: InputKind, message: impl Into<String>) -> Self {
        Self::new(ErrorCode::MISSING_CAPABILITY, message)
            .with_data(json!({ "requiredCapabilities": kind.declaration() }))
    }

    /// `-32022` with what is supported and what was asked for (P3).
    pub fn unsupported_version(supported: &[&str], requested: &str) -> Self {
        Self::new(
            ErrorCode::UNSUPPORTED_VERSION,
            format!("unsupported protocol version: {}", shortened(requested)),
        )
        .with_data(json!({ "supported": supported, "requested": shortened(requested) }))
    }

    /// The HTTP status that this error is sent with (P3, P17, P50).
    pub fn http_status(&self) -> u16 {
        match self.code {
            ErrorCode::METHOD_NOT_FOUND => 404,
            ErrorCode::PARSE
            | ErrorCode::INVALID_REQUEST
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_CAPABILITY
            | ErrorCode::UNSUPPORTED_VERSION => 400,
            _ => 200,
        }
    }
}

/// What a client sent, as it is repeated in an error: a reply is not as long as
/// whatever it replies to.
pub(crate) fn shortened(sent: &str) -> Cow<'_, str> {
    const CHARACTERS: usize = 200;
    match sent.char_indices().nth(CHARACTERS) {
        None => Cow::Borrowed(sent),
        Some((end, _)) => Cow::Owned(format!("{}…", &sent[..end])),
    }
}
