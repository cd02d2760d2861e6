//! Our tools in older sessions (P70), where there are no tasks.

use std::sync::Arc;

use serde_json::value::RawValue;
use tracing::Instrument as _;

use super::Router;
use crate::observe::story;
use crate::protocol::ProtocolError;
use crate::runtime::{CallRequest, Called, Support};

impl Router {
    /// Runs one of our tools on an open call of an older session; gives the
    /// `CallToolResult`.
    ///
    /// # Errors
    ///
    /// As [`Runtime::call`](crate::runtime::Runtime::call), and `-32602` for a
    /// tool that only runs as a task, or that there is none of.
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels the call.
    pub async fn call_in_session(
        &self,
        name: &str,
        mut call: CallRequest<'_>,
    ) -> Result<Arc<RawValue>, ProtocolError> {
        let Some(tool) = self.runtime.tool(name) else {
            return Err(ProtocolError::invalid_params(format!(
                "there is no tool `{name}`"
            )));
        };
        if tool.support() == Support::Required {
            return Err(ProtocolError::invalid_params(format!(
                "tool `{name}` only runs as a task, which needs protocol version {} and the \
                 extension `{}`",
                crate::protocol::PROTOCOL_VERSION,
                crate::protocol::TASKS_EXTENSION
            )));
        }
        call.capabilities.tasks = false;
        let span = story::request_span("tools/call", Some(tool.name()));
        let called = self.runtime.call(tool, call).instrument(span).await;
        if let Err(error) = &called {
            story::refused(error);
        }
        match called {
            Ok(Called::Result(result)) => Ok(result),
            Ok(Called::Task(_)) => unreachable!("no task without the capability"),
            Ok(Called::InputRequired(_)) => Err(ProtocolError::internal("internal error")),
            // A session has nothing by which it could be declared.
            Err(error) if error.data == ProtocolError::tasks_required("").data => {
                Err(ProtocolError::invalid_params(format!(
                    "tool `{name}` waits for what only a task can be told, which needs a client \
                     of protocol version {} that declares the extension `{}`",
                    crate::protocol::PROTOCOL_VERSION,
                    crate::protocol::TASKS_EXTENSION
                )))
            }
            Err(error) => Err(error),
        }
    }
}
