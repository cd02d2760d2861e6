//! How a call gets on: one line that changes, on a terminal that can do that, or
//! else a line for each change.

use std::io;
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use mcp_tasks::client::{CallState, Progress};
use mcp_tasks::protocol::TaskStatus;

use crate::screen::{Look, Screen, colours_wanted, cut, harmless, is_dumb};
use crate::words;

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(100);

/// How often progress is told in lines, unless the message changes.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Below that, the bar is a short one.
const NARROW: usize = 60;

/// The last columns, which stay free.
const MARGIN: u16 = 3;

/// Shows the state of a call to people, on the standard error.
pub(crate) struct Live {
    screen: Screen,
    how: How,
    since: Instant,
    is_late: bool,
    is_child: bool,
}

enum How {
    /// Nothing is shown.
    Quiet,
    /// What was told last, without and with how far it is.
    Lines {
        words: String,
        line: String,
        at: Option<Instant>,
    },
    Line(Box<Line>),
}

struct Line {
    /// None while something else has the terminal.
    bar: Option<ProgressBar>,
    state: Option<CallState>,
}

impl Live {
    /// What is shown of a call, to a server that this program has started or to
    /// another.
    pub(crate) fn new(quiet: bool, json: bool, is_child: bool) -> Self {
        let screen = Screen::stderr();
        // Objects for programs, on the same terminal, would stand in the line that changes.
        let is_shared = json && Screen::stdout().is_terminal();
        let how = if quiet {
            How::Quiet
        } else if screen.is_terminal() && !is_dumb() && !is_shared {
            How::Line(Box::new(Line {
                bar: None,
                state: None,
            }))
        } else {
            How::Lines {
                words: String::new(),
                line: String::new(),
                at: None,
            }
        };
        Self {
            screen,
            how,
            since: Instant::now(),
            is_late: false,
            is_child,
        }
    }

    /// What is shown has begun some time ago, nobody knows when.
    pub(crate) fn joins_late(&mut self) {
        self.is_late = true;
    }

    /// Shows that something is under way that has no state yet.
    pub(crate) fn begin(&mut self, words: &str) {
        let (since, width) = (self.since, self.screen.width());
        if let How::Line(line) = &mut self.how {
            let bar = line.bar.get_or_insert_with(|| new_bar(since));
            bar.set_style(style(None, width));
            bar.set_message(words.to_owned());
        }
    }

    /// Shows a state.
    pub(crate) fn show(&mut self, state: &CallState) {
        let is_child = self.is_child;
        match &mut self.how {
            How::Quiet => {}
            // That it has ended is told by itself.
            How::Lines { .. } if state.status.is_terminal() => {}
            How::Lines { words, line, at } => {
                let now = in_words(state, is_child);
                let is_time = at.is_none_or(|at| at.elapsed() >= LINE_EVERY);
                let now_counted = counted(&now, state);
                // The questions are told by themselves.
                if (is_time && *line != now_counted) || *words != now {
                    *words = now;
                    line.clone_from(&now_counted);
                    *at = Some(Instant::now());
                    self.say(Look::Plain, &now_counted);
                }
            }
            How::Line(line) => {
                line.state = Some(state.clone());
                if let Some(bar) = &line.bar {
                    draw(bar, state, is_child, self.screen.width());
                }
            }
        }
    }

    /// Gives the terminal to something else.
    pub(crate) fn pause(&mut self) {
        if let How::Line(line) = &mut self.how
            && let Some(bar) = line.bar.take()
        {
            bar.finish_and_clear();
        }
    }

    /// Takes the terminal back.
    pub(crate) fn go_on(&mut self) {
        let (since, width, is_child) = (self.since, self.screen.width(), self.is_child);
        if let How::Line(line) = &mut self.how
            && line.bar.is_none()
        {
            let bar = new_bar(since);
            if let Some(state) = &line.state {
                draw(&bar, state, is_child, width);
            }
            line.bar = Some(bar);
        }
    }

    /// Says something that stays.
    pub(crate) fn say(&self, look: Look, text: &str) {
        let show = || {
            // Whoever has gone is told nothing.
            drop(self.screen.prose(0, look, text));
        };
        match &self.how {
            How::Quiet => {}
            How::Line(line) => match &line.bar {
                Some(bar) => bar.suspend(show),
                None => show(),
            },
            How::Lines { .. } => show(),
        }
    }

    /// How long it has taken, if all of it was shown.
    pub(crate) fn elapsed(&self) -> Option<Duration> {
        (!self.is_late).then(|| self.since.elapsed())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.pause();
    }
}

