//! The limits that a tool's input schema shows, held against arguments.
//!
//! What a client can read is what is enforced: the limits of `#[arg(..)]`, and
//! those that schemars puts into the schemas of nested types. Types, names and
//! what is required are serde's to judge; it has done so before.

mod walk;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;

use regex_lite::Regex;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use self::walk::Walk;
use crate::protocol::ProtocolError;

/// The keywords of JSON Schema that are limits.
const LIMITS: [&str; 10] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
];

/// The limits of one tool's arguments.
#[derive(Clone)]
pub(super) struct ArgumentRules {
    schema: Value,
    patterns: HashMap<String, Regex>,
}

/// A limit that an argument breaks.
#[derive(Debug, PartialEq, Eq)]
struct Broken {
    /// Where: `percent`, `plan.steps[2].name`.
    path: String,
    /// As in "must be at most 100".
    rule: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.path, self.rule)
    }
}

impl ArgumentRules {
    /// The limits in a schema, if it has any.
    pub(super) fn of(schema: &Map<String, Value>) -> Option<Self> {
        let schema = Value::Object(schema.clone());
        if !has_limits(&schema) {
            return None;
        }
        let mut patterns = HashMap::new();
        gather_patterns(&schema, &mut patterns);
        Some(Self { schema, patterns })
    }

    /// Holds arguments, which have been decoded, against the limits.
    ///
    /// # Errors
    ///
    /// `-32602` naming each argument and the rule that it breaks.
    pub(super) fn check(&self, tool: &str, arguments: &RawValue) -> Result<(), ProtocolError> {
        let arguments: Value = serde_json::from_str(arguments.get()).map_err(|error| {
            // A number that nothing reads may be out of range.
            ProtocolError::invalid_params(format!("tool `{tool}`: wrong arguments: {error}"))
        })?;
        let broken = self.broken(&arguments);
        if broken.is_empty() {
            return Ok(());
        }
        let words: Vec<String> = broken.iter().map(Broken::to_string).collect();
        let errors: Vec<Value> = broken
            .iter()
            .map(|broken| json!({ "argument": broken.path, "rule": broken.rule }))
            .collect();
        let noun = if words.len() == 1 {
            "argument"
        } else {
            "arguments"
        };
        Err(ProtocolError::invalid_params(format!(
            "tool `{tool}`: wrong {noun}: {}",
            words.join("; ")
        ))
        .with_data(json!({ "errors": errors })))
    }

    fn broken(&self, arguments: &Value) -> Vec<Broken> {
        let mut walk = Walk::new(self);
        walk.value(&self.schema, arguments);
        walk.broken
    }

    /// The schema that a reference stands for.
    fn referred(&self, schema: &Map<String, Value>) -> Option<&Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.schema.pointer(pointer)
    }

    /// Whether a value is of the kind that one of several alternatives
    /// describes: of its type, with its tag and all that it requires.
    fn applies(&self, alternative: &Value, value: &Value) -> bool {
        let Value::Object(schema) = alternative else {
            return alternative == &Value::Bool(true);
        };
        if let Some(schema) = self.referred(schema) {
            return self.applies(schema, value);
        }
        let fits = |schema: &Map<String, Value>, value: &Value| {
            schema.get("type").is_none_or(|ty| is_of_type(ty, value))
                && schema.get("const").is_none_or(|only| only == value)
                && schema
                    .get("enum")
                    .and_then(Value::as_array)
                    .is_none_or(|values| values.contains(value))
        };
        let Value::Object(members) = value else {
            return fits(schema, value);
        };
        let mut required = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut properties = properties.into_iter().flatten();
        fits(schema, value)
            && required.all(|name| members.contains_key(name))
            && properties.all(|(name, schema)| {
                let (schema, member) = (schema.as_object(), members.get(name));
                schema
                    .zip(member)
                    .is_none_or(|(schema, member)| fits(schema, member))
            })
    }
}

/// Whether a schema limits anything.
fn has_limits(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members
            .iter()
            .any(|(name, member)| LIMITS.contains(&name.as_str()) || has_limits(member)),
        Value::Array(items) => items.iter().any(has_limits),
        _ => false,
    }
}

/// Compiles every pattern in a schema.
fn gather_patterns(schema: &Value, patterns: &mut HashMap<String, Regex>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(pattern)) = members.get("pattern") {
                match Regex::new(pattern) {
                    Ok(regex) => drop(patterns.insert(pattern.clone(), regex)),
                    // Not of `#[arg(..)]`, whose patterns the macro has read.
                    Err(error) => {
                        tracing::warn!(pattern, %error, "a pattern in a schema is not enforced");
                    }
                }
            }
            for member in members.values() {
                gather_patterns(member, patterns);
            }
        }
        Value::Array(items) => {
            for item in items {
                gather_patterns(item, patterns);
            }
        }
        _ => {}
    }
}

fn is_of_type(ty: &Value, value: &Value) -> bool {
    match ty {
        Value::String(name) => match (name.as_str(), value) {
            ("null", Value::Null)
            | ("boolean", Value::Bool(_))
            | ("number", Value::Number(_))
            | ("string", Value::String(_))
            | ("array", Value::Array(_))
            | ("object", Value::Object(_)) => true,
            ("integer", Value::Number(number)) => !number.is_f64(),
            _ => false,
        },
        Value::Array(types) => types.iter().any(|ty| is_of_type(ty, value)),
        _ => true,
    }
}
