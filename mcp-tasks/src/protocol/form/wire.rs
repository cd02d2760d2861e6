//! Forms as JSON Schema text, both ways.
//!
//! One plain struct lists every keyword of the subset in the order in which we
//! write them. Reading is lenient where leniency harms nobody (unknown keywords
//! and formats, a default of the wrong type) and strict about what decides
//! which answers fit.

use indexmap::{IndexMap, IndexSet};
use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use super::{Choice, Field, FieldKind, Form, StringFormat, nullable};

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = if self.required.is_empty() { 2 } else { 3 };
        let mut schema = serializer.serialize_struct("Form", keys)?;
        schema.serialize_field("type", "object")?;
        schema.serialize_field("properties", &self.fields)?;
        if !self.required.is_empty() {
            schema.serialize_field("required", &self.required)?;
        }
        schema.end()
    }
}

impl<'de> Deserialize<'de> for Form {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        enum ObjectOnly {
            #[serde(rename = "object")]
            Object,
        }
        #[derive(Deserialize)]
        struct Schema {
            #[serde(rename = "type")]
            _kind: ObjectOnly,
            properties: IndexMap<String, Map<String, Value>>,
            #[serde(default)]
            required: IndexSet<String>,
        }
        let Schema {
            properties,
            mut required,
            ..
        } = Schema::deserialize(deserializer)?;
        let read = |(name, keywords)| match nullable::read(keywords) {
            Ok(field) => Ok((name, field)),
            Err(problem) => Err(D::Error::custom(format!("field `{name}`: {problem}"))),
        };
        let fields = properties
            .into_iter()
            .map(read)
            .collect::<Result<IndexMap<_, _>, D::Error>>()?;
        // Nobody can fill in a field that is not shown.
        required.retain(|name| fields.contains_key(name));
        Ok(Self { fields, required })
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Keywords::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        nullable::read(Map::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Type {
    String,
    Number,
    Integer,
    Boolean,
    Array,
}

/// Every keyword that a field may have, in the order in which we write them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Keywords {
    r#type: Type,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<String>>,
    /// The titles of `enum` in the form that older servers use; read only.
    #[serde(skip_serializing)]
    enum_names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Titled>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_items: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_items: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Items>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
}

#[derive(Serialize, Deserialize)]
struct Titled {
    r#const: String,
    title: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Items {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<Type>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    any_of: Option<Vec<Titled>>,
}

impl Keywords {
    fn new(r#type: Type) -> Self {
        Self {
            r#type,
            title: None,
            description: None,
            minimum: None,
            maximum: None,
            min_length: None,
            max_length: None,
            format: None,
            r#enum: None,
            enum_names: None,
            one_of: None,
            min_items: None,
            max_items: None,
            items: None,
            default: None,
        }
    }

