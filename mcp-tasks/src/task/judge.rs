//! Whether an answer fits its question.
//!
//! Judged by the store inside the transaction that records the answer, against
//! the question as it was recorded, so that a withdrawal and an answer cannot
//! both win.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Event, InputKey, Snapshot};
use crate::protocol::{Content, FieldError, InputRequest, ProtocolError};

/// One entry of `inputResponses`, as it was sent.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// The key that it claims to answer.
    pub key: InputKey,
    /// The client's result.
    pub response: &'a RawValue,
}

/// What was wrong with one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyError {
    /// The question.
    pub key: InputKey,
    /// What was wrong, per field where a form was asked.
    pub problem: Problem,
}

/// The ways in which an answer can be wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// It is not what the method of the request returns.
    Shape(String),
    /// Fields that break the form's rules.
    Fields(Vec<FieldError>),
}

/// Why an update was refused as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal(pub Vec<KeyError>);

/// The client's result for `elicitation/create` (P23).
#[derive(Deserialize)]
struct Elicited<'a> {
    action: Action,
    /// Text until it is known to matter.
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

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

/// An answer as it is recorded: judged, and reduced to what its form names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// What the person did.
    pub action: Action,
    /// What was filled in, if it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

impl Response {
    /// About how many bytes it takes as JSON.
    pub(super) fn weight(&self) -> usize {
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

impl Snapshot {
    /// What an update adds to the journal: an `Answered` for each answer to an
    /// outstanding question. Answers to anything else are passed over (P22).
    ///
    /// # Errors
    ///
    /// [`Refusal`] naming key, field and rule of every wrong answer, if any
    /// answer is wrong; nothing of the update counts then.
    pub fn judge(&self, answers: &[Answer<'_>]) -> Result<Vec<Event>, Refusal> {
        let mut events = Vec::new();
        let mut errors = Vec::new();
        for answer in answers {
            let asked = self
                .input_requests
                .iter()
                .find(|(key, _)| *key == answer.key);
            let Some((key, request)) = asked else {
                continue;
            };
            match judge_one(request, answer.response) {
                Ok(response) => events.push(Event::Answered {
                    key: key.clone(),
                    response: Arc::new(response),
                }),
                Err(problem) => errors.push(KeyError {
                    key: key.clone(),
                    problem,
                }),
            }
        }
        if errors.is_empty() {
            Ok(events)
        } else {
            Err(Refusal(errors))
        }
    }
}

fn judge_one(request: &InputRequest, response: &RawValue) -> Result<Response, Problem> {
    let elicited: Elicited<'_> = crate::protocol::object(response).map_err(|error| {
        Problem::Shape(format!(
            "an answer is an object {{\"action\": \"accept\" | \"decline\" | \"cancel\", \
             \"content\"?: {{..}}}}: {error}"
        ))
    })?;
    let content = match elicited.action {
        // What comes with a refusal is not looked at (P23).
        Action::Decline | Action::Cancel => None,
        Action::Accept => Some(
            request
                .form()
                .judge_text(elicited.content)
                .map_err(Problem::Fields)?,
        ),
    };
    Ok(Response {
        action: elicited.action,
        content,
    })
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Shape(words) => write!(f, "`{}`: {words}", self.key),
            Problem::Fields(fields) => {
                write!(f, "`{}`: ", self.key)?;
                for (index, field) in fields.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    write!(f, "{separator}{field}")?;
                }
                Ok(())
            }
        }
    }
}

impl From<Refusal> for ProtocolError {
    fn from(Refusal(errors): Refusal) -> Self {
        let words: Vec<String> = errors.iter().map(KeyError::to_string).collect();
        let details: Vec<Value> = errors
            .iter()
            .flat_map(|error| match &error.problem {
                Problem::Shape(rule) => {
                    vec![serde_json::json!({ "key": error.key, "rule": rule })]
                }
                Problem::Fields(fields) => fields
                    .iter()
                    .map(|field| {
                        serde_json::json!({
                            "key": error.key, "field": field.field, "rule": field.rule,
                        })
                    })
                    .collect(),
            })
            .collect();
        ProtocolError::invalid_params(format!(
            "nothing was recorded, please answer again: {}",
            words.join("; ")
        ))
        .with_data(serde_json::json!({ "errors": details }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Arc<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap().into()
    }

    fn question() -> InputRequest {
        let params = raw(
            r#"{"mode":"form","message":"?","requestedSchema":{"type":"object",
            "properties":{"name":{"type":"string","maxLength":3}},"required":["name"]}}"#,
        );
        InputRequest::new("elicitation/create", params)
    }

    #[test]
    fn the_action_is_looked_at_before_the_content() {
        for answer in [
            r#"{"action":"decline"}"#,
            r#"{"action":"decline","content":null}"#,
            r#"{"action":"cancel","content":{"name":7}}"#,
            r#"{"action":"decline","content":1e400}"#,
            r#"{"action":"decline","content":{"name":"\ud800"}}"#,
        ] {
            assert!(judge_one(&question(), &raw(answer)).is_ok(), "{answer}");
        }
    }

    #[test]
    fn only_what_the_form_names_is_recorded() {
        let answer = raw(r#"{"action":"accept","content":{"name":"Luc","more":1},"x":2}"#);
        let recorded = judge_one(&question(), &answer).unwrap();
        assert_eq!(
            serde_json::to_string(&recorded).unwrap(),
            r#"{"action":"accept","content":{"name":"Luc"}}"#
        );
    }

    #[test]
    fn a_wrong_answer_names_the_rule() {
        for answer in [
            "7",
            "[]",
            r#"{"content":{"name":"Luc"}}"#,
            r#"{"action":"yes"}"#,
            r#"{"action":"accept"}"#,
            r#"{"action":"accept","content":{"name":"Lucas"}}"#,
        ] {
            assert!(judge_one(&question(), &raw(answer)).is_err(), "{answer}");
        }
    }
}
