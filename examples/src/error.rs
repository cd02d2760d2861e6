//! What can go wrong between a client and its server, in words for the person
//! who started the client.

use std::io;

use mcp_tasks::protocol::ProtocolError;

use crate::answers::AnswersError;

/// Why a client stopped before its call had an outcome.
///
/// A call that ends badly is an outcome, not an error: see
/// [`Outcome`](crate::drive::Outcome).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server's program cannot be started.
    #[error("the server cannot be started: {0}")]
    Start(#[source] io::Error),
    /// The server ended, or closed its output.
    #[error("the server went away before it answered `{method}`")]
    Gone {
        /// The request that has no reply.
        method: String,
    },
    /// The server is there and does not reply.
    #[error("the server did not answer `{method}` within {seconds} s")]
    TimedOut {
        /// The request that has no reply.
        method: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// What came is not a message.
    #[error("the server sent a line that is not JSON-RPC ({problem}): {line}")]
    NotAMessage {
        /// What is wrong with it.
        problem: serde_json::Error,
        /// Its beginning.
        line: String,
    },
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
    /// The server wants something that this client cannot give.
    #[error("the server asks for something that this client did not offer: {0}")]
    NotOffered(String),
    /// There is no answer to a question.
    #[error(transparent)]
    Answers(#[from] AnswersError),
    /// Messages cannot be read, or nothing can be shown.
    #[error("reading or writing failed: {0}")]
    Io(#[from] io::Error),
}
