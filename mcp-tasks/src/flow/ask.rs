//! Questions to the client: to the person behind it, to its model, and about the
//! folders that it works in.

mod model;
mod question;
mod roots;
mod url;

use std::future::{Future, IntoFuture};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

pub use self::model::ask_model;
use self::question::{Question, Read, read_form};
pub use self::roots::{ListRoots, list_roots};
pub use self::url::{Consent, ask_user_url};
use super::bind::{InTask, Keyed, awaited_only_in_tasks, rename};
use super::choices::AskedForm;
use super::request::{Kind, Outcome, Request, TimerDue};
use super::timer::set_timer;
use super::{AskError, Bind, Bound, DurableFuture, Flow, NotInTask, Site};
use crate::elicit::{self, Elicit};
use crate::task::{Action, InputKey, Response};

/// Asks a person to fill in a form.
///
/// While it waits, the task is `input_required` and shows the question in
/// `inputRequests` under its key; `tasks/update` answers it. The key is the
/// name of the variable that the answer is bound to, else the answer's type; in
/// a loop the second question is `key#2`. The answer to a form has a value per
/// field; a lone `bool`, `String` or number is a form with the field `answer`.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// #[mcp_task]
/// async fn greet() -> Result<String, ToolError> {
///     let name: String = ask_user("What is your name?").await?;
///     Ok(format!("Hello, {name}!"))
/// }
/// ```
///
/// # Errors
///
/// [`AskError`]: declined, dismissed, not answered within
/// [`timeout`](Ask::timeout), or not supported by the client.
///
/// # Durability
///
/// The question is recorded before it is visible, and the answer before it is
/// acknowledged.
///
/// # Cancellation
///
/// Dropping the future before it is answered withdraws the question; an answer
/// that still arrives is acknowledged and ignored (P22).
pub fn ask_user<T: Elicit>(message: impl Into<String>) -> Ask<T, NotInTask> {
    let question = Question::Form {
        message: message.into(),
        form: AskedForm::OfType(elicit::known_form::<T>),
    };
    Ask::new(question, read_form::<T>)
}

// The answer's type is asked for its form in `ask_user` and nowhere else, so
// that one that has none is one error.

/// A question, made by [`ask_user`], [`ask_user_url`] or [`ask_model`].
#[must_use = "a question is only asked when it is awaited"]
pub struct Ask<T, S> {
    question: Question,
    timeout: Option<Duration>,
    any_wording: bool,
    state: S,
    read: Read<T>,
}

impl<T> Ask<T, NotInTask> {
    fn new(question: Question, read: Read<T>) -> Self {
        Self {
            question,
            timeout: None,
            any_wording: false,
            state: NotInTask::NEW,
            read,
        }
    }
}

/// A question that may stay without an answer, made by [`Ask::optional`].
#[must_use = "a question is only asked when it is awaited"]
pub struct OptionalAsk<T, S>(pub(super) Ask<T, S>);

#[allow(
    private_bounds,
    reason = "who can be renamed is the crate's own affair"
)]
impl<T, S: Keyed> Ask<T, S> {
    /// Names the question, where neither a variable nor the type does, or where
    /// two questions would have the same name.
    ///
    /// A second question of the same key, as in a loop, gets `#2`, then `#3` and
    /// so on; two different places may not share one. A key may contain neither
    /// `/` nor `#`. One that is computed at run time must be new in its task.
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        rename(&mut self.state, key.as_ref());
        self
    }

    /// Gives up after `timeout`, counted from when the question is recorded:
    /// the question is withdrawn, and the outcome is [`AskError::TimedOut`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Takes an answer that was given to other words.
    ///
    /// After a restart with changed code, an answer belongs to the words that
    /// the person saw: a question under the same key in other words holds the
    /// task. For words that are known to vary and not to matter, as with a
    /// spelling mended. The form or the URL must stay the same; of what a model
    /// is asked, nothing need.
    pub fn any_wording(mut self) -> Self {
        self.any_wording = true;
        self
    }

    /// Gives `None` where a person declines or dismisses the question. A
    /// timeout stays an error.
    pub fn optional(self) -> OptionalAsk<T, S> {
        OptionalAsk(self)
    }
}

#[allow(
    private_bounds,
    reason = "who can be renamed is the crate's own affair"
)]
impl<T, S: Keyed> OptionalAsk<T, S> {
    /// See [`Ask::key`].
    pub fn key(self, key: impl AsRef<str>) -> Self {
        Self(self.0.key(key))
    }

    /// See [`Ask::timeout`].
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.timeout(timeout))
    }

    /// See [`Ask::any_wording`].
    pub fn any_wording(self) -> Self {
        Self(self.0.any_wording())
    }
}

impl<T> Bind<Ask<T, NotInTask>> {
    /// Binds the question to the running task. Generated code only.
    #[track_caller]
    pub fn bind(self, flow: &Flow, site: Site) -> Ask<T, Bound> {
        let bound = Bound::new(flow, site);
        self.0.with_state(|_| bound)
    }
}

impl<T, S> Ask<T, S> {
    /// Shows another form, where it shows one.
    pub(super) fn showing(mut self, shown: AskedForm) -> Self {
        if let Question::Form { form, .. } = &mut self.question {
            *form = shown;
        }
        self
    }

    fn with_state<R>(self, state: impl FnOnce(S) -> R) -> Ask<T, R> {
        Ask {
            question: self.question,
            timeout: self.timeout,
            any_wording: self.any_wording,
            state: state(self.state),
            read: self.read,
        }
    }

