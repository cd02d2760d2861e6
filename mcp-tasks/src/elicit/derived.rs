//! What `#[derive(Elicit)]` writes its impls with. Not for use by hand.
//!
//! A field is described once, by a [`FieldSpec`], from which both the form and
//! the decoding follow. Only [`field`] asks for [`ElicitField`], so that a field
//! of the wrong type is one error, at its type.

pub use std::string::String;
pub use std::vec::Vec;

pub use serde_json::Value;

pub use super::{ANSWER, Elicit, ElicitChoice, ElicitField};
pub use crate::protocol::{Choice, Content, Field, FieldError, FieldKind, Form};

use crate::protocol::StringFormat;

/// One field of a derived form.
pub struct FieldSpec<T> {
    name: &'static str,
    field: Field,
    required: bool,
    default: Option<T>,
    decode: fn(Option<&Value>) -> Result<T, String>,
    encode: fn(&T) -> Value,
}

/// Begins the description of a field.
pub fn field<T: ElicitField>(name: &'static str) -> FieldSpec<T> {
    FieldSpec {
        name,
        field: Field::new(T::kind()),
        required: T::required(),
        default: None,
        decode: T::decode,
        encode: T::encode,
    }
}

impl<T> FieldSpec<T> {
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.field = self.field.title(title);
        self
    }

    #[must_use]
    pub fn description(mut self, description: &str) -> Self {
        self.field = self.field.description(description);
        self
    }

    #[must_use]
    pub fn default(mut self, default: T) -> Self {
        set_default(&mut self.field.kind, &(self.encode)(&default));
        self.required = false;
        self.default = Some(default);
        self
    }

    #[must_use]
    pub fn min(mut self, bound: T::Bound) -> Self
    where
        T: NumberField,
    {
        T::set_min(&mut self.field.kind, bound);
        self
    }

    #[must_use]
    pub fn max(mut self, bound: T::Bound) -> Self
    where
        T: NumberField,
    {
        T::set_max(&mut self.field.kind, bound);
        self
    }

    #[must_use]
    pub fn min_len(mut self, len: usize) -> Self
    where
        T: TextField,
    {
        if let FieldKind::Text { min_len, .. } = &mut self.field.kind {
            *min_len = Some(len);
        }
        self
    }

    #[must_use]
    pub fn max_len(mut self, len: usize) -> Self
    where
        T: TextField,
    {
        if let FieldKind::Text { max_len, .. } = &mut self.field.kind {
            *max_len = Some(len);
        }
        self
    }

    #[must_use]
    pub fn format(mut self, name: &str) -> Self
    where
        T: TextField,
    {
        if let FieldKind::Text { format, .. } = &mut self.field.kind {
            *format = StringFormat::from_name(name);
        }
        self
    }

    #[must_use]
    pub fn min_items(mut self, count: usize) -> Self
    where
        T: ListField,
    {
        if let FieldKind::MultiSelect { min_items, .. } = &mut self.field.kind {
            *min_items = Some(count);
        }
        self
    }

    #[must_use]
    pub fn max_items(mut self, count: usize) -> Self
    where
        T: ListField,
    {
        if let FieldKind::MultiSelect { max_items, .. } = &mut self.field.kind {
            *max_items = Some(count);
        }
        self
    }

    /// Adds the field to a form.
    #[must_use]
    pub fn add_to(self, form: Form) -> Form {
        if self.required {
            form.require(self.name, self.field)
        } else {
            form.offer(self.name, self.field)
        }
    }

    /// Decodes the field, or notes what is wrong with it.
    pub fn read(self, content: &Content, errors: &mut Vec<FieldError>) -> Option<T> {
        let value = content.get(self.name).filter(|value| !value.is_null());
        if value.is_none() && self.default.is_some() {
            return self.default;
        }
        (self.decode)(value)
            .map_err(|rule| errors.push(FieldError::new(self.name, rule)))
            .ok()
    }
}

