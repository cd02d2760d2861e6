//! Arguments of calls that travel in headers too (P53), as the server's list of its
//! tools says: whoever routes by the header does not read the body.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientRequest;
use serde_json::Value;

use crate::protocol::MirroredArgument;

/// What is known of a server's tools. It outlives connections.
#[derive(Debug, Default)]
pub(in crate::client) struct Mirrors(Mutex<HashMap<String, Arc<[MirroredArgument]>>>);

impl Mirrors {
    /// Takes note of a tool.
    ///
    /// # Errors
    ///
    /// What is wrong with its annotations: it is to be left out.
    pub(in crate::client) fn learn(&self, tool: &str, schema: &str) -> Result<(), String> {
        let arguments = match serde_json::from_str::<Value>(schema) {
            Ok(schema) => MirroredArgument::all(&schema).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match arguments {
            Ok(arguments) if !arguments.is_empty() => {
                known.insert(tool.to_owned(), arguments.into());
                Ok(())
            }
            other => {
                known.remove(tool);
                other.map(drop)
            }
        }
    }

    /// The headers of a request, besides those that every request has.
    pub(super) fn headers(&self, request: &ClientRequest) -> Vec<(HeaderName, HeaderValue)> {
        let ClientRequest::CustomRequest(request) = request else {
            return Vec::new();
        };
        if request.method != "tools/call" {
            return Vec::new();
        }
        let Some(params) = &request.params else {
            return Vec::new();
        };
        let mirrored = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            params["name"]
                .as_str()
                .and_then(|tool| known.get(tool).cloned())
        };
        let mirrored = mirrored.unwrap_or_default();
        let header = |argument: &MirroredArgument| {
            let value = argument.value(&params["arguments"])?;
            let name = HeaderName::from_bytes(argument.header.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(&said(value)?).ok()?))
        };
        mirrored.iter().filter_map(header).collect()
    }
}

/// What a header says of a value; nothing of one that no schema allows.
fn said(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(wrapped(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A text as a header carries it: as it is, or in Base64 if it would not arrive so.
fn wrapped(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if is_plain {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::CustomRequest;
    use serde_json::json;

    use super::*;

    const SCHEMA: &str = r#"{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "count":{"type":"integer","x-mcp-header":"Count"},
        "urgent":{"type":"boolean","x-mcp-header":"Urgent"},
        "free":{"type":"string"}}}"#;

    fn headers(mirrors: &Mirrors, tool: &str, arguments: &Value) -> Vec<(String, String)> {
        let params = json!({ "name": tool, "arguments": arguments });
        let request = CustomRequest::new("tools/call", Some(params));
        let headers = mirrors.headers(&ClientRequest::CustomRequest(request));
        let text = |(name, value): &(HeaderName, HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        headers.iter().map(text).collect()
    }

    #[test]
    fn what_the_schema_says_travels_in_a_header() {
        let mirrors = Mirrors::default();
        mirrors.learn("a", SCHEMA).unwrap();
        let arguments = json!({ "region": "west", "count": 7, "urgent": false, "free": "x" });
        let mut sent = headers(&mirrors, "a", &arguments);
        sent.sort();
        let expected = [("count", "7"), ("region", "west"), ("urgent", "false")]
            .map(|(name, value)| (format!("mcp-param-{name}"), value.to_owned()));
        assert_eq!(sent, expected);
        assert!(headers(&mirrors, "b", &arguments).is_empty());
        let nothing = json!({ "region": null, "count": [1] });
        assert!(headers(&mirrors, "a", &nothing).is_empty());
    }

    #[test]
    fn a_tool_is_known_as_it_was_listed_last() {
        let mirrors = Mirrors::default();
        mirrors.learn("a", SCHEMA).unwrap();
        mirrors.learn("a", r#"{"type":"object"}"#).unwrap();
        assert!(headers(&mirrors, "a", &json!({ "region": "west" })).is_empty());
        mirrors.learn("a", SCHEMA).unwrap();
        let twice = SCHEMA.replace("Count", "region");
        let words = mirrors.learn("a", &twice).unwrap_err();
        assert!(words.contains("twice"), "{words}");
        assert!(headers(&mirrors, "a", &json!({ "region": "west" })).is_empty());
    }

    #[test]
    fn what_a_header_cannot_carry_is_wrapped() {
        for (text, carried) in [
            ("", ""),
            ("us west 1", "us west 1"),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("\tx", "=?base64?CXg=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(wrapped(text), carried);
        }
    }
}
