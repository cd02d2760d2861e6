//! `list`: the book of open tasks.

use std::time::SystemTime;

use chrono::DateTime;
use console::measure_text_width;
use mcp_tasks::client::{BookEntry, TaskBook};
use mcp_tasks::task::Timestamp;
use serde_json::json;

use super::json_line;
use crate::book;
use crate::exit::{Exit, Stop};
use crate::flags;
use crate::screen::{Look, Screen, cut, pad};
use crate::target::shown;
use crate::words;

pub(super) fn list(flags: &flags::List) -> Result<Exit, Stop> {
    let book = book::open()?;
    if let Some(id) = &flags.forget {
        return forget(&book, id);
    }
    let entries = book.entries()?;
    if flags.json {
        for entry in &entries {
            json_line(&json!({
                "task": entry.id,
                "tool": entry.tool,
                "server": entry.server,
                "created_at": entry.created_at,
                "ttl_ms": entry.ttl_ms,
            }))?;
        }
        return Ok(Exit::Done);
    }
    let screen = Screen::stdout();
    if entries.is_empty() {
        screen.prose(0, Look::Plain, "No open tasks.")?;
        return Ok(Exit::Done);
    }
    show(screen, &entries)?;
    Ok(Exit::Done)
}

fn forget(book: &TaskBook, id: &str) -> Result<Exit, Stop> {
    let (id, entry) = book::find(book, id)?;
    if entry.is_none() {
        return Err(Stop::usage(format_args!(
            "there is no task `{id}` in the list"
        )));
    }
    book.remove(&id)?;
    Screen::stdout().prose(0, Look::Good, &format!("✓ {id} struck out"))?;
    Ok(Exit::Done)
}

/// Below that, each task has lines of its own.
const NARROW: usize = 64;

fn show(screen: Screen, entries: &[BookEntry]) -> std::io::Result<()> {
    const SHORTEST: usize = 12;
    let short = |id: &str| -> String {
        let unique = |length: &usize| {
            let start = id.get(..*length).unwrap_or(id);
            entries
                .iter()
                .filter(|other| other.id.starts_with(start))
                .count()
                == 1
        };
        let length = (SHORTEST..id.len()).find(unique).unwrap_or(id.len());
        cut(id.get(..length).unwrap_or(id), usize::MAX)
    };
    let rows: Vec<[String; 4]> = entries
        .iter()
        .map(|entry| {
            let id = if screen.is_terminal() {
                short(&entry.id)
            } else {
                entry.id.to_string()
            };
            let tool = entry.tool.as_deref().unwrap_or("unknown");
            [id, cut(tool, 24), age(entry), shown(entry.server.as_ref())]
        })
        .collect();
    if screen.width() < NARROW {
        for [id, tool, age, server] in &rows {
            screen.line(&format!("{id}  {}", screen.paint(Look::Bold, tool)))?;
            screen.prose(2, Look::Plain, &format!("{age} · {server}"))?;
        }
        return Ok(());
    }
    let headings = ["TASK", "TOOL", "AGE", "SERVER"];
    let width = |column: usize| {
        let cells = rows.iter().map(|row| measure_text_width(&row[column]));
        cells.max().unwrap_or(0).max(headings[column].len())
    };
    let widths: [usize; 3] = std::array::from_fn(width);
    let line = |cells: &[String; 4]| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            line.push_str(&pad(cell, width + 2));
        }
        let room = if screen.is_terminal() {
            screen
                .width()
                .saturating_sub(measure_text_width(&line))
                .max(8)
        } else {
            usize::MAX
        };
        line + &cut(&cells[3], room)
    };
    screen.line(&screen.paint(Look::Dim, line(&headings.map(str::to_owned))))?;
    for row in &rows {
        screen.line(&line(row))?;
    }
    Ok(())
}

/// How old a task is, as far as the server has said when it was created.
fn age(entry: &BookEntry) -> String {
    let created = entry.created_at.as_deref();
    let created = created.and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let Some(created) = created else {
        return "?".to_owned();
    };
    let created = u64::try_from(created.timestamp_millis()).unwrap_or_default();
    let age = Timestamp::from(SystemTime::now()).since(Timestamp::from_millis(created));
    match entry.ttl() {
        Some(ttl) if age > ttl => format!("{}, expired", words::age(age)),
        _ => words::age(age),
    }
}
