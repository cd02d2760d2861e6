//! One task: what it is, and what has happened to it.

use std::io;

use mcp_tasks::store::inspect::{StoreFile, StoredTask};
use mcp_tasks::task::{Entry, Event, Seq, TaskId, Timestamp};
use serde::Serialize;

use super::event::{Teller, question};
use super::waits::{in_a_line, waits};
use super::{json_line, now, wait_for_change};
use crate::exit::Stop;
use crate::flags::Inspect;
use crate::screen::{Look, Screen, cut, pad};
use crate::words;

pub(super) fn show(file: &StoreFile, id: &TaskId, flags: &Inspect) -> Result<(), Stop> {
    let mut telling = Telling::default();
    let mut first = true;
    loop {
        let stamp = file.stamp();
        let seen = file.look(|view| {
            let task = view.task(id)?;
            Ok((task, view.journal(id, telling.last)?))
        });
        let (task, entries) = seen.map_err(Stop::file)?;
        let Some(task) = task else {
            // Its retention has come to its end.
            return Ok(());
        };
        let ended = task.snapshot.is_terminal();
        if flags.json {
            if first {
                json_line(&super::list::line(&task, now()))?;
            }
            for entry in &entries {
                json_entry(entry)?;
                telling.last = entry.seq;
            }
        } else {
            if first {
                head(&task, entries.first())?;
            }
            telling.tell(&task, &entries)?;
        }
        if ended || !flags.follow {
            if !flags.json {
                foot(&task, first)?;
            }
            return Ok(());
        }
        first = false;
        wait_for_change(file, &stamp, None);
    }
}

/// An entry for programs: its place, when it was, and the event as the journal
/// has it.
fn json_entry(entry: &Entry) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        seq: Seq,
        at: String,
        event: &'a Event,
    }
    json_line(&Line {
        seq: entry.seq,
        at: entry.at.to_iso_8601(),
        event: &entry.event,
    })
}

/// What is known of the task without its history.
fn head(task: &StoredTask, first: Option<&Entry>) -> io::Result<()> {
    let screen = Screen::stdout();
    let (snapshot, now) = (&task.snapshot, now());
    let status = snapshot.status();
    screen.line(&format!(
        "{}  {}",
        screen.paint(Look::Bold, cut(&snapshot.tool, 40)),
        screen.paint(words::look(status), words::status(status)),
    ))?;
    screen.line("")?;
    let fact = |name: &str, value: &str| labelled(screen, name, value);
    fact("task", snapshot.id.as_str())?;
    let version = match snapshot.version {
        0 | 1 => String::new(),
        version => format!(", version {version} of the tool"),
    };
    let scope = match &*task.scope {
        "" => String::new(),
        scope => format!(", scope {scope}"),
    };
    fact("server", &format!("{}{scope}{version}", task.server))?;
    fact("caller", snapshot.caller.as_str())?;
    let ago = words::duration(now.since(snapshot.created_at));
    fact(
        "created",
        &format!("{}, {ago} ago", words::moment(snapshot.created_at)),
    )?;
    match snapshot.expires_at() {
        _ if snapshot.is_terminal() => {}
        Some(at) if at <= now => fact("expires", "now")?,
        Some(at) => fact("expires", &format!("in {}", words::duration(at.since(now))))?,
        None => fact("expires", "never")?,
    }
    if let Some(Event::Created(created)) = first.map(|entry| &entry.event) {
        fact("arguments", created.arguments.get())?;
    }
    if let Some(message) = snapshot.status_message() {
        fact("says", &message)?;
    }
    let waits = waits(task, now);
    if !waits.is_empty() {
        fact("waits for", &in_a_line(&waits, now))?;
    }
    screen.line("")
}

