//! Arguments that travel in a header too: `Mcp-Param-*` (P53).
//!
//! The schema of such an argument says so with `x-mcp-header`. A server and a client
//! must read the same arguments out of it, so both do it here.

use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value};

/// The keyword.
pub(crate) const MIRROR: &str = "x-mcp-header";

/// What a header may carry.
const TYPES: [&str; 3] = ["string", "integer", "boolean"];

/// An argument with a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MirroredArgument {
    /// The name of the header.
    pub(crate) header: String,
    /// The properties that lead to it, from the arguments as a whole.
    pub(crate) path: Vec<String>,
}

/// Why a schema is none that the specification allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misplaced {
    /// An annotation stands where no `properties` alone lead to.
    Elsewhere,
    /// Two arguments have this header.
    Twice(String),
    /// The annotation of this argument is no text, or an empty one.
    Nameless(String),
    /// What is to be part of a header's name cannot be.
    Name { name: String, argument: String },
    /// No header carries a value of the type of this argument.
    Type { kind: String, argument: String },
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elsewhere => f.write_str(
                "it may only stand on an argument or, in an argument that is an object, on a \
                 member that is described in its place",
            ),
            Self::Twice(header) => write!(f, "`{header}` is there twice"),
            Self::Nameless(argument) => write!(
                f,
                "the header of `{argument}` must be a text, as in `\"Region\"`"
            ),
            Self::Name { name, argument } => write!(
                f,
                "`{}` of `{argument}` cannot be part of a header's name",
                name.escape_debug()
            ),
            Self::Type { kind, argument } => write!(
                f,
                "a header carries a `string`, an `integer` or a `boolean`; the type of \
                 `{argument}` is {kind}"
            ),
        }
    }
}

impl MirroredArgument {
    /// The arguments with a header in the schema of a tool's arguments.
    ///
    /// # Errors
    ///
    /// For an annotation that the specification does not allow: clients leave such a
    /// tool out of what they list.
    pub(crate) fn all(schema: &Value) -> Result<Vec<Self>, Misplaced> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found)?;
        if annotations(schema) > found.len() {
            return Err(Misplaced::Elsewhere);
        }
        let mut names = HashSet::new();
        let twice = found
            .iter()
            .find(|argument| !names.insert(argument.header.to_ascii_lowercase()));
        match twice {
            Some(argument) => Err(Misplaced::Twice(argument.header.clone())),
            None => Ok(found),
        }
    }

    /// Its value in these arguments, if it is there.
    pub(crate) fn value<'a>(&self, arguments: &'a Value) -> Option<&'a Value> {
        let mut path = self.path.iter();
        let value = path.try_fold(arguments, |value, step| value.get(step));
        value.filter(|value| !value.is_null())
    }
}

/// Finds what is annotated and can be reached by `properties` alone.
fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<MirroredArgument>,
) -> Result<(), Misplaced> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        path.push(name.clone());
        if let Some(annotation) = property.get(MIRROR) {
            found.push(argument(path, property, annotation)?);
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn argument(
    path: &[String],
    property: &Value,
    annotation: &Value,
) -> Result<MirroredArgument, Misplaced> {
    let shown = || path.join(".");
    let name = annotation
        .as_str()
        .filter(|name| !name.is_empty())
        .ok_or_else(|| Misplaced::Nameless(shown()))?;
    if !name.bytes().all(is_token) {
        return Err(Misplaced::Name {
            name: name.to_owned(),
            argument: shown(),
        });
    }
    let kind = property.get("type");
    if !kind
        .and_then(Value::as_str)
        .is_some_and(|kind| TYPES.contains(&kind))
    {
        return Err(Misplaced::Type {
            kind: kind.map_or_else(|| "not said".to_owned(), Value::to_string),
            argument: shown(),
        });
    }
    Ok(MirroredArgument {
        header: format!("Mcp-Param-{name}"),
        path: path.to_vec(),
    })
}

/// Whether a byte may be part of a header's name (RFC 9110, 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// How many annotations there are, wherever they stand.
fn annotations(schema: &Value) -> usize {
    let in_all = |schemas: &Map<String, Value>| schemas.values().map(annotations).sum();
    match schema {
        Value::Array(schemas) => schemas.iter().map(annotations).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(keyword, member)| match (keyword.as_str(), member) {
                (MIRROR, _) => 1,
                // Values, not schemas.
                ("default" | "const" | "enum" | "examples" | "required", _) => 0,
                // Their members are called as anybody likes.
                (
                    "properties" | "patternProperties" | "dependentSchemas" | "$defs"
                    | "definitions",
                    Value::Object(schemas),
                ) => in_all(schemas),
                _ => annotations(member),
            })
            .sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(property: &Value) -> Result<Vec<MirroredArgument>, Misplaced> {
        MirroredArgument::all(&json!({ "type": "object", "properties": { "a": property } }))
    }

    #[test]
    fn an_argument_says_by_which_header_it_travels() {
        let found = of(&json!({ "type": "object", "properties": {
            "x-mcp-header": { "type": "integer", "x-mcp-header": "Count" },
            "default": { "type": "string" },
        } }));
        let found = found.unwrap();
        assert_eq!(found[0].header, "Mcp-Param-Count");
        let value = |arguments: &Value| found[0].value(arguments).cloned();
        let there = json!({ "a": { "x-mcp-header": 7 } });
        assert_eq!(value(&there), Some(json!(7)));
        for absent in [
            json!({}),
            json!({ "a": 5 }),
            json!({ "a": { "x-mcp-header": null } }),
        ] {
            assert_eq!(value(&absent), None, "{absent}");
        }
    }

    #[test]
    fn what_no_header_can_carry_is_refused() {
        for property in [
            json!({ "type": "string", "x-mcp-header": "" }),
            json!({ "type": "string", "x-mcp-header": 5 }),
            json!({ "type": "string", "x-mcp-header": "a b" }),
            json!({ "type": "string", "x-mcp-header": "a:" }),
            json!({ "type": "string", "x-mcp-header": "Ü" }),
            json!({ "type": "number", "x-mcp-header": "A" }),
            json!({ "type": ["string", "null"], "x-mcp-header": "A" }),
            json!({ "x-mcp-header": "A" }),
            json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "A" } }),
            json!({ "anyOf": [{ "type": "string", "x-mcp-header": "A" }] }),
            json!({ "type": "object", "$defs": { "d": { "type": "string", "x-mcp-header": "A" } } }),
            json!({ "type": "object", "properties": {
                "b": { "type": "string", "x-mcp-header": "A" },
                "c": { "type": "string", "x-mcp-header": "a" },
            } }),
        ] {
            assert!(of(&property).is_err(), "{property}");
        }
        let root = json!({ "type": "object", "x-mcp-header": "A" });
        assert_eq!(MirroredArgument::all(&root), Err(Misplaced::Elsewhere));
    }
}
