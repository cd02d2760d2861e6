//! What a call leads to.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::limit_reached;
use super::rounds::InputRequired;
use crate::flow::ToolOutput;
use crate::protocol::ProtocolError;
use crate::task::Snapshot;

/// What a call led to.
#[derive(Clone, Debug)]
pub enum Called {
    /// A result: the JSON of a `CallToolResult`.
    Result(Arc<RawValue>),
    /// A task, durably created (P11).
    Task(Arc<Snapshot>),
    /// Questions; the answers come with another call (P60).
    InputRequired(InputRequired),
}

/// Writes a call's result, if it is not too large.
pub(super) fn to_json(output: ToolOutput, limit: usize) -> Result<Arc<RawValue>, ProtocolError> {
    let json = serde_json::value::to_raw_value(&output?).map_err(|error| {
        tracing::error!(%error, "a tool's result is not JSON");
        ProtocolError::internal("internal error")
    })?;
    let size = json.get().len();
    if size > limit {
        let words = format!("the tool's result takes {size} bytes; the limit is {limit}");
        return Err(limit_reached("result", ProtocolError::internal(words)));
    }
    Ok(json.into())
}
