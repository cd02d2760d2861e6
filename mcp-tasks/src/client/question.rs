//! What a server asks, as whoever answers is shown it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::{Form, InputKind};

/// A question of a server's: an input request of a task (P20), of a round, or of
/// an older session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question {
    /// Its key, which a task uses for no other question.
    pub key: Arc<str>,
    /// The task that asks; `None` if the call is no task (yet).
    pub task: Option<Arc<str>>,
    /// The tool that was called; `None` if a task is followed by its id alone.
    pub tool: Option<Arc<str>>,
    /// What is asked.
    pub kind: QuestionKind,
}

/// What a [`Question`] asks for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum QuestionKind {
    /// A form to fill in.
    Form {
        /// The words.
        message: String,
        /// The fields, in the server's order.
        form: Form,
    },
    /// A URL to open.
    ///
    /// It comes from the server: a person must see where it leads before it is
    /// opened, and a client must not fetch it by itself.
    Url {
        /// The words.
        message: String,
        /// Where it leads.
        url: String,
    },
    /// Messages for a model to go on with, as the parameters of
    /// `sampling/createMessage`.
    Model {
        /// The parameters, as they came.
        params: Arc<RawValue>,
    },
    /// The folders that the client works in.
    Roots,
    /// Something that this client does not know, or cannot read.
    Other {
        /// The method.
        method: String,
        /// The parameters, as they came.
        params: Arc<RawValue>,
        /// What is wrong with it.
        problem: String,
    },
}

impl Question {
    /// A question as a client would put it, to test [`Answers`](super::Answers)
    /// with.
    ///
    /// ```
    /// use mcp_tasks::client::{Answer, Answers, Question, QuestionKind};
    /// use mcp_tasks::protocol::Form;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let policy = async |question: Question| match &*question.key {
    ///     "sure" => Some(Answer::consent()),
    ///     _ => Some(Answer::decline()),
    /// };
    /// let message = "Sure?".to_owned();
    /// let form = Form::new();
    /// let asked = Question::new("sure", QuestionKind::Form { message, form });
    /// assert_eq!(policy.answer(asked).await, Some(Answer::consent()));
    /// # }
    /// ```
    pub fn new(key: impl Into<Arc<str>>, kind: QuestionKind) -> Self {
        Self {
            key: key.into(),
            task: None,
            tool: None,
            kind,
        }
    }

    /// The words for a person; empty if there are none.
    pub fn message(&self) -> &str {
        match &self.kind {
            QuestionKind::Form { message, .. } | QuestionKind::Url { message, .. } => message,
            _ => "",
        }
    }

    /// Its kind; `None` for what this client does not know.
    pub fn input_kind(&self) -> Option<InputKind> {
        match self.kind {
            QuestionKind::Form { .. } => Some(InputKind::Form),
            QuestionKind::Url { .. } => Some(InputKind::Url),
            QuestionKind::Model { .. } => Some(InputKind::Model),
            QuestionKind::Roots => Some(InputKind::Roots),
            QuestionKind::Other { .. } => None,
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.key)?;
        match &self.kind {
            QuestionKind::Form { message, .. } => write!(f, ": {message}"),
            QuestionKind::Url { message, url } => write!(f, ": {message} ({url})"),
            QuestionKind::Model { .. } => write!(f, ": a request to a model"),
            QuestionKind::Roots => write!(f, ": a request for the client's roots"),
            QuestionKind::Other { method, .. } => write!(f, ": `{method}`"),
        }
    }
}

impl QuestionKind {
    /// Reads what a server sent.
    pub(super) fn read(method: &str, params: Option<&Arc<RawValue>>) -> Self {
        let params = params.cloned().unwrap_or_else(nothing);
        match method {
            "elicitation/create" => {
                Self::read_elicitation(&params).unwrap_or_else(|problem| Self::Other {
                    method: method.to_owned(),
                    params,
                    problem,
                })
            }
            "sampling/createMessage" => Self::Model { params },
            "roots/list" => Self::Roots,
            _ => Self::Other {
                method: method.to_owned(),
                params,
                problem: "this client does not know such requests".to_owned(),
            },
        }
    }

    fn read_elicitation(params: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow, default)]
            mode: Option<Cow<'a, str>>,
            #[serde(default)]
            message: String,
            url: Option<String>,
            #[serde(borrow)]
            requested_schema: Option<&'a RawValue>,
        }
        let params: Params<'_> =
            serde_json::from_str(params.get()).map_err(|error| error.to_string())?;
        let message = params.message;
        match params.mode.as_deref() {
            None | Some("form") => {
                let schema = params.requested_schema.map_or("{}", RawValue::get);
                let form = serde_json::from_str(schema)
                    .map_err(|error| format!("its form cannot be read: {error}"))?;
                Ok(Self::Form { message, form })
            }
            Some("url") => match params.url {
                Some(url) => Ok(Self::Url { message, url }),
                None => Err("it names no URL".to_owned()),
            },
            Some(mode) => Err(format!("this client does not know the mode `{mode}`")),
        }
    }
}

fn nothing() -> Arc<RawValue> {
    RawValue::from_string("{}".to_owned())
        .expect("an empty object is JSON")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &str, params: &str) -> QuestionKind {
        let params = RawValue::from_string(params.to_owned()).unwrap().into();
        QuestionKind::read(method, Some(&params))
    }

    #[test]
    fn a_form_keeps_its_fields_in_order() {
        let asked = read(
            "elicitation/create",
            r#"{"message":"?","requestedSchema":
               {"type":"object","properties":{"z":{"type":"string"},"a":{"type":"boolean"}}}}"#,
        );
        let QuestionKind::Form { message, form } = asked else {
            panic!("{asked:?}");
        };
        assert_eq!(message, "?");
        let names: Vec<_> = form.fields().map(|(name, _)| name).collect();
        assert_eq!(names, ["z", "a"]);
    }

    #[test]
    fn what_cannot_be_read_is_kept_with_the_reason() {
        for (method, params, expected) in [
            ("elicitation/create", r#"{"mode":"voice"}"#, "mode `voice`"),
            ("elicitation/create", r#"{"mode":"url"}"#, "no URL"),
            (
                "elicitation/create",
                r#"{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}}"#,
                "cannot be read",
            ),
            ("telepathy/read", "{}", "does not know"),
        ] {
            let asked = read(method, params);
            let QuestionKind::Other { problem, .. } = asked else {
                panic!("{asked:?}");
            };
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
