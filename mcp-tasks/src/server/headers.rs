//! The headers that repeat parts of a 2026-07-28 message (P50).
//!
//! Whoever routes by a header and whoever acts on the body must see the same
//! request, so a header that differs is refused. What the specification obliges
//! clients to send is demanded, with one exception: see [`NamePolicy`].

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;

use crate::protocol::{ErrorCode, Message, ProtocolError, shortened};

/// The header that names the protocol version.
pub(super) const PROTOCOL_VERSION_HEADER: &str = "mcp-protocol-version";
/// The header that an older session is known by.
pub(super) const SESSION_HEADER: &str = "mcp-session-id";
const METHOD_HEADER: &str = "mcp-method";
const NAME_HEADER: &str = "mcp-name";

const SENTINEL: (&str, &str) = ("=?base64?", "?=");

/// What to do about a missing `Mcp-Name` on `tasks/*`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NamePolicy {
    /// Serve it: clients in wide use leave it out there.
    #[default]
    TasksMayOmit,
    /// Refuse it, as the specification has it.
    Strict,
}

/// Checks that `MCP-Protocol-Version` is there and says what the message says.
///
/// # Errors
///
/// `-32020` when it is missing, given twice, unreadable or different.
pub(super) fn check_version(
    headers: &HeaderMap,
    message: &Message<'_>,
) -> Result<(), ProtocolError> {
    let Some(header) = single(headers, PROTOCOL_VERSION_HEADER)? else {
        return Err(missing("MCP-Protocol-Version"));
    };
    match message.meta().protocol_version.as_deref() {
        Some(named) if named != header => Err(mismatch("MCP-Protocol-Version", header, named)),
        _ => Ok(()),
    }
}

/// Checks `Mcp-Method` and, where the method has one, `Mcp-Name`.
///
/// # Errors
///
/// `-32020` when one is missing, given twice, unreadable or different.
pub(super) fn check_method_and_name(
    headers: &HeaderMap,
    message: &Message<'_>,
    policy: NamePolicy,
) -> Result<(), ProtocolError> {
    let method = message.method();
    match single(headers, METHOD_HEADER)? {
        None => return Err(missing("Mcp-Method")),
        Some(header) if header != method => return Err(mismatch("Mcp-Method", header, method)),
        Some(_) => {}
    }
    // A message that lacks its name is refused for that, not for its header.
    let Some(name) = message.header_name() else {
        return Ok(());
    };
    match single(headers, NAME_HEADER)? {
        None if policy == NamePolicy::TasksMayOmit && method.starts_with("tasks/") => Ok(()),
        None => Err(missing("Mcp-Name")),
        Some(header) => {
            let header = unwrapped("Mcp-Name", header)?;
            if header == *name {
                return Ok(());
            }
            Err(mismatch("Mcp-Name", &header, &name))
        }
    }
}

/// The value of a header that may be given once.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    name: &str,
) -> Result<Option<&'a str>, ProtocolError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(refusal(format!("header `{name}` is given more than once")));
    }
    value.to_str().map(Some).map_err(|_| {
        refusal(format!(
            "header `{name}` has characters beyond visible ASCII"
        ))
    })
}

/// The value of a header without its Base64 wrapping, if it has one.
pub(super) fn unwrapped(header: &str, value: &str) -> Result<String, ProtocolError> {
    decode(value).ok_or_else(|| {
        refusal(format!(
            "header `{header}` is not valid Base64 of UTF-8 text between `{}` and `{}`",
            SENTINEL.0, SENTINEL.1
        ))
    })
}

fn decode(value: &str) -> Option<String> {
    let wrapped = value
        .strip_prefix(SENTINEL.0)
        .and_then(|rest| rest.strip_suffix(SENTINEL.1));
    match wrapped {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok(),
    }
}

pub(super) fn missing(header: &str) -> ProtocolError {
    refusal(format!("header `{header}` is missing"))
}

pub(super) fn mismatch(header: &str, value: &str, body: &str) -> ProtocolError {
    refusal(format!(
        "header `{header}` says `{}`, but the message says `{}`",
        shortened(value),
        shortened(body)
    ))
}

