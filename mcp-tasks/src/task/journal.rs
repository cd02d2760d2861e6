//! A whole journal, to be kept outside of a store.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::{Entry, FORMAT, IllegalTransition, TaskState};

/// The journal of one task, as a value.
///
/// Written as text it has one line of JSON for each entry, with the version of
/// the form: fit for a file beside the tests, for [`testing::replay`].
///
/// [`testing::replay`]: crate::testing::replay
#[derive(Clone, Debug)]
pub struct Journal {
    entries: Vec<Entry>,
}

/// Why a text is not a journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotAJournal {
    /// A line is not an entry.
    #[error("line {line} is not an entry of a journal: {error}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// A line has a form that this version of the crate does not know.
    #[error(
        "line {line} is in format {format}; this version of mcp-tasks knows formats up to {FORMAT}"
    )]
    Format {
        /// Counted from 1.
        line: usize,
        /// The form.
        format: u32,
    },
    /// The entries do not follow from one another.
    #[error("the entries do not make a journal: {0}")]
    Rules(#[from] IllegalTransition),
}

impl Journal {
    /// A journal of these entries.
    ///
    /// # Errors
    ///
    /// [`NotAJournal::Rules`] if they break the rules of the state machine.
    pub fn new(entries: Vec<Entry>) -> Result<Self, NotAJournal> {
        TaskState::replay(&entries)?;
        Ok(Self { entries })
    }

    /// The entries, in order. Statuses that later ones took the place of may be
    /// missing.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            let event = serde_json::to_string(&entry.event).map_err(|_| fmt::Error)?;
            let (seq, at) = (entry.seq, entry.at.as_millis());
            writeln!(
                f,
                r#"{{"format":{FORMAT},"seq":{seq},"at":{at},"event":{event}}}"#
            )?;
        }
        Ok(())
    }
}

impl FromStr for Journal {
    type Err = NotAJournal;

    fn from_str(text: &str) -> Result<Self, NotAJournal> {
        #[derive(Deserialize)]
        struct Form {
            format: u32,
        }
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, text)| !text.trim().is_empty());
        let entries = lines.map(|(index, text)| {
            let line = index + 1;
            let wrong = |error| NotAJournal::Line { line, error };
            let Form { format } = serde_json::from_str(text).map_err(wrong)?;
            if format > FORMAT {
                return Err(NotAJournal::Format { line, format });
            }
            serde_json::from_str(text).map_err(wrong)
        });
        Self::new(entries.collect::<Result<_, _>>()?)
    }
}
