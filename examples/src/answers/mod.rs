//! Where the answers to a task's questions come from.

mod file;
mod prompt;

use std::io;
use std::path::PathBuf;

use mcp_tasks::protocol::Form;
use serde::Serialize;
use serde_json::value::RawValue;

pub use file::AnswerFile;
pub use prompt::Prompt;

/// A question of a task.
#[derive(Debug)]
pub struct Question {
    /// Its key, which is used once in the life of a task.
    pub key: String,
    /// The words.
    pub message: String,
    /// What there is to fill in.
    pub form: Form,
}

/// The answer to a question, as it is sent.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// What was done with the question.
    pub action: Action,
    /// What was filled in, if the question was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Box<RawValue>>,
}

/// What a person can do with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Fill it in.
    Accept,
    /// Say no.
    Decline,
    /// Close it without choosing.
    Cancel,
}

impl From<Action> for Answer {
    fn from(action: Action) -> Self {
        Self {
            action,
            content: None,
        }
    }
}

/// Who answers.
pub trait Answers {
    /// Answers a question. If the server has refused an answer to it before,
    /// `refusal` has the server's words.
    ///
    /// This may take as long as a person needs.
    ///
    /// # Errors
    ///
    /// [`AnswersError`] if there is no answer, which ends the client.
    fn answer(
        &mut self,
        question: &Question,
        refusal: Option<&str>,
    ) -> Result<Answer, AnswersError>;
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
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
    /// The server does not take the answer of the file.
    #[error(
        "the server does not take the answer to `{key}` in {}: {refusal}",
        path.display()
    )]
    Refused {
        /// The file.
        path: PathBuf,
        /// The question.
        key: String,
        /// The server's words.
        refusal: String,
    },
    /// The person cannot be asked.
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
}
