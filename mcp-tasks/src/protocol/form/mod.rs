//! Forms: the flat subset of JSON Schema that elicitation allows (P24).
//!
//! A form is written for a person, so the order of its fields is the author's
//! and survives both ways through JSON. What the schema says is also what is
//! held: [`Form::judge`] accepts exactly the answers that fit.

mod content;
mod faults;
mod format;
mod given;
mod judge;
mod nullable;
mod wire;
mod words;

use indexmap::{IndexMap, IndexSet};

pub use content::Content;
pub(crate) use faults::unfit_default;
pub use judge::FieldError;

/// The largest whole number that every JSON implementation can carry, 2^53 - 1.
///
/// Whole numbers beyond it, on either side of zero, are refused in answers: a
/// client that reads JSON numbers as doubles could not have meant them exactly.
pub(crate) const SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// What a person is asked for: named fields in the order in which they are shown.
///
/// Serialises to the `requestedSchema` of `elicitation/create`.
///
/// ```
/// use mcp_tasks::protocol::{Field, FieldKind, Form};
///
/// let form = Form::new()
///     .require("approve", Field::new(FieldKind::boolean()).title("Ship it?"))
///     .offer("remark", Field::new(FieldKind::text()));
/// assert_eq!(
///     form.to_json_text(),
///     r#"{"type":"object","properties":{"approve":{"type":"boolean","title":"Ship it?"},"remark":{"type":"string"}},"required":["approve"]}"#
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Form {
    fields: IndexMap<String, Field>,
    required: IndexSet<String>,
}

impl Form {
    /// A form without fields: a bare confirmation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field that must be answered.
    #[must_use]
    pub fn require(mut self, name: impl Into<String>, field: Field) -> Self {
        let name = name.into();
        self.required.insert(name.clone());
        self.fields.insert(name, field);
        self
    }

    /// Adds a field that may be left empty.
    #[must_use]
    pub fn offer(mut self, name: impl Into<String>, field: Field) -> Self {
        let name = name.into();
        self.required.shift_remove(&name);
        self.fields.insert(name, field);
        self
    }

    /// The fields in the author's order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &Field)> {
        self.fields
            .iter()
            .map(|(name, field)| (name.as_str(), field))
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.get(name)
    }

    /// Whether the field of this name must be answered.
    pub fn is_required(&self, name: &str) -> bool {
        self.required.contains(name)
    }

    /// Whether there is nothing to fill in.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The form as JSON text: the same bytes for the same form, always.
    #[allow(clippy::missing_panics_doc, reason = "a form can always be written")]
    pub fn to_json_text(&self) -> String {
        serde_json::to_string(self).expect("a form has string keys and finite numbers only")
    }
}

/// One field of a [`Form`].
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// What the field is called on screen; clients fall back to its name.
    pub title: Option<String>,
    /// What the person should know to fill it in.
    pub description: Option<String>,
    /// Which values it takes.
    pub kind: FieldKind,
}

impl Field {
    /// A field without title and description.
    pub fn new(kind: FieldKind) -> Self {
        Self {
            title: None,
            description: None,
            kind,
        }
    }

    /// Sets the name that is shown.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the explanation that is shown.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// Which values a [`Field`] takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Text.
    Text {
        /// Fewest Unicode characters.
        min_len: Option<usize>,
        /// Most Unicode characters.
        max_len: Option<usize>,
        /// What the text must look like.
        format: Option<StringFormat>,
        /// What the field starts with.
        default: Option<String>,
    },
    /// A number.
    Number {
        /// The smallest that is allowed.
        min: Option<f64>,
        /// The largest that is allowed.
        max: Option<f64>,
        /// What the field starts with.
        default: Option<f64>,
    },
    /// A whole number.
    Integer {
        /// The smallest that is allowed.
        min: Option<i64>,
        /// The largest that is allowed.
        max: Option<i64>,
        /// What the field starts with.
        default: Option<i64>,
    },
    /// Yes or no.
    Boolean {
        /// What the field starts with.
        default: Option<bool>,
    },
    /// One of several choices.
    Select {
        /// What there is to choose from.
        choices: Vec<Choice>,
        /// The value that is chosen at first.
        default: Option<String>,
    },
    /// Any of several choices, each at most once.
    MultiSelect {
        /// What there is to choose from.
        choices: Vec<Choice>,
        /// Fewest that must be chosen.
        min_items: Option<usize>,
        /// Most that may be chosen.
        max_items: Option<usize>,
        /// The values that are chosen at first.
        default: Option<Vec<String>>,
    },
}

impl FieldKind {
    /// Any text.
    pub fn text() -> Self {
        Self::Text {
            min_len: None,
            max_len: None,
            format: None,
            default: None,
        }
    }

    /// Any number.
    pub fn number() -> Self {
        Self::Number {
            min: None,
            max: None,
            default: None,
        }
    }

    /// Any whole number.
    pub fn integer() -> Self {
        Self::Integer {
            min: None,
            max: None,
            default: None,
        }
    }

    /// Yes or no.
    pub fn boolean() -> Self {
        Self::Boolean { default: None }
    }

    /// One of these.
    pub fn select(choices: Vec<Choice>) -> Self {
        Self::Select {
            choices,
            default: None,
        }
    }

    /// Any number of these.
    pub fn multi_select(choices: Vec<Choice>) -> Self {
        Self::MultiSelect {
            choices,
            min_items: None,
            max_items: None,
            default: None,
        }
    }
}

/// One thing to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What is shown; where one choice has a title, one without shows its value.
    pub title: Option<String>,
}

impl Choice {
    /// A choice that is shown as its value.
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: None,
        }
    }

    /// A choice that is shown by a title.
    pub fn titled(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: Some(title.into()),
        }
    }

    /// What is shown to a person.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }
}

impl From<String> for Choice {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

impl From<&String> for Choice {
    fn from(value: &String) -> Self {
        Self::new(value)
    }
}

impl From<&str> for Choice {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl<V: Into<String>, T: Into<String>> From<(V, T)> for Choice {
    fn from((value, title): (V, T)) -> Self {
        Self::titled(value, title)
    }
}

/// What a text must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StringFormat {
    /// A mail address.
    Email,
    /// An absolute URI (RFC 3986).
    Uri,
    /// A calendar day (RFC 3339).
    Date,
    /// A point in time with its offset (RFC 3339).
    DateTime,
}

impl StringFormat {
    /// Says how a text should look if it does not.
    pub(crate) fn check(self, text: &str) -> Result<(), &'static str> {
        format::check(self, text)
    }

    /// The name of the format in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    /// The format of this name in a schema.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Email, Self::Uri, Self::Date, Self::DateTime]
            .into_iter()
            .find(|format| format.name() == name)
    }
}
