//! Decides whether an answer fits a form.
//!
//! All that is wrong is said at once, in words for the person who typed the
//! answer, and what comes back is already in its one spelling: only fields that
//! the form names, in the form's order, whole numbers without a fraction.

use serde_json::{Number, Value};

use super::given::Given;
use super::words::{Chosen, Names, range};
use super::{Choice, Content, FieldKind, Form, SAFE_INTEGER, StringFormat, format};

/// What is wrong with one field of an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{rule}", FieldPrefix(field))]
pub struct FieldError {
    /// The field's name; empty if the answer as a whole is meant.
    pub field: String,
    /// The rule that is broken, as in "must be at most 100".
    pub rule: String,
}

impl FieldError {
    /// Names a field and the rule that it breaks, as in "must be at most 100".
    pub fn new(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            rule: rule.into(),
        }
    }
}

struct FieldPrefix<'a>(&'a str);

impl std::fmt::Display for FieldPrefix<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            "" => f.write_str("the content "),
            name => write!(f, "`{name}` "),
        }
    }
}

impl Form {
    /// Judges the content of an accepted answer.
    ///
    /// Fields that the form does not name are dropped. `null` counts as left
    /// empty, and so does everything if there is no content at all, which is
    /// fine where nothing is required. Lengths are counted in Unicode
    /// characters; `3.0` is a whole number.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, in the order of the form's fields.
    pub fn judge(&self, content: Option<&Value>) -> Result<Content, Vec<FieldError>> {
        let given = Given::from_value(self, content).map_err(|error| vec![error])?;
        self.judge_given(given)
    }

    pub(super) fn judge_given(&self, given: Given) -> Result<Content, Vec<FieldError>> {
        let mut accepted = Content::new();
        let mut errors = Vec::new();
        for ((name, field), value) in self.fields().zip(given.into_values()) {
            match value {
                None | Some(Value::Null) => {
                    if self.is_required(name) {
                        errors.push(FieldError::new(name, "is required"));
                    }
                }
                Some(value) => match field.kind.judge_owned(value) {
                    Ok(value) => accepted.insert(name, value),
                    Err(rule) => errors.push(FieldError::new(name, rule)),
                },
            }
        }
        if errors.is_empty() {
            Ok(accepted)
        } else {
            Err(errors)
        }
    }
}

impl FieldKind {
    /// The value in its one spelling, or the rule that it breaks.
    pub(crate) fn judge(&self, value: &Value) -> Result<Value, String> {
        self.judge_owned(value.clone())
    }

    fn judge_owned(&self, value: Value) -> Result<Value, String> {
        match (self, &value) {
            (
                Self::Text {
                    min_len,
                    max_len,
                    format,
                    ..
                },
                Value::String(text),
            ) => judge_text(text, *min_len, *max_len, *format)?,
            (Self::Number { min, max, .. }, Value::Number(number)) => {
                judge_number(number, *min, *max)?;
            }
            (Self::Integer { min, max, .. }, Value::Number(number)) => {
                return judge_integer(number, *min, *max).map(Value::from);
            }
            (Self::Boolean { .. }, Value::Bool(_)) => {}
            (Self::Select { choices, .. }, Value::String(chosen)) => {
                judge_choice(chosen, choices)?;
            }
            (
                Self::MultiSelect {
                    choices,
                    min_items,
                    max_items,
                    ..
                },
                Value::Array(chosen),
            ) => judge_choices(chosen, choices, *min_items, *max_items)?,
            (Self::Text { .. }, _) => return Err("must be text".to_owned()),
            (Self::Number { .. }, _) => return Err("must be a number".to_owned()),
            (Self::Integer { .. }, _) => return Err("must be a whole number".to_owned()),
            (Self::Boolean { .. }, _) => return Err("must be true or false".to_owned()),
            (Self::Select { choices, .. }, _) => {
                return Err(format!("must be one of {}", Names(choices)));
            }
            (Self::MultiSelect { choices, .. }, _) => {
                return Err(format!("must be a list of any of {}", Names(choices)));
            }
        }
        Ok(value)
    }
}

