//! JSON laid out for people, in the order and with the spelling that it came in.

use std::fmt::Write as _;

const INDENT: usize = 2;

/// Lays out a text that is JSON.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut chars = json
        .chars()
        .filter(Whitespace::default().outside())
        .peekable();
    let mut in_string = false;
    let mut escaped = false;
    let new_line = |out: &mut String, depth: usize| {
        let _infallible = write!(out, "\n{:width$}", "", width = depth * INDENT);
    };
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '{' | '[' => {
                out.push(c);
                let close = if c == '{' { '}' } else { ']' };
                if chars.peek() == Some(&close) {
                    out.push(close);
                    chars.next();
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out
}

/// Tells the spaces between tokens from those in strings.
#[derive(Default)]
struct Whitespace {
    in_string: bool,
    escaped: bool,
}

impl Whitespace {
    fn outside(mut self) -> impl FnMut(&char) -> bool {
        move |&c| {
            if self.in_string {
                self.in_string = self.escaped || c != '"';
                self.escaped = !self.escaped && c == '\\';
                return true;
            }
            self.in_string = c == '"';
            !c.is_ascii_whitespace()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_stay_as_they_were() {
        let json = r#"{ "z":[1.50,{}, []],"a" : "x: {\"y\\", "\u001b":null }"#;
        let expected = r#"{
  "z": [
    1.50,
    {},
    []
  ],
  "a": "x: {\"y\\",
  "\u001b": null
}"#;
        assert_eq!(pretty(json), expected);
        assert_eq!(pretty("7"), "7");
    }
}