    fn into_bound(self) -> Ask<T, Bound>
    where
        S: InTask,
    {
        self.with_state(InTask::into_bound)
    }
}

awaited_only_in_tasks! {
    <T> Ask<T, S> => Result<T, AskError>;
    <T> OptionalAsk<T, S> => Result<Option<T>, AskError>;
}

#[diagnostic::do_not_recommend]
impl<T> IntoFuture for Ask<T, Bound> {
    type Output = Result<T, AskError>;
    type IntoFuture = Asking<T>;

    fn into_future(self) -> Asking<T> {
        let Bound {
            flow, key, place, ..
        } = self.state;
        Asking {
            place,
            any_wording: self.any_wording,
            timer: self.timeout.map(|timeout| (key.timeout(), timeout)),
            flow,
            key,
            question: self.question,
            stage: Stage::New,
            read: self.read,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T, S> DurableFuture for Ask<T, S> {
    type Output = Result<T, AskError>;
    type State = S;
    type Future = Asking<T>;

    fn into_durable(self) -> Asking<T>
    where
        S: InTask,
    {
        self.into_bound().into_future()
    }
}

#[diagnostic::do_not_recommend]
impl<T> IntoFuture for OptionalAsk<T, Bound> {
    type Output = Result<Option<T>, AskError>;
    type IntoFuture = AskingOptional<T>;

    fn into_future(self) -> AskingOptional<T> {
        AskingOptional(self.0.into_future())
    }
}

#[diagnostic::do_not_recommend]
impl<T, S> DurableFuture for OptionalAsk<T, S> {
    type Output = Result<Option<T>, AskError>;
    type State = S;
    type Future = AskingOptional<T>;

    fn into_durable(self) -> AskingOptional<T>
    where
        S: InTask,
    {
        OptionalAsk(self.0.into_bound()).into_future()
    }
}

/// The future of an [`Ask`].
pub struct Asking<T> {
    place: &'static Location<'static>,
    any_wording: bool,
    flow: Flow,
    key: InputKey,
    question: Question,
    timer: Option<(InputKey, Duration)>,
    stage: Stage,
    read: Read<T>,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    New,
    Waiting,
    Over,
}

impl<T> Asking<T> {
    fn start(&mut self) -> Result<(), AskError> {
        let kind = self.question.kind();
        if !self.flow.context().capabilities.can_be_asked(kind) {
            self.stage = Stage::Over;
            return Err(AskError::Unsupported(kind));
        }
        let request = match self.question.request() {
            Ok(request) => request,
            Err(error) => {
                self.stage = Stage::Over;
                self.misuse(format!(
                    "the question `{}` cannot be asked: {error}",
                    self.key
                ));
                return Ok(());
            }
        };
        self.stage = Stage::Waiting;
        let kind = Kind::Ask {
            request: request.clone(),
            any_wording: self.any_wording,
        };
        if !self.flow.open(&self.key, self.place, kind) {
            return Ok(());
        }
        let key = self.key.clone();
        self.flow.request(Request::Ask { key, request });
        if let Some((timer, timeout)) = &self.timer {
            set_timer(&self.flow, timer, self.place, TimerDue::After(*timeout));
        }
        Ok(())
    }

    fn outcome(&mut self) -> Option<Result<T, AskError>> {
        if let Some(Outcome::Answer(response)) = self.flow.take(&self.key) {
            self.stage = Stage::Over;
            if let Some((timer, _)) = &self.timer {
                self.flow.close(timer);
            }
            return self.read(&response);
        }
        let (timer, _) = self.timer.as_ref()?;
        self.flow.take(timer)?;
        self.close();
        Some(Err(AskError::TimedOut))
    }

    /// The answer; none where it ends the task.
    fn read(&self, response: &Response) -> Option<Result<T, AskError>> {
        if let Response::Elicited(elicited) = response {
            match elicited.action {
                Action::Decline => return Some(Err(AskError::Declined)),
                Action::Cancel => return Some(Err(AskError::Dismissed)),
                Action::Accept => {}
            }
        }
        let read = (self.read)(response);
        // The answer was judged against the form before it was recorded: only
        // a type whose form and reading disagree gets here.
        if let Err(words) = &read {
            self.misuse(format!(
                "the answer to `{}` fits its form, but not its type: {words}",
                self.key,
            ));
        }
        read.ok().map(Ok)
    }

    /// Ends the task in these words: nothing that is awaited here ever comes.
    fn misuse(&self, words: String) {
        self.flow.request(Request::Misuse(words));
    }
}

impl<T> Future for Asking<T> {
    type Output = Result<T, AskError>;

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.stage == Stage::New
            && let Err(error) = self.start()
        {
            return Poll::Ready(Err(error));
        }
        match self.outcome() {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        }
    }
}

impl<T> Asking<T> {
    /// Stops waiting: what is still outstanding is withdrawn.
    fn close(&mut self) {
        if self.stage == Stage::Waiting {
            self.stage = Stage::Over;
            self.flow.close(&self.key);
            if let Some((timer, _)) = &self.timer {
                self.flow.close(timer);
            }
        }
    }
}

impl<T> Drop for Asking<T> {
    fn drop(&mut self) {
        self.close();
    }
}

/// The future of an [`OptionalAsk`].
pub struct AskingOptional<T>(Asking<T>);

impl<T> Future for AskingOptional<T> {
    type Output = Result<Option<T>, AskError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|outcome| match outcome {
            Ok(answer) => Ok(Some(answer)),
            Err(AskError::Declined | AskError::Dismissed) => Ok(None),
            Err(error) => Err(error),
        })
    }
}
