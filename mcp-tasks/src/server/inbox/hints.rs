//! Forms in words: what fields are called, and what fits into them.

use std::fmt::Display;
use std::time::Duration;

use crate::protocol::{Field, FieldKind, StringFormat};

/// What a field is called: its title, or its name as people would write it.
pub(super) fn label(name: &str, field: &Field) -> String {
    match &field.title {
        Some(title) if !title.trim().is_empty() => title.clone(),
        _ => in_words(name),
    }
}

/// `max_users` and `maxUsers` as "Max users".
fn in_words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut last_is_small = false;
    for letter in name.chars() {
        if letter == '_' || letter == '-' {
            if !words.is_empty() {
                words.push(' ');
            }
            last_is_small = false;
            continue;
        }
        if words.is_empty() {
            words.extend(letter.to_uppercase());
        } else if letter.is_uppercase() && last_is_small {
            words.push(' ');
            words.extend(letter.to_lowercase());
        } else {
            words.push(letter);
        }
        last_is_small = letter.is_lowercase();
    }
    let words = words.trim_end().to_owned();
    if words.is_empty() {
        name.to_owned()
    } else {
        words
    }
}

/// What fits into a field, where it does not show by itself.
pub(super) fn rule(kind: &FieldKind) -> Option<String> {
    match kind {
        FieldKind::Text {
            min_len,
            max_len,
            format,
            ..
        } => {
            let example = match format {
                Some(StringFormat::Email) => Some("A mail address, such as ana@example.org"),
                Some(StringFormat::Uri) => Some("A full address, such as https://example.org/page"),
                Some(StringFormat::Date | StringFormat::DateTime) | None => None,
            };
            let length = count(*min_len, *max_len, "character", "characters");
            match (example, length) {
                (Some(example), Some(length)) => Some(format!("{example}; {length}")),
                (example, length) => length.or_else(|| example.map(str::to_owned)),
            }
        }
        FieldKind::Number { min, max, .. } => Some(range("A number", *min, *max)),
        FieldKind::Integer { min, max, .. } => {
            // Where a type ends is nothing that people need to know.
            let told = |bound: &i64| bound.unsigned_abs() < 1_000_000_000;
            Some(range("A whole number", min.filter(told), max.filter(told)))
        }
        FieldKind::Boolean { .. } | FieldKind::Select { .. } => None,
        FieldKind::MultiSelect {
            min_items,
            max_items,
            ..
        } => Some(match count(*min_items, *max_items, "choice", "choices") {
            Some(count) => format!("Tick what applies: {count}"),
            None => "Tick what applies".to_owned(),
        }),
    }
}

fn range<N: Display>(what: &str, min: Option<N>, max: Option<N>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{what} from {min} to {max}"),
        (Some(min), None) => format!("{what}, {min} or more"),
        (None, Some(max)) => format!("{what}, {max} or less"),
        (None, None) => what.to_owned(),
    }
}

fn count(min: Option<usize>, max: Option<usize>, one: &str, many: &str) -> Option<String> {
    let unit = |count| if count == 1 { one } else { many };
    match (min.filter(|min| *min > 0), max) {
        (Some(min), Some(max)) if min == max => Some(format!("exactly {min} {}", unit(min))),
        (Some(min), Some(max)) => Some(format!("{min} to {max} {many}")),
        (Some(min), None) => Some(format!("at least {min} {}", unit(min))),
        (None, Some(max)) => Some(format!("at most {max} {}", unit(max))),
        (None, None) => None,
    }
}

/// A hint as a sentence.
pub(super) fn sentence(hint: &str) -> String {
    let mut letters = hint.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let sentence: String = first.chain(letters).collect();
    format!("{sentence}.")
}

/// What is wrong with a field, of which a rule says what it "must be".
pub(super) fn complaint(label: &str, rule: &str) -> String {
    let rule = quoted(rule);
    if label.ends_with(char::is_alphanumeric) {
        format!("{label} {rule}.")
    } else {
        format!("{label} This {rule}.")
    }
}

/// What programs put between backticks people put between quotes.
fn quoted(words: &str) -> String {
    let mut parts = words.split('`');
    let mut quoted = parts.next().unwrap_or_default().to_owned();
    for (place, part) in parts.enumerate() {
        quoted.push(if place % 2 == 0 {
            '\u{201c}'
        } else {
            '\u{201d}'
        });
        quoted.push_str(part);
    }
    quoted
}

/// About how long that is.
pub(super) fn about(duration: Duration) -> String {
    let minutes = (duration.as_secs() + 30) / 60;
    let (count, unit) = match minutes {
        0 => return "less than a minute".to_owned(),
        1..60 => (minutes, "minute"),
        60..1440 => ((minutes + 30) / 60, "hour"),
        _ => ((minutes + 720) / 1440, "day"),
    };
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_people_would_write_them() {
        for (name, shown) in [
            ("approve", "Approve"),
            ("max_users", "Max users"),
            ("maxUsers", "Max users"),
            ("dry-run", "Dry run"),
            ("URL", "URL"),
            ("über_uns", "Über uns"),
            ("_", "_"),
            ("", ""),
        ] {
            assert_eq!(in_words(name), shown);
        }
    }

    #[test]
    fn what_fits_is_said_before_it_is_refused() {
        let rule_of = |kind: FieldKind| rule(&kind).unwrap();
        let text = |min_len, max_len, format| FieldKind::Text {
            min_len,
            max_len,
            format,
            default: None,
        };
        assert_eq!(rule(&FieldKind::text()), None);
        assert_eq!(rule_of(text(Some(2), Some(4), None)), "2 to 4 characters");
        assert_eq!(rule_of(text(Some(1), None, None)), "at least 1 character");
        let mail = rule_of(text(None, Some(80), Some(StringFormat::Email)));
        assert!(
            mail.ends_with("ana@example.org; at most 80 characters"),
            "{mail}"
        );
        let whole = FieldKind::Integer {
            min: Some(1),
            max: None,
            default: None,
        };
        assert_eq!(rule_of(whole), "A whole number, 1 or more");
        let any_u32 = FieldKind::Integer {
            min: Some(0),
            max: Some(u32::MAX.into()),
            default: None,
        };
        assert_eq!(rule_of(any_u32), "A whole number, 0 or more");
    }

    #[test]
    fn what_is_wrong_is_a_sentence() {
        for (label, rule, words) in [
            ("Name", "is required", "Name is required."),
            ("Error:", "is required", "Error: This is required."),
            (
                "Ship it?",
                "must be true or false",
                "Ship it? This must be true or false.",
            ),
            (
                "Colour",
                "must be one of `red`, `blue`, got `green`",
                "Colour must be one of \u{201c}red\u{201d}, \u{201c}blue\u{201d}, got \
                 \u{201c}green\u{201d}.",
            ),
        ] {
            assert_eq!(complaint(label, rule), words);
        }
    }

    #[test]
    fn durations_are_rounded() {
        for (seconds, words) in [
            (29, "less than a minute"),
            (30, "1 minute"),
            (3600, "1 hour"),
            (86_399, "1 day"),
            (7199, "2 hours"),
            (86_400 * 3 - 1, "3 days"),
        ] {
            assert_eq!(about(Duration::from_secs(seconds)), words);
        }
    }
}
