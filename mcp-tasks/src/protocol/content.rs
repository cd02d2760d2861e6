//! What a tool call returns (`CallToolResult`).

use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::value::RawValue;

/// One block of a tool's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Base64.
        data: String,
        /// As in `image/png`.
        mime_type: String,
    },
    /// A sound.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// Base64.
        data: String,
        /// As in `audio/wav`.
        mime_type: String,
    },
    /// A link to a resource that the client may read.
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        /// Where it is.
        uri: String,
        /// What it is called.
        name: String,
        /// As in `text/plain`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

impl ContentBlock {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// The result of a tool call, as `tools/call` returns it and as a completed
/// task carries it.
#[derive(Clone, Debug, Default)]
pub struct ToolResult {
    /// The blocks that a model or a person reads.
    pub content: Vec<ContentBlock>,
    /// The same for programs, kept as it was written.
    pub structured: Option<Arc<RawValue>>,
    /// Whether the tool ran and failed (P14).
    pub is_error: bool,
}

impl ToolResult {
    /// A result of one block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text)],
            ..Self::default()
        }
    }

    /// A failure that the tool reports, for the model to read.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut result = serializer.serialize_struct("CallToolResult", 4)?;
        result.serialize_field("resultType", "complete")?;
        result.serialize_field("content", &self.content)?;
        match &self.structured {
            Some(structured) => result.serialize_field("structuredContent", structured)?,
            None => result.skip_field("structuredContent")?,
        }
        result.serialize_field("isError", &self.is_error)?;
        result.end()
    }
}
