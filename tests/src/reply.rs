//! What came back for a request.

use serde_json::Value;

/// One JSON-RPC reply, as it was on the wire and as JSON.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status; none over stdio.
    pub status: Option<u16>,
    /// The reply as text: members are in their order.
    pub text: String,
    /// The reply as JSON; `null` if it is none.
    pub message: Value,
}

/// Nothing came back: the server has ended, or ended meanwhile.
#[derive(Clone, Debug)]
pub struct Gone {
    /// How that was seen.
    pub reason: String,
}

impl Gone {
    pub(crate) fn new(reason: &impl std::fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
        }
    }
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The code.
    pub code: i64,
    /// The words.
    pub message: String,
    /// The details; `null` if there are none.
    pub data: Value,
}

impl Reply {
    pub(crate) fn new(status: Option<u16>, text: String) -> Self {
        let message = serde_json::from_str(&text).unwrap_or(Value::Null);
        Self {
            status,
            text,
            message,
        }
    }

    /// The result of a request that went well.
    #[track_caller]
    pub fn result(&self) -> &Value {
        assert!(self.message["error"].is_null(), "an error: {}", self.text);
        let result = &self.message["result"];
        assert!(result.is_object(), "no result: {}", self.text);
        result
    }

    /// The error of a request that did not.
    #[track_caller]
    pub fn failure(&self) -> Failure {
        assert!(self.message["result"].is_null(), "a result: {}", self.text);
        let error = &self.message["error"];
        Failure {
            code: error["code"]
                .as_i64()
                .unwrap_or_else(|| panic!("no error code: {self:?}")),
            message: error["message"]
                .as_str()
                .unwrap_or_else(|| panic!("no error message: {self:?}"))
                .to_owned(),
            data: error["data"].clone(),
        }
    }

    /// The error, which must have this code, and words that contain all of
    /// `words`.
    #[track_caller]
    pub fn refused(&self, code: i64, words: &[&str]) -> Failure {
        let failure = self.failure();
        assert_eq!(failure.code, code, "{}", self.text);
        for word in words {
            assert!(
                failure.message.contains(word),
                "`{word}` is not in: {}",
                failure.message
            );
        }
        failure
    }

    /// The first member of this name as it was on the wire, byte for byte.
    #[track_caller]
    pub fn member(&self, name: &str) -> &str {
        let (_, value) = self
            .text
            .split_once(&format!("\"{name}\":"))
            .unwrap_or_else(|| panic!("no `{name}`: {}", self.text));
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
        let whole = values.next().is_some_and(|value| value.is_ok());
        assert!(whole, "the reply is not JSON: {}", self.text);
        &value[..values.byte_offset()]
    }

    /// The text of a tool's result.
    #[track_caller]
    pub fn tool_text(&self) -> &str {
        let result = self.result();
        assert_eq!(result["resultType"], "complete", "{}", self.text);
        result["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("no text: {}", self.text))
    }
}
