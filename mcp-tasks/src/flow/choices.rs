//! The forms of questions: that of the answer's type, or one of choices that are
//! known only when the question is asked.

use std::sync::Arc;

use super::{Ask, OptionalAsk};
use crate::elicit::{self, FormError, KnownForm};
use crate::protocol::Choice;

/// The form that the question shows.
pub(super) enum AskedForm {
    OfType(fn() -> Result<KnownForm, Arc<FormError>>),
    Choices(Vec<Choice>),
}

impl AskedForm {
    /// Gives the form, or why there is none.
    pub(super) fn make(&mut self) -> Result<KnownForm, Arc<FormError>> {
        match self {
            Self::OfType(make) => make(),
            Self::Choices(choices) => elicit::choice_form(std::mem::take(choices)),
        }
    }
}

impl<S> Ask<String, S> {
    /// Lets the person choose one of these, which are known only when the
    /// function runs; gives the value of the one that was chosen.
    ///
    /// A choice is a text, or a value and the title that is shown for it. What
    /// there is to choose from is part of the question: it must be the same when
    /// the function is run again, so what comes from outside comes from a step.
    /// A question without choices, or with one of them twice, fails its task. A
    /// choice that never changes is better an enum with `#[derive(Elicit)]`.
    ///
    /// ```
    /// use mcp_tasks::prelude::*;
    ///
    /// #[mcp_task]
    /// async fn check_out() -> Result<String, ToolError> {
    ///     let branches = step(list_branches()).await?;
    ///     let branch = ask_user::<String>("Which branch?").choices(&branches).await?;
    ///     Ok(format!("switched to {branch}"))
    /// }
    ///
    /// async fn list_branches() -> std::io::Result<Vec<String>> {
    ///     Ok(vec!["main".to_owned(), "next".to_owned()])
    /// }
    /// ```
    pub fn choices<C: Into<Choice>>(self, choices: impl IntoIterator<Item = C>) -> Self {
        let choices = choices.into_iter().map(Into::into).collect();
        self.showing(AskedForm::Choices(choices))
    }
}

impl<S> OptionalAsk<String, S> {
    /// See [`Ask::choices`].
    pub fn choices<C: Into<Choice>>(self, choices: impl IntoIterator<Item = C>) -> Self {
        Self(self.0.choices(choices))
    }
}
