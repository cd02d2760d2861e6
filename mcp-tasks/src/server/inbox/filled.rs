//! What stands in a field: at first its default, then what somebody typed.
//!
//! Choices travel by their number, so that whatever their values are, nothing on
//! the way changes them.

use chrono::{DateTime, Timelike as _};
use serde_json::{Number, Value};

use super::typed::Typed;
use crate::protocol::{Choice, Field, FieldKind, StringFormat};

/// What stands in one field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filled {
    Text(String),
    /// A point in time as people say it: where they are, and how far that is
    /// from UTC.
    Moment {
        local: String,
        offset: String,
    },
    YesNo(Option<bool>),
    Choice(Option<usize>),
    Choices(Vec<usize>),
}

pub(super) const YES: &str = "yes";
pub(super) const NO: &str = "no";

/// The name of a field in its form.
pub(super) fn name(index: usize) -> String {
    format!("f{index}")
}

/// The name of what goes with the time in the field.
pub(super) fn offset_name(index: usize) -> String {
    format!("f{index}offset")
}

impl Filled {
    /// What the form starts with.
    pub(super) fn default(field: &Field) -> Self {
        match &field.kind {
            FieldKind::Text {
                format: Some(StringFormat::DateTime),
                default,
                ..
            } => moment(default.as_deref()),
            FieldKind::Text { default, .. } => Self::Text(default.clone().unwrap_or_default()),
            FieldKind::Number { default, .. } => Self::Text(text(default.as_ref())),
            FieldKind::Integer { default, .. } => Self::Text(text(default.as_ref())),
            FieldKind::Boolean { default } => Self::YesNo(*default),
            FieldKind::Select { choices, default } => {
                Self::Choice(default.as_deref().and_then(|value| place(choices, value)))
            }
            FieldKind::MultiSelect {
                choices, default, ..
            } => {
                let values = default.iter().flatten();
                Self::Choices(values.filter_map(|value| place(choices, value)).collect())
            }
        }
    }

    /// What somebody sent.
    pub(super) fn typed(index: usize, field: &Field, typed: &Typed) -> Self {
        let name = name(index);
        let one = || typed.one(&name).unwrap_or_default();
        match &field.kind {
            FieldKind::Text {
                format: Some(StringFormat::DateTime),
                ..
            } => Self::Moment {
                local: one().to_owned(),
                offset: typed
                    .one(&offset_name(index))
                    .unwrap_or_default()
                    .to_owned(),
            },
            FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::Integer { .. } => {
                Self::Text(one().to_owned())
            }
            FieldKind::Boolean { .. } => Self::YesNo(match one() {
                YES => Some(true),
                NO => Some(false),
                _ => None,
            }),
            FieldKind::Select { choices, .. } => Self::Choice(number(one(), choices)),
            FieldKind::MultiSelect { choices, .. } => Self::Choices(
                typed
                    .all(&name)
                    .filter_map(|value| number(value, choices))
                    .collect(),
            ),
        }
    }

    /// What is wrong with what people see as more than one control, where the form
    /// knows of one value.
    pub(super) fn own_rule(&self) -> Option<&'static str> {
        match self {
            Self::Moment { local, offset } if !local.is_empty() && offset.is_empty() => {
                Some("needs its offset from UTC, too")
            }
            Self::Moment { local, .. } if !local.is_empty() => Some("must be a date and a time"),
            _ => None,
        }
    }

    /// The answer that this is; `None` where nothing was filled in.
    ///
    /// What cannot be read is given on as text: it is for the form to say what
    /// is wrong with it.
    pub(super) fn value(&self, field: &Field, required: bool) -> Option<Value> {
        match (self, &field.kind) {
            (Self::Text(typed), FieldKind::Text { format: None, .. }) => {
                (!typed.is_empty() || is_cleared(&field.kind)).then(|| typed.as_str().into())
            }
            (Self::Text(typed), FieldKind::Text { .. }) => {
                let typed = typed.trim();
                (!typed.is_empty()).then(|| typed.into())
            }
            (Self::Text(typed), _) => {
                let typed = typed.trim();
                (!typed.is_empty()).then(|| read_number(typed))
            }
            (Self::Moment { local, offset }, _) => {
                let local = local.trim();
                (!local.is_empty()).then(|| with_offset(local, offset.trim()).into())
            }
            (Self::YesNo(answer), _) => answer.map(Value::from),
            (Self::Choice(chosen), FieldKind::Select { choices, .. }) => {
                chosen.map(|chosen| choices[chosen].value.as_str().into())
            }
            (Self::Choices(chosen), FieldKind::MultiSelect { choices, .. }) => {
                if chosen.is_empty() && !required && !is_cleared(&field.kind) {
                    return None;
                }
                let values = chosen.iter().map(|chosen| choices[*chosen].value.as_str());
                Some(values.collect())
            }
            (Self::Choice(_) | Self::Choices(_), _) => None,
        }
    }
}

/// Whether an empty field says something: somebody has taken out what was in it.
fn is_cleared(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Text {
            min_len, default, ..
        } => default.as_ref().is_some_and(|text| !text.is_empty()) && min_len.unwrap_or(0) == 0,
        FieldKind::MultiSelect {
            min_items, default, ..
        } => default.as_ref().is_some_and(|list| !list.is_empty()) && min_items.unwrap_or(0) == 0,
        _ => false,
    }
}