fn new_bar(since: Instant) -> ProgressBar {
    // Its own check for a terminal looks at the environment in other ways.
    let target = ProgressDrawTarget::term_like_with_hz(Box::new(Margin(Term::stderr())), 10);
    let bar = ProgressBar::with_draw_target(None, target).with_elapsed(since.elapsed());
    bar.set_style(style(None, Screen::stderr().width()));
    bar.enable_steady_tick(TICK);
    bar
}

/// A terminal whose last columns stay free: there it shows `^C`, which would else
/// begin a line of its own and leave the one above behind.
#[derive(Debug)]
struct Margin(Term);

impl TermLike for Margin {
    fn width(&self) -> u16 {
        self.0.size().1.saturating_sub(MARGIN).max(1)
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.0.write_line(line)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

fn draw(bar: &ProgressBar, state: &CallState, is_child: bool, width: usize) {
    /// The steps of the bar.
    const FINE: f64 = 1000.0;
    let share = state.progress.and_then(share);
    bar.set_style(style(share.is_some().then_some(()), width));
    if let Some(share) = share {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the number of steps"
        )]
        let position = (share * FINE) as u64;
        bar.set_length(1000);
        bar.set_position(position);
    }
    let words = counted(&in_words(state, is_child), state);
    // What does not fit is seen to be left out.
    bar.set_message(cut(&words, room(share.is_some(), width)));
}

/// The columns that are left beside the spinner, the bar, and the clock.
fn room(has_bar: bool, width: usize) -> usize {
    const SPINNER: usize = 2;
    const CLOCK: usize = 5;
    const PERCENT: usize = 5;
    let bar = match has_bar {
        false => 0,
        true if width < NARROW => 9 + PERCENT,
        true => 21 + PERCENT,
    };
    width
        .saturating_sub(usize::from(MARGIN) + SPINNER + CLOCK + bar)
        .max(1)
}

/// The words after how far it is, which is what matters where there is little room.
fn counted(words: &str, state: &CallState) -> String {
    match state.progress {
        Some(progress) if state.trouble.is_none() => format!("{} {words}", count(progress)),
        _ => words.to_owned(),
    }
}

/// What part is done.
fn share(progress: Progress) -> Option<f64> {
    let total = progress.total.filter(|total| *total > 0.0)?;
    Some((progress.done / total).clamp(0.0, 1.0))
}

fn count(progress: Progress) -> String {
    match progress.total {
        Some(total) => format!("{}/{total}", progress.done),
        None => progress.done.to_string(),
    }
}

/// The state in a line: trouble first, since it says why nothing moves.
fn in_words(state: &CallState, is_child: bool) -> String {
    if let Some(trouble) = &state.trouble {
        // The cause is what comes last.
        let cause = trouble.rsplit(": ").next().unwrap_or(trouble);
        let what = if is_child {
            "the server is gone, trying again"
        } else {
            "no connection, trying again"
        };
        return format!("{what}: {}", harmless(cause));
    }
    let status = words::status(state.status);
    let mut message = state.message.as_deref().unwrap_or_default();
    if let Some(progress) = state.progress {
        // Servers of this crate say it in their message too.
        message = message
            .strip_prefix(&count(progress))
            .unwrap_or(message)
            .trim_start();
    }
    match (state.status, message) {
        (status, message) if status == TaskStatus::Working && !message.is_empty() => {
            harmless(message).into_owned()
        }
        (_, "") => status.to_owned(),
        (_, message) => format!("{status}: {}", harmless(message)),
    }
}

fn style(bar: Option<()>, width: usize) -> ProgressStyle {
    let template = match bar {
        None => "{spinner} {wide_msg} {clock}",
        Some(()) if width < NARROW => "{spinner} {wide_msg} {bar:8} {percent:>3}% {clock}",
        Some(()) => "{spinner} {wide_msg} {bar:20} {percent:>3}% {clock}",
    };
    let template = if colours_wanted() {
        let template = template.replace("{spinner}", "{spinner:.cyan}");
        let template = template.replace("{bar:20}", "{bar:20.cyan/dim}");
        template
            .replace("{bar:8}", "{bar:8.cyan/dim}")
            .replace("{clock}", "{clock:.dim}")
    } else {
        template.to_owned()
    };
    let style = ProgressStyle::with_template(&template);
    style
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .with_key(
            "clock",
            |state: &ProgressState, w: &mut dyn std::fmt::Write| {
                let _infallible = w.write_str(&words::clock(state.elapsed()));
            },
        )
        .progress_chars("━━─")
        .tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ")
}
