//! Texts that others choose, such as the ids that clients ask for.
//!
//! PostgreSQL's texts have no place for the character U+0000. So that character, and
//! the one that stands for it, are written as two others.

use std::borrow::Cow;

use crate::task::TaskId;

const ESCAPE: char = '\u{1}';

/// A text as it is kept.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(ESCAPE, "\u{1}1").replace('\0', "\u{1}0"))
}

/// No id of a task is as long as this many bytes.
const LONG: usize = 1024;

/// The id of a task that is looked for. One that no task can have is not sent, but
/// looked for all the same.
pub(super) fn sought(id: &TaskId) -> Cow<'_, str> {
    let text = id.as_str();
    kept(if text.len() < LONG { text } else { "" })
}

/// A kept text as it was.
pub(super) fn was(kept: &str) -> Cow<'_, str> {
    if !kept.contains(ESCAPE) {
        return Cow::Borrowed(kept);
    }
    let mut parts = kept.split(ESCAPE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut rest = part.chars();
        text.push(if rest.next() == Some('0') {
            '\0'
        } else {
            ESCAPE
        });
        text.push_str(rest.as_str());
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_as_it_was() {
        for text in [
            "",
            "a",
            "\0",
            "\u{1}",
            "\u{1}0",
            "\0\u{1}1\u{1}",
            "1\u{1}\0\0x",
        ] {
            let kept = kept(text);
            assert!(!kept.contains('\0'));
            assert_eq!(was(&kept), text);
        }
    }
}