fn judge_text(
    text: &str,
    min: Option<usize>,
    max: Option<usize>,
    format: Option<StringFormat>,
) -> Result<(), String> {
    let len = text.chars().count();
    judge_count(len, min, max, "have", "character", "characters")?;
    match format {
        Some(format) => format::check(format, text).map_err(str::to_owned),
        None => Ok(()),
    }
}

fn judge_number(number: &Number, min: Option<f64>, max: Option<f64>) -> Result<(), String> {
    let Some(value) = number.as_f64().filter(|value| value.is_finite()) else {
        return Err("must be a number".to_owned());
    };
    let fits = min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max);
    if fits {
        Ok(())
    } else {
        Err(range(min, max, number))
    }
}

fn judge_integer(number: &Number, min: Option<i64>, max: Option<i64>) -> Result<i64, String> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "`as` stops at the ends of i64, which are outside the safe range"
    )]
    let whole = number.as_i64().or_else(|| {
        let number = number.as_f64()?;
        (number.fract() == 0.0).then_some(number as i64)
    });
    let Some(whole) = whole else {
        return Err(format!("must be a whole number, got {number}"));
    };
    if min.is_some_and(|min| whole < min) || max.is_some_and(|max| whole > max) {
        return Err(range(min, max, number));
    }
    if !(-SAFE_INTEGER..=SAFE_INTEGER).contains(&whole) {
        return Err(range(Some(-SAFE_INTEGER), Some(SAFE_INTEGER), number));
    }
    Ok(whole)
}

fn judge_choice(chosen: &str, choices: &[Choice]) -> Result<(), String> {
    if choices.iter().any(|choice| choice.value == chosen) {
        Ok(())
    } else {
        Err(format!(
            "must be one of {}, got {}",
            Names(choices),
            Chosen(chosen)
        ))
    }
}

fn judge_choices(
    chosen: &[Value],
    choices: &[Choice],
    min: Option<usize>,
    max: Option<usize>,
) -> Result<(), String> {
    let mut seen = Vec::with_capacity(chosen.len().min(choices.len()));
    for value in chosen {
        let known = |choice: &&Choice| value.as_str() == Some(&choice.value);
        let Some(choice) = choices.iter().find(known) else {
            let rule = format!("must be a list of any of {}", Names(choices));
            return Err(match value.as_str() {
                Some(chosen) => format!("{rule}, got {}", Chosen(chosen)),
                None => rule,
            });
        };
        if seen.contains(&choice.value.as_str()) {
            return Err(format!("must not list `{}` twice", choice.value));
        }
        seen.push(choice.value.as_str());
    }
    judge_count(chosen.len(), min, max, "list", "choice", "choices")
}