    pub(super) fn into_field(self) -> Result<Field, &'static str> {
        let kind = match self.r#type {
            Type::String => match read_choices(self.r#enum, self.one_of, self.enum_names) {
                Some(choices) => FieldKind::Select {
                    choices,
                    default: self.default.and_then(into_string),
                },
                None => FieldKind::Text {
                    min_len: self.min_length,
                    max_len: self.max_length,
                    format: self.format.as_deref().and_then(StringFormat::from_name),
                    default: self.default.and_then(into_string),
                },
            },
            Type::Number => FieldKind::Number {
                min: self.minimum.as_ref().and_then(Number::as_f64),
                max: self.maximum.as_ref().and_then(Number::as_f64),
                default: self.default.as_ref().and_then(Value::as_f64),
            },
            Type::Integer => FieldKind::Integer {
                min: self.minimum.and_then(|n| whole(&n, f64::ceil)),
                max: self.maximum.and_then(|n| whole(&n, f64::floor)),
                default: match self.default {
                    Some(Value::Number(n)) => whole(&n, f64::round),
                    _ => None,
                },
            },
            Type::Boolean => FieldKind::Boolean {
                default: self.default.as_ref().and_then(Value::as_bool),
            },
            Type::Array => FieldKind::MultiSelect {
                choices: self
                    .items
                    .and_then(|items| read_choices(items.r#enum, items.any_of, None))
                    .ok_or(
                        "an array field needs `items` with `enum`, or with `anyOf` of \
                         `const` and `title`",
                    )?,
                min_items: self.min_items,
                max_items: self.max_items,
                default: self.default.and_then(into_strings),
            },
        };
        Ok(Field {
            title: self.title,
            description: self.description,
            kind,
        })
    }
}

impl From<&Field> for Keywords {
    fn from(field: &Field) -> Self {
        let mut keywords = match &field.kind {
            FieldKind::Text {
                min_len,
                max_len,
                format,
                ..
            } => Self {
                min_length: *min_len,
                max_length: *max_len,
                format: format.map(|format| format.name().to_owned()),
                ..Self::new(Type::String)
            },
            FieldKind::Number { min, max, .. } => Self {
                minimum: min.and_then(short),
                maximum: max.and_then(short),
                ..Self::new(Type::Number)
            },
            FieldKind::Integer { min, max, .. } => Self {
                minimum: min.map(Number::from),
                maximum: max.map(Number::from),
                ..Self::new(Type::Integer)
            },
            FieldKind::Boolean { .. } => Self::new(Type::Boolean),
            FieldKind::Select { choices, .. } => {
                let (r#enum, one_of) = write_choices(choices);
                Self {
                    r#enum,
                    one_of,
                    ..Self::new(Type::String)
                }
            }
            FieldKind::MultiSelect {
                choices,
                min_items,
                max_items,
                ..
            } => {
                let (r#enum, any_of) = write_choices(choices);
                Self {
                    min_items: *min_items,
                    max_items: *max_items,
                    items: Some(Items {
                        r#type: r#enum.is_some().then_some(Type::String),
                        r#enum,
                        any_of,
                    }),
                    ..Self::new(Type::Array)
                }
            }
        };
        keywords.default = field.kind.default_value();
        keywords.title.clone_from(&field.title);
        keywords.description.clone_from(&field.description);
        keywords
    }
}

impl FieldKind {
    /// What the field starts with, as it is written.
    pub fn default_value(&self) -> Option<Value> {
        match self {
            Self::Text { default, .. } | Self::Select { default, .. } => {
                default.clone().map(Value::from)
            }
            Self::Number { default, .. } => default.and_then(short).map(Value::Number),
            Self::Integer { default, .. } => default.map(Value::from),
            Self::Boolean { default } => default.map(Value::from),
            Self::MultiSelect { default, .. } => default.clone().map(Value::from),
        }
    }
}

fn read_choices(
    plain: Option<Vec<String>>,
    titled: Option<Vec<Titled>>,
    names: Option<Vec<String>>,
) -> Option<Vec<Choice>> {
    if let Some(titled) = titled {
        let choice = |each: Titled| Choice::titled(each.r#const, each.title);
        return Some(titled.into_iter().map(choice).collect());
    }
    let mut names = names.unwrap_or_default().into_iter();
    let choice = |value| Choice {
        value,
        title: names.next(),
    };
    Some(plain?.into_iter().map(choice).collect())
}

fn write_choices(choices: &[Choice]) -> (Option<Vec<String>>, Option<Vec<Titled>>) {
    if choices.iter().all(|choice| choice.title.is_none()) {
        let values = choices.iter().map(|choice| choice.value.clone());
        return (Some(values.collect()), None);
    }
    let titled = choices.iter().map(|choice| Titled {
        r#const: choice.value.clone(),
        title: choice.label().to_owned(),
    });
    (None, Some(titled.collect()))
}

fn into_string(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn into_strings(value: Value) -> Option<Vec<String>> {
    match value {
        Value::Array(values) => values.into_iter().map(into_string).collect(),
        _ => None,
    }
}

/// A bound of a whole number, which other writers may spell `1.0` or `0.5`.
fn whole(number: &Number, round: fn(f64) -> f64) -> Option<i64> {
    number
        .as_i64()
        .or_else(|| number.as_f64().map(round).map(saturate))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a bound beyond i64 bounds nothing; `as` stops at the ends"
)]
fn saturate(number: f64) -> i64 {
    number as i64
}

/// Writes `10`, not `10.0`, for a bound that happens to be whole.
fn short(number: f64) -> Option<Number> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "the limit of exact doubles is itself exact"
    )]
    let exact = number.fract() == 0.0 && number.abs() <= super::SAFE_INTEGER as f64;
    if exact {
        Some(Number::from(saturate(number)))
    } else {
        Number::from_f64(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reread(text: &str) -> String {
        serde_json::from_str::<Form>(text).unwrap().to_json_text()
    }

    #[test]
    fn every_kind_of_field_is_written_as_it_was_read() {
        for text in [
            r#"{"type":"object","properties":{}}"#,
            r#"{"type":"object","properties":{"z":{"type":"string","title":"Display Name","description":"Description text","minLength":3,"maxLength":50,"format":"email","default":"user@example.com"},"a":{"type":"boolean","default":false}},"required":["z"]}"#,
            r#"{"type":"object","properties":{"n":{"type":"number","minimum":0,"maximum":0.5,"default":0.25},"i":{"type":"integer","minimum":-1,"maximum":100,"default":50}}}"#,
            r##"{"type":"object","properties":{"e":{"type":"string","enum":["Red","Green"],"default":"Red"},"o":{"type":"string","oneOf":[{"const":"#F00","title":"Red"}],"default":"#F00"}},"required":["o","e"]}"##,
            r#"{"type":"object","properties":{"e":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["Red","Green"]},"default":["Red"]},"o":{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"}]}}}}"#,
        ] {
            assert_eq!(reread(text), text);
        }
    }

    #[test]
    fn unknown_keywords_and_formats_are_ignored() {
        assert_eq!(
            reread(
                r#"{"$schema":"x","additionalProperties":false,"type":"object","properties":
                {"a":{"type":"string","format":"uuid","pattern":"^a","x-order":1}},"required":["a","gone"]}"#
            ),
            r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#
        );
    }

    #[test]
    fn the_older_spelling_of_titles_is_understood() {
        assert_eq!(
            reread(
                r#"{"type":"object","properties":{"a":{"type":"string","enum":["r"],"enumNames":["Red"]}}}"#
            ),
            r#"{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"r","title":"Red"}]}}}"#
        );
    }

    #[test]
    fn bounds_of_whole_numbers_may_be_written_as_fractions() {
        assert_eq!(
            reread(
                r#"{"type":"object","properties":{"a":{"type":"integer","minimum":0.5,"maximum":9.0}}}"#
            ),
            r#"{"type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":9}}}"#
        );
    }

    #[test]
    fn what_is_not_flat_is_refused() {
        let array = r#"{"type":"array","properties":{}}"#;
        assert!(serde_json::from_str::<Form>(array).is_err());
        for field in [
            r#"{"type":"object","properties":{}}"#,
            r#"{"type":"array","items":{"type":"string"}}"#,
            r#"{"title":"no type"}"#,
            r#"{"type":["string","integer"]}"#,
            r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
            r#"{"type":"null"}"#,
        ] {
            let text = format!(r#"{{"type":"object","properties":{{"a":{field}}}}}"#);
            let error = serde_json::from_str::<Form>(&text).unwrap_err().to_string();
            assert!(error.contains("field `a`"), "{error}");
        }
    }

    #[test]
    fn a_field_that_may_be_null_is_one_that_may_be_left_empty() {
        let form = |field: &str| {
            let text = format!(r#"{{"type":"object","properties":{{"a":{field}}}}}"#);
            reread(&text)
        };
        for (field, read) in [
            (
                r#"{"anyOf":[{"type":"string","maxLength":9},{"type":"null"}],"default":null,"title":"A"}"#,
                r#"{"type":"string","title":"A","maxLength":9}"#,
            ),
            (
                r#"{"type":["integer","null"],"minimum":1,"default":2}"#,
                r#"{"type":"integer","minimum":1,"default":2}"#,
            ),
            (
                r#"{"oneOf":[{"type":"null"},{"type":"boolean","title":"inner"}]}"#,
                r#"{"type":"boolean","title":"inner"}"#,
            ),
            (
                r#"{"type":["string","null"],"enum":["x","y",null]}"#,
                r#"{"type":"string","enum":["x","y"]}"#,
            ),
            (r#"{"enum":["x"]}"#, r#"{"type":"string","enum":["x"]}"#),
            (
                r#"{"oneOf":[{"const":"x","title":"X"}]}"#,
                r#"{"type":"string","oneOf":[{"const":"x","title":"X"}]}"#,
            ),
        ] {
            assert_eq!(form(field), form(read), "{field}");
            assert!(form(field).contains(read), "{}", form(field));
        }
    }
}
