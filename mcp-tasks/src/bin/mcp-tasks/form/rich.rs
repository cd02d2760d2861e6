//! Fields on a terminal that can move its cursor: choices by `inquire`, and lines of
//! text by our own.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use console::measure_text_width;
use inquire::error::InquireError;
use inquire::list_option::ListOption;
use inquire::ui::{Attributes, Color, ErrorMessageRenderConfig, RenderConfig, StyleSheet, Styled};
use inquire::validator::{ErrorMessage, Validation};
use inquire::{MultiSelect, Select};
use mcp_tasks::protocol::{Field, FieldKind};
use serde_json::Value;

use super::line::Line;
use super::{Desk, Stopped, field};
use crate::screen::{Look, Screen, colours_wanted, cut, harmless, shown_whole};

/// A person at such a terminal.
#[derive(Debug)]
pub(crate) struct Rich {
    config: RenderConfig<'static>,
    colours: bool,
    over: Arc<AtomicBool>,
    /// What was typed into fields that were left before it was an answer, by their names.
    unfinished: HashMap<String, String>,
}

const EMPTY: &str = "(leave empty)";

/// How many options are shown at once.
const PAGE: usize = 12;

impl Rich {
    /// A person who may go on until the question is `over`.
    pub(crate) fn new(over: Arc<AtomicBool>) -> Self {
        let colours = colours_wanted();
        let config = if colours {
            let dim = StyleSheet::new()
                .with_attr(Attributes::empty())
                .with_fg(Color::DarkGrey);
            RenderConfig::default_colored()
                .with_prompt_prefix(Styled::new("?").with_fg(Color::LightCyan))
                .with_answered_prompt_prefix(Styled::new("✓").with_fg(Color::LightGreen))
                .with_help_message(dim)
                .with_error_message(
                    ErrorMessageRenderConfig::default_colored()
                        .with_prefix(Styled::new("✗").with_fg(Color::LightRed)),
                )
                .with_canceled_prompt_indicator(
                    Styled::new("(interrupted)").with_fg(Color::DarkGrey),
                )
        } else {
            RenderConfig::empty()
                .with_answered_prompt_prefix(Styled::new("*"))
                .with_canceled_prompt_indicator(Styled::new("(interrupted)"))
        };
        Self {
            config,
            colours,
            over,
            unfinished: HashMap::new(),
        }
    }

    fn text(
        &self,
        (label, help): (&str, &str),
        kind: &FieldKind,
        required: bool,
        text: &mut String,
    ) -> Result<Option<Value>, Stopped> {
        let default = kind.default_value();
        let default_shown = default.as_ref().map(|value| field::shown(kind, value));
        let line = Line {
            label,
            default: default_shown.as_deref().filter(|shown| !shown.is_empty()),
            help,
            colours: self.colours,
            over: &self.over,
        };
        let judge = |typed: &str| match &default {
            Some(default) if typed.is_empty() => field::judge(kind, default.clone()).map(Some),
            _ => field::parse(kind, required, typed),
        };
        let shown = |typed: &str| match (typed.trim(), &default_shown) {
            ("", Some(default)) if typed.is_empty() && !default.is_empty() => default.clone(),
            ("", _) => "(empty)".to_owned(),
            _ => shown_whole(typed),
        };
        line.read(text, judge, shown)
    }

    fn yes_or_no(
        &self,
        label: &str,
        help: &str,
        kind: &FieldKind,
        now: Option<&Value>,
    ) -> Result<Option<Value>, Stopped> {
        let start = now.cloned().or_else(|| kind.default_value());
        let start_shown = start.as_ref().map(|start| field::shown(kind, start));
        let line = Line {
            label,
            default: start_shown.as_deref(),
            help,
            colours: self.colours,
            over: &self.over,
        };
        let judge = |typed: &str| match &start {
            Some(start) if typed.trim().is_empty() => Ok(Some(start.clone())),
            _ => field::parse(kind, true, typed),
        };
        let shown = |typed: &str| match judge(typed) {
            Ok(Some(value)) => field::shown(kind, &value),
            _ => String::new(),
        };
        line.read(&mut String::new(), judge, shown)
    }

    fn select(
        &self,
        label: &str,
        help: &str,
        field: &Field,
        required: bool,
        now: Option<&Value>,
    ) -> Result<Option<Value>, InquireError> {
        let is_bool = matches!(field.kind, FieldKind::Boolean { .. });
        let mut options = if is_bool {
            vec!["yes".to_owned(), "no".to_owned()]
        } else {
            options(&field.kind)
        };
        let values: Vec<Value> = if is_bool {
            vec![true.into(), false.into()]
        } else {
            let choices = field::choices(&field.kind).iter();
            choices.map(|choice| choice.value.as_str().into()).collect()
        };
        if !required {
            options.push(EMPTY.to_owned());
        }
        let start = now.cloned().or_else(|| field.kind.default_value());
        let start = match start {
            Some(start) => values.iter().position(|value| *value == start),
            None if !required => Some(values.len()),
            None => None,
        };
        let prompt = Select::new(label, options)
            .with_render_config(self.config)
            .with_starting_cursor(start.unwrap_or(0))
            .with_page_size(page(label, help))
            .with_help_message(help);
        let chosen = prompt.raw_prompt()?;
        Ok(values.into_iter().nth(chosen.index))
    }

