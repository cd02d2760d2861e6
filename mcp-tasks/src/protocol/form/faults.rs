//! Finds what is wrong with a form itself, before anybody is asked to fill it in.

use std::collections::HashSet;
use std::fmt::Display;

use super::{Choice, FieldError, FieldKind, Form};

impl Form {
    /// What keeps the form from being filled in, or from being accepted as it is
    /// first shown: bounds that contradict each other, choices that are missing
    /// or the same, a default that breaks its field's own rules.
    ///
    /// Each is named by its field, as in "`percent` has a default that does not
    /// fit: it must be at most 100, got 250". A form without faults gives none.
    pub fn faults(&self) -> Vec<FieldError> {
        let of = |(name, field): (&str, &super::Field)| {
            let fault = field.kind.fault()?;
            Some(FieldError::new(name, fault))
        };
        self.fields().filter_map(of).collect()
    }
}

impl FieldKind {
    fn fault(&self) -> Option<String> {
        let fault = match self {
            Self::Text {
                min_len, max_len, ..
            } => crossed(*min_len, *max_len, "characters"),
            Self::Number { min, max, .. } => crossed(*min, *max, ""),
            Self::Integer { min, max, .. } => crossed(*min, *max, ""),
            Self::Boolean { .. } => None,
            Self::Select { choices, .. } => unfit_choices(choices),
            Self::MultiSelect {
                choices,
                min_items,
                max_items,
                ..
            } => unfit_choices(choices)
                .or_else(|| too_few(choices, *min_items))
                .or_else(|| crossed(*min_items, *max_items, "choices")),
        };
        fault.or_else(|| self.unfit_default())
    }

    fn unfit_default(&self) -> Option<String> {
        let rule = self.judge(&self.default_value()?).err()?;
        Some(unfit_default(&rule))
    }
}

/// What is said of a default that breaks a rule of its field.
pub(crate) fn unfit_default(rule: &str) -> String {
    format!("has a default that does not fit: it {rule}")
}

fn crossed<N: PartialOrd + Display>(min: Option<N>, max: Option<N>, unit: &str) -> Option<String> {
    let (min, max) = (min?, max?);
    let space = if unit.is_empty() { "" } else { " " };
    (min > max).then(|| {
        format!(
            "has no answer that fits: at least {min} and at most {max}{space}{unit} are asked for"
        )
    })
}

fn unfit_choices(choices: &[Choice]) -> Option<String> {
    if choices.is_empty() {
        return Some("has nothing to choose from".to_owned());
    }
    let mut seen = HashSet::new();
    let twice = choices
        .iter()
        .find(|choice| !seen.insert(choice.value.as_str()))?;
    Some(format!("offers `{}` twice", twice.value))
}

fn too_few(choices: &[Choice], min_items: Option<usize>) -> Option<String> {
    let (min, count) = (min_items?, choices.len());
    (min > count).then(|| {
        format!("has no answer that fits: at least {min} are to be chosen, and there are {count}")
    })
}

#[cfg(test)]
mod tests {
    use super::super::Field;
    use super::*;

    #[track_caller]
    fn fault(kind: FieldKind) -> String {
        let form = Form::new()
            .offer("fine", Field::new(FieldKind::text()))
            .offer("f", Field::new(kind));
        let faults = form.faults();
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults[0].to_string()
    }

    #[test]
    fn a_default_is_held_to_the_rules_of_its_field() {
        let integer = |default| FieldKind::Integer {
            min: Some(1),
            max: Some(100),
            default,
        };
        assert!(integer(Some(100)).fault().is_none());
        assert_eq!(
            fault(integer(Some(250))),
            "`f` has a default that does not fit: it must be between 1 and 100, got 250"
        );
        let text = FieldKind::Text {
            min_len: None,
            max_len: None,
            format: Some(super::super::StringFormat::Email),
            default: Some("nobody".to_owned()),
        };
        assert_eq!(
            fault(text),
            "`f` has a default that does not fit: it must be a mail address such as `ana@example.org`"
        );
        let select = FieldKind::Select {
            choices: vec![Choice::new("red")],
            default: Some("blue".to_owned()),
        };
        assert!(fault(select).ends_with("it must be one of `red`, got `blue`"));
    }

    #[test]
    fn bounds_that_let_nothing_through_are_found() {
        let number = FieldKind::Number {
            min: Some(1.5),
            max: Some(1.0),
            default: None,
        };
        assert_eq!(
            fault(number),
            "`f` has no answer that fits: at least 1.5 and at most 1 are asked for"
        );
        let list = |choices: &[&str], min_items| FieldKind::MultiSelect {
            choices: choices.iter().copied().map(Choice::new).collect(),
            min_items,
            max_items: None,
            default: None,
        };
        assert_eq!(
            fault(list(&["a", "b"], Some(3))),
            "`f` has no answer that fits: at least 3 are to be chosen, and there are 2"
        );
        assert_eq!(fault(list(&[], None)), "`f` has nothing to choose from");
        assert_eq!(fault(list(&["a", "a"], None)), "`f` offers `a` twice");
    }
}
