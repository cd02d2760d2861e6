//! Answers from a file, so that a task can be driven without a keyboard.
//!
//! The file is a JSON object: for each question its key, and as value the
//! object that is filled in, or the word `"decline"` or `"cancel"`.
//!
//! ```json
//! { "approval": { "approve": true, "percent": 25 }, "more": "decline" }
//! ```

use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::{Action, Answer, Answers, AnswersError, Question};

/// The answers of one file.
#[derive(Debug)]
pub struct AnswerFile {
    path: PathBuf,
    answers: IndexMap<String, Given>,
}

/// What stands in the file for one question. The content goes to the server as
/// it is: what fits is for it to judge.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "an answer is of another kind")]
enum Given {
    Content(IndexMap<String, Value>),
    Action(Word),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Decline,
    Cancel,
}

impl AnswerFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`AnswersError::Unreadable`] and [`AnswersError::Malformed`].
    pub fn read(path: &Path) -> Result<Self, AnswersError> {
        let text = std::fs::read_to_string(path).map_err(|source| AnswersError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, AnswersError> {
        // All of it is read before anything is started.
        let answers = serde_json::from_str(text).map_err(|error| AnswersError::Malformed {
            path: path.to_owned(),
            problem: error.to_string(),
        })?;
        Ok(Self {
            path: path.to_owned(),
            answers,
        })
    }

    fn known(&self) -> String {
        let keys: Vec<_> = self.answers.keys().map(|key| format!("`{key}`")).collect();
        if keys.is_empty() {
            return "nothing".to_owned();
        }
        keys.join(", ")
    }
}

impl Answers for AnswerFile {
    fn answer(
        &mut self,
        question: &Question,
        refusal: Option<&str>,
    ) -> Result<Answer, AnswersError> {
        let (path, key) = (self.path.clone(), question.key.clone());
        if let Some(refusal) = refusal {
            return Err(AnswersError::Refused {
                path,
                key,
                refusal: refusal.to_owned(),
            });
        }
        match self.answers.get(&question.key) {
            Some(Given::Content(content)) => Ok(Answer {
                action: Action::Accept,
                content: Some(to_raw_value(content).map_err(io::Error::from)?),
            }),
            Some(Given::Action(Word::Decline)) => Ok(Action::Decline.into()),
            Some(Given::Action(Word::Cancel)) => Ok(Action::Cancel.into()),
            None => Err(AnswersError::Missing {
                path,
                key,
                known: self.known(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_tasks::protocol::Form;

    use super::*;

    fn parse(text: &str) -> Result<AnswerFile, AnswersError> {
        AnswerFile::parse(Path::new("a.json"), text)
    }

    fn asked(key: &str) -> Question {
        Question {
            key: key.to_owned(),
            message: String::new(),
            form: Form::new(),
        }
    }

    #[test]
    fn an_object_is_filled_in_and_a_word_is_an_action() {
        let mut file = parse(r#"{"a": {"z": 1, "b": 2}, "d": "decline", "c": "cancel"}"#).unwrap();
        let mut sent = |key| {
            let answer = file.answer(&asked(key), None).unwrap();
            serde_json::to_string(&answer).unwrap()
        };
        assert_eq!(sent("a"), r#"{"action":"accept","content":{"z":1,"b":2}}"#);
        assert_eq!(sent("d"), r#"{"action":"decline"}"#);
        assert_eq!(sent("c"), r#"{"action":"cancel"}"#);
    }

    #[test]
    fn what_is_wrong_is_said_before_anything_starts() {
        for text in ["", "[]", r#"{"a": 1}"#, r#"{"a": "yes"}"#, r#"{"a": "#] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with("a.json is no file of answers"), "{error}");
        }
        let error = AnswerFile::read(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all cannot be read"));
    }

    #[test]
    fn a_question_without_an_answer_is_named() {
        let error = |text: &str, refusal| {
            let error = parse(text).unwrap().answer(&asked("q"), refusal);
            error.unwrap_err().to_string()
        };
        assert_eq!(
            error(r#"{"a": {}, "b": {}}"#, None),
            "a.json has no answer to the question `q` (it answers `a`, `b`)"
        );
        assert!(error("{}", None).contains("it answers nothing"));
        assert_eq!(
            error(r#"{"q": {}}"#, Some("too much")),
            "the server does not take the answer to `q` in a.json: too much"
        );
    }
}