    fn multi_select(
        &self,
        label: &str,
        help: &str,
        field: &Field,
        required: bool,
        now: Option<&Value>,
    ) -> Result<Option<Value>, InquireError> {
        let choices = field::choices(&field.kind).to_vec();
        let start = now.cloned().or_else(|| field.kind.default_value());
        let start: Vec<usize> = choices
            .iter()
            .enumerate()
            .filter(|(_, choice)| {
                let chosen = start.as_ref().and_then(Value::as_array);
                chosen.is_some_and(|chosen| chosen.iter().any(|one| *one == choice.value))
            })
            .map(|(index, _)| index)
            .collect();
        let kind = field.kind.clone();
        let values = move |indices: Vec<usize>| -> Value {
            let values = indices
                .into_iter()
                .map(|index| choices[index].value.clone());
            values.collect::<Vec<_>>().into()
        };
        let judged = values.clone();
        let prompt = MultiSelect::new(label, options(&field.kind))
            .with_render_config(self.config)
            .with_default(&start)
            .with_page_size(page(label, help))
            .with_formatter(&|chosen: &[ListOption<&String>]| {
                let chosen: Vec<_> = chosen.iter().map(|option| option.value.as_str()).collect();
                if chosen.is_empty() {
                    return "(empty)".to_owned();
                }
                chosen.join(", ")
            })
            .with_help_message(help)
            .with_validator(move |chosen: &[ListOption<&String>]| {
                let indices: Vec<_> = chosen.iter().map(|option| option.index).collect();
                if indices.is_empty() && !required {
                    return Ok(Validation::Valid);
                }
                Ok(match field::judge(&kind, judged(indices)) {
                    Ok(_) => Validation::Valid,
                    Err(rule) => Validation::Invalid(told(&rule)),
                })
            });
        let chosen = prompt.raw_prompt()?;
        let indices: Vec<_> = chosen.into_iter().map(|option| option.index).collect();
        if indices.is_empty() && !required {
            return Ok(None);
        }
        Ok(Some(values(indices)))
    }
}

impl Desk for Rich {
    fn ways_out(&self) -> &'static str {
        "Esc to decline, dismiss or go back; Ctrl-C to leave."
    }

    fn field(
        &mut self,
        name: &str,
        field: &Field,
        required: bool,
        now: Option<&Value>,
    ) -> Result<Option<Value>, Stopped> {
        let screen = Screen::stderr();
        let width = screen.width();
        for above in field::above(name, field, width) {
            screen
                .prose(2, Look::Plain, &above)
                .map_err(Stopped::Broken)?;
        }
        let label = field::heading(name, field, width);
        let help = field::help(field, required, width);
        let keys = |keys: &str| {
            if help.is_empty() {
                keys.to_owned()
            } else {
                format!("{help} · {keys}")
            }
        };
        let filled_in = match &field.kind {
            kind @ FieldKind::Boolean { .. } if required => {
                return self.yes_or_no(&label, &keys("y or n"), kind, now);
            }
            FieldKind::Select { .. } | FieldKind::Boolean { .. } => {
                self.select(&label, &keys("↑↓ and Enter"), field, required, now)
            }
            FieldKind::MultiSelect { .. } => {
                let help = keys("↑↓, Space marks, Enter when done");
                self.multi_select(&label, &help, field, required, now)
            }
            kind => {
                let unfinished = self.unfinished.remove(name);
                let mut text = unfinished.unwrap_or_else(|| match now {
                    // As it was typed, with its lines.
                    Some(Value::String(text)) => text.clone(),
                    Some(value) => field::shown(kind, value),
                    None => String::new(),
                });
                let said = self.text((&label, &help), kind, required, &mut text);
                if said.is_err() {
                    self.unfinished.insert(name.to_owned(), text);
                }
                return said;
            }
        };
        filled_in.map_err(stopped)
    }

    fn choose(&mut self, message: &str, options: &[String]) -> Result<usize, Stopped> {
        /// What stands before each, and the last column.
        const MARK: usize = 3;
        let keys = "↑↓ and Enter";
        let options = options.iter().map(String::as_str);
        let prompt = Select::new(message, in_lines(options, MARK))
            .with_render_config(self.config)
            .without_filtering()
            .with_page_size(page(message, keys))
            .with_help_message(keys);
        let chosen = prompt.raw_prompt();
        chosen.map(|option| option.index).map_err(stopped)
    }
}

/// What there is to choose from.
fn options(kind: &FieldKind) -> Vec<String> {
    /// Room for the marks of a list of several, and for those of pages.
    const MARKS: usize = 8;
    let labels = field::labels(kind);
    in_lines(labels.iter().map(String::as_str), MARKS)
}

/// Each in a line: a page of them fits the terminal.
fn in_lines<'a>(labels: impl Iterator<Item = &'a str>, marks: usize) -> Vec<String> {
    let room = Screen::stderr().width().saturating_sub(marks).max(8);
    labels.map(|label| cut(label, room)).collect()
}

/// How many options are shown at once: what is chosen from stays in sight together with
/// the words above and below.
fn page(label: &str, help: &str) -> usize {
    /// The sign before the label, and the brackets around the help.
    const AROUND: usize = 3;
    let screen = Screen::stderr();
    let rows = |text: &str| (measure_text_width(text) + AROUND).div_ceil(screen.width());
    let Some(height) = screen.height() else {
        return PAGE;
    };
    // The last line is that of the cursor.
    let room = height.saturating_sub(rows(label) + rows(help) + 1);
    room.clamp(1, PAGE)
}

/// A rule as a sentence.
fn told(rule: &str) -> ErrorMessage {
    ErrorMessage::Custom(harmless(&format!("It {rule}.")).into_owned())
}

fn stopped(error: InquireError) -> Stopped {
    match error {
        InquireError::OperationCanceled => Stopped::Escape,
        InquireError::OperationInterrupted => Stopped::Interrupt,
        InquireError::IO(error) => Stopped::Broken(error),
        error => Stopped::Broken(io::Error::other(Words(error))),
    }
}

#[derive(Debug)]
struct Words(InquireError);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for Words {}
