//! One field of a form as a person sees it: what it is called, what may be typed,
//! and which value that means.

use console::measure_text_width;
use mcp_tasks::protocol::{Choice, Field, FieldKind, Form, StringFormat};
use serde_json::{Map, Number, Value};

use crate::screen::{cut, harmless};

/// The largest whole number that JSON carries everywhere: a bound that is there
/// for the wire, not worth a person's attention.
const SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// What the field is called.
pub(crate) fn label(name: &str, field: &Field) -> String {
    harmless(field.title.as_deref().unwrap_or(name)).into_owned()
}

/// What the field is called, in no more than a line, with its explanation if that is
/// short.
pub(crate) fn heading(name: &str, field: &Field, width: usize) -> String {
    let mut label = label(name, field);
    if is_too_long(&label, width) {
        label = cut(name, width / 2);
    }
    match described(field, width) {
        Some((Place::Heading, description)) => format!("{label}: {}", harmless(description)),
        _ => label,
    }
}

/// What is too long to stand where somebody types.
pub(crate) fn above(name: &str, field: &Field, width: usize) -> Vec<String> {
    let label = label(name, field);
    let label = is_too_long(&label, width).then_some(label);
    let description = match described(field, width) {
        Some((Place::Above, description)) => Some(description.to_owned()),
        _ => None,
    };
    label.into_iter().chain(description).collect()
}

fn is_too_long(label: &str, width: usize) -> bool {
    measure_text_width(label) > width
}

/// Where an explanation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Beside the name: it leaves more than half of the line to the answer.
    Heading,
    /// With what the field takes: in two lines or so.
    Help,
    /// Above all of it, where it may be as long as it likes.
    Above,
}

fn described(field: &Field, width: usize) -> Option<(Place, &str)> {
    let description = field.description.as_deref()?;
    let place = match measure_text_width(description) {
        length if length < width / 2 => Place::Heading,
        length if length <= width * 2 && !description.contains('\n') => Place::Help,
        _ => Place::Above,
    };
    Some((place, description))
}

/// What there is to choose from, if anything.
pub(crate) fn choices(kind: &FieldKind) -> &[Choice] {
    match kind {
        FieldKind::Select { choices, .. } | FieldKind::MultiSelect { choices, .. } => choices,
        _ => &[],
    }
}

/// What the choices are called on screen.
pub(crate) fn labels(kind: &FieldKind) -> Vec<String> {
    let label = |choice: &Choice| harmless(choice.label()).into_owned();
    choices(kind).iter().map(label).collect()
}

/// What a field takes, in a line, after an explanation that is too long for the
/// [`heading`].
pub(crate) fn help(field: &Field, required: bool, width: usize) -> String {
    let mut parts = Vec::new();
    if let Some((Place::Help, description)) = described(field, width) {
        parts.push(harmless(description).into_owned());
    }
    parts.extend(takes(&field.kind));
    // Where there is a default, Enter takes it.
    if !required && field.kind.default_value().is_none() {
        parts.push("may be left empty".to_owned());
    }
    parts.join(" · ")
}

/// A field in a list of them: its name, what there is to choose from, what it takes.
pub(crate) fn line(name: &str, field: &Field, required: bool) -> String {
    let mut line = name.to_owned();
    if let Some(description) = &field.description {
        line = format!("{line}: {description}");
    }
    let values = choices(&field.kind).iter().map(|choice| &*choice.value);
    let values: Vec<_> = values.collect();
    if !values.is_empty() {
        line = format!("{line} ({})", values.join(", "));
    }
    let takes = match &field.kind {
        FieldKind::Boolean { .. } => Some("yes or no".to_owned()),
        kind => takes(kind),
    };
    let left_out = match field.kind.default_value() {
        _ if required => None,
        None => Some("may be left out".to_owned()),
        Some(Value::String(text)) => Some(format!("{text} if left out")),
        Some(Value::Array(list)) => {
            let list: Vec<_> = list.iter().filter_map(Value::as_str).collect();
            Some(format!("{} if left out", list.join(", ")))
        }
        Some(value) => Some(format!("{} if left out", shown(&field.kind, &value))),
    };
    let mut gap = if line.len() > name.len() {
        " · "
    } else {
        ": "
    };
    for part in takes.into_iter().chain(left_out) {
        line.push_str(gap);
        line.push_str(&part);
        gap = " · ";
    }
    harmless(&line).into_owned()
}

