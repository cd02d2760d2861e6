//! Shows how a call ended.

use std::io::{self, Write};
use std::process::ExitCode;

use mcp_tasks_examples::client::ToolResult;
use mcp_tasks_examples::drive::Outcome;
use mcp_tasks_examples::screen::{Screen, Style};
use mcp_tasks_examples::wire::lay_out_json;
use serde_json::Value;
use serde_json::value::RawValue;

/// Shows the outcome; the exit code says whether the tool did its work.
pub(crate) fn show<W: Write>(screen: &mut Screen<W>, outcome: &Outcome) -> io::Result<ExitCode> {
    screen.space()?;
    match outcome {
        Outcome::Result(result) => return show_result(screen, result),
        Outcome::Failed(error) => {
            screen.show(0, Style::Bad, &format!("The call failed: {error}"))?;
        }
        Outcome::Cancelled(reason) => {
            let reason = reason.as_deref().unwrap_or("no reason was given");
            screen.show(0, Style::Bad, &format!("The task was cancelled: {reason}"))?;
        }
    }
    Ok(ExitCode::FAILURE)
}

fn show_result<W: Write>(screen: &mut Screen<W>, result: &ToolResult) -> io::Result<ExitCode> {
    if result.is_error {
        screen.show(0, Style::Bad, "The tool did not do its work. It says:")?;
        show_content(screen, result)?;
        return Ok(ExitCode::FAILURE);
    }
    let Some(structured) = result.structured_content.as_deref() else {
        screen.show(0, Style::Good, "The result:")?;
        show_content(screen, result)?;
        return Ok(ExitCode::SUCCESS);
    };
    if is_text_of(structured, &result.content) {
        let heading = "The result, structured; as text it is the same JSON:";
        screen.show(0, Style::Good, heading)?;
    } else {
        screen.show(0, Style::Good, "The result, as text:")?;
        show_content(screen, result)?;
        screen.show(0, Style::Good, "The result, structured:")?;
    }
    screen.show_as_is(Style::Plain, &lay_out_json(structured.get(), 2))?;
    Ok(ExitCode::SUCCESS)
}

/// Whether the content only repeats what is structured, as servers do for
/// clients that know no structured content.
fn is_text_of(structured: &RawValue, content: &[Value]) -> bool {
    let [block] = content else { return false };
    let text = block["text"].as_str().unwrap_or_default();
    let read = |json: &str| serde_json::from_str::<Value>(json).ok();
    read(text).is_some_and(|text| Some(text) == read(structured.get()))
}

fn show_content<W: Write>(screen: &mut Screen<W>, result: &ToolResult) -> io::Result<()> {
    for block in &result.content {
        match block["text"].as_str() {
            Some(text) => screen.show(2, Style::Plain, text)?,
            None => screen.show(2, Style::Dim, &kind_of(block))?,
        }
    }
    Ok(())
}

fn kind_of(block: &Value) -> String {
    format!("(a block of the type {})", block["type"])
}
