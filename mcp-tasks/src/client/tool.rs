//! What a server's tools are.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A tool of a server's.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolInfo {
    /// Its name, by which it is called.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, as the server wrote it.
    pub input_schema: Arc<RawValue>,
    /// The JSON Schema of its structured result.
    pub output_schema: Option<Arc<RawValue>>,
    execution: Option<Execution>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Execution {
    task_support: Option<TaskSupport>,
}

/// Whether calls of a tool become tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskSupport {
    /// Never.
    Forbidden,
    /// If the client can follow them.
    Optional,
    /// Always.
    Required,
}

impl ToolInfo {
    /// Whether its calls become tasks, where the server says so: nothing in the
    /// protocol obliges it to.
    pub fn task_support(&self) -> Option<TaskSupport> {
        self.execution?.task_support
    }
}

/// A page of `tools/list`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    tools: Vec<Box<RawValue>>,
    pub(super) next_cursor: Option<String>,
}

impl Page {
    /// Those of its tools that can be read: one that cannot does not hide the others.
    pub(super) fn tools(&self) -> impl Iterator<Item = ToolInfo> {
        self.tools.iter().filter_map(|tool| {
            let read = serde_json::from_str(tool.get());
            read.inspect_err(|error| {
                let start: String = tool.get().chars().take(100).collect();
                tracing::warn!("a tool of the server is left out ({error}): {start}");
            })
            .ok()
        })
    }
}
