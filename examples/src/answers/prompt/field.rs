//! One field of a form as a person sees it: what it is called, what may be
//! typed, and which value that means.

use mcp_tasks::protocol::{Choice, Field, FieldKind, Form, StringFormat};
use serde_json::{Map, Number, Value};

/// The largest whole number that JSON carries everywhere: a bound that is there
/// for the wire, not worth a person's attention.
const SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// What the field is called, with its explanation.
pub(super) fn label(name: &str, field: &Field) -> String {
    let name = field.title.as_deref().unwrap_or(name);
    match &field.description {
        Some(description) => format!("{name}: {description}"),
        None => name.to_owned(),
    }
}

/// What there is to choose from, if anything.
pub(super) fn choices(kind: &FieldKind) -> impl Iterator<Item = &str> {
    of(kind).iter().map(Choice::label)
}

fn of(kind: &FieldKind) -> &[Choice] {
    match kind {
        FieldKind::Select { choices, .. } | FieldKind::MultiSelect { choices, .. } => choices,
        _ => &[],
    }
}

/// What may be typed, and what Enter means.
pub(super) fn hint(kind: &FieldKind, required: bool) -> String {
    let takes = match kind {
        FieldKind::Text {
            min_len,
            max_len,
            format,
            ..
        } => {
            let what = match format {
                None => "text",
                Some(StringFormat::Email) => "a mail address",
                Some(StringFormat::Uri) => "a URI",
                Some(StringFormat::Date) => "a day, as in 2026-07-28",
                Some(StringFormat::DateTime) => "a time, as in 2026-07-28T09:30:00Z",
            };
            match range(*min_len, *max_len) {
                Some(range) => format!("{what}, {range} characters"),
                None => what.to_owned(),
            }
        }
        FieldKind::Number { min, max, .. } => within("a number", *min, *max),
        FieldKind::Integer { min, max, .. } => {
            let min = min.filter(|min| *min > -SAFE_INTEGER);
            let max = max.filter(|max| *max < SAFE_INTEGER);
            within("a whole number", min, max)
        }
        FieldKind::Boolean { .. } => "yes or no".to_owned(),
        FieldKind::Select { choices, .. } => within("a number", Some(1), Some(choices.len())),
        FieldKind::MultiSelect {
            min_items,
            max_items,
            ..
        } => match range(*min_items, *max_items) {
            Some(range) => format!("{range} numbers, with commas between them"),
            None => "numbers, with commas between them".to_owned(),
        },
        _ => "text".to_owned(),
    };
    match (shown_default(kind), required) {
        (Some(default), _) => format!("{takes} [{default}]"),
        (None, true) => takes,
        (None, false) => format!("{takes}, or Enter for none"),
    }
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

/// The default as a person would type it.
fn shown_default(kind: &FieldKind) -> Option<String> {
    let number = |value: &String| {
        let index = of(kind).iter().position(|choice| choice.value == *value)?;
        Some((index + 1).to_string())
    };
    match kind {
        FieldKind::Text { default, .. } => default.clone().filter(|text| !text.is_empty()),
        FieldKind::Number { default, .. } => default.map(|number| number.to_string()),
        FieldKind::Integer { default, .. } => default.map(|number| number.to_string()),
        FieldKind::Boolean { default } => default.map(|yes| if yes { "yes" } else { "no" }.into()),
        FieldKind::Select { default, .. } => default.as_ref().and_then(number),
        FieldKind::MultiSelect { default, .. } => {
            let numbers: Option<Vec<_>> = default.as_ref()?.iter().map(number).collect();
            numbers.map(|numbers| numbers.join(", "))
        }
        _ => None,
    }
    .filter(|shown| !shown.is_empty())
}

/// The value that was typed, `None` if the field was left empty.
///
/// # Errors
///
/// The rule that is broken, as in "must be between 1 and 100".
pub(super) fn parse(
    kind: &FieldKind,
    required: bool,
    typed: &str,
) -> Result<Option<Value>, String> {
    let default = shown_default(kind);
    let typed = match (typed, default.as_deref()) {
        ("", Some(default)) => default,
        ("", None) if !required => return Ok(None),
        (typed, _) => typed,
    };
    let value = value(kind, typed)?;
    judge(kind, value).map(Some)
}

fn value(kind: &FieldKind, typed: &str) -> Result<Value, String> {
    let choices = of(kind);
    Ok(match kind {
        FieldKind::MultiSelect { .. } => {
            let parts = typed.split(',').map(str::trim);
            parts
                .filter(|part| !part.is_empty())
                .map(|part| choice(choices, part))
                .collect::<Result<_, _>>()?
        }
        _ if typed.is_empty() => return Err("needs an answer".to_owned()),
        FieldKind::Select { .. } => choice(choices, typed)?,
        FieldKind::Boolean { .. } => yes_or_no(typed)
            .ok_or_else(|| "must be yes or no".to_owned())?
            .into(),
        // What is no number is left as text, which the form has words for.
        FieldKind::Number { .. } | FieldKind::Integer { .. } => typed
            .parse::<Number>()
            .map_or_else(|_| Value::from(typed), Value::Number),
        _ => Value::from(typed),
    })
}

/// A choice by its number, or by what is sent or shown for it.
fn choice(choices: &[Choice], typed: &str) -> Result<Value, String> {
    let by_number = typed.parse::<usize>().ok();
    let by_number = by_number.and_then(|number| choices.get(number.checked_sub(1)?));
    let named = |choice: &&Choice| {
        choice.value.eq_ignore_ascii_case(typed) || choice.label().eq_ignore_ascii_case(typed)
    };
    by_number
        .or_else(|| choices.iter().find(named))
        .map(|choice| Value::from(choice.value.as_str()))
        .ok_or_else(|| format!("must be a number from 1 to {}", choices.len()))
}

pub(super) fn yes_or_no(typed: &str) -> Option<bool> {
    match typed.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// Holds the value to the rules of its field.
fn judge(kind: &FieldKind, value: Value) -> Result<Value, String> {
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
