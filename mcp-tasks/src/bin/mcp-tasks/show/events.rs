//! What happens, for programs: one JSON object per line on the standard output.

use std::io::{self, Write as _};

use mcp_tasks::ToolResult;
use mcp_tasks::client::{CallState, Question, QuestionKind};
use mcp_tasks::protocol::ProtocolError;
use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::Exit;

/// That nothing more is done, whatever was to be done.
pub(crate) fn stopped(exit: Exit, words: &str) -> io::Result<()> {
    let events = Events { wanted: true };
    events.write(&json!({ "event": "error", "exit": exit as u8, "message": words }))
}

/// Where events go, if they are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Events {
    wanted: bool,
}

impl Events {
    pub(crate) fn new(wanted: bool) -> Self {
        Self { wanted }
    }

    pub(crate) fn are_wanted(self) -> bool {
        self.wanted
    }

    fn write(self, event: &impl Serialize) -> io::Result<()> {
        if !self.wanted {
            return Ok(());
        }
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        let mut out = io::stdout().lock();
        out.write_all(&line)?;
        out.flush()
    }

    pub(crate) fn state(self, state: &CallState) -> io::Result<()> {
        #[derive(Serialize)]
        struct State<'a> {
            event: &'a str,
            task: Option<&'a str>,
            status: mcp_tasks::protocol::TaskStatus,
            message: Option<&'a str>,
            progress: Option<Value>,
            questions: Vec<&'a str>,
            trouble: Option<&'a str>,
        }
        let progress = state.progress;
        self.write(&State {
            event: "state",
            task: state.id.as_deref(),
            status: state.status,
            message: state.message.as_deref(),
            progress: progress.map(|at| json!({ "done": at.done, "total": at.total })),
            questions: state
                .questions
                .iter()
                .map(|question| &*question.key)
                .collect(),
            trouble: state.trouble.as_deref(),
        })
    }

    pub(crate) fn question(self, question: &Question) -> io::Result<()> {
        #[derive(Serialize)]
        struct Asked<'a> {
            event: &'a str,
            task: Option<&'a str>,
            key: &'a str,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            form: Option<&'a mcp_tasks::protocol::Form>,
            #[serde(skip_serializing_if = "Option::is_none")]
            url: Option<&'a str>,
        }
        let (form, url) = match &question.kind {
            QuestionKind::Form { form, .. } => (Some(form), None),
            QuestionKind::Url { url, .. } => (None, Some(url.as_str())),
            _ => (None, None),
        };
        self.write(&Asked {
            event: "question",
            task: question.task.as_deref(),
            key: &question.key,
            message: question.message(),
            form,
            url,
        })
    }

    pub(crate) fn answered(self, key: &str, how: &str) -> io::Result<()> {
        self.write(&json!({ "event": "answered", "key": key, "how": how }))
    }

    pub(crate) fn result(self, task: Option<&str>, result: &ToolResult) -> io::Result<()> {
        #[derive(Serialize)]
        struct Done<'a> {
            event: &'a str,
            task: Option<&'a str>,
            exit: u8,
            result: &'a ToolResult,
        }
        let exit = if result.is_error {
            Exit::ToolFailed
        } else {
            Exit::Done
        };
        self.write(&Done {
            event: "result",
            task,
            exit: exit as u8,
            result,
        })
    }

    /// The call has ended without a result, or this program has.
    pub(crate) fn end(
        self,
        event: &str,
        task: Option<&str>,
        exit: Exit,
        words: &str,
        more: &Value,
    ) -> io::Result<()> {
        let mut line = json!({
            "event": event, "task": task, "exit": exit as u8, "message": words,
        });
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        self.write(&line)
    }

    /// An error of the server's, whole.
    pub(crate) fn error(error: &ProtocolError) -> Value {
        json!({ "error": error })
    }
}
