//! What a task function returns.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::schema;
use super::{Flow, ToolError};
use crate::protocol::{ContentBlock, ProtocolError, ToolResult};

/// How a call ends.
pub type ToolOutput = Result<ToolResult, ProtocolError>;

/// Structured output: `structuredContent` for programs, and the same as JSON
/// text for readers. Its type makes the tool's `outputSchema`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// What a task function may return.
#[diagnostic::on_unimplemented(
    message = "a task function cannot return `{Self}`",
    label = "not a tool result",
    note = "return text (`String`), structured data (`Json<T>` with `T: Serialize + JsonSchema`), `ContentBlock`s, both as `(content, Json<T>)`, `()`, or a `Result` of one of these with an error that converts into `ToolError`"
)]
pub trait TaskOutput {
    /// The result of the call.
    fn into_output(self) -> ToolOutput;

    /// The schema of the structured content.
    fn output_schema() -> Option<Map<String, Value>> {
        None
    }
}

/// What [`Json`] may hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be structured output",
    label = "not structured output",
    note = "clients see its schema and get it as JSON: derive both `serde::Serialize` and `schemars::JsonSchema` for it"
)]
pub trait Structured: Serialize + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> Structured for T {}

/// How a task function may fail.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a task function",
    label = "not an error of a tool",
    note = "return a `ToolError`, or an error that implements `std::error::Error`; `.map_err(ToolError::new)` makes one of anything that can be displayed"
)]
pub trait TaskError {
    /// The error as the tool's.
    fn into_tool_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> TaskError for E {
    fn into_tool_error(self) -> ToolError {
        self.into()
    }
}

#[diagnostic::do_not_recommend]
impl TaskOutput for String {
    fn into_output(self) -> ToolOutput {
        Ok(ToolResult::text(self))
    }
}

#[diagnostic::do_not_recommend]
impl TaskOutput for &'static str {
    fn into_output(self) -> ToolOutput {
        Ok(ToolResult::text(self))
    }
}

#[diagnostic::do_not_recommend]
impl TaskOutput for () {
    fn into_output(self) -> ToolOutput {
        Ok(ToolResult::default())
    }
}

#[diagnostic::do_not_recommend]
impl TaskOutput for ContentBlock {
    fn into_output(self) -> ToolOutput {
        vec![self].into_output()
    }
}

#[diagnostic::do_not_recommend]
impl TaskOutput for Vec<ContentBlock> {
    fn into_output(self) -> ToolOutput {
        Ok(ToolResult {
            content: self,
            ..ToolResult::default()
        })
    }
}

#[diagnostic::do_not_recommend]
impl<const N: usize> TaskOutput for [ContentBlock; N] {
    fn into_output(self) -> ToolOutput {
        Vec::from(self).into_output()
    }
}

#[diagnostic::do_not_recommend]
impl TaskOutput for ToolResult {
    fn into_output(self) -> ToolOutput {
        Ok(self)
    }
}

impl<T: Structured> TaskOutput for Json<T> {
    fn into_output(self) -> ToolOutput {
        let structured = structured(&self.0)?;
        Ok(ToolResult {
            content: vec![ContentBlock::text(structured.get())],
            structured: Some(structured),
            ..ToolResult::default()
        })
    }

    fn output_schema() -> Option<Map<String, Value>> {
        Some(schema::of::<T>())
    }
}

/// Structured output with content of its own, in place of the JSON text.
#[diagnostic::do_not_recommend]
impl<C: TaskOutput, T: Structured> TaskOutput for (C, Json<T>) {
    fn into_output(self) -> ToolOutput {
        let (content, Json(value)) = self;
        Ok(ToolResult {
            structured: Some(structured(&value)?),
            ..content.into_output()?
        })
    }

    fn output_schema() -> Option<Map<String, Value>> {
        Some(schema::of::<T>())
    }
}

