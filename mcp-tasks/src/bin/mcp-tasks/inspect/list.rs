//! The tasks of a store, as a table.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use console::measure_text_width;
use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::store::StoreStats;
use mcp_tasks::store::inspect::{StoreFile, StoredTask};
use mcp_tasks::task::{Outcome, Timestamp};
use serde::{Deserialize, Serialize};

use super::waits::{Wait, in_a_line, waits};
use super::{json_line, now, wait_for_change};
use crate::exit::Stop;
use crate::flags::Inspect;
use crate::screen::{Look, Screen, cut, pad};
use crate::words;

/// How soon ages are shown anew.
const GROW_OLDER: Duration = Duration::from_secs(1);

/// The lines above and below the tasks.
const AROUND: usize = 6;

/// What is seen in one look.
struct Seen {
    tasks: Vec<StoredTask>,
    /// How many fit the flags, shown or not.
    fitting: usize,
    stats: StoreStats,
}

pub(super) fn show(file: &StoreFile, flags: &Inspect) -> Result<(), Stop> {
    let mut lines_before = Vec::new();
    let is_watched = flags.follow && !flags.json && Screen::stdout().is_terminal();
    loop {
        let stamp = file.stamp();
        let begun = Instant::now();
        let seen = look(file, flags)?;
        // What is watched grows older by itself; but a large file is not read for that
        // all the time.
        let again = is_watched.then(|| GROW_OLDER.max(begun.elapsed() * 20));
        if flags.json {
            json(&seen, &mut lines_before)?;
        } else {
            table(file, flags, &seen)?;
        }
        if !flags.follow {
            return Ok(());
        }
        wait_for_change(file, &stamp, again);
    }
}

fn look(file: &StoreFile, flags: &Inspect) -> Result<Seen, Stop> {
    let limit = if flags.all { usize::MAX } else { flags.limit };
    let screen = Screen::stdout();
    let limit = match screen.height() {
        // More than fits would push what comes first off the screen.
        Some(height) if flags.follow && !flags.json => {
            let lines = if screen.width() < NARROW { 3 } else { 1 };
            limit.min((height.saturating_sub(AROUND) / lines).max(1))
        }
        _ => limit,
    };
    let fits = |task: &StoredTask| {
        let status = task.snapshot.status();
        let tool = flags.tool.as_deref();
        (flags.status.is_empty()
            || flags
                .status
                .iter()
                .any(|state| TaskStatus::from(*state) == status))
            && tool.is_none_or(|tool| tool == &*task.snapshot.tool)
    };
    file.look(|view| {
        let (mut tasks, mut fitting) = (Vec::new(), 0);
        view.tasks(|task| {
            if fits(&task) {
                fitting += 1;
                if tasks.len() < limit {
                    tasks.push(task);
                }
            }
            ControlFlow::Continue(())
        })?;
        let stats = view.stats()?;
        Ok(Seen {
            tasks,
            fitting,
            stats,
        })
    })
    .map_err(Stop::file)
}

/// A task for programs.
#[derive(Serialize)]
struct Line<'a> {
    task: &'a str,
    tool: &'a str,
    version: u32,
    status: TaskStatus,
    message: Option<String>,
    progress: Option<mcp_tasks::task::Progress>,
    server: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    scope: &'a str,
    caller: &'a str,
    created_at: String,
    updated_at: String,
    expires_at: Option<String>,
    waits: Vec<Wait>,
}

pub(super) fn line(task: &StoredTask, now: Timestamp) -> impl Serialize + '_ {
    let snapshot = &task.snapshot;
    Line {
        task: snapshot.id.as_str(),
        tool: &snapshot.tool,
        version: snapshot.version,
        status: snapshot.status(),
        message: snapshot.status_message(),
        progress: snapshot.progress,
        server: &task.server,
        scope: &task.scope,
        caller: snapshot.caller.as_str(),
        created_at: snapshot.created_at.to_iso_8601(),
        updated_at: snapshot.updated_at.to_iso_8601(),
        expires_at: snapshot.expires_at().map(Timestamp::to_iso_8601),
        waits: waits(task, now),
    }
}

/// Writes the tasks that are not as they were before.
fn json(seen: &Seen, before: &mut Vec<String>) -> Result<(), Stop> {
    let now = now();
    let mut lines = Vec::with_capacity(seen.tasks.len());
    for task in &seen.tasks {
        let line = serde_json::value::to_raw_value(&line(task, now)).map_err(Stop::file)?;
        if !before.iter().any(|known| known == line.get()) {
            json_line(&line)?;
        }
        lines.push(line.get().to_owned());
    }
    *before = lines;
    Ok(())
}

/// The columns before the last one.
const COLUMNS: [&str; 4] = ["TASK", "STATE", "TOOL", "AGE"];
/// A table in less is not read but puzzled out.
const NARROW: usize = 64;
const GAP: usize = 2;

