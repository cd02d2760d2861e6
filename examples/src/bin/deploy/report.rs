//! Shows how a call gets on, and how it ended.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use mcp_tasks::client::{CallError, CallState};
use mcp_tasks::protocol::{ContentBlock, TaskStatus, ToolResult};
use mcp_tasks_examples::screen::{Screen, Style};
use mcp_tasks_examples::wire::lay_out_json;
use serde_json::Value;
use serde_json::value::RawValue;

/// What a person sees of a call.
pub(crate) struct Report {
    screen: Screen,
    shown: Option<CallState>,
}

impl Report {
    pub(crate) fn new(screen: &Screen) -> Self {
        let screen = screen.clone();
        Self {
            screen,
            shown: None,
        }
    }

    /// Shows what is new.
    pub(crate) fn state(&mut self, state: &CallState) -> io::Result<()> {
        // Until it is a task there is nothing to tell.
        let Some(id) = &state.id else { return Ok(()) };
        let before = self.shown.replace(state.clone());
        let before = before.as_ref();
        if before.is_none() {
            self.task(id, state)?;
        }
        if let Some(trouble) = &state.trouble
            && before.is_none_or(|before| before.trouble.as_ref() != Some(trouble))
        {
            let words = format!("nothing is heard of the server ({trouble}); trying again");
            self.screen.show(2, Style::Bad, &words)?;
        }
        // A message that has been read is not news in the next status.
        let message = state.message.as_deref();
        let message = message.filter(|_| before.is_none_or(|it| it.message != state.message));
        let is_news = before.is_none_or(|before| before.status != state.status);
        if is_news || message.is_some() {
            self.status(state.status, message)?;
        }
        Ok(())
    }

    fn task(&self, id: &str, state: &CallState) -> io::Result<()> {
        const HOUR: Duration = Duration::from_secs(3600);
        self.screen.space()?;
        let words = format!("The call is task {id}.");
        self.screen.show(0, Style::Bold, &words)?;
        let kept = match state.ttl {
            Some(ttl) if ttl < HOUR => format!("for {} s", ttl.as_secs()),
            Some(ttl) => format!("for {} h", ttl.as_secs() / HOUR.as_secs()),
            None => "for good".to_owned(),
        };
        let poll = state.poll_interval.as_millis();
        let words = format!("may be looked at every {poll} ms, and is kept {kept}");
        self.screen.show(2, Style::Dim, &words)
    }

    fn status(&self, status: TaskStatus, message: Option<&str>) -> io::Result<()> {
        let (style, words) = match status {
            TaskStatus::Working => (Style::Plain, "working"),
            // Whoever answers shows the question.
            TaskStatus::InputRequired => return Ok(()),
            TaskStatus::Completed => (Style::Good, "completed"),
            TaskStatus::Failed => (Style::Bad, "failed"),
            TaskStatus::Cancelled => (Style::Bad, "cancelled"),
        };
        match message {
            Some(message) => self.screen.show(2, style, &format!("{words}: {message}")),
            None => self.screen.show(2, style, words),
        }
    }

    /// Shows the outcome; the exit code says whether the tool did its work.
    ///
    /// # Errors
    ///
    /// If there is no outcome.
    pub(crate) fn outcome(
        &self,
        is_task: bool,
        outcome: Result<ToolResult, CallError>,
    ) -> anyhow::Result<ExitCode> {
        let words = match outcome {
            Ok(result) => return Ok(self.result(&result)?),
            Err(CallError::Failed(error)) if is_task => format!("The call failed: {error}"),
            Err(CallError::Failed(error)) => bail!("the server refused `tools/call`: {error}"),
            Err(CallError::Cancelled { message }) => {
                let reason = message.as_deref().unwrap_or("no reason was given");
                format!("The task was cancelled: {reason}")
            }
            Err(error) => bail!(error),
        };
        self.screen.space()?;
        self.screen.show(0, Style::Bad, &words)?;
        Ok(ExitCode::FAILURE)
    }

    fn result(&self, result: &ToolResult) -> io::Result<ExitCode> {
        let screen = &self.screen;
        screen.space()?;
        if result.is_error {
            screen.show(0, Style::Bad, "The tool did not do its work. It says:")?;
            self.content(&result.content)?;
            return Ok(ExitCode::FAILURE);
        }
        let Some(structured) = result.structured.as_deref() else {
            screen.show(0, Style::Good, "The result:")?;
            self.content(&result.content)?;
            return Ok(ExitCode::SUCCESS);
        };
        if is_text_of(structured, &result.content) {
            let heading = "The result, structured; as text it is the same JSON:";
            screen.show(0, Style::Good, heading)?;
        } else {
            screen.show(0, Style::Good, "The result, as text:")?;
            self.content(&result.content)?;
            screen.show(0, Style::Good, "The result, structured:")?;
        }
        screen.show_as_is(Style::Plain, &lay_out_json(structured.get(), 2))?;
        Ok(ExitCode::SUCCESS)
    }

    fn content(&self, content: &[ContentBlock]) -> io::Result<()> {
        for block in content {
            match block.as_text() {
                Some(text) => self.screen.show(2, Style::Plain, text)?,
                None => self.screen.show(2, Style::Dim, &kind_of(block))?,
            }
        }
        Ok(())
    }
}

/// Whether the content only repeats what is structured, as servers do for
/// clients that know no structured content.
fn is_text_of(structured: &RawValue, content: &[ContentBlock]) -> bool {
    let [block] = content else { return false };
    let text = block.as_text().unwrap_or_default();
    let read = |json: &str| serde_json::from_str::<Value>(json).ok();
    read(text).is_some_and(|text| Some(text) == read(structured.get()))
}

fn kind_of(block: &ContentBlock) -> String {
    format!("(a block of the type `{}`)", block.kind().unwrap_or("?"))
}
