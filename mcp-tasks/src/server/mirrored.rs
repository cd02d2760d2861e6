//! Arguments that travel in a header too: `Mcp-Param-*` (P53).
//!
//! The schema of such an argument says so with `x-mcp-header`. Whoever routes
//! by the header and the function must see the same value. For the tools of a
//! wrapped handler rmcp sees to that.

use std::collections::{HashMap, HashSet};

use http::{HeaderMap, HeaderName};
use serde_json::Value;

use super::headers::{mismatch, missing, refusal, single, unwrapped};
use crate::Error;
use crate::protocol::{Message, ProtocolError};
use crate::runtime::{Runtime, Tool};

const KEYWORD: &str = "x-mcp-header";

/// Beyond this a number may not be the same everywhere.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// What a header may carry.
const TYPES: [&str; 3] = ["string", "integer", "boolean"];

/// The arguments with a header, by tool.
#[derive(Debug, Default)]
pub(super) struct MirroredArguments(HashMap<String, Vec<Argument>>);

#[derive(Debug)]
struct Argument {
    header: String,
    /// The properties that lead to it, from the arguments as a whole.
    path: Vec<String>,
}

impl MirroredArguments {
    /// Reads the schemas of all tools.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for an annotation that the specification does not
    /// allow: clients leave such a tool out of what they list.
    pub(super) fn of(runtime: &Runtime) -> Result<Self, Error> {
        let mut all = HashMap::new();
        for tool in runtime.tools() {
            let arguments = read(tool).map_err(|words| {
                let name = tool.name();
                Error::Config(format!("tool `{name}`, `{KEYWORD}`: {words}"))
            })?;
            if !arguments.is_empty() {
                all.insert(tool.name().to_owned(), arguments);
            }
        }
        Ok(Self(all))
    }

    /// Checks the headers of a call of one of our tools.
    ///
    /// # Errors
    ///
    /// `-32020` when one is missing, given twice, unreadable or different, or
    /// there without a value in the message.
    pub(super) fn check(
        &self,
        headers: &HeaderMap,
        message: &Message<'_>,
    ) -> Result<(), ProtocolError> {
        if self.0.is_empty() || message.method() != "tools/call" {
            return Ok(());
        }
        let tool = message.header_name();
        let Some(mirrored) = tool.and_then(|tool| self.0.get(tool.as_ref())) else {
            return Ok(());
        };
        let arguments = message.params().arguments;
        let arguments = arguments.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let arguments: Value = arguments.unwrap_or_default();
        mirrored
            .iter()
            .try_for_each(|argument| argument.check(headers, &arguments))
    }
}

impl Argument {
    fn check(&self, headers: &HeaderMap, arguments: &Value) -> Result<(), ProtocolError> {
        let mut path = self.path.iter();
        let value = path.try_fold(arguments, |value, step| value.get(step));
        let value = value.filter(|value| !value.is_null());
        match (single(headers, &self.header)?, value) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(missing(&self.header)),
            (Some(_), None) => Err(refusal(format!(
                "header `{}` is there, but the argument `{}` is not",
                self.header,
                self.path.join(".")
            ))),
            (Some(header), Some(value)) => {
                let header = unwrapped(&self.header, header)?;
                if says(&header, value) {
                    return Ok(());
                }
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                Err(mismatch(&self.header, &header, &value))
            }
        }
    }
}

/// Whether a header has this value.
fn says(header: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => header == text,
        Value::Number(number) => {
            header == number.to_string()
                || number
                    .as_f64()
                    .filter(|number| number.abs() <= SAFE)
                    .is_some_and(|number| header.parse() == Ok(number))
        }
        Value::Bool(true) => header == "true",
        Value::Bool(false) => header == "false",
        // Not what the schema says: no header can be right.
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

fn read(tool: &Tool) -> Result<Vec<Argument>, String> {
    let schema = &tool.listing()["inputSchema"];
    let mut arguments = Vec::new();
    collect(schema, &mut Vec::new(), &mut arguments)?;
    if annotations(schema) > arguments.len() {
        return Err(
            "it may only stand on an argument or, in an argument that is an object, on a member \
             that is described in its place; write `#[schemars(inline)]` on the member's type"
                .to_owned(),
        );
    }
    let mut names = HashSet::new();
    let twice = arguments
        .iter()
        .find(|argument| !names.insert(argument.header.to_ascii_lowercase()));
    twice.map_or(Ok(()), |argument| {
        Err(format!("`{}` is there twice", argument.header))
    })?;
    Ok(arguments)
}

/// Finds what is annotated and can be reached by `properties` alone.
fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<Argument>,
) -> Result<(), String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        path.push(name.clone());
        if let Some(annotation) = property.get(KEYWORD) {
            found.push(argument(path, property, annotation)?);
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn argument(path: &[String], property: &Value, annotation: &Value) -> Result<Argument, String> {
    let shown = path.join(".");
    let name = annotation
        .as_str()
        .filter(|name| !name.is_empty())
        .ok_or_else(|| format!("the header of `{shown}` must be a text, as in `\"Region\"`"))?;
    let header = format!("Mcp-Param-{name}");
    if HeaderName::from_bytes(header.as_bytes()).is_err() {
        return Err(format!(
            "`{name}` of `{shown}` cannot be part of a header's name"
        ));
    }
    let kind = property.get("type");
    if !kind
        .and_then(Value::as_str)
        .is_some_and(|kind| TYPES.contains(&kind))
    {
        let kind = kind.map_or_else(|| "not said".to_owned(), Value::to_string);
        return Err(format!(
            "a header carries a `string`, an `integer` or a `boolean`; the type of `{shown}` is \
             {kind} (for an argument that may be missing write `#[arg(default = ..)]` instead of \
             an `Option`)"
        ));
    }
    Ok(Argument {
        header,
        path: path.to_vec(),
    })
}

/// How many annotations there are, wherever they stand.
fn annotations(schema: &Value) -> usize {
    match schema {
        Value::Array(schemas) => schemas.iter().map(annotations).sum(),
        Value::Object(members) => members
            .iter()
            .filter(|(keyword, _)| {
                !matches!(keyword.as_str(), "default" | "const" | "enum" | "examples")
            })
            .map(|(keyword, member)| usize::from(keyword == KEYWORD) + annotations(member))
            .sum(),
        _ => 0,
    }
}