fn set_default(kind: &mut FieldKind, value: &Value) {
    match kind {
        FieldKind::Text { default, .. } | FieldKind::Select { default, .. } => {
            *default = value.as_str().map(str::to_owned);
        }
        FieldKind::Number { default, .. } => *default = value.as_f64(),
        FieldKind::Integer { default, .. } => *default = value.as_i64(),
        FieldKind::Boolean { default } => *default = value.as_bool(),
        FieldKind::MultiSelect { default, .. } => {
            *default = value.as_array().map(|values| {
                let texts = values.iter().filter_map(Value::as_str);
                texts.map(str::to_owned).collect()
            });
        }
    }
}

/// A field with a range.
#[diagnostic::on_unimplemented(
    message = "`min` and `max` are for numbers, and `{Self}` is not one",
    label = "not for a number",
    note = "the length of a `String` is `min_len` and `max_len`; how many of a `Vec` may be chosen is `min_items` and `max_items`"
)]
pub trait NumberField: ElicitField {
    /// `i64` or `f64`.
    type Bound;
    #[doc(hidden)]
    fn set_min(kind: &mut FieldKind, bound: Self::Bound);
    #[doc(hidden)]
    fn set_max(kind: &mut FieldKind, bound: Self::Bound);
}

/// A field with a length and a format.
#[diagnostic::on_unimplemented(
    message = "`min_len`, `max_len` and `format` are for texts, and `{Self}` is not one",
    label = "not for a text",
    note = "the range of a number is `min` and `max`; how many of a `Vec` may be chosen is `min_items` and `max_items`"
)]
pub trait TextField: ElicitField {}

/// A field that lists several choices.
#[diagnostic::on_unimplemented(
    message = "`min_items` and `max_items` are for a `Vec` of choices, and `{Self}` is not one",
    label = "not for a list",
    note = "the length of a `String` is `min_len` and `max_len`; the range of a number is `min` and `max`"
)]
pub trait ListField: ElicitField {}

impl<T: NumberField> NumberField for Option<T> {
    type Bound = T::Bound;
    fn set_min(kind: &mut FieldKind, bound: T::Bound) {
        T::set_min(kind, bound);
    }
    fn set_max(kind: &mut FieldKind, bound: T::Bound) {
        T::set_max(kind, bound);
    }
}

impl TextField for String {}
impl<T: TextField> TextField for Option<T> {}
impl<E: ElicitChoice> ListField for Vec<E> {}
impl<T: ListField> ListField for Option<T> {}

/// What decoding a whole answer comes to.
pub type Answer<T> = Result<T, Vec<FieldError>>;

/// What decoding one field comes to.
pub type Decoded<T> = Result<T, String>;

/// The form that asks for one value.
pub fn form_of<T: ElicitField>() -> Form {
    field::<T>(ANSWER).add_to(Form::new())
}

/// The one value that was asked for.
///
/// # Errors
///
/// What is wrong with it.
pub fn answer_of<T: ElicitField>(content: &Content) -> Result<T, Vec<FieldError>> {
    let value = content.get(ANSWER).filter(|value| !value.is_null());
    T::decode(value).map_err(|rule| vec![FieldError::new(ANSWER, rule)])
}

/// Choices from their values and titles.
pub fn choices(choices: &[(&str, Option<&str>)]) -> Vec<Choice> {
    let choice = |&(value, title): &(&str, Option<&str>)| Choice {
        value: value.to_owned(),
        title: title.map(str::to_owned),
    };
    choices.iter().map(choice).collect()
}

/// The kind of a field that is one choice.
pub fn kind_of_choice<E: ElicitChoice>() -> FieldKind {
    FieldKind::select(E::choices())
}

/// Decodes one choice.
///
/// # Errors
///
/// The rule that the value breaks.
pub fn decode_choice<E: ElicitChoice>(value: Option<&Value>) -> Result<E, String> {
    let value = super::builtin::present(value)?;
    value.as_str().and_then(E::from_value).ok_or_else(|| {
        let rule = kind_of_choice::<E>().judge(value);
        rule.err().unwrap_or_else(|| "must be a choice".to_owned())
    })
}

/// The value of a choice as it stands in a form.
pub fn encode_choice<E: ElicitChoice>(choice: &E) -> Value {
    Value::from(choice.value())
}
