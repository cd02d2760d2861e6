//! rmcp's results, content and errors as ours, and errors back.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock as TheirBlock, ErrorCode as TheirCode};

use crate::flow::{TaskOutput, ToolOutput};
use crate::protocol::{ContentBlock, ErrorCode, ProtocolError, ToolResult};

impl From<TheirBlock> for ContentBlock {
    fn from(block: TheirBlock) -> Self {
        // Both are what is on the wire, members that only one knows included.
        serde_json::to_string(&block)
            .and_then(|json| serde_json::from_str(&json))
            .expect("a block of rmcp is a JSON object")
    }
}

#[diagnostic::do_not_recommend]
impl TaskOutput for TheirBlock {
    fn into_output(self) -> ToolOutput {
        vec![self].into_output()
    }
}

#[diagnostic::do_not_recommend]
impl TaskOutput for Vec<TheirBlock> {
    fn into_output(self) -> ToolOutput {
        let blocks: Vec<ContentBlock> = self.into_iter().map(Into::into).collect();
        blocks.into_output()
    }
}

impl From<CallToolResult> for ToolResult {
    fn from(result: CallToolResult) -> Self {
        let structured = result.structured_content.map(|value| {
            let raw = serde_json::value::to_raw_value(&value).expect("a value is JSON");
            raw.into()
        });
        Self {
            content: result.content.into_iter().map(Into::into).collect(),
            structured,
            is_error: result.is_error.unwrap_or_default(),
            meta: result.meta.map(|meta| meta.0).unwrap_or_default(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl TaskOutput for CallToolResult {
    fn into_output(self) -> ToolOutput {
        Ok(self.into())
    }
}

impl From<ErrorData> for ProtocolError {
    fn from(error: ErrorData) -> Self {
        Self {
            code: ErrorCode(error.code.0.into()),
            message: error.message.into_owned(),
            data: error.data,
        }
    }
}

impl From<ProtocolError> for ErrorData {
    fn from(error: ProtocolError) -> Self {
        // rmcp keeps 32 bits of a code; all that MCP defines fit.
        let code = i32::try_from(error.code.0).map_or(TheirCode::INTERNAL_ERROR, TheirCode);
        Self::new(code, error.message, error.data)
    }
}
