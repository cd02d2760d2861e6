//! Answers that were given beforehand: in a file, or on the command line.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use indexmap::IndexMap;
use mcp_tasks::client::{Question, QuestionKind};
use mcp_tasks::protocol::{Content, Form};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::{Pair, Typed};
use crate::exit::Stop;
use crate::form::{Reply, field};

/// Answers by the keys of their questions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    file: IndexMap<String, InFile>,
    flags: Vec<Pair>,
    /// The keys of the questions that there were.
    asked: Vec<String>,
    /// How often each key has been answered.
    used: HashMap<String, usize>,
}

/// How often one answer is given to a server that asks again: there are such that ask
/// until they hear what they want to.
const AGAIN: usize = 6;

/// What stands in a file for one question.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "an answer is an object, or one of the words \"accept\", \"decline\", \"dismiss\""
)]
enum InFile {
    Content(Map<String, Value>),
    Word(Word),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Accept,
    Decline,
    #[serde(alias = "cancel")]
    Dismiss,
}

impl Word {
    fn read(text: &str) -> Option<Self> {
        Some(match text {
            "accept" => Self::Accept,
            "decline" => Self::Decline,
            "dismiss" | "cancel" => Self::Dismiss,
            _ => return None,
        })
    }
}

impl Given {
    /// Reads the file and the flags.
    pub(crate) fn read(file: Option<&Path>, flags: &[String]) -> Result<Self, Stop> {
        let mut given = Self::default();
        if let Some(path) = file {
            let name = path.display();
            let text = fs::read_to_string(path)
                .map_err(|error| Stop::file(format_args!("{name} cannot be read: {error}")))?;
            given.file = serde_json::from_str(&text).map_err(|error| {
                Stop::usage(format_args!(
                    "{name} is no file of answers: {error}. It holds an object with one member \
                     per question: its key, and as value the object that is filled in, or one \
                     of the words \"accept\", \"decline\", \"dismiss\""
                ))
            })?;
        }
        let flags = flags.iter().map(|text| {
            Pair::parse(text).map_err(|_| {
                Stop::usage(format_args!(
                    "`{text}` is no answer; write KEY.FIELD=VALUE, or KEY=decline"
                ))
            })
        });
        given.flags = flags.collect::<Result<_, _>>()?;
        Ok(given)
    }

    /// There is a question of this key.
    pub(crate) fn was_asked(&mut self, key: &str) {
        self.asked.push(key.to_owned());
    }