fn structured<T: Serialize>(value: &T) -> Result<Arc<RawValue>, ProtocolError> {
    let json = serde_json::value::to_raw_value(value).map_err(|error| {
        tracing::error!(%error, "a tool's structured output is not JSON");
        ProtocolError::internal("the tool's output cannot be written as JSON")
    })?;
    Ok(json.into())
}

impl<T: TaskOutput, E: TaskError> TaskOutput for Result<T, E> {
    fn into_output(self) -> ToolOutput {
        match self {
            Ok(value) => value.into_output(),
            Err(error) => error.into_tool_error().into_result(),
        }
    }

    fn output_schema() -> Option<Map<String, Value>> {
        T::output_schema()
    }
}

/// A task function's body with its arguments, ready to run. Generated code only.
pub struct Body(Box<dyn Start>);

/// A body that has been started.
pub(crate) type Running = Pin<Box<dyn Future<Output = ToolOutput> + Send>>;

/// The arguments of a task function, about to meet its body. Generated code
/// only.
#[derive(Debug)]
pub struct Arguments<A>(pub A);

impl<A: Clone> Arguments<A> {
    /// A body that can be started several times.
    pub fn body<R, F>(self, body: fn(Flow, A) -> F) -> Body
    where
        R: TaskOutput,
        F: Future<Output = R> + Send + 'static,
        A: Send + 'static,
    {
        Body(Box::new(Prepared {
            arguments: self.0,
            copy: Some(A::clone),
            body,
        }))
    }
}

/// Arguments that cannot be cloned.
pub trait AnyArguments {
    /// The arguments.
    type Arguments;

    /// A body that can be started once.
    fn body<R, F>(self, body: fn(Flow, Self::Arguments) -> F) -> Body
    where
        R: TaskOutput,
        F: Future<Output = R> + Send + 'static,
        Self::Arguments: Send + 'static;
}

impl<A> AnyArguments for Arguments<A> {
    type Arguments = A;

    fn body<R, F>(self, body: fn(Flow, A) -> F) -> Body
    where
        R: TaskOutput,
        F: Future<Output = R> + Send + 'static,
        A: Send + 'static,
    {
        Body(Box::new(Prepared {
            arguments: self.0,
            copy: None,
            body,
        }))
    }
}

/// What can be started.
trait Start: Send {
    fn start(self: Box<Self>, flow: Flow) -> Running;

    fn copy(&self) -> Option<Box<dyn Start>>;
}

struct Prepared<A, F> {
    arguments: A,
    copy: Option<fn(&A) -> A>,
    body: fn(Flow, A) -> F,
}

impl<A, F> Start for Prepared<A, F>
where
    A: Send + 'static,
    F: Future<Output: TaskOutput> + Send + 'static,
{
    fn start(self: Box<Self>, flow: Flow) -> Running {
        let running = (self.body)(flow, self.arguments);
        Box::pin(async { running.await.into_output() })
    }

    fn copy(&self) -> Option<Box<dyn Start>> {
        let copy = self.copy?;
        Some(Box::new(Self {
            arguments: copy(&self.arguments),
            ..*self
        }))
    }
}

impl Body {
    pub(crate) fn start(self, flow: Flow) -> Running {
        self.0.start(flow)
    }

    /// The same body with the same arguments once more, for a task that is
    /// started anew after a crash; `None` if the arguments cannot be cloned. A
    /// server decodes them from the journal instead.
    pub fn try_clone(&self) -> Option<Self> {
        self.0.copy().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Ready, ready};

    use super::*;

    struct NotClone;

    fn run<A>(_: Flow, _: A) -> Ready<String> {
        ready(String::new())
    }

    #[test]
    fn a_body_can_be_had_again_where_all_arguments_can() {
        let body = Arguments((1u8, String::new())).body::<String, _>(run);
        let again = body.try_clone().expect("its arguments are `Clone`");
        assert!(again.try_clone().is_some());
        let body = Arguments((1u8, NotClone)).body::<String, _>(run);
        assert!(body.try_clone().is_none());
    }
}
