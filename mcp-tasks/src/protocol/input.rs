//! What a server can ask of a client, and what the client declares for it
//! (P20, P21).

use serde_json::{Value, json};

/// The kinds of questions, each with a capability of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// A form for a person to fill in.
    Form,
    /// A URL for a person to open.
    Url,
    /// Messages for a model to go on with (sampling).
    Model,
    /// The folders that the client works in.
    Roots,
}

impl InputKind {
    /// The method of its requests.
    pub fn method(self) -> &'static str {
        match self {
            Self::Form | Self::Url => "elicitation/create",
            Self::Model => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// The capability that it needs, as a path.
    pub fn capability(self) -> &'static str {
        match self {
            Self::Form => "elicitation",
            Self::Url => "elicitation.url",
            Self::Model => "sampling",
            Self::Roots => "roots",
        }
    }

    /// The capability as a client declares it.
    pub(super) fn declaration(self) -> Value {
        match self {
            Self::Form => json!({ "elicitation": {} }),
            Self::Url => json!({ "elicitation": { "url": {} } }),
            Self::Model => json!({ "sampling": {} }),
            Self::Roots => json!({ "roots": {} }),
        }
    }

    /// What a client without the capability cannot do.
    pub(crate) fn inability(self) -> &'static str {
        match self {
            Self::Form => "cannot show questions",
            Self::Url => "cannot open URLs",
            Self::Model => "cannot ask a model",
            Self::Roots => "cannot list its roots",
        }
    }
}