    /// The answers of the command line to questions that there were not.
    pub(crate) fn unused(&self) -> Vec<String> {
        let is_for = |pair: &Pair, key: &str| {
            let rest = pair.key.strip_prefix(key);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let unused = |pair: &&Pair| !self.asked.iter().any(|key| is_for(pair, key));
        let keys = self
            .flags
            .iter()
            .filter(unused)
            .map(|pair| pair.key.clone());
        keys.collect()
    }

    /// The answer to a question, if there is one, which is about to be sent.
    ///
    /// # Errors
    ///
    /// What does not fit, in words; or that it was given often enough.
    pub(crate) fn take(&mut self, question: &Question) -> Result<Option<Reply>, String> {
        let reply = self.reply(question)?;
        if reply.is_some() {
            let used = self.used.entry(question.key.to_string()).or_default();
            *used += 1;
            if *used > AGAIN {
                return Err(format!(
                    "it was given {AGAIN} times, and the server asks again"
                ));
            }
        }
        Ok(reply)
    }

    /// The answer to a question, if there is one.
    ///
    /// # Errors
    ///
    /// What does not fit, in words.
    fn reply(&self, question: &Question) -> Result<Option<Reply>, String> {
        let key = &*question.key;
        let mut found = Vec::new();
        for pair in &self.flags {
            if pair.key == key {
                found.push((None, &pair.value));
            } else if let Some(field) = pair
                .key
                .strip_prefix(key)
                .and_then(|rest| rest.strip_prefix('.'))
            {
                found.push((Some(field), &pair.value));
            }
        }
        if !found.is_empty() {
            return reply(&question.kind, &found).map(Some);
        }
        match self.file.get(key) {
            None => Ok(None),
            Some(InFile::Word(word)) => word_reply(*word, &question.kind).map(Some),
            Some(InFile::Content(content)) => match &question.kind {
                QuestionKind::Form { form, .. } => {
                    judge(form, content.clone()).map(Reply::Accept).map(Some)
                }
                _ => word_reply(Word::Accept, &question.kind).map(Some),
            },
        }
    }
}

/// An answer of `field=value`s and words.
pub(crate) fn reply(
    kind: &QuestionKind,
    given: &[(Option<&str>, &Typed)],
) -> Result<Reply, String> {
    if let [(None, Typed::Text(text))] = given
        && let Some(word) = Word::read(text)
    {
        return word_reply(word, kind);
    }
    let form = match kind {
        QuestionKind::Form { form, .. } => form,
        // There is nothing to fill in: whoever answers agrees.
        _ if given.is_empty() => return word_reply(Word::Accept, kind),
        _ => return Err("it takes `accept`, `decline` or `dismiss`".to_owned()),
    };
    let mut content = Map::new();
    for (name, value) in given {
        let name = match name {
            Some(name) => *name,
            None => only_field(form)?,
        };
        let Some(field) = form.field(name) else {
            if form.is_empty() {
                return Err(format!(
                    "it has no field `{name}`, and no other: there is nothing to fill in"
                ));
            }
            let names: Vec<_> = form.fields().map(|(name, _)| format!("`{name}`")).collect();
            return Err(format!(
                "it has no field `{name}`; there are {}",
                names.join(", ")
            ));
        };
        let value = match value {
            Typed::Json(text) => serde_json::from_str(text)
                .map_err(|error| format!("the value of `{name}` is not JSON: {error}"))?,
            Typed::Text(text) => {
                let value = field::parse(&field.kind, form.is_required(name), text);
                value
                    .map_err(|rule| format!("`{name}` {rule}"))?
                    .unwrap_or_default()
            }
        };
        content.insert(name.to_owned(), value);
    }
    judge(form, content).map(Reply::Accept)
}

/// The field that is meant where none is named.
fn only_field(form: &Form) -> Result<&str, String> {
    let mut fields = form.fields();
    match (fields.next(), fields.next()) {
        (Some((name, _)), None) => Ok(name),
        (None, _) => Err("it takes `accept`, `decline` or `dismiss`".to_owned()),
        _ => Err("it has several fields; write KEY.FIELD=VALUE for each".to_owned()),
    }
}

fn word_reply(word: Word, kind: &QuestionKind) -> Result<Reply, String> {
    Ok(match (word, kind) {
        (Word::Decline, _) => Reply::Decline,
        (Word::Dismiss, _) => Reply::Dismiss,
        (Word::Accept, QuestionKind::Form { form, .. }) => Reply::Accept(judge(form, Map::new())?),
        (Word::Accept, _) => Reply::Consent,
    })
}

/// Holds an answer to its form, with the defaults of what is left out, as they stand in
/// a form that is filled in by hand. What is to be left empty in spite of its default is
/// `null`.
fn judge(form: &Form, mut content: Map<String, Value>) -> Result<Content, String> {
    for (name, field) in form.fields() {
        if !content.contains_key(name)
            && let Some(default) = field.kind.default_value()
        {
            content.insert(name.to_owned(), default);
        }
    }
    form.judge(Some(&Value::Object(content))).map_err(|errors| {
        let words: Vec<_> = errors.iter().map(ToString::to_string).collect();
        words.join("; ")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_left_out_has_its_default_unless_it_is_null() {
        let form: Form = serde_json::from_value(json!({
            "type": "object",
            "properties": {
                "zone": { "type": "string", "default": "west" },
                "percent": { "type": "integer", "default": 10 },
                "remark": { "type": "string" },
            },
            "required": ["zone"],
        }))
        .unwrap();
        let filled = |content: Value| {
            let Value::Object(content) = content else {
                panic!("no object")
            };
            judge(&form, content).map(|content| serde_json::to_value(content).unwrap())
        };
        assert_eq!(
            filled(json!({})),
            Ok(json!({ "zone": "west", "percent": 10 }))
        );
        assert_eq!(
            filled(json!({ "zone": "east", "percent": null })),
            Ok(json!({ "zone": "east" }))
        );
        assert!(filled(json!({ "zone": null })).is_err());
    }
}
