//! Forms for types that describe themselves by a JSON Schema already.

mod choices;
mod field;
mod form;
mod order;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use self::form::FormOfSchema;
use super::{ANSWER, Elicit};
use crate::protocol::{Content, FieldError, Form};

/// Asks for a type by its JSON Schema instead of by `#[derive(Elicit)]`: one
/// that derives schemars' `JsonSchema` and serde's `Deserialize`.
///
/// ```
/// use mcp_tasks::elicit::FromSchema;
/// use mcp_tasks::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(JsonSchema, Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Settings {
///     /// Where to deploy to
///     region: Region,
///     #[schemars(range(min = 1, max = 100))]
///     share_of_traffic: u8,
///     #[schemars(email)]
///     notify: Option<String>,
/// }
///
/// #[derive(JsonSchema, Deserialize)]
/// #[serde(rename_all = "kebab-case")]
/// enum Region {
///     EuWest,
///     UsEast,
/// }
///
/// #[mcp_task]
/// async fn settle() -> Result<String, ToolError> {
///     let FromSchema(settings) = ask_user::<FromSchema<Settings>>("Which settings?").await?;
///     Ok(format!("{} %", settings.share_of_traffic))
/// }
///
/// # fn main() -> Result<(), mcp_tasks::Error> {
/// # let server = mcp_tasks::runtime::Runtime::builder("settings", "1.0.0");
/// // An error here, should `Settings` be no form.
/// server.task(settle).build()?;
/// # Ok(()) }
/// ```
///
/// A type that is not a struct, such as an enum without data, is asked for as
/// the field `answer`.
///
/// # What the schema must be
///
/// A form is flat (P24), so each property is a text, a number, a `bool`, an enum
/// without data, a list or set of such an enum, or an `Option` of these, with
/// no other rules than lengths, ranges, the formats `email`, `uri`, `date` and
/// `date-time`, and a default. The title of a choice is its `title`, else its
/// doc comment. A `pattern`, a nested struct, a list of text: all that a form
/// cannot hold an answer to is a fault, and so is a property that looks like a
/// secret by its name, by `writeOnly` or by the format `password` (P25). Where
/// only the name looks so: `#[schemars(extend("x-not-secret" = true))]`.
///
/// Faults are errors of the server's `build` for every `FromSchema<T>` that is
/// written out in the body of a tool, and for those that it is told of by
/// [`asks`](crate::runtime::RuntimeBuilder::asks): of a type alias, of a branch
/// of `join!`, of a helper function, of a body with items of its own. [`check`](super::check) finds them
/// in a test. Where none of these has seen the type, a question with such a form
/// is not sent: the task fails, in words that name each property and what is
/// wrong with it.
///
/// # Order
///
/// The fields stand in the order of the struct, which serde knows. Where it
/// does not tell, as of a `Deserialize` written by hand, they stand in the order
/// of the schema: schemars' feature `preserve_order` makes that the struct's.
/// Choices stand in the order of the schema, in which schemars puts variants
/// without title or doc comment before those that have one.
///
/// # Reading
///
/// The answer is held to the form before the task sees it, and then read by the
/// type's `Deserialize`. What that refuses although the schema allows it fails
/// the task, so say in the schema what must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FromSchema<T>(
    /// What was filled in.
    pub T,
);

impl<T> FromSchema<T> {
    /// What was filled in.
    pub fn into_inner(self) -> T {
        self.0
    }
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema + DeserializeOwned + Send + 'static> Elicit for FromSchema<T> {
    /// The fields that can be asked for; [`faults`](Elicit::faults) says whether
    /// these are all.
    fn form() -> Form {
        FormOfSchema::of::<T>().form
    }

    fn faults() -> Vec<FieldError> {
        let FormOfSchema { form, mut faults } = FormOfSchema::of::<T>();
        faults.extend(form.faults());
        faults
    }

    fn from_content(content: &Content) -> Result<Self, Vec<FieldError>> {
        let value = if form::is_struct::<T>() {
            let fields = content
                .iter()
                .map(|(name, value)| (name.to_owned(), value.clone()));
            Value::Object(fields.collect::<Map<_, _>>())
        } else {
            content.get(ANSWER).cloned().unwrap_or_default()
        };
        serde_path_to_error::deserialize(value)
            .map(Self)
            .map_err(|error| {
                let path = error.path().to_string();
                let field = if path == "." { String::new() } else { path };
                let rule = format!("cannot be read: {}", error.inner());
                vec![FieldError::new(field, rule)]
            })
    }
}
