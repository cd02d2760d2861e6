//! A text while it is typed: what is there, where the cursor is, and what the keys
//! of every command line do to it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation as _;

/// The text, and the place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Typed {
    text: String,
    /// In bytes, between two characters as people see them.
    at: usize,
}

/// What a key has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// The text is another, or the cursor elsewhere, or nothing.
    Edited,
    Enter,
    Escape,
    Interrupt,
}

impl Typed {
    /// A text that is there already, with the cursor at its end.
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            at: text.len(),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// What stands before the cursor, and what after it.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.text.split_at(self.at)
    }

    /// Does what the key means.
    pub(super) fn press(&mut self, key: KeyEvent) -> Pressed {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let by_word = control || alt;
        match key.code {
            KeyCode::Enter => return Pressed::Enter,
            KeyCode::Esc => return Pressed::Escape,
            KeyCode::Char('c') if control => return Pressed::Interrupt,
            KeyCode::Char('j' | 'm') if control => return Pressed::Enter,
            KeyCode::Char('[') if control => return Pressed::Escape,
            KeyCode::Home => self.at = 0,
            KeyCode::Char('a') if control => self.at = 0,
            KeyCode::End => self.at = self.text.len(),
            KeyCode::Char('e') if control => self.at = self.text.len(),
            KeyCode::Left if by_word => self.at = self.word_before(),
            KeyCode::Right if by_word => self.at = self.word_after(),
            KeyCode::Char('b') if alt => self.at = self.word_before(),
            KeyCode::Char('f') if alt => self.at = self.word_after(),
            KeyCode::Left => self.at = self.before(),
            KeyCode::Char('b') if control => self.at = self.before(),
            KeyCode::Right => self.at = self.after(),
            KeyCode::Char('f') if control => self.at = self.after(),
            KeyCode::Backspace if by_word => self.remove_back_to(self.word_before()),
            KeyCode::Char('w') if control => self.remove_back_to(self.word_before()),
            KeyCode::Char('u') if control => self.remove_back_to(0),
            KeyCode::Backspace => self.remove_back_to(self.before()),
            KeyCode::Char('h') if control => self.remove_back_to(self.before()),
            KeyCode::Delete if by_word => self.remove_up_to(self.word_after()),
            KeyCode::Char('d') if alt => self.remove_up_to(self.word_after()),
            KeyCode::Char('k') if control => self.remove_up_to(self.text.len()),
            KeyCode::Delete => self.remove_up_to(self.after()),
            KeyCode::Char('d') if control => self.remove_up_to(self.after()),
            // Keys that mean nothing here leave no letter behind.
            KeyCode::Char(c) if !control && !alt => self.insert(c.encode_utf8(&mut [0; 4])),
            // AltGr makes characters, too.
            KeyCode::Char(c) if control && alt && !c.is_ascii_alphabetic() => {
                self.insert(c.encode_utf8(&mut [0; 4]));
            }
            _ => {}
        }
        Pressed::Edited
    }

    /// Takes in what was pasted, without characters that are no text.
    pub(super) fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        // The end of the last line is that of the paste.
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let is_text = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
        self.insert(&text.chars().filter(is_text).collect::<String>());
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.at, text);
        self.at += text.len();
    }

    fn before(&self) -> usize {
        let (before, _) = self.parts();
        let last = before.grapheme_indices(true).next_back();
        last.map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        let (_, after) = self.parts();
        self.at + after.graphemes(true).next().map_or(0, str::len)
    }

    /// Where the word begins that the cursor is in or behind.
    fn word_before(&self) -> usize {
        let (before, _) = self.parts();
        let words = before.trim_end_matches(char::is_whitespace);
        let space = words.char_indices().rfind(|(_, c)| c.is_whitespace());
        space.map_or(0, |(at, c)| at + c.len_utf8())
    }

    /// Where the word ends that the cursor is in or before.
    fn word_after(&self) -> usize {
        let (_, after) = self.parts();
        let word = after.trim_start_matches(char::is_whitespace);
        let spaces = after.len() - word.len();
        let length = word.find(char::is_whitespace).unwrap_or(word.len());
        self.at + spaces + length
    }

    fn remove_back_to(&mut self, start: usize) {
        self.text.replace_range(start..self.at, "");
        self.at = start;
    }

    fn remove_up_to(&mut self, end: usize) {
        self.text.replace_range(self.at..end, "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(start: &str, keys: &[(KeyCode, KeyModifiers)]) -> String {
        let mut typed = Typed::new(start);
        for (code, modifiers) in keys {
            assert_eq!(
                typed.press(KeyEvent::new(*code, *modifiers)),
                Pressed::Edited
            );
        }
        let (before, after) = typed.parts();
        format!("{before}|{after}")
    }

    #[test]
    fn the_keys_of_a_command_line_work() {
        use KeyCode::{Backspace, Char, Delete, End, Home, Left, Right};
        const NONE: KeyModifiers = KeyModifiers::NONE;
        const CTRL: KeyModifiers = KeyModifiers::CONTROL;
        const ALT: KeyModifiers = KeyModifiers::ALT;
        let words = "one two  three";
        for (start, keys, left) in [
            ("", &[(Char('a'), NONE), (Char('B'), NONE)][..], "aB|"),
            (words, &[(Char('u'), CTRL)], "|"),
            (words, &[(Char('w'), CTRL)], "one two  |"),
            (words, &[(Char('w'), CTRL), (Char('w'), CTRL)], "one |"),
            (words, &[(Backspace, ALT)], "one two  |"),
            (words, &[(Char('a'), CTRL)], "|one two  three"),
            (
                words,
                &[(Home, NONE), (Char('k'), CTRL), (Char('x'), NONE)],
                "x|",
            ),
            (words, &[(Home, NONE), (Right, CTRL)], "one| two  three"),
            (
                words,
                &[(Home, NONE), (Delete, NONE), (Char('d'), CTRL)],
                "|e two  three",
            ),
            (words, &[(Home, NONE), (Char('d'), ALT)], "| two  three"),
            (words, &[(Left, CTRL), (Left, NONE)], "one two | three"),
            (
                words,
                &[(Char('b'), ALT), (Char('f'), ALT)],
                "one two  three|",
            ),
            (words, &[(Home, NONE), (End, NONE)], "one two  three|"),
            (
                words,
                &[(Char('a'), CTRL), (Char('e'), CTRL)],
                "one two  three|",
            ),
            (
                "ab",
                &[(Char('b'), CTRL), (Char('h'), CTRL), (Char('f'), CTRL)],
                "b|",
            ),
            // What means nothing here types nothing.
            ("ab", &[(Char('t'), CTRL), (Char('x'), ALT)], "ab|"),
            // At the ends there is nothing more.
            ("", &[(Backspace, NONE), (Delete, NONE), (Left, NONE)], "|"),
        ] {
            assert_eq!(pressed(start, keys), left, "{keys:?}");
        }
    }

    #[test]
    fn what_is_one_character_to_people_is_removed_as_one() {
        use KeyCode::{Backspace, Char, Left};
        const NONE: KeyModifiers = KeyModifiers::NONE;
        assert_eq!(pressed("ne\u{301}", &[(Backspace, NONE)]), "n|");
        assert_eq!(pressed("👨‍👩‍👧王", &[(Left, NONE), (Backspace, NONE)]), "|王");
        assert_eq!(pressed("", &[(Char('漢'), NONE)]), "漢|");
    }

    #[test]
    fn what_is_pasted_keeps_its_lines_and_nothing_that_steers_a_terminal() {
        let mut typed = Typed::new("a");
        typed.paste("b\r\nc\u{1b}[31md\u{7}\te\n");
        assert_eq!(typed.text(), "ab\nc[31md\te");
    }

    #[test]
    fn enter_escape_and_ctrl_c_end_it() {
        let mut typed = Typed::new("a");
        for (code, modifiers, pressed) in [
            (KeyCode::Enter, KeyModifiers::NONE, Pressed::Enter),
            (KeyCode::Char('j'), KeyModifiers::CONTROL, Pressed::Enter),
            (KeyCode::Esc, KeyModifiers::NONE, Pressed::Escape),
            (
                KeyCode::Char('c'),
                KeyModifiers::CONTROL,
                Pressed::Interrupt,
            ),
        ] {
            assert_eq!(typed.press(KeyEvent::new(code, modifiers)), pressed);
        }
        assert_eq!(typed.text(), "a");
    }
}