fn judge_count(
    count: usize,
    min: Option<usize>,
    max: Option<usize>,
    verb: &str,
    one: &str,
    many: &str,
) -> Result<(), String> {
    if min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max) {
        return Ok(());
    }
    let unit = |count| if count == 1 { one } else { many };
    Err(match (min, max) {
        (Some(min), Some(max)) if min == max => format!("must {verb} {min} {}", unit(min)),
        (Some(min), Some(max)) => format!("must {verb} {min} to {max} {many}, not {count}"),
        (Some(min), None) => format!("must {verb} at least {min} {}, not {count}", unit(min)),
        (None, Some(max)) => format!("must {verb} at most {max} {}, not {count}", unit(max)),
        (None, None) => unreachable!("without bounds every count fits"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Field;
    use super::*;

    fn rule(kind: &FieldKind, value: &Value) -> String {
        kind.judge(value).unwrap_err()
    }

    fn form() -> Form {
        Form::new()
            .require("name", Field::new(FieldKind::text()))
            .offer("age", Field::new(FieldKind::integer()))
    }

    #[test]
    fn unknown_fields_are_dropped_and_the_order_is_the_forms() {
        let content = json!({"age": 3.0, "name": "x", "more": {}});
        let accepted = form().judge(Some(&content)).unwrap();
        assert_eq!(
            serde_json::to_string(&accepted).unwrap(),
            r#"{"name":"x","age":3}"#
        );
    }

    #[test]
    fn null_counts_as_left_empty() {
        let accepted = form().judge(Some(&json!({"name": "x", "age": null})));
        assert_eq!(accepted.unwrap().len(), 1);
        let errors = form().judge(Some(&json!({"name": null}))).unwrap_err();
        assert_eq!(errors[0].to_string(), "`name` is required");
    }

    #[test]
    fn no_content_is_fine_where_nothing_is_required() {
        let optional = Form::new().offer("age", Field::new(FieldKind::integer()));
        assert!(optional.judge(None).unwrap().is_empty());
        assert!(Form::new().judge(Some(&Value::Null)).unwrap().is_empty());
        assert!(form().judge(None).is_err());
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let errors = form().judge(Some(&json!({"age": "x"}))).unwrap_err();
        let said: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(said, ["`name` is required", "`age` must be a whole number"]);
    }

    #[test]
    fn content_must_be_an_object() {
        let errors = form().judge(Some(&json!([1]))).unwrap_err();
        assert_eq!(
            errors[0].to_string(),
            "the content must be an object with one value per field"
        );
    }

    #[test]
    fn lengths_are_counted_in_unicode_characters() {
        let kind = FieldKind::Text {
            min_len: Some(2),
            max_len: Some(3),
            format: None,
            default: None,
        };
        assert!(kind.judge(&json!("äöü")).is_ok());
        assert_eq!(
            rule(&kind, &json!("x")),
            "must have 2 to 3 characters, not 1"
        );
        assert!(kind.judge(&json!("äöüß")).is_err());
    }

    #[test]
    fn ranges_are_held() {
        let kind = FieldKind::Integer {
            min: Some(1),
            max: Some(100),
            default: None,
        };
        assert!(kind.judge(&json!(100)).is_ok());
        assert_eq!(
            rule(&kind, &json!(101)),
            "must be between 1 and 100, got 101"
        );
        assert_eq!(rule(&kind, &json!(1.5)), "must be a whole number, got 1.5");
        let kind = FieldKind::Number {
            min: Some(0.5),
            max: None,
            default: None,
        };
        assert!(kind.judge(&json!(1)).is_ok());
        assert_eq!(rule(&kind, &json!(0)), "must be at least 0.5, got 0");
    }

    #[test]
    fn whole_numbers_stay_where_every_client_can_say_them() {
        let kind = FieldKind::integer();
        assert!(kind.judge(&json!(SAFE_INTEGER)).is_ok());
        for outside in [
            json!(SAFE_INTEGER + 1),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(1e300),
        ] {
            assert!(rule(&kind, &outside).starts_with("must be between -9007"));
        }
    }

    #[test]
    fn choices_are_held() {
        let choices = vec![Choice::new("red"), Choice::titled("blue", "Blue")];
        let kind = FieldKind::select(choices.clone());
        assert!(kind.judge(&json!("blue")).is_ok());
        assert_eq!(
            rule(&kind, &json!("Blue")),
            "must be one of `red`, `blue`, got `Blue`"
        );
        let long = rule(&kind, &json!("ä".repeat(1000)));
        assert!(long.ends_with("ää..`") && long.len() < 200, "{long}");
        let kind = FieldKind::MultiSelect {
            choices,
            min_items: Some(1),
            max_items: None,
            default: None,
        };
        assert!(kind.judge(&json!(["blue", "red"])).is_ok());
        assert_eq!(
            rule(&kind, &json!([])),
            "must list at least 1 choice, not 0"
        );
        assert_eq!(
            rule(&kind, &json!(["red", "red"])),
            "must not list `red` twice"
        );
        assert_eq!(
            rule(&kind, &json!("red")),
            "must be a list of any of `red`, `blue`"
        );
        assert_eq!(
            rule(&kind, &json!(["red", "green"])),
            "must be a list of any of `red`, `blue`, got `green`"
        );
    }

    #[test]
    fn values_are_not_converted_between_types() {
        assert_eq!(
            rule(&FieldKind::boolean(), &json!("true")),
            "must be true or false"
        );
        assert_eq!(rule(&FieldKind::text(), &json!(1)), "must be text");
        assert_eq!(rule(&FieldKind::number(), &json!("1")), "must be a number");
    }
}
