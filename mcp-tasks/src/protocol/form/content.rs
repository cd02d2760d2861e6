//! What a person filled in.
//!
//! The fields stand in the form's order, whatever order the client sent, so
//! that a recorded answer has one spelling.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

/// The accepted answer to a form: a value per field, in the form's order.
///
/// A field that was left empty is not in it. [`Form::judge`](super::Form::judge)
/// makes one.
// A row to be searched, not a table: forms are filled in by people, and have
// few fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content(Vec<(String, Value)>);

impl Content {
    /// An answer without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of this field, unless it was left empty.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter()
            .find_map(|(field, value)| (field == name).then_some(value))
    }

    /// Sets the value of a field.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(field, _)| *field == name) {
            Some((_, before)) => *before = value,
            None => self.0.push((name, value)),
        }
    }

    /// The fields and their values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many fields were filled in.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was filled in.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Content {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        let mut content = Self::new();
        for (name, value) in values {
            content.insert(name, value);
        }
        content
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with one value per field")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Content, A::Error> {
                let mut content = Content::new();
                while let Some((name, value)) = fields.next_entry::<String, Value>()? {
                    content.insert(name, value);
                }
                Ok(content)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}
