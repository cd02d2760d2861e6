//! Arguments of which only the type says how they are read.
//!
//! A struct for all arguments of a tool, with derived code to read it and to
//! describe it, would be compiled for each tool anew. What is here is compiled
//! once, or once for each type.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::Error as MissingError;
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::tool::{CallContext, DecodeError};
use crate::flow::schema;

/// One argument. Generated code only.
#[doc(hidden)]
pub struct PlainArgument {
    name: &'static str,
    description: Option<&'static str>,
    schema: fn(&mut SchemaGenerator) -> Schema,
    is_optional: fn() -> bool,
}

impl PlainArgument {
    pub(super) const fn new<T: DeserializeOwned + JsonSchema>(
        name: &'static str,
        description: Option<&'static str>,
    ) -> Self {
        Self {
            name,
            description,
            schema: |generator| generator.subschema_for::<T>(),
            is_optional: || T::deserialize(Missing).is_ok(),
        }
    }
}

/// The schema of an object with these arguments.
pub fn plain_schema(arguments: &[PlainArgument]) -> Map<String, Value> {
    let mut generator = schema::generator();
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in arguments {
        let mut schema = (argument.schema)(&mut generator);
        schema::tidy(&mut schema);
        if let Some(description) = argument.description {
            schema.insert("description".to_owned(), description.into());
        }
        if !(argument.is_optional)() {
            required.push(Value::from(argument.name));
        }
        properties.insert(argument.name.to_owned(), schema.to_value());
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    let definitions = generator.take_definitions(true);
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), definitions.into());
    }
    schema
}

/// The arguments of one call, each still as it was sent. Generated code only.
#[doc(hidden)]
pub struct PlainArguments<'a>(Vec<(String, &'a RawValue)>);

impl CallContext<'_> {
    /// Takes the arguments apart.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Arguments`] if they are no object.
    pub fn plain(&self) -> Result<PlainArguments<'_>, DecodeError> {
        let text = self.arguments_text()?;
        serde_json::from_str(text).map_err(|error| DecodeError::wrong("", &error))
    }
}

impl PlainArguments<'_> {
    pub(super) fn take<T: DeserializeOwned>(&self, name: &str) -> Result<T, DecodeError> {
        let Some(text) = self.find(name)? else {
            return T::deserialize(Missing)
                .map_err(|_| DecodeError::at("", &format!("missing field `{name}`")));
        };
        let mut json = serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().to_string();
            let path = match path.strip_prefix('.') {
                Some("") => name.to_owned(),
                _ if path.starts_with('[') => format!("{name}{path}"),
                _ => format!("{name}.{path}"),
            };
            DecodeError::wrong(&path, error.inner())
        })
    }

    /// The text of an argument.
    fn find(&self, name: &str) -> Result<Option<&str>, DecodeError> {
        let mut found = self.0.iter().filter(|(given, _)| given == name);
        let first = found.next();
        if found.next().is_some() {
            let words = format!("duplicate field `{name}`");
            return Err(DecodeError::at("", &words));
        }
        Ok(first.map(|(_, value)| value.get()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for PlainArguments<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with the tool's arguments")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Members).map(Self)
    }
}

/// What is read of an argument that is not there: nothing, which only an
/// optional one can be made from.
struct Missing;

impl<'de> Deserializer<'de> for Missing {
    type Error = MissingError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, MissingError> {
        Err(de::Error::custom("it is missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MissingError> {
        visitor.visit_none()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn take<T: DeserializeOwned>(arguments: &str, name: &str) -> Result<T, String> {
        let arguments: PlainArguments<'_> = serde_json::from_str(arguments).unwrap();
        arguments.take(name).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_missing_is_nothing_or_an_error() {
        assert_eq!(take::<Option<u8>>("{}", "size"), Ok(None));
        assert_eq!(take::<Option<u8>>(r#"{"size":null}"#, "size"), Ok(None));
        let missing = take::<String>(r#"{"other":1}"#, "size");
        let words = "wrong arguments: missing field `size`";
        assert_eq!(missing, Err(words.to_owned()));
        let missing = take::<()>("{}", "size");
        assert_eq!(missing, Err(words.to_owned()), "null must be said");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_path() {
        let wrong = take::<u8>(r#"{"size":"large"}"#, "size").unwrap_err();
        assert!(
            wrong.starts_with("wrong argument `size`: invalid type"),
            "{wrong}"
        );
        let wrong = take::<Vec<u8>>(r#"{"sizes":[1,"two"]}"#, "sizes").unwrap_err();
        assert!(wrong.starts_with("wrong argument `sizes[1]`: "), "{wrong}");
        let wrong = take::<BTreeMap<String, u8>>(r#"{"by":{"a":-1}}"#, "by").unwrap_err();
        assert!(wrong.starts_with("wrong argument `by.a`: "), "{wrong}");
        assert!(!wrong.contains(" at line "), "{wrong}");
    }

    #[test]
    fn a_name_counts_however_it_is_written_and_only_once() {
        assert_eq!(take::<u8>(r#"{"s\u0069ze":3}"#, "size"), Ok(3));
        let twice = take::<u8>(r#"{"size":3,"s\u0069ze":3}"#, "size");
        let words = "wrong arguments: duplicate field `size`";
        assert_eq!(twice, Err(words.to_owned()));
    }
}
