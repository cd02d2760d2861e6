//! One JSON-RPC message, read once.
//!
//! A message is borrowed from the bytes that it came in; the parts that this
//! crate does not look at stay text, so that what is handed on is what was
//! received.

use std::borrow::Cow;

use serde::de::Deserializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{ErrorCode, ProtocolError, RequestMeta};

/// What a message is, by its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Has a method and an id: wants a reply.
    Request,
    /// Has a method and no id.
    Notification,
    /// Has an id and no method.
    Response,
}

/// A JSON-RPC message and the members of its parameters that routing needs.
#[derive(Debug)]
pub struct Message<'a> {
    kind: MessageKind,
    id: Option<&'a RawValue>,
    method: Cow<'a, str>,
    params: Params<'a>,
    meta: RequestMeta<'a>,
}

/// What could not be read as a message, and the error that says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    reply: Reply,
    /// Whether it was a notification, or an answer itself.
    wants_no_reply: bool,
}

/// A whole JSON-RPC reply, as text, with the HTTP status it goes out with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status code.
    pub status: u16,
    /// One line of JSON.
    pub body: String,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// The members of `params` that any of our methods looks at.
///
/// All stay text: which of them must be there, and of what type, is each
/// method's own question.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Params<'a> {
    #[serde(borrow, default, rename = "_meta", deserialize_with = "present")]
    pub(crate) meta: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "taskId", deserialize_with = "present")]
    pub(crate) task_id: Option<&'a RawValue>,
    #[serde(
        borrow,
        default,
        rename = "inputResponses",
        deserialize_with = "present"
    )]
    pub(crate) input_responses: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestState", deserialize_with = "present")]
    pub(crate) request_state: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) uri: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) notifications: Option<&'a RawValue>,
    /// What `initialize` wants to speak.
    #[cfg_attr(
        not(feature = "server"),
        expect(dead_code, reason = "only a server has older sessions")
    )]
    #[serde(
        borrow,
        default,
        rename = "protocolVersion",
        deserialize_with = "present"
    )]
    pub(crate) protocol_version: Option<&'a RawValue>,
}

/// Keeps `null` apart from a member that is not there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads a JSON object; a derived struct alone would take an array too.
pub(crate) fn object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> serde_json::Result<T> {
    if raw.get().starts_with('{') {
        serde_json::from_str(raw.get())
    } else {
        Err(serde::de::Error::custom("expected a JSON object"))
    }
}

/// Reads a JSON string, or says that it is none.
pub(crate) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(raw.get())
        .ok()
        .map(|text| text.0)
}

impl<'a> Message<'a> {
    /// Reads one message.
    ///
    /// # Errors
    ///
    /// [`Malformed`] with the error to send: `-32700` for what is not JSON,
    /// `-32600` for what is not a JSON-RPC message, `-32602` for parameters or
    /// a `_meta` of the wrong type (P3, P31).
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let envelope: Envelope<'a> = serde_json::from_slice::<&RawValue>(bytes)
            .and_then(object)
            .map_err(|error| Malformed {
                reply: Reply::error(None, &unreadable(&error)),
                wants_no_reply: false,
            })?;
        let wants_no_reply = match envelope.method {
            Some(method) => envelope.id.is_none() && text(method).is_some(),
            // Two sides that answer each other's errors would never stop.
            None => envelope.result.is_some() || envelope.error.is_some(),
        };
        Self::read(&envelope).map_err(|reply| Malformed {
            reply,
            wants_no_reply,
        })
    }

    /// Reads a message from its members.
    fn read(envelope: &Envelope<'a>) -> Result<Self, Reply> {
        let id = match envelope.id {
            None => None,
            Some(id) if id.get().len() > LONGEST_ID => {
                let words = format!("`id` may have at most {LONGEST_ID} bytes");
                return Err(Reply::error(None, &ProtocolError::invalid_request(words)));
            }
            Some(id) if is_request_id(id) => Some(id),
            Some(_) => {
                return Err(Reply::error(
                    None,
                    &ProtocolError::invalid_request("`id` must be a string or an integer"),
                ));
            }
        };
        let refuse = |error: &ProtocolError| Reply::error(id, error);
        let is_2_0 = |raw: &'a RawValue| text(raw).is_some_and(|version| version == "2.0");
        if !envelope.jsonrpc.is_some_and(is_2_0) {
            return Err(refuse(&ProtocolError::invalid_request(
                "`jsonrpc` must be \"2.0\"",
            )));
        }
        let method = match envelope.method {
            None => None,
            Some(raw) => Some(text(raw).ok_or_else(|| {
                refuse(&ProtocolError::invalid_request("`method` must be a string"))
            })?),
        };
        let kind = match (&method, id) {
            (Some(_), Some(_)) => MessageKind::Request,
            (Some(_), None) => MessageKind::Notification,
            (None, Some(_)) => MessageKind::Response,
            (None, None) => {
                return Err(refuse(&ProtocolError::invalid_request(
                    "a message needs a `method` or an `id`",
                )));
            }
        };
        let params = match envelope.params {
            None => Params::default(),
            Some(raw) => object(raw).map_err(|error| {
                refuse(&ProtocolError::invalid_params(format!(
                    "`params` must be an object: {error}"
                )))
                .with_status(400)
            })?,
        };
        let meta = match params.meta {
            None => RequestMeta::default(),
            Some(raw) => {
                RequestMeta::parse(raw).map_err(|error| refuse(&error).with_status(400))?
            }
        };
        Ok(Self {
            kind,
            id,
            method: method.unwrap_or_default(),
            params,
            meta,
        })
    }

    /// Whether it is a request, a notification or a response.
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// The request's id as it was written, to be repeated in the reply.
    pub fn id(&self) -> Option<&'a RawValue> {
        self.id
    }

    /// The method; empty for a response.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// What the message's `_meta` says of version and capabilities.
    pub fn meta(&self) -> &RequestMeta<'a> {
        &self.meta
    }

    /// The value that the `Mcp-Name` header must carry (P50): the tool's,
    /// prompt's or resource's name, or the task's id.
    pub fn header_name(&self) -> Option<Cow<'a, str>> {
        let raw = match self.method.as_ref() {
            "tools/call" | "prompts/get" => self.params.name,
            "resources/read" => self.params.uri,
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.params.task_id,
            _ => None,
        };
        raw.and_then(text)
    }

    pub(crate) fn params(&self) -> &Params<'a> {
        &self.params
    }
}

