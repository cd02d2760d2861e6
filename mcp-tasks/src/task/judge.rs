//! Whether an answer fits its question.
//!
//! Judged by the store inside the transaction that records the answer, against
//! the question as it was recorded, so that a withdrawal and an answer cannot
//! both win.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Action, Elicited, Event, InputKey, Response, Snapshot};
use crate::protocol::{
    FieldError, InputKind, InputRequest, ModelReply, ProtocolError, Root, object,
};

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

/// The client's result for `elicitation/create` (P23), as it was sent.
#[derive(Deserialize)]
struct Sent<'a> {
    action: Action,
    /// Text until it is known to matter.
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
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
    let kind = request.kind();
    let shape = |error: serde_json::Error| {
        let words = match kind {
            InputKind::Form => {
                "an answer is an object {\"action\": \"accept\" | \"decline\" | \"cancel\", \
                 \"content\"?: {..}}"
            }
            InputKind::Url => {
                "an answer is an object {\"action\": \"accept\" | \"decline\" | \"cancel\"}"
            }
            InputKind::Model => {
                "an answer is the result of `sampling/createMessage`, an object {\"role\": \
                 \"assistant\", \"content\": {..}, \"model\": \"..\", \"stopReason\"?: \"..\"}"
            }
            InputKind::Roots => {
                "an answer is the result of `roots/list`, an object {\"roots\": [{\"uri\": \
                 \"file://..\", \"name\"?: \"..\"}, ..]}"
            }
        };
        Problem::Shape(format!("{words}: {error}"))
    };
    Ok(match kind {
        InputKind::Form => judge_form(request, &object(response).map_err(shape)?)?,
        // What else is in it does not count: the outcome is elsewhere (P25).
        InputKind::Url => object::<Sent<'_>>(response).map_err(shape)?.action.into(),
        InputKind::Model => Response::Model {
            message: ModelReply::read(response).map_err(shape)?,
        },
        InputKind::Roots => Response::Roots {
            roots: Root::read_list(response).map_err(shape)?,
        },
    })
}

fn judge_form(request: &InputRequest, sent: &Sent<'_>) -> Result<Response, Problem> {
    let content = match sent.action {
        // What comes with a refusal is not looked at (P23).
        Action::Decline | Action::Cancel => None,
        Action::Accept => {
            let judged = request.form().judge_text(sent.content);
            Some(judged.map_err(Problem::Fields)?)
        }
    };
    let action = sent.action;
    Ok(Elicited { action, content }.into())
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

    fn other(method: &'static str, params: &str) -> InputRequest {
        InputRequest::new(method, raw(params))
    }

    #[track_caller]
    fn recorded(request: &InputRequest, answer: &str) -> String {
        let response = judge_one(request, &raw(answer)).unwrap();
        let text = serde_json::to_string(&response).unwrap();
        assert_eq!(serde_json::from_str::<Response>(&text).unwrap(), response);
        text
    }

    #[track_caller]
    fn refused(request: &InputRequest, answer: &str, words: &str) {
        let Err(Problem::Shape(rule)) = judge_one(request, &raw(answer)) else {
            panic!("not refused: {answer}");
        };
        assert!(rule.contains(words), "{rule}");
    }

    #[test]
    fn a_url_is_answered_by_what_a_person_did() {
        let url = other(
            "elicitation/create",
            r#"{"url":"https://a.b","mode":"url"}"#,
        );
        let answer = r#"{"action":"accept","content":{"token":"x"}}"#;
        assert_eq!(recorded(&url, answer), r#"{"action":"accept"}"#);
        assert_eq!(
            recorded(&url, r#"{"action":"cancel"}"#),
            r#"{"action":"cancel"}"#
        );
        refused(&url, r#"{"content":{}}"#, "missing field `action`");
    }

    #[test]
    fn a_model_is_answered_by_a_message() {
        let model = other("sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#);
        let block = r#"{"type":"text","text":"Hi","annotations":{"a":2,"z":1}}"#;
        for content in [block.to_owned(), format!("[{block}]")] {
            let answer = format!(
                r#"{{"role":"assistant","content":{content},"model":"m","stopReason":"endTurn","x":1}}"#
            );
            assert_eq!(
                recorded(&model, &answer),
                format!(
                    r#"{{"message":{{"content":[{block}],"model":"m","stopReason":"endTurn"}}}}"#
                )
            );
        }
        for (answer, words) in [
            (r#"{"action":"accept"}"#, "missing field `role`"),
            (
                r#"{"role":"robot","content":[],"model":"m"}"#,
                "unknown variant `robot`",
            ),
            (
                r#"{"role":"assistant","content":[]}"#,
                "missing field `model`",
            ),
            (
                r#"{"role":"assistant","model":"m"}"#,
                "missing field `content`",
            ),
            (
                r#"{"role":"assistant","content":"Hi","model":"m"}"#,
                "a list of blocks",
            ),
            (
                r#"{"role":"assistant","content":{"type":"text"},"model":"m"}"#,
                "`text`",
            ),
            (
                r#"{"role":"assistant","content":{"type":"image","data":""},"model":"m"}"#,
                "`mimeType`",
            ),
        ] {
            refused(&model, answer, words);
        }
    }

    #[test]
    fn roots_are_answered_by_a_list() {
        let roots = other("roots/list", "{}");
        assert_eq!(
            recorded(
                &roots,
                r#"{"roots":[{"uri":"file:///a","name":"A","x":1},{"uri":"file:///b"}]}"#
            ),
            r#"{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///b"}]}"#
        );
        assert_eq!(recorded(&roots, r#"{"roots":[]}"#), r#"{"roots":[]}"#);
        refused(&roots, r#"{"action":"accept"}"#, "missing field `roots`");
        refused(&roots, r#"{"roots":[{"name":"A"}]}"#, "missing field `uri`");
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