fn text(default: Option<&impl ToString>) -> String {
    default.map_or_else(String::new, ToString::to_string)
}

fn place(choices: &[Choice], value: &str) -> Option<usize> {
    choices.iter().position(|choice| choice.value == value)
}

fn number(typed: &str, choices: &[Choice]) -> Option<usize> {
    typed.parse().ok().filter(|place| *place < choices.len())
}

/// A number as browsers write it, which is more than JSON takes.
fn read_number(typed: &str) -> Value {
    if let Ok(whole) = typed.parse::<i64>() {
        return whole.into();
    }
    if let Ok(number) = serde_json::from_str::<Number>(typed) {
        return number.into();
    }
    let number = typed.parse().ok().and_then(Number::from_f64);
    number.map_or_else(|| typed.into(), Value::from)
}

/// What a field for a date and a time starts with.
fn moment(default: Option<&str>) -> Filled {
    let parsed = default.and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let Some(moment) = parsed else {
        return Filled::Moment {
            local: String::new(),
            offset: String::new(),
        };
    };
    let shown = if moment.nanosecond() == 0 {
        "%Y-%m-%dT%H:%M:%S"
    } else {
        // Browsers take no finer ones.
        "%Y-%m-%dT%H:%M:%S%.3f"
    };
    Filled::Moment {
        local: moment.format(shown).to_string(),
        offset: moment.format("%:z").to_string(),
    }
}

/// A point in time by RFC 3339, from what a browser sends; seconds that are zero
/// are left out there.
fn with_offset(local: &str, offset: &str) -> String {
    let has_minutes_only = local.len() == "2026-07-28T09:30".len();
    let seconds = if has_minutes_only { ":00" } else { "" };
    format!("{local}{seconds}{offset}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text_field(format: Option<StringFormat>, default: Option<&str>) -> Field {
        Field::new(FieldKind::Text {
            min_len: None,
            max_len: None,
            format,
            default: default.map(str::to_owned),
        })
    }

    fn typed_into(field: &Field, text: &str) -> Option<Value> {
        Filled::Text(text.to_owned()).value(field, false)
    }

    #[test]
    fn numbers_are_read_as_browsers_write_them_and_the_rest_is_judged() {
        let field = Field::new(FieldKind::number());
        for (typed, value) in [
            ("7", json!(7)),
            (" 7.50 ", json!(7.5)),
            ("-.5", json!(-0.5)),
            ("1e3", json!(1e3)),
            ("007", json!(7)),
            ("seven", json!("seven")),
            ("1,5", json!("1,5")),
            ("inf", json!("inf")),
            ("9007199254740993", json!(9_007_199_254_740_993_i64)),
        ] {
            assert_eq!(typed_into(&field, typed), Some(value), "{typed}");
        }
        assert_eq!(typed_into(&field, "  "), None);
    }

    #[test]
    fn an_empty_text_is_no_answer_unless_somebody_has_cleared_it() {
        assert_eq!(typed_into(&text_field(None, None), ""), None);
        let filled_in = text_field(None, Some("none"));
        assert_eq!(typed_into(&filled_in, ""), Some(json!("")));
        let mail = text_field(Some(StringFormat::Email), Some("a@b.co"));
        assert_eq!(typed_into(&mail, " "), None);
        assert_eq!(typed_into(&mail, " a@b.co "), Some(json!("a@b.co")));
    }

    #[test]
    fn a_moment_goes_there_and_back() {
        for text in [
            "2026-07-28T09:30:00+02:00",
            "2026-07-28T09:30:00-03:30",
            "2026-07-28T09:30:15.250+00:00",
        ] {
            let field = text_field(Some(StringFormat::DateTime), Some(text));
            assert_eq!(
                Filled::default(&field).value(&field, true),
                Some(text.into())
            );
        }
        let field = text_field(Some(StringFormat::DateTime), None);
        assert_eq!(Filled::default(&field).value(&field, true), None);
        let typed = |local: &str, offset: &str| {
            let filled = Filled::Moment {
                local: local.to_owned(),
                offset: offset.to_owned(),
            };
            let value = filled.value(&field, true).unwrap();
            (field.kind.judge(&value).is_ok(), value)
        };
        let (fits, value) = typed("2026-07-28T09:30", "+02:00");
        assert_eq!((fits, value), (true, json!("2026-07-28T09:30:00+02:00")));
        assert!(!typed("2026-07-28T09:30", "").0, "it has no offset");
    }

    #[test]
    fn nothing_chosen_is_an_answer_where_one_is_needed() {
        let field = |default: Option<&str>| {
            Field::new(FieldKind::MultiSelect {
                choices: vec![Choice::new("a"), Choice::new("b")],
                min_items: None,
                max_items: None,
                default: default.map(|value| vec![value.to_owned()]),
            })
        };
        let nothing = Filled::Choices(Vec::new());
        assert_eq!(nothing.value(&field(None), true), Some(json!([])));
        assert_eq!(nothing.value(&field(None), false), None);
        assert_eq!(nothing.value(&field(Some("a")), false), Some(json!([])));
        let both = Filled::Choices(vec![1, 0]);
        assert_eq!(both.value(&field(None), false), Some(json!(["b", "a"])));
    }
}
