//! What is answered, and who answers.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::Question;
use crate::protocol::{ContentBlock, InputKind, ModelReply, ProtocolError, Root};

/// The answer to a [`Question`], as it is sent (P23).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Answer(Arc<RawValue>);

impl Answer {
    /// Accepts a form, with what was filled in; `()` and `Content::new()` for
    /// nothing.
    ///
    /// # Errors
    ///
    /// If the content cannot be written as JSON.
    pub fn accept(content: impl Serialize) -> serde_json::Result<Self> {
        #[derive(Serialize)]
        struct Accepted<'a> {
            action: &'a str,
            content: &'a RawValue,
        }
        let content = to_raw_value(&content)?;
        if content.get() == "null" {
            return Ok(Self::consent());
        }
        Self::new(&Accepted {
            action: "accept",
            content: &content,
        })
    }

    /// Agrees to open a URL, or to a form without fields.
    pub fn consent() -> Self {
        Self::action("accept")
    }

    /// Says no.
    pub fn decline() -> Self {
        Self::action("decline")
    }

    /// Closes the question without choosing.
    pub fn dismiss() -> Self {
        Self::action("cancel")
    }

    /// A model's reply.
    ///
    /// # Errors
    ///
    /// If the reply cannot be written as JSON.
    pub fn reply(reply: &ModelReply) -> serde_json::Result<Self> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Message<'a> {
            role: &'a str,
            content: Blocks<'a>,
            model: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            stop_reason: Option<&'a str>,
        }
        // Older servers know a single block only.
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Blocks<'a> {
            One(&'a ContentBlock),
            Many(&'a [ContentBlock]),
        }
        Self::new(&Message {
            role: "assistant",
            content: match &reply.content[..] {
                [block] => Blocks::One(block),
                blocks => Blocks::Many(blocks),
            },
            model: &reply.model,
            stop_reason: reply.stop_reason.as_deref(),
        })
    }

    /// The folders that the client works in.
    ///
    /// # Errors
    ///
    /// If they cannot be written as JSON.
    pub fn roots(roots: &[Root]) -> serde_json::Result<Self> {
        Self::new(&json!({ "roots": roots }))
    }

    /// Anything else: the result of the request that was asked.
    pub fn raw(result: impl Into<Arc<RawValue>>) -> Self {
        Self(result.into())
    }

    /// The answer as JSON.
    pub fn as_json(&self) -> &RawValue {
        &self.0
    }

    /// Whether it says no, or nothing.
    pub(super) fn is_refusal(&self) -> bool {
        *self == Self::decline() || *self == Self::dismiss()
    }

    fn new(result: &impl Serialize) -> serde_json::Result<Self> {
        to_raw_value(result).map(|result| Self(result.into()))
    }

    fn action(action: &str) -> Self {
        Self::new(&json!({ "action": action })).expect("a word is JSON")
    }
}

impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// Whoever answers the questions of calls: a person at a terminal, a window, a
/// policy.
///
/// ```
/// use mcp_tasks::client::{Answer, Answers, Question};
/// use serde_json::json;
///
/// struct Policy;
///
/// impl Answers for Policy {
///     async fn answer(&self, question: Question) -> Option<Answer> {
///         println!("{}", question.message());
///         Answer::accept(json!({ "approve": true })).ok()
///     }
/// }
/// ```
///
/// A closure does as well:
///
/// ```
/// # use mcp_tasks::client::{Answer, Question, TaskClient};
/// let client = TaskClient::builder().answers(async |_: Question| Some(Answer::decline()));
/// ```
pub trait Answers: Send + Sync + 'static {
    /// Answers a question. `None` leaves it open for somebody else: another
    /// client, or [`Call::answer`](super::Call::answer).
    ///
    /// It is called once for each key that a task uses, in this process and, with
    /// a [`TaskBook`](super::TaskBook), in those before and after; questions that
    /// are open together are put together. One that is taken back before it was
    /// answered, and asked again, is put again.
    ///
    /// In an older session a server may ask for the client's roots while no call is
    /// open: that question has neither task nor tool.
    ///
    /// # Cancellation
    ///
    /// The future is dropped when the question is no longer open: somebody else
    /// has answered it, the task no longer asks, or has ended.
    fn answer(&self, question: Question) -> impl Future<Output = Option<Answer>> + Send;

    /// The server did not take the answer to a question, which is still open: its
    /// words are in `refusal`. `None`, unless implemented, ends the call with
    /// [`CallError::Refused`](super::CallError::Refused).
    fn refused(
        &self,
        question: Question,
        refusal: ProtocolError,
    ) -> impl Future<Output = Option<Answer>> + Send {
        let _ = (question, refusal);
        std::future::ready(None)
    }

    /// What may be asked, which is declared to servers: forms and URLs, unless
    /// implemented.
    fn kinds(&self) -> Vec<InputKind> {
        vec![InputKind::Form, InputKind::Url]
    }
}

impl<F, A> Answers for F
where
    F: Fn(Question) -> A + Send + Sync + 'static,
    A: Future<Output = Option<Answer>> + Send,
{
    fn answer(&self, question: Question) -> impl Future<Output = Option<Answer>> + Send {
        self(question)
    }
}

type Answering<'a> = Pin<Box<dyn Future<Output = Option<Answer>> + Send + 'a>>;

/// [`Answers`] of a type that is not known.
pub(super) trait AnyAnswers: Send + Sync {
    fn answer(&self, question: Question) -> Answering<'_>;
    fn refused(&self, question: Question, refusal: ProtocolError) -> Answering<'_>;
}

impl<T: Answers> AnyAnswers for T {
    fn answer(&self, question: Question) -> Answering<'_> {
        Box::pin(Answers::answer(self, question))
    }

    fn refused(&self, question: Question, refusal: ProtocolError) -> Answering<'_> {
        Box::pin(Answers::refused(self, question, refusal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_what_the_wire_wants() {
        let accepted = Answer::accept(json!({ "a": 1 })).unwrap();
        assert_eq!(
            accepted.as_json().get(),
            r#"{"action":"accept","content":{"a":1}}"#
        );
        assert_eq!(Answer::accept(()).unwrap(), Answer::consent());
        assert_eq!(Answer::dismiss().as_json().get(), r#"{"action":"cancel"}"#);
        let roots = Answer::roots(&[Root::new("file:///a")]).unwrap();
        assert_eq!(roots.as_json().get(), r#"{"roots":[{"uri":"file:///a"}]}"#);
    }
}
