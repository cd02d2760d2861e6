//! What a task function may take and return, as generated code asks for it.
//!
//! Generated code uses each type of a signature several times. What the type
//! must be is asked for once, where it stands in the user's code; every other
//! use goes through [`Of`], which takes any type. So a mistake is one error.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{CallContext, DecodeError, Extractor, PlainArgument, PlainArguments};
use crate::argument;
use crate::elicit::{self, Elicit, FormError};
use crate::flow::{Extract, TaskOutput, schema};

/// A type that a client can send as an argument.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "not an argument of a tool",
    note = "clients see its schema and send it as JSON: derive both `serde::Deserialize` and `schemars::JsonSchema` for it",
    note = "for a value that the server has, not the client, write `State(name): State<Type>`"
)]
pub trait Argument: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Argument for T {}

/// Asks for a type to be an [`Argument`].
pub const fn argument<T: Argument>() {}

/// What an argument is that has a value of its own.
#[diagnostic::on_unimplemented(
    message = "nothing says what an argument of the type `{Self}` is when it is left out",
    label = "the type has no default",
    note = "derive `Default` for it, write a value, `#[arg(default = ..)]`, or make it an `Option`"
)]
pub trait WithDefault: Default {}

#[diagnostic::do_not_recommend]
impl<T: Default> WithDefault for T {}

/// What an argument is that was left out, where only its type says so.
pub fn default_of_type<T: WithDefault>() -> T {
    T::default()
}

/// The type of a limit without a fraction on a number.
pub type Whole<T> = <T as argument::Number>::Whole;

/// Asks for a number that may have a fraction.
pub const fn with_fraction<T: argument::Fractional>() {}

/// Asks for a text.
pub const fn with_length<T: argument::Text>() {}

/// Asks for a list.
pub const fn with_items<T: argument::List>() {}

/// What generated code needs of a type.
pub struct Of<T>(PhantomData<T>);

impl<A: JsonSchema> Of<A> {
    /// The schema of all arguments.
    pub fn input_schema() -> Map<String, Value> {
        schema::of_arguments::<A>()
    }
}

impl<A: DeserializeOwned> Of<A> {
    /// Reads all arguments.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Arguments`] naming what is missing or wrong.
    pub fn decode(call: &CallContext<'_>) -> Result<A, DecodeError> {
        call.arguments()
    }
}

impl<A: DeserializeOwned + JsonSchema> Of<A> {
    /// An argument of this name and description.
    pub const fn plain(name: &'static str, description: Option<&'static str>) -> PlainArgument {
        PlainArgument::new::<A>(name, description)
    }
}

impl<A: DeserializeOwned> Of<A> {
    /// Reads one argument.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Arguments`] naming what is missing or wrong.
    pub fn take(arguments: &PlainArguments<'_>, name: &str) -> Result<A, DecodeError> {
        arguments.take(name)
    }
}

impl<R: TaskOutput> Of<R> {
    /// The schema of a structured result.
    pub fn output_schema() -> Option<Map<String, Value>> {
        R::output_schema()
    }
}

impl<E: Extract> Of<E> {
    /// What the tool must know of a parameter that is not an argument.
    pub fn extractor() -> Extractor {
        Extractor {
            check: E::check,
            needs: E::NEEDS,
        }
    }
}

impl<A: Elicit> Of<A> {
    /// Whether the type can be asked for.
    ///
    /// # Errors
    ///
    /// [`FormError`] if it cannot.
    pub fn check_form() -> Result<(), FormError> {
        elicit::check::<A>()
    }
}

/// The same of a type that was refused elsewhere: such a program does not
/// compile, and nothing of this ever runs.
pub trait AnyType<T> {
    /// See [`Of::input_schema`].
    fn input_schema() -> Map<String, Value> {
        unreachable!("{REFUSED}")
    }

    /// See [`Of::decode`].
    ///
    /// # Errors
    ///
    /// None.
    fn decode(_: &CallContext<'_>) -> Result<T, DecodeError> {
        unreachable!("{REFUSED}")
    }

    /// See [`Of::plain`].
    fn plain(_: &'static str, _: Option<&'static str>) -> PlainArgument {
        unreachable!("{REFUSED}")
    }

    /// See [`Of::take`].
    ///
    /// # Errors
    ///
    /// None.
    fn take(_: &PlainArguments<'_>, _: &str) -> Result<T, DecodeError> {
        unreachable!("{REFUSED}")
    }

    /// See [`Of::output_schema`].
    fn output_schema() -> Option<Map<String, Value>> {
        unreachable!("{REFUSED}")
    }

    /// See [`Of::extractor`].
    fn extractor() -> Extractor {
        unreachable!("{REFUSED}")
    }

    /// See [`Of::check_form`].
    ///
    /// # Errors
    ///
    /// None.
    fn check_form() -> Result<(), FormError> {
        unreachable!("{REFUSED}")
    }
}

impl<T> AnyType<T> for Of<T> {}

const REFUSED: &str = "the type is refused where it stands in the task function";
