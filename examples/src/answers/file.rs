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
use std::sync::Arc;

use indexmap::IndexMap;
use mcp_tasks::client::{Answer, Answers, Question};
use mcp_tasks::protocol::InputKind;
use serde::Deserialize;
use serde_json::Value;

/// The answers of one file; a cheap handle.
#[derive(Clone, Debug)]
pub struct AnswerFile {
    path: PathBuf,
    answers: Arc<IndexMap<String, Given>>,
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

/// Why a file does not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerFileError {
    /// The file cannot be read.
    #[error("the answers in {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not a map from keys to answers.
    #[error(
        "{} is no file of answers: {problem}. It holds an object with one member per \
         question: its key, and as value either the object that is filled in, or the word \
         \"decline\" or \"cancel\"",
        path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The file has no answer to this question.
    #[error("{} has no answer to the question `{key}` (it answers {known})", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The question.
        key: String,
        /// What it does answer.
        known: String,
    },
}

impl AnswerFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`AnswerFileError::Unreadable`] and [`AnswerFileError::Malformed`].
    pub fn read(path: &Path) -> Result<Self, AnswerFileError> {
        let text = std::fs::read_to_string(path).map_err(|source| AnswerFileError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, AnswerFileError> {
        // All of it is read before anything is started.
        let answers = serde_json::from_str(text).map_err(|error| AnswerFileError::Malformed {
            path: path.to_owned(),
            problem: error.to_string(),
        })?;
        Ok(Self {
            path: path.to_owned(),
            answers: Arc::new(answers),
        })
    }

    /// Looks whether the file has an answer to each of these. One that it leaves
    /// open stays open until somebody else answers.
    ///
    /// # Errors
    ///
    /// [`AnswerFileError::Missing`].
    pub fn check(&self, questions: &[Question]) -> Result<(), AnswerFileError> {
        let missing = questions
            .iter()
            .find(|question| !self.answers.contains_key(&*question.key));
        match missing {
            None => Ok(()),
            Some(question) => Err(AnswerFileError::Missing {
                path: self.path.clone(),
                key: question.key.to_string(),
                known: self.known(),
            }),
        }
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
    async fn answer(&self, question: Question) -> Option<Answer> {
        match self.answers.get(&*question.key)? {
            Given::Content(content) => Answer::accept(content).ok(),
            Given::Action(Word::Decline) => Some(Answer::decline()),
            Given::Action(Word::Cancel) => Some(Answer::dismiss()),
        }
    }

    fn kinds(&self) -> Vec<InputKind> {
        vec![InputKind::Form]
    }
}

#[cfg(test)]
mod tests {
    use mcp_tasks::client::QuestionKind;
    use mcp_tasks::protocol::Form;

    use super::*;

    fn parse(text: &str) -> Result<AnswerFile, AnswerFileError> {
        AnswerFile::parse(Path::new("a.json"), text)
    }

    fn asked(key: &str) -> Question {
        let kind = QuestionKind::Form {
            message: String::new(),
            form: Form::new(),
        };
        Question::new(key, kind)
    }

    #[tokio::test]
    async fn an_object_is_filled_in_and_a_word_is_an_action() {
        let file = parse(r#"{"a": {"z": 1, "b": 2}, "d": "decline", "c": "cancel"}"#).unwrap();
        let a = file.answer(asked("a")).await.unwrap();
        let sent = a.as_json().get();
        assert_eq!(sent, r#"{"action":"accept","content":{"z":1,"b":2}}"#);
        assert_eq!(file.answer(asked("d")).await, Some(Answer::decline()));
        assert_eq!(file.answer(asked("c")).await, Some(Answer::dismiss()));
        assert_eq!(file.answer(asked("e")).await, None);
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
        let file = parse(r#"{"a": {}, "b": {}}"#).unwrap();
        file.check(&[asked("b"), asked("a")]).unwrap();
        let error = file.check(&[asked("a"), asked("q")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.json has no answer to the question `q` (it answers `a`, `b`)"
        );
        let error = parse("{}").unwrap().check(&[asked("q")]).unwrap_err();
        assert!(error.to_string().contains("it answers nothing"));
    }
}