fn table(file: &StoreFile, flags: &Inspect, seen: &Seen) -> Result<(), Stop> {
    let screen = Screen::stdout();
    let now = now();
    if flags.follow && screen.is_terminal() {
        // Each look takes the place of the one before.
        console::Term::stdout().clear_screen()?;
    }
    let name = file.path().file_name().unwrap_or_default();
    let (live, stored) = (seen.stats.live, seen.stats.stored);
    let summary = format!(
        "{}: {live} open, {} ended",
        name.to_string_lossy(),
        stored.saturating_sub(live)
    );
    screen.prose(0, Look::Dim, &summary)?;
    if seen.tasks.is_empty() {
        let words = if stored == 0 {
            "No tasks."
        } else {
            "None of them fits."
        };
        return Ok(screen.prose(0, Look::Plain, words)?);
    }
    screen.line("")?;
    let length = id_length(&seen.tasks, screen);
    let rows: Vec<_> = seen
        .tasks
        .iter()
        .map(|task| Row::new(task, length, now))
        .collect();
    if screen.width() < NARROW {
        for row in &rows {
            row.show_stacked(screen)?;
        }
    } else {
        show_table(screen, &rows)?;
    }
    let left_out = seen.fitting - seen.tasks.len();
    if left_out > 0 {
        screen.line("")?;
        let words = if flags.follow {
            format!("{left_out} more")
        } else {
            format!("{left_out} more; --all shows them")
        };
        screen.prose(0, Look::Dim, &words)?;
    }
    Ok(())
}

/// How much of the ids is shown: on a terminal no more than tells them apart.
fn id_length(tasks: &[StoredTask], screen: Screen) -> usize {
    const SHORTEST: usize = 12;
    if !screen.is_terminal() {
        return usize::MAX;
    }
    let mut ids: Vec<_> = tasks.iter().map(|task| task.snapshot.id.as_str()).collect();
    ids.sort_unstable();
    let common = ids.windows(2).map(|pair| {
        let same = pair[0].bytes().zip(pair[1].bytes());
        same.take_while(|(a, b)| a == b).count() + 1
    });
    common.max().unwrap_or(0).max(SHORTEST)
}

/// How a task has ended, if that is more than its status says.
fn ended(task: &StoredTask) -> Option<String> {
    match task.snapshot.outcome.as_ref()? {
        Outcome::Completed { result } => {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Result {
                #[serde(default)]
                is_error: bool,
            }
            let result: Result = serde_json::from_str(result.get()).ok()?;
            let words = if result.is_error {
                "the tool failed"
            } else {
                ""
            };
            Some(words.to_owned())
        }
        _ => None,
    }
}

struct Row {
    cells: [String; 4],
    status: TaskStatus,
    is_waiting: bool,
    last: String,
}

impl Row {
    fn new(task: &StoredTask, id_length: usize, now: Timestamp) -> Self {
        let snapshot = &task.snapshot;
        let status = snapshot.status();
        let id: String = snapshot.id.as_str().chars().take(id_length).collect();
        let waits = waits(task, now);
        let message = snapshot.status_message();
        let is_waiting = !waits.is_empty();
        let last = match (&waits[..], message) {
            ([], message) => ended(task).or(message).unwrap_or_default(),
            (waits, None) => in_a_line(waits, now),
            (waits, Some(message)) => format!("{}; {message}", in_a_line(waits, now)),
        };
        let age = words::age(now.since(snapshot.created_at));
        Self {
            cells: [
                cut(&id, usize::MAX),
                words::status(status).to_owned(),
                cut(&snapshot.tool, 24),
                age,
            ],
            status,
            is_waiting,
            last,
        }
    }

    /// For a terminal that is too narrow for a table.
    fn show_stacked(&self, screen: Screen) -> std::io::Result<()> {
        let [id, status, tool, age] = &self.cells;
        let status = screen.paint(words::look(self.status), status);
        screen.line(&format!("{id}  {status}"))?;
        let mut rest = format!("{tool}, {age} old");
        if !self.last.is_empty() {
            let waits = if self.is_waiting { " waits for" } else { "" };
            rest = format!("{rest}:{waits} {}", self.last);
        }
        screen.prose(2, Look::Plain, &rest)
    }
}

fn show_table(screen: Screen, rows: &[Row]) -> std::io::Result<()> {
    let widths: [usize; 4] = std::array::from_fn(|column| {
        let cells = rows
            .iter()
            .map(|row| measure_text_width(&row.cells[column]));
        cells.max().unwrap_or(0).max(COLUMNS[column].len())
    });
    let used: usize = widths.iter().map(|width| width + GAP).sum();
    let heading: String = COLUMNS
        .iter()
        .zip(widths)
        .map(|(name, width)| pad(name, width + GAP))
        .collect();
    screen.line(&screen.paint(Look::Dim, format!("{heading}WAITS FOR, OR SAYS")))?;
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.cells.iter().enumerate() {
            let look = if column == 1 {
                words::look(row.status)
            } else {
                Look::Plain
            };
            line.push_str(&screen.paint(look, pad(cell, widths[column])));
            line.push_str("  ");
        }
        // A pipe has room for all of it.
        let room = if screen.is_terminal() {
            screen.width().saturating_sub(used).max(8)
        } else {
            usize::MAX
        };
        line.push_str(&cut(&row.last, room));
        screen.line(line.trim_end())?;
    }
    Ok(())
}