/// What may be typed or chosen, where that is not plain to see.
pub(crate) fn takes(kind: &FieldKind) -> Option<String> {
    Some(match kind {
        FieldKind::Text {
            min_len,
            max_len,
            format,
            ..
        } => {
            let format = format.map(|format| match format {
                StringFormat::Email => "a mail address",
                StringFormat::Uri => "an address such as https://example.org/page",
                StringFormat::Date => "a day such as 2026-07-28",
                StringFormat::DateTime => "a time such as 2026-07-28T09:30:00Z",
            });
            let length = range(*min_len, *max_len).map(|range| format!("{range} characters"));
            match (format, length) {
                (Some(format), Some(length)) => format!("{format}, {length}"),
                (Some(format), None) => format.to_owned(),
                (None, length) => length?,
            }
        }
        FieldKind::Number { min, max, .. } => within("a number", *min, *max),
        FieldKind::Integer { min, max, .. } => {
            let min = min.filter(|min| *min > -SAFE_INTEGER);
            let max = max.filter(|max| *max < SAFE_INTEGER);
            within("a whole number", min, max)
        }
        FieldKind::MultiSelect {
            min_items,
            max_items,
            ..
        } => format!("choose {}", range(*min_items, *max_items)?),
        _ => return None,
    })
}

fn within<N: std::fmt::Display>(what: &str, min: Option<N>, max: Option<N>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{what} from {min} to {max}"),
        (Some(min), None) => format!("{what} from {min}"),
        (None, Some(max)) => format!("{what} up to {max}"),
        (None, None) => what.to_owned(),
    }
}

fn range(min: Option<usize>, max: Option<usize>) -> Option<String> {
    Some(match (min.filter(|min| *min > 0), max) {
        (Some(min), Some(max)) if min == max => min.to_string(),
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => return None,
    })
}

/// A value as a person reads it.
pub(crate) fn shown(kind: &FieldKind, value: &Value) -> String {
    let label = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        let choice = choices(kind).iter().find(|choice| choice.value == text);
        choice.map_or(text, |choice| choice.label()).to_owned()
    };
    let shown = match (kind, value) {
        (_, Value::Bool(yes)) => if *yes { "yes" } else { "no" }.to_owned(),
        (FieldKind::Select { .. }, value) => label(value),
        (FieldKind::MultiSelect { .. }, Value::Array(chosen)) => {
            chosen.iter().map(label).collect::<Vec<_>>().join(", ")
        }
        (_, Value::String(text)) => text.clone(),
        (_, value) => value.to_string(),
    };
    harmless(&shown).into_owned()
}

/// The value that was typed, `None` if the field is left empty.
///
/// # Errors
///
/// The rule that is broken, as in "must be between 1 and 100".
pub(crate) fn parse(
    kind: &FieldKind,
    required: bool,
    typed: &str,
) -> Result<Option<Value>, String> {
    // A text is taken as it is typed; but spaces alone are none.
    let trimmed = typed.trim();
    if trimmed.is_empty() && !matches!(kind, FieldKind::MultiSelect { .. }) {
        if !required {
            return Ok(None);
        }
        // An empty text may be what is meant: the form says whether it is fine.
        if !matches!(kind, FieldKind::Text { .. }) {
            return Err("needs an answer".to_owned());
        }
    }
    let value = match kind {
        FieldKind::Text { format: None, .. } => Value::from(typed),
        FieldKind::MultiSelect { .. } => trimmed
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| choice(kind, part))
            .collect(),
        FieldKind::Select { .. } => choice(kind, trimmed),
        FieldKind::Boolean { .. } => yes_or_no(trimmed)
            .ok_or_else(|| "must be yes or no".to_owned())?
            .into(),
        // What is no number is left as text, which the form has words for.
        FieldKind::Number { .. } | FieldKind::Integer { .. } => trimmed
            .parse::<Number>()
            .map_or_else(|_| Value::from(trimmed), Value::Number),
        _ => Value::from(trimmed),
    };
    judge(kind, value).map(Some)
}

/// A choice by what is sent or shown for it; what is none is left as it is.
fn choice(kind: &FieldKind, typed: &str) -> Value {
    let choices = choices(kind);
    let is = |choice: &&Choice| choice.value == typed;
    let is_called = |choice: &&Choice| {
        choice.value.eq_ignore_ascii_case(typed) || choice.label().eq_ignore_ascii_case(typed)
    };
    let found = choices.iter().find(is);
    let found = found.or_else(|| choices.iter().find(is_called));
    found.map_or(typed, |choice| choice.value.as_str()).into()
}

