//! `tools`: what a server offers.

use mcp_tasks::client::{TaskSupport, ToolInfo};
use serde::Serialize;
use serde_json::value::RawValue;

use super::call::find;
use super::{close, json_line};
use crate::arguments::Arguments;
use crate::exit::{Exit, Stop};
use crate::flags;
use crate::screen::{Look, Screen, harmless};
use crate::target::{Log, Target};

pub(super) async fn tools(flags: flags::Tools) -> Result<Exit, Stop> {
    let target = Target::find(&flags.server, None)?;
    let (log, _) = Log::new(false);
    let client = target.connect(None, None, log).await?;
    let server = client.server().await;
    let listed = client.tools().await;
    close(client).await;
    let (server, tools) = (server?, listed?);
    let shown: Vec<&ToolInfo> = match &flags.tool {
        Some(name) => vec![find(&tools, name)?],
        None => tools.iter().collect(),
    };
    let screen = Screen::stdout();
    if !flags.json {
        let tasks = if server.tasks {
            "with tasks"
        } else {
            "without tasks"
        };
        let name = format!("{} {}", server.name, server.version);
        let name = match name.trim() {
            "" => "a server without a name",
            name => name,
        };
        let heading = format!("{name}, {tasks} (MCP {})", server.protocol_version);
        screen.prose(0, Look::Dim, &heading)?;
    }
    for tool in shown {
        if flags.json {
            json(tool)?;
        } else {
            show(screen, tool, server.tasks)?;
        }
    }
    Ok(Exit::Done)
}

fn show(screen: Screen, tool: &ToolInfo, has_tasks: bool) -> std::io::Result<()> {
    screen.line("")?;
    let mut heading = screen.paint(Look::Bold, harmless(&tool.name));
    // Where there are no tasks, that it is none goes without saying.
    let words = tool.task_support().and_then(|support| match support {
        TaskSupport::Forbidden if has_tasks => Some("never a task"),
        TaskSupport::Optional if has_tasks => Some("may be a task"),
        TaskSupport::Required if has_tasks => Some("always a task"),
        TaskSupport::Required => Some("only as a task of an older kind, which is not spoken here"),
        TaskSupport::Forbidden | TaskSupport::Optional => None,
    });
    if let Some(words) = words {
        heading = format!("{heading}  {}", screen.paint(Look::Dim, words));
    }
    screen.line(&heading)?;
    if let Some(description) = &tool.description {
        screen.prose(2, Look::Plain, description)?;
    }
    let known = Arguments::read(tool.input_schema.get());
    for argument in known.all() {
        let line = format!("- {}: {}", argument.name, argument.about());
        screen.prose(4, Look::Plain, &line)?;
    }
    Ok(())
}

fn json(tool: &ToolInfo) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        name: &'a str,
        title: Option<&'a str>,
        description: Option<&'a str>,
        task_support: Option<&'a str>,
        input_schema: &'a RawValue,
        output_schema: Option<&'a RawValue>,
    }
    json_line(&Line {
        name: &tool.name,
        title: tool.title.as_deref(),
        description: tool.description.as_deref(),
        task_support: tool.task_support().map(|support| match support {
            TaskSupport::Forbidden => "forbidden",
            TaskSupport::Optional => "optional",
            TaskSupport::Required => "required",
        }),
        input_schema: &tool.input_schema,
        output_schema: tool.output_schema.as_deref(),
    })
}
