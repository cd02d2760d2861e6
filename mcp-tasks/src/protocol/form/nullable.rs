//! Fields in spellings that the specification does not have and libraries in wide use
//! write: a value that may also be `null`, as for an optional member of a class, and a
//! choice whose type is not said. They are read as what is meant: a field that may be
//! left empty, and a choice of texts.

use serde_json::{Map, Value};

use super::Field;
use super::wire::Keywords;

/// Reads a field.
///
/// # Errors
///
/// What is wrong with it, in words.
pub(super) fn read(mut keywords: Map<String, Value>) -> Result<Field, String> {
    if let Some(kind) = one_type(keywords.get("type")) {
        keywords.insert("type".to_owned(), kind);
        drop_null(&mut keywords);
    } else if !keywords.contains_key("type") {
        if let Some(meant) = one_schema(&keywords) {
            keywords.remove("anyOf");
            keywords.remove("oneOf");
            for (name, value) in meant {
                keywords.entry(name).or_insert(value);
            }
        }
        if !keywords.contains_key("type") && is_choice(&keywords) {
            keywords.insert("type".to_owned(), Value::from("string"));
        }
        drop_null(&mut keywords);
    }
    let keywords: Keywords =
        serde_json::from_value(Value::Object(keywords)).map_err(|error| error.to_string())?;
    keywords.into_field().map_err(str::to_owned)
}

/// The type besides `null` in a list of types.
fn one_type(kind: Option<&Value>) -> Option<Value> {
    let mut kinds = kind?.as_array()?.iter().filter(|kind| *kind != "null");
    match (kinds.next(), kinds.next()) {
        (Some(kind), None) => Some(kind.clone()),
        _ => None,
    }
}

/// The schema besides that of `null` in a list of schemas.
fn one_schema(keywords: &Map<String, Value>) -> Option<Map<String, Value>> {
    let list = keywords.get("anyOf").or_else(|| keywords.get("oneOf"))?;
    let mut schemas = list.as_array()?.iter().filter(|it| it["type"] != "null");
    match (schemas.next(), schemas.next()) {
        (Some(Value::Object(schema)), None) if !schema.contains_key("const") => {
            Some(schema.clone())
        }
        _ => None,
    }
}

/// `null` among the values of a choice says once more that it may be left empty.
fn drop_null(keywords: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = keywords.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

fn is_choice(keywords: &Map<String, Value>) -> bool {
    keywords.contains_key("enum")
        || keywords
            .get("oneOf")
            .and_then(Value::as_array)
            .is_some_and(|choices| choices.iter().all(|choice| choice.get("const").is_some()))
}