pub(crate) fn yes_or_no(typed: &str) -> Option<bool> {
    match typed.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// Holds a value to the rules of its field.
///
/// # Errors
///
/// The rule that is broken.
pub(crate) fn judge(kind: &FieldKind, value: Value) -> Result<Value, String> {
    const NAME: &str = "field";
    let form = Form::new().require(NAME, Field::new(kind.clone()));
    let content = Value::Object(Map::from_iter([(NAME.to_owned(), value)]));
    match form.judge(Some(&content)) {
        Ok(content) => Ok(content.get(NAME).cloned().unwrap_or_default()),
        Err(errors) => Err(errors
            .into_iter()
            .next()
            .map_or_else(|| "does not fit".to_owned(), |error| error.rule)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn percent() -> FieldKind {
        FieldKind::Integer {
            min: Some(1),
            max: Some(100),
            default: Some(10),
        }
    }

    fn window() -> FieldKind {
        FieldKind::select(vec![
            Choice::titled("tonight", "Tonight, 22:00"),
            Choice::new("monday"),
        ])
    }

    #[test]
    fn what_is_typed_becomes_a_value_of_its_field() {
        for (kind, typed, value) in [
            (percent(), " 25 ", json!(25)),
            (FieldKind::number(), "1e3", json!(1e3)),
            (FieldKind::boolean(), "Yes", json!(true)),
            (FieldKind::text(), " kept ", json!(" kept ")),
            (window(), "tonight, 22:00", json!("tonight")),
            (window(), "MONDAY", json!("monday")),
            (
                FieldKind::multi_select(choices(&window()).to_vec()),
                "monday, tonight",
                json!(["monday", "tonight"]),
            ),
        ] {
            assert_eq!(parse(&kind, true, typed), Ok(Some(value)), "{typed}");
        }
        assert_eq!(parse(&percent(), false, ""), Ok(None));
        assert_eq!(parse(&FieldKind::text(), true, ""), Ok(Some(json!(""))));
    }

    #[test]
    fn what_does_not_fit_is_told_by_its_rule() {
        for (kind, typed, rule) in [
            (percent(), "500", "must be between 1 and 100, got 500"),
            (percent(), "ten", "must be a whole number"),
            (percent(), "", "needs an answer"),
            (FieldKind::boolean(), "perhaps", "must be yes or no"),
            (
                window(),
                "never",
                "must be one of `tonight`, `monday`, got `never`",
            ),
        ] {
            assert_eq!(parse(&kind, true, typed), Err(rule.to_owned()));
        }
    }

    #[test]
    fn the_help_says_what_fits() {
        let field = Field::new(percent()).description("Share of traffic");
        assert_eq!(heading("percent", &field, 80), "percent: Share of traffic");
        assert_eq!(help(&field, true, 80), "a whole number from 1 to 100");
        let field = Field::new(percent()).description("Share of traffic ".repeat(4));
        assert_eq!(heading("percent", &field, 80), "percent");
        assert!(help(&field, true, 80).starts_with("Share of traffic Share"));
        let long = Field::new(percent())
            .title("Share ".repeat(20))
            .description("Of traffic ".repeat(20));
        assert_eq!(heading("percent", &long, 80), "percent");
        assert_eq!(help(&long, true, 80), "a whole number from 1 to 100");
        assert_eq!(above("percent", &long, 80).len(), 2);
        assert!(above("percent", &field, 80).is_empty());
        let text = FieldKind::Text {
            min_len: Some(2),
            max_len: Some(4),
            format: None,
            default: None,
        };
        assert_eq!(
            help(&Field::new(text), false, 80),
            "2 to 4 characters · may be left empty"
        );
        assert_eq!(help(&Field::new(FieldKind::boolean()), true, 80), "");
    }

    #[test]
    fn a_list_of_fields_says_what_to_write() {
        for (kind, required, words) in [
            (FieldKind::boolean(), true, "it: Ship it? · yes or no"),
            (
                percent(),
                false,
                "it: Ship it? · a whole number from 1 to 100 · 10 if left out",
            ),
            (
                window(),
                false,
                "it: Ship it? (tonight, monday) · may be left out",
            ),
            (FieldKind::text(), true, "it: Ship it?"),
        ] {
            let field = Field::new(kind).description("Ship it?");
            assert_eq!(line("it", &field, required), words);
        }
        assert_eq!(line("it", &Field::new(FieldKind::text()), true), "it");
    }

    #[test]
    fn values_are_shown_as_they_were_chosen() {
        assert_eq!(shown(&window(), &json!("tonight")), "Tonight, 22:00");
        assert_eq!(shown(&FieldKind::boolean(), &json!(true)), "yes");
        assert_eq!(shown(&percent(), &json!(5)), "5");
        assert_eq!(percent().default_value(), Some(json!(10)));
    }
}
