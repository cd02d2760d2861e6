//! One property's schema as a field.
//!
//! The many spellings that schemars has for one thing are brought into the one
//! that forms have; what reads forms from clients then reads the rest.

use serde_json::{Map, Value};

use super::choices;
use crate::protocol::{Field, StringFormat, unfit_default};

pub(super) type Schema = Map<String, Value>;

/// A field, and what its schema says besides.
pub(super) struct Question {
    pub(super) field: Field,
    /// `null` is an answer.
    pub(super) optional: bool,
    pub(super) not_secret: bool,
    pub(super) write_only: bool,
}

/// Keywords that hold no answer to anything.
const WORDS: [&str; 9] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$defs",
];

/// The first keyword that is neither words, an extension, nor one of these.
pub(super) fn not_understood<'a>(schema: &'a Schema, understood: &[&str]) -> Option<&'a str> {
    schema.keys().map(String::as_str).find(|keyword| {
        !WORDS.contains(keyword) && !keyword.starts_with("x-") && !understood.contains(keyword)
    })
}

/// Reads a property.
///
/// # Errors
///
/// Why it cannot be a field, as in "is a list of something else than choices".
pub(super) fn read(schema: &Value) -> Result<Question, String> {
    let Some(schema) = schema.as_object() else {
        return Err(ANYTHING.to_owned());
    };
    let (mut schema, optional) = without_null(schema);
    let flag = |name: &str| schema.get(name) == Some(&Value::Bool(true));
    let not_secret = flag("x-not-secret");
    let password = schema.get("format").is_some_and(|is| is == "password");
    let write_only = flag("writeOnly") || password;
    if password {
        schema.remove("format");
    }
    let default = schema.remove("default").filter(|value| !value.is_null());
    let mut spelled = respell(&schema)?;
    if let Some(default) = default {
        let field: Field = from(spelled.clone())?;
        let default = field.kind.judge(&default);
        let default = default.map_err(|rule| unfit_default(&rule))?;
        spelled.insert("default".to_owned(), default);
    }
    Ok(Question {
        field: from(spelled)?,
        optional,
        not_secret,
        write_only,
    })
}

const ANYTHING: &str = "takes any JSON value: give it a type that a form has";

fn from(schema: Schema) -> Result<Field, String> {
    serde_json::from_value(Value::Object(schema)).map_err(|error| format!("is no field: {error}"))
}

/// The schema of what is there when something is, and whether nothing may be.
fn without_null(schema: &Schema) -> (Schema, bool) {
    let mut schema = schema.clone();
    let mut optional = false;
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(all)) = schema.get_mut(keyword) else {
            continue;
        };
        let before = all.len();
        all.retain(|one| one.get("type").is_none_or(|ty| ty != "null"));
        optional |= all.len() < before;
        if let (true, [Value::Object(only)]) = (optional, all.as_slice()) {
            let only = only.clone();
            schema.remove(keyword);
            // What is said of the field goes before what is said of its type.
            for (keyword, value) in only {
                schema.entry(keyword).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        let before = types.len();
        types.retain(|ty| ty != "null");
        optional |= types.len() < before;
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    (schema, optional)
}

/// The schema as a form spells it.
fn respell(schema: &Schema) -> Result<Schema, String> {
    if schema.contains_key("$ref") {
        return Err("contains itself, and a form is flat".to_owned());
    }
    if choices::is_choice(schema) {
        let mut spelled = keep(schema, &[], &choices::SPELLINGS)?;
        spelled.insert("type".to_owned(), "string".into());
        spelled.extend(choices::respell(schema, "oneOf")?);
        return Ok(spelled);
    }
    let Some(ty) = schema.get("type") else {
        return Err(ANYTHING.to_owned());
    };
    match ty.as_str().unwrap_or_default() {
        "string" => text(schema),
        "integer" => whole_number(schema),
        "number" => keep(schema, &["minimum", "maximum"], &["format"]),
        "boolean" => keep(schema, &[], &[]),
        "array" => list(schema),
        "object" => Err(
            "is a struct or a map, and a form is flat: put its fields beside the \
             others, or ask for it in a question of its own"
                .to_owned(),
        ),
        "null" => Err("is always `null`: there is nothing to fill in".to_owned()),
        _ => Err("takes values of several types: a field has one".to_owned()),
    }
}

/// The schema with its words and the rules that a form has; others that are
/// understood are left out.
fn keep(schema: &Schema, rules: &[&str], without: &[&str]) -> Result<Schema, String> {
    let understood = [&["type"], rules, without].concat();
    if let Some(keyword) = not_understood(schema, &understood) {
        return Err(format!(
            "has the rule `{keyword}`, which a form cannot express: leave it out, and check the \
             answer in the task"
        ));
    }
    let kept = ["type", "title", "description"].iter().chain(rules);
    let kept = kept.filter_map(|key| Some(((*key).to_owned(), schema.get(*key)?.clone())));
    Ok(kept.collect())
}

fn text(schema: &Schema) -> Result<Schema, String> {
    if let Some(format) = schema.get("format").and_then(Value::as_str)
        && StringFormat::from_name(format).is_none()
    {
        return Err(format!(
            "has the format `{format}`: those of a form are `email`, `uri`, `date` and `date-time`"
        ));
    }
    keep(schema, &["format", "minLength", "maxLength"], &[])
}

/// A whole number; what its format says of its range becomes the range.
fn whole_number(schema: &Schema) -> Result<Schema, String> {
    let mut spelled = keep(schema, &["minimum", "maximum"], &["format"])?;
    let range = match schema.get("format").and_then(Value::as_str) {
        Some("int32") => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        Some("uint32") => Some((0, i64::from(u32::MAX))),
        _ => None,
    };
    if let Some((min, max)) = range {
        spelled.entry("minimum").or_insert(min.into());
        spelled.entry("maximum").or_insert(max.into());
    }
    Ok(spelled)
}

fn list(schema: &Schema) -> Result<Schema, String> {
    let items = schema.get("items").and_then(Value::as_object);
    let Some(items) = items.filter(|items| choices::is_choice(items)) else {
        return Err(
            "is a list of something else than choices: a form can only list variants \
             of an enum without data"
                .to_owned(),
        );
    };
    // Each at most once: so it is with every list in a form.
    let mut spelled = keep(schema, &["minItems", "maxItems"], &["items", "uniqueItems"])?;
    let items = choices::respell(items, "anyOf")?;
    spelled.insert("items".to_owned(), items.into());
    Ok(spelled)
}