fn labelled(screen: Screen, name: &str, value: &str) -> io::Result<()> {
    const LABEL: usize = 11;
    const SHOWN: usize = 6;
    let room = screen.width().saturating_sub(LABEL + 2).max(10);
    let text: String = value.lines().collect::<Vec<_>>().join(" ");
    let lines = crate::screen::wrap(&crate::screen::harmless(&text), room);
    for (number, line) in lines.iter().take(SHOWN).enumerate() {
        let name = if number == 0 { name } else { "" };
        let more = if number + 1 == SHOWN && lines.len() > SHOWN {
            " …"
        } else {
            ""
        };
        screen.line(&format!(
            "  {}{line}{more}",
            screen.paint(Look::Dim, pad(name, LABEL))
        ))?;
    }
    Ok(())
}

/// What comes after the history.
fn foot(task: &StoredTask, alone: bool) -> io::Result<()> {
    let screen = Screen::stdout();
    if task.snapshot.is_terminal() {
        if alone {
            let words = "A store keeps only the end of what has ended: what the task was asked \
                         and told has been removed.";
            screen.prose(2, Look::Dim, words)?;
        }
        if let Some(at) = task.deleted_at {
            let (now, at) = (now(), at);
            let when = if at <= now {
                "at any moment".to_owned()
            } else {
                format!("in {}", words::duration(at.since(now)))
            };
            screen.prose(2, Look::Dim, &format!("It is deleted {when}."))?;
        }
        return Ok(());
    }
    for (key, request) in &task.snapshot.input_requests {
        screen.line("")?;
        screen.prose(2, Look::Notable, &format!("Open question `{key}`:"))?;
        screen.prose(4, Look::Plain, &question(request))?;
    }
    Ok(())
}

/// The history, as far as it has been told.
#[derive(Default)]
struct Telling {
    last: Seq,
    before: Option<Timestamp>,
    teller: Teller,
}

/// Below that, times of the day are to the second and gaps are left out.
const NARROW: usize = 64;

impl Telling {
    fn tell(&mut self, task: &StoredTask, entries: &[Entry]) -> io::Result<()> {
        let screen = Screen::stdout();
        if self.before.is_none() && task.snapshot.is_terminal() {
            // Its beginning is not in the journal any more.
            let created = task.snapshot.created_at;
            self.line(screen, created, "created", None, Look::Plain)?;
        }
        for entry in entries {
            let told = self.teller.tell(entry);
            self.line(
                screen,
                entry.at,
                &told.what,
                told.content.as_deref(),
                told.look,
            )?;
            self.last = entry.seq;
        }
        Ok(())
    }

    fn line(
        &mut self,
        screen: Screen,
        at: Timestamp,
        what: &str,
        content: Option<&str>,
        look: Look,
    ) -> io::Result<()> {
        let new_day = self
            .before
            .is_none_or(|before| words::day(before) != words::day(at));
        if new_day {
            screen.line(&screen.paint(Look::Dim, format!("  {} (UTC)", words::day(at))))?;
        }
        let gap = self.before.map_or_else(String::new, |before| {
            format!("+{}", words::duration(at.since(before)))
        });
        self.before = Some(at);
        let width = screen.width();
        let mut time = words::time_of_day(at);
        let prefix = if width < NARROW {
            time.truncate(8);
            format!("  {time}  ")
        } else {
            format!("  {time}  {gap:>12}  ")
        };
        let used = prefix.len();
        let room = width.saturating_sub(used).max(16);
        let what = cut(what, room);
        let left = room.saturating_sub(console::measure_text_width(&what) + 2);
        let painted = screen.paint(look, &what);
        let prefix = screen.paint(Look::Dim, prefix);
        match content.map(|text| text.lines().collect::<Vec<_>>().join(" ")) {
            Some(text) if !text.is_empty() && left >= 12 => {
                let text = screen.paint(Look::Dim, cut(&text, left));
                screen.line(&format!("{prefix}{painted}  {text}"))
            }
            Some(text) if !text.is_empty() => {
                screen.line(&format!("{prefix}{painted}"))?;
                let text = screen.paint(Look::Dim, cut(&text, room));
                screen.line(&format!("{:used$}{text}", ""))
            }
            _ => screen.line(&format!("{prefix}{painted}")),
        }
    }
}
