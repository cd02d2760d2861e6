//! Answers as they are recorded.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::{Content, ModelReply, Root};

/// What a person did with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Filled it in and sent it.
    Accept,
    /// Refused to answer.
    Decline,
    /// Closed it without a choice.
    Cancel,
}

/// An answer as it is recorded: judged, and reduced to what was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Written")]
pub enum Response {
    /// What a person did with a form or a URL; or that somebody refused to have
    /// a model asked.
    Elicited(Elicited),
    /// What a model said.
    Model {
        /// The client's result.
        message: ModelReply,
    },
    /// What the client works in.
    Roots {
        /// The client's list.
        roots: Vec<Root>,
    },
}

/// What a person did with a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Elicited {
    /// What the person did.
    pub action: Action,
    /// What was filled in, if it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

/// A recorded answer of any kind, told apart by the members that it has.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    action: Option<Action>,
    content: Option<Content>,
    message: Option<ModelReply>,
    roots: Option<Vec<Root>>,
}

impl TryFrom<Written> for Response {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let Written {
            action,
            content,
            message,
            roots,
        } = written;
        match (action, message, roots) {
            (Some(action), None, None) => Ok(Elicited { action, content }.into()),
            (None, Some(message), None) => Ok(Self::Model { message }),
            (None, None, Some(roots)) => Ok(Self::Roots { roots }),
            _ => Err("an answer has one of `action`, `message` and `roots`"),
        }
    }
}

impl From<Elicited> for Response {
    fn from(elicited: Elicited) -> Self {
        Self::Elicited(elicited)
    }
}

impl From<Action> for Response {
    /// What was done with a question whose answer has no content.
    fn from(action: Action) -> Self {
        let content = None;
        Elicited { action, content }.into()
    }
}

impl Response {
    /// About how many bytes it takes as JSON.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Elicited(elicited) => elicited.weight(),
            Self::Model { message } => message.weight(),
            Self::Roots { roots } => roots
                .iter()
                .map(|root| root.uri.len() + root.name.as_ref().map_or(0, String::len) + 24)
                .sum(),
        }
    }
}

impl Elicited {
    fn weight(&self) -> usize {
        fn of(value: &Value) -> usize {
            match value {
                Value::String(text) => text.len() + 3,
                Value::Array(values) => values.iter().map(of).sum::<usize>() + 2,
                // A form has no fields that are objects.
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => 8,
            }
        }
        let fields = self.content.iter().flat_map(Content::iter);
        fields
            .map(|(name, value)| name.len() + 4 + of(value))
            .sum::<usize>()
            + 32
    }
}