pub(super) fn refusal(message: String) -> ProtocolError {
    ProtocolError::new(ErrorCode::HEADER_MISMATCH, message)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"grüße",
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    const GET: &str =
        r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"=?base64?dA==?="}}"#;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(*name, value);
        }
        headers
    }

    fn version(pairs: &[(&'static str, &str)]) -> Result<(), ProtocolError> {
        check_version(&headers(pairs), &Message::parse(CALL.as_bytes()).unwrap())
    }

    fn names(text: &str, policy: NamePolicy, pairs: &[(&'static str, &str)]) -> Option<String> {
        let message = Message::parse(text.as_bytes()).unwrap();
        check_method_and_name(&headers(pairs), &message, policy)
            .err()
            .map(|error| {
                assert_eq!(error.code, ErrorCode::HEADER_MISMATCH);
                assert_eq!(error.http_status(), 400);
                error.message
            })
    }

    #[test]
    fn the_version_must_be_there_once_and_agree() {
        assert!(version(&[(PROTOCOL_VERSION_HEADER, "2026-07-28")]).is_ok());
        assert!(version(&[]).is_err());
        assert!(version(&[(PROTOCOL_VERSION_HEADER, "2025-11-25")]).is_err());
        let twice = [
            (PROTOCOL_VERSION_HEADER, "2026-07-28"),
            (PROTOCOL_VERSION_HEADER, "2026-07-28"),
        ];
        assert!(version(&twice).is_err());
    }

    #[test]
    fn a_wrapped_name_is_compared_unwrapped() {
        let method = (METHOD_HEADER, "tools/call");
        let wrapped = (NAME_HEADER, "=?base64?Z3LDvMOfZQ==?=");
        assert_eq!(names(CALL, NamePolicy::Strict, &[method, wrapped]), None);
        // A name that looks wrapped must itself be wrapped.
        let method = (METHOD_HEADER, "tasks/get");
        let literal = (NAME_HEADER, "=?base64?dA==?=");
        assert!(names(GET, NamePolicy::Strict, &[method, literal]).is_some());
        let twice = (NAME_HEADER, "=?base64?PT9iYXNlNjQ/ZEE9PT89?=");
        assert_eq!(names(GET, NamePolicy::Strict, &[method, twice]), None);
    }

    #[test]
    fn a_name_that_cannot_be_unwrapped_is_refused() {
        let method = (METHOD_HEADER, "tools/call");
        for broken in [
            "=?base64?***?=",
            "=?base64?/w==?=",
            "=?base64??=",
            "gr\u{fc}",
        ] {
            let refused = names(CALL, NamePolicy::Strict, &[method, (NAME_HEADER, broken)]);
            assert!(refused.is_some(), "{broken}");
        }
    }

    #[test]
    fn the_method_must_be_there_and_agree() {
        let name = (NAME_HEADER, "=?base64?Z3LDvMOfZQ==?=");
        assert!(names(CALL, NamePolicy::Strict, &[name]).is_some());
        let refused = names(
            CALL,
            NamePolicy::Strict,
            &[(METHOD_HEADER, "tools/list"), name],
        );
        let words = refused.unwrap();
        assert!(words.contains("tools/list") && words.contains("tools/call"));
    }

    #[test]
    fn tasks_may_leave_their_name_out_unless_strict() {
        let method = (METHOD_HEADER, "tasks/get");
        assert_eq!(names(GET, NamePolicy::TasksMayOmit, &[method]), None);
        assert!(names(GET, NamePolicy::Strict, &[method]).is_some());
        // Leaving it out is one thing, naming another task is another.
        let other = (NAME_HEADER, "other");
        assert!(names(GET, NamePolicy::TasksMayOmit, &[method, other]).is_some());
        // Calls of tools never may.
        let method = (METHOD_HEADER, "tools/call");
        assert!(names(CALL, NamePolicy::TasksMayOmit, &[method]).is_some());
    }

    #[test]
    fn a_method_without_a_name_needs_no_header() {
        for method in ["tasks/list", "tasks/result", "tools/list"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#);
            assert_eq!(
                names(&text, NamePolicy::Strict, &[(METHOD_HEADER, method)]),
                None
            );
        }
    }
}
