//! Fields on a terminal that can move its cursor: choices by `inquire`, and lines of
//! text by our own.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inquire::error::InquireError;
use inquire::list_option::ListOption;
use inquire::ui::{Attributes, Color, ErrorMessageRenderConfig, RenderConfig, StyleSheet, Styled};
use inquire::validator::{ErrorMessage, Validation};
use inquire::{Confirm, MultiSelect, Select};
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
    ) -> Result<Option<Value>, InquireError> {
        let start = now.cloned().or_else(|| kind.default_value());
        let mut prompt = Confirm::new(label)
            .with_render_config(self.config)
            .with_placeholder("y/n")
            .with_error_message("Please type y for yes or n for no");
        if let Some(yes) = start.as_ref().and_then(Value::as_bool) {
            prompt = prompt.with_default(yes);
        }
        if !help.is_empty() {
            prompt = prompt.with_help_message(help);
        }
        prompt.prompt().map(|yes| Some(yes.into()))
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
            .with_page_size(PAGE)
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
            .with_page_size(PAGE)
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
                self.yes_or_no(&label, &help, kind, now)
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
        let prompt = Select::new(message, options.to_vec())
            .with_render_config(self.config)
            .without_filtering()
            .with_page_size(PAGE)
            .with_help_message("↑↓ and Enter");
        let chosen = prompt.raw_prompt();
        chosen.map(|option| option.index).map_err(stopped)
    }
}

/// What there is to choose from, each in a line: a page of them fits the terminal.
fn options(kind: &FieldKind) -> Vec<String> {
    /// What stands before each of them.
    const MARK: usize = 8;
    let room = Screen::stderr().width().saturating_sub(MARK).max(8);
    let labels = field::labels(kind).into_iter();
    labels.map(|label| cut(&label, room)).collect()
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
