//! Arguments that travel in a header too: `Mcp-Param-*` (P53).
//!
//! The schema of such an argument says so with `x-mcp-header`. Whoever routes
//! by the header and the function must see the same value. For the tools of a
//! wrapped handler rmcp sees to that.

use std::collections::HashMap;

use http::HeaderMap;
use serde_json::Value;

use super::headers::{mismatch, missing, refusal, single, unwrapped};
use crate::Error;
use crate::protocol::{MIRROR, Message, MirroredArgument, Misplaced, ProtocolError};
use crate::runtime::{Runtime, Tool};

/// Beyond this a number may not be the same everywhere.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// The arguments with a header, by tool.
#[derive(Debug, Default)]
pub(super) struct MirroredArguments(HashMap<String, Vec<MirroredArgument>>);

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
                Error::Config(format!("tool `{name}`, `{MIRROR}`: {words}"))
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
            .try_for_each(|argument| check(argument, headers, &arguments))
    }
}

fn check(
    argument: &MirroredArgument,
    headers: &HeaderMap,
    arguments: &Value,
) -> Result<(), ProtocolError> {
    let name = &argument.header;
    match (single(headers, name)?, argument.value(arguments)) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(missing(name)),
        (Some(_), None) => Err(refusal(format!(
            "header `{name}` is there, but the argument `{}` is not",
            argument.path.join(".")
        ))),
        (Some(header), Some(value)) => {
            let header = unwrapped(name, header)?;
            if says(&header, value) {
                return Ok(());
            }
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            Err(mismatch(name, &header, &value))
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

fn read(tool: &Tool) -> Result<Vec<MirroredArgument>, String> {
    let schema = &tool.listing()["inputSchema"];
    MirroredArgument::all(schema).map_err(|misplaced| match misplaced {
        Misplaced::Elsewhere => {
            format!("{misplaced}; write `#[schemars(inline)]` on the member's type")
        }
        Misplaced::Type { .. } => format!(
            "{misplaced} (for an argument that may be missing write `#[arg(default = ..)]` \
             instead of an `Option`)"
        ),
        _ => misplaced.to_string(),
    })
}