/// An id is repeated in the reply, and in every message of a subscription.
const LONGEST_ID: usize = 1024;

/// The id of a request: a string or an integer (MCP allows no `null`).
///
/// Not every JSON string is text: one with half a surrogate pair names nothing.
fn is_request_id(raw: &RawValue) -> bool {
    let number = raw.get();
    text(raw).is_some() || number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()
}

fn unreadable(error: &serde_json::Error) -> ProtocolError {
    if error.is_data() {
        ProtocolError::invalid_request(format!(
            "a message must be one JSON-RPC object (batches are not part of MCP): {error}"
        ))
    } else {
        ProtocolError::new(ErrorCode::PARSE, format!("not JSON: {error}"))
    }
}

impl Malformed {
    /// The error to send where nothing else would be sent: none if it was a
    /// notification or a response, to which nobody may reply, whatever is wrong
    /// with it.
    pub fn into_reply(self) -> Option<Reply> {
        (!self.wants_no_reply).then_some(self.reply)
    }

    /// The error to send where something must be, as over HTTP: a notification
    /// that cannot be accepted is refused with an error without an id.
    pub fn into_response(self) -> Reply {
        self.reply
    }
}

impl Reply {
    /// A successful reply around an already serialized result.
    pub fn result(id: Option<&RawValue>, result: &str) -> Self {
        let id = id.map_or("null", RawValue::get);
        Self {
            status: 200,
            body: format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        }
    }

    /// An error reply, with the HTTP status that the error asks for.
    pub fn error(id: Option<&RawValue>, error: &ProtocolError) -> Self {
        #[derive(Serialize)]
        struct Body<'a> {
            jsonrpc: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a RawValue>,
            error: &'a ProtocolError,
        }
        let body = Body {
            jsonrpc: "2.0",
            id,
            error,
        };
        Self {
            status: error.http_status(),
            body: serde_json::to_string(&body).unwrap_or_else(|error| {
                // Only a `data` that cannot be JSON gets here, and `Value` always can.
                format!(r#"{{"jsonrpc":"2.0","error":{{"code":-32603,"message":"{error}"}}}}"#)
            }),
        }
    }

    /// The same reply with another HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Message::parse(text.as_bytes())
            .unwrap_err()
            .into_response()
            .body
    }

    #[test]
    fn reads_a_request_and_keeps_its_id_as_written() {
        let text = br#"{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":{"taskId":"t"}}"#;
        let message = Message::parse(text).unwrap();
        assert_eq!(message.kind(), MessageKind::Request);
        assert_eq!(message.id().unwrap().get(), "\"a\"");
        assert_eq!(message.header_name().as_deref(), Some("t"));
    }

    #[test]
    fn what_is_not_json_rpc_is_refused_with_the_right_code() {
        assert!(refusal("{").contains("-32700"));
        assert!(refusal("[]").contains("-32600"));
        assert!(refusal(r#"["2.0",1,"x"]"#).contains("-32600"));
        assert!(refusal(r#"{"id":1,"method":"x"}"#).contains("-32600"));
        assert!(refusal(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#).contains("-32600"));
        assert!(refusal(r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#).contains("-32600"));
        assert!(refusal(r#"{"jsonrpc":"2.0","id":"\ud800","method":"x"}"#).contains("-32600"));
        assert!(refusal(r#"{"jsonrpc":"2.0","id":1,"method":7}"#).contains("-32600"));
        assert!(refusal(r#"{"jsonrpc":"2.0"}"#).contains("-32600"));
        assert!(refusal(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#).contains("-32602"));
    }

    #[test]
    fn a_refusal_repeats_the_id_where_it_could_be_read() {
        assert!(refusal(r#"{"jsonrpc":"1.0","id":7,"method":"x"}"#).contains(r#""id":7"#));
        assert!(!refusal("{").contains("\"id\""));
    }
    #[test]
    fn nobody_replies_to_a_malformed_notification_or_response() {
        let reply = |text: &str| Message::parse(text.as_bytes()).unwrap_err().into_reply();
        assert_eq!(reply(r#"{"jsonrpc":"2.0","method":"x","params":[]}"#), None);
        assert_eq!(
            reply(r#"{"jsonrpc":"2.0","method":"x","params":{"_meta":7}}"#),
            None
        );
        assert_eq!(reply(r#"{"jsonrpc":"1.0","method":"x"}"#), None);
        assert_eq!(
            reply(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#),
            None
        );
        assert_eq!(reply(r#"{"jsonrpc":"2.0","error":{}}"#), None);
        assert_eq!(reply(r#"{"jsonrpc":"2.0","id":1.5,"result":null}"#), None);
        // No notifications: one has an id, though none that can be repeated, and
        // the other has no method that could be called.
        assert!(reply(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#).is_some());
        assert!(reply(r#"{"jsonrpc":"2.0","method":7}"#).is_some());
        assert!(reply(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#).is_some());
    }
}
