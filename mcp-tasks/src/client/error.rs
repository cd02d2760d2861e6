//! What can go wrong between a client and a server.

use std::sync::Arc;
use std::time::Duration;

use super::Question;
use crate::protocol::ProtocolError;

// What went wrong further down stands in the words, and so is no `source`: with
// both, whoever prints a chain of errors reads it twice.

/// Why a client cannot do what it was asked to.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// There is no connection, and none can be made.
    #[error("cannot connect to {server}: {problem}")]
    Connect {
        /// The URL or the program.
        server: String,
        /// Why.
        problem: String,
    },
    /// The server wants other credentials, or none of this client.
    #[error("the server does not let this client in: {0}")]
    Denied(String),
    /// The reply is an error.
    #[error("the server refused `{method}`: {error}")]
    Refused {
        /// The request that was refused.
        method: String,
        /// The server's words.
        error: ProtocolError,
    },
    /// The reply is not what the method returns.
    #[error("the server answered `{method}` with something else: {problem}")]
    Unexpected {
        /// The request.
        method: String,
        /// What is wrong with the reply.
        problem: String,
    },
    /// No reply came.
    #[error("the server did not answer `{method}`: {problem}")]
    NoReply {
        /// The request.
        method: String,
        /// Why.
        problem: String,
    },
    /// What is to be sent is not JSON, or not what the method takes.
    #[error("`{method}` cannot be sent: {problem}")]
    Unsendable {
        /// The request.
        method: String,
        /// Why.
        problem: String,
    },
    /// The book of tasks cannot be read or written.
    #[error("the book of tasks in {place}: {problem}")]
    Book {
        /// The folder or file.
        place: String,
        /// What is wrong, and what to do.
        problem: String,
    },
}

/// Why a call has no result.
///
/// A tool that ran and failed has one, with `is_error` set.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The call, or the task that it became, failed: code, message and data as
    /// the server gave them.
    #[error(transparent)]
    Failed(ProtocolError),
    /// It was cancelled.
    #[error("the call was cancelled{}", .message.as_deref().map(|message| format!(": {message}")).unwrap_or_default())]
    Cancelled {
        /// What the server says of it.
        message: Option<String>,
    },
    /// The server asks, and nobody answers: there is no [`Answers`](super::Answers).
    ///
    /// The task lives on: answer with [`Call::answer`](super::Call::answer) and
    /// await the call again, or later with
    /// [`TaskClient::resume`](super::TaskClient::resume). A call that is no task
    /// ends when it is dropped.
    #[error("{}", unanswered(.questions))]
    Unanswered {
        /// The task that asks; `None` if the call is none.
        id: Option<Arc<str>>,
        /// What is open.
        questions: Vec<Question>,
    },
    /// The server did not take the answer to a question.
    #[error("the server does not take the answer to `{key}`: {error}")]
    Refused {
        /// The question, which is still open.
        key: Arc<str>,
        /// The server's words.
        error: ProtocolError,
    },
    /// It was not done in time. The task, if it is one, was cancelled.
    #[error("the call was not done within {after:?}")]
    Deadline {
        /// The task.
        id: Option<Arc<str>>,
        /// The deadline, from the call on.
        after: Duration,
    },
    /// The server has not been heard of for too long, or no longer knows the
    /// task. If there is one, it may live on.
    #[error("{}: {error}", lost(.id.as_deref()))]
    Lost {
        /// The task.
        id: Option<Arc<str>>,
        /// The last that was heard.
        error: ClientError,
    },
    /// Nothing of this name is open: it never was, is answered, or was withdrawn.
    #[error("there is no open question `{0}`")]
    NotOpen(Arc<str>),
    /// The call has ended already.
    #[error("the call has ended")]
    Ended,
    /// The call could not be made, or what the server said to it makes no sense.
    #[error(transparent)]
    Client(#[from] ClientError),
}

fn unanswered(questions: &[Question]) -> String {
    let questions: Vec<_> = questions.iter().map(ToString::to_string).collect();
    format!(
        "the server asks, and there is nobody to answer: {}",
        questions.join("; ")
    )
}

fn lost(id: Option<&str>) -> String {
    match id {
        Some(id) => format!("lost sight of task {id}"),
        None => "lost sight of the call, which may or may not have run".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ErrorCode;

    #[test]
    fn a_chain_of_errors_says_nothing_twice() {
        let error = || ProtocolError::new(ErrorCode::INVALID_PARAMS, "there is no such task");
        let refused = || ClientError::Refused {
            method: "tasks/get".to_owned(),
            error: error(),
        };
        let id = Some(Arc::from("t1"));
        let key = Arc::from("approval");
        for error in [
            CallError::Failed(error()),
            CallError::Refused {
                key,
                error: error(),
            },
            CallError::Lost {
                id,
                error: refused(),
            },
            CallError::Client(refused()),
        ] {
            let chain = format!("{:#}", anyhow::Error::new(error));
            let times = chain.matches("there is no such task").count();
            assert_eq!(times, 1, "{chain}");
        }
    }
}
