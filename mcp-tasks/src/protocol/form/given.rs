//! What a client sent as the content of an answer, as far as its form names it.
//!
//! The rest is passed over as it is read: it takes no memory, however much
//! there is of it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Content, FieldError, Form};

/// A value for each field of the form, in its order; `None` where there is
/// none.
pub(super) struct Given(Vec<Option<Value>>);

/// What content must be that is neither left out nor `null`.
const OBJECT: &str = "must be an object with one value per field";

impl Form {
    /// [`judge`](Self::judge) for content that is still text.
    pub(crate) fn judge_text(
        &self,
        content: Option<&RawValue>,
    ) -> Result<Content, Vec<FieldError>> {
        let text = content.map_or("null", RawValue::get);
        if text == "null" {
            return self.judge_given(Given::nothing(self));
        }
        if !text.starts_with('{') {
            return Err(vec![FieldError::new("", OBJECT)]);
        }
        let given = NamedBy(self).deserialize(&mut serde_json::Deserializer::from_str(text));
        match given {
            Ok(given) => self.judge_given(given),
            Err(error) => Err(vec![FieldError::new(
                "",
                format!("cannot be read: {error}"),
            )]),
        }
    }
}

impl Given {
    fn nothing(form: &Form) -> Self {
        Self(vec![None; form.fields.len()])
    }

    pub(super) fn from_value(form: &Form, content: Option<&Value>) -> Result<Self, FieldError> {
        match content {
            None | Some(Value::Null) => Ok(Self::nothing(form)),
            Some(Value::Object(given)) => {
                let values = form.fields.keys().map(|name| given.get(name).cloned());
                Ok(Self(values.collect()))
            }
            Some(_) => Err(FieldError::new("", OBJECT)),
        }
    }

    pub(super) fn into_values(self) -> impl Iterator<Item = Option<Value>> {
        self.0.into_iter()
    }
}

/// Reads an object, keeping the fields that this form names.
struct NamedBy<'f>(&'f Form);

impl<'de> DeserializeSeed<'de> for NamedBy<'_> {
    type Value = Given;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Given, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for NamedBy<'_> {
    type Value = Given;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one value per field")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Given, A::Error> {
        let Self(form) = self;
        let mut given = Given::nothing(form);
        while let Some(index) = object.next_key_seed(IndexIn(form))? {
            match index {
                None => {
                    object.next_value::<IgnoredAny>()?;
                }
                // As everywhere in JSON, the last one counts.
                Some(index) => given.0[index] = Some(object.next_value()?),
            }
        }
        Ok(given)
    }
}

/// Reads a member's name as the place of its field in the form.
struct IndexIn<'f>(&'f Form);

impl<'de> DeserializeSeed<'de> for IndexIn<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IndexIn<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.fields.get_index_of(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Field, FieldKind};

    #[test]
    fn text_is_judged_as_the_value_that_it_stands_for() {
        let form = Form::new()
            .require("name", Field::new(FieldKind::text()))
            .offer("re\"mark", Field::new(FieldKind::text()));
        for text in [
            "null",
            "{}",
            "[]",
            "7",
            r#"{"name":"Ada"}"#,
            r#"{"name":null}"#,
            r#"{"name":7,"re\"mark":8}"#,
            r#"{"more":{"deep":[1,{}]},"re\"mark":"r","name":"Ada"}"#,
            r#"{"n\u0061me":"Ada","name":"Grace"}"#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            assert_eq!(
                form.judge_text(Some(&raw)),
                form.judge(Some(&value)),
                "{text}"
            );
        }
        assert_eq!(form.judge_text(None), form.judge(None));
    }
}
