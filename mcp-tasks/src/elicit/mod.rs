//! Answers as Rust types: which form asks for a value, and how what a person
//! filled in becomes that value.
//!
//! A type that can be asked for is [`Elicit`]. Derive it for a struct, whose
//! fields become the fields of the form, or for an enum without data, which is
//! a choice:
//!
//! ```
//! use mcp_tasks::Elicit;
//!
//! #[derive(Elicit)]
//! struct Approval {
//!     /// Ship this plan?
//!     approve: bool,
//!     /// Share of traffic in the first hour
//!     #[elicit(min = 1, max = 100, default = 10)]
//!     percent: u8,
//!     window: Window,
//!     #[elicit(format = "email")]
//!     notify: Option<String>,
//! }
//!
//! #[derive(Elicit)]
//! enum Window {
//!     /// Tonight, 22:00 to 24:00
//!     Tonight,
//!     /// Next Monday morning
//!     NextMonday,
//! }
//!
//! let form = Approval::form();
//! assert!(form.is_required("approve") && !form.is_required("percent"));
//!
//! let answer = serde_json::json!({"approve": true, "window": "next_monday"});
//! let content = form.judge(Some(&answer)).unwrap();
//! let approval = Approval::from_content(&content).unwrap();
//! assert_eq!(approval.percent, 10);
//! assert!(approval.notify.is_none());
//! ```
//!
//! Forms are flat: a struct or a list of structs is not a field. The derive macro
//! [`Elicit`](derive@crate::Elicit) lists the types that fields may have, and all keys of
//! `#[elicit(..)]`. Each of these types can also be asked for by itself, as the
//! field [`answer`](ANSWER), and so can `()`, a form without fields that a
//! person can only accept, decline or dismiss.
//!
//! Choices that are known only when the function runs are given to the question:
//! `ask_user::<String>("Which?").choices(names)`, see
//! [`choices`](crate::Ask::choices).
//!
//! A type that derives schemars' `JsonSchema` instead is asked for as
//! [`FromSchema<T>`](FromSchema).
//!
//! # What is held, and when
//!
//! An answer is held to its form before it is recorded. One that does not fit is
//! refused, and the client is told everything that is wrong, by field and rule:
//! ``` `percent` must be between 1 and 100, got 250 ```. The question stays open.
//!
//! The form itself is held to its own rules: mostly when it is compiled; what is
//! only known when the program runs, such as a default that is computed, when
//! its type is first asked for, or before that by [`check`].

mod builtin;
#[doc(hidden)]
pub mod derived;
mod known;
mod names;
mod schema;

use serde_json::Value;

use crate::protocol::{Choice, Content, FieldError, FieldKind, Form};
pub use known::{FormError, check};
pub(crate) use known::{KnownForm, choice_form, known_form};
pub use schema::FromSchema;

/// The name of the only field of a form that asks for a single value.
pub const ANSWER: &str = "answer";

/// A type that a person can be asked for.
///
/// Derive it (see the [module](self)) rather than implement it by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be asked for in a form",
    label = "not an answer to a form",
    note = "write `#[derive(Elicit)]` on the struct or enum; `String`, `bool`, numbers, `()`, and `Vec` of an enum with `#[derive(Elicit)]` can be asked for as they are",
    note = "a type that derives schemars' `JsonSchema` and serde's `Deserialize` is asked for as `FromSchema<T>`",
    note = "an answer that may be missing is `ask_user::<T>(..).optional()`; where nothing says the answer's type, write it: `ask_user::<bool>(..)`"
)]
pub trait Elicit: Sized + Send + 'static {
    /// The form that asks for a value of this type: always the same one.
    ///
    /// Questions make it once and keep it.
    fn form() -> Form;

    /// What keeps [`form`](Self::form) from being asked; usually nothing.
    ///
    /// Looked at when a type is first asked for, and by [`check`].
    fn faults() -> Vec<FieldError> {
        Self::form().faults()
    }

    /// The value that was filled in.
    ///
    /// Content that [`Form::judge`] made for [`form`](Self::form) is always
    /// decoded.
    ///
    /// # Errors
    ///
    /// What is missing or of the wrong type, for content from elsewhere.
    fn from_content(content: &Content) -> Result<Self, Vec<FieldError>>;
}

/// A type that one field of a form can ask for.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "not a field of a form",
    note = "a form is flat: its fields are `String`, `bool`, numbers, enums with `#[derive(Elicit)]`, `Vec` of such an enum, and `Option` of these",
    note = "put the fields of a nested struct into this one, or ask for it in a question of its own"
)]
pub trait ElicitField: Sized + Send + 'static {
    /// Which values the field takes.
    fn kind() -> FieldKind;

    /// Whether the field must be filled in.
    fn required() -> bool {
        true
    }

    /// The value as it stands in a form.
    fn encode(&self) -> Value;

    /// The value that was filled in, if any.
    ///
    /// # Errors
    ///
    /// The rule that the value breaks, as in "must be text".
    fn decode(value: Option<&Value>) -> Result<Self, String>;
}

/// A type with a fixed number of values, one of which is chosen.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a choice",
    label = "not an enum with `#[derive(Elicit)]`",
    note = "a list in a form is a choice among the variants of an enum: write `Vec<E>` where `E` is an enum with `#[derive(Elicit)]`",
    note = "for a list of anything else, ask for a `String` and split it, or ask several times"
)]
pub trait ElicitChoice: Sized + Send + 'static {
    /// What there is to choose from.
    fn choices() -> Vec<Choice>;

    /// What is sent if this is chosen.
    fn value(&self) -> &'static str;

    /// What was chosen.
    fn from_value(value: &str) -> Option<Self>;
}
