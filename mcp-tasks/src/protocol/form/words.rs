//! How rules and what breaks them are put into words.

use std::fmt;

use serde_json::Number;

use super::Choice;

/// The rule that a number breaks, and the number.
pub(super) fn range<N: fmt::Display>(min: Option<N>, max: Option<N>, got: &Number) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("must be between {min} and {max}, got {got}"),
        (Some(min), None) => format!("must be at least {min}, got {got}"),
        (None, Some(max)) => format!("must be at most {max}, got {got}"),
        (None, None) => unreachable!("without bounds every number fits"),
    }
}

/// What was chosen though there is no such choice, cut where it is long: any
/// text may be sent.
pub(super) struct Chosen<'a>(pub(super) &'a str);

impl fmt::Display for Chosen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 40;
        match self.0.char_indices().nth(SHOWN) {
            Some((end, _)) => write!(f, "`{}..`", &self.0[..end]),
            None => write!(f, "`{}`", self.0),
        }
    }
}

/// The values of choices as an enumeration that stays readable when it is long.
pub(super) struct Names<'a>(pub(super) &'a [Choice]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 20;
        for (index, choice) in self.0.iter().take(SHOWN).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}`{}`", choice.value)?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
