//! JSON messages laid out for a reader: as on the wire, in its order, only
//! broken into lines where one line would be too long.

use indexmap::IndexMap;
use mcp_tasks::client::Direction;
use serde_json::value::RawValue;

use crate::screen::WIDTH;

/// A message with its direction, on as many lines as it needs.
///
/// ```
/// use mcp_tasks::client::Direction;
///
/// let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
/// assert_eq!(
///     mcp_tasks_examples::wire::lay_out(Direction::Received, message),
///     r#"<-- {"jsonrpc":"2.0","id":1,"result":{}}"#
/// );
/// ```
pub fn lay_out(direction: Direction, message: &str) -> String {
    let mut out = match direction {
        Direction::Sent => "--> ".to_owned(),
        Direction::Received => "<-- ".to_owned(),
    };
    lay_out_value(&mut out, message, 0, 4);
    out
}

/// A JSON value, indented, on as many lines as it needs.
pub fn lay_out_json(json: &str, indent: usize) -> String {
    let mut out = " ".repeat(indent);
    lay_out_value(&mut out, json, indent, indent);
    out
}

/// Appends a value whose first line starts in column `used`.
fn lay_out_value(out: &mut String, json: &str, indent: usize, used: usize) {
    // One column is for the comma that may follow.
    if used + json.chars().count() < WIDTH {
        out.push_str(json);
    } else if let Ok(object) = serde_json::from_str::<IndexMap<String, Box<RawValue>>>(json) {
        let members = object.iter().map(|(name, value)| {
            let name = serde_json::Value::from(name.as_str());
            (format!("{name}: "), value.get())
        });
        lay_out_members(out, ['{', '}'], members, indent);
    } else if let Ok(array) = serde_json::from_str::<Vec<Box<RawValue>>>(json) {
        let members = array.iter().map(|value| (String::new(), value.get()));
        lay_out_members(out, ['[', ']'], members, indent);
    } else {
        out.push_str(json);
    }
}

fn lay_out_members<'a>(
    out: &mut String,
    [open, close]: [char; 2],
    members: impl Iterator<Item = (String, &'a str)>,
    indent: usize,
) {
    let inner = indent + 2;
    out.push(open);
    for (index, (name, value)) in members.enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&" ".repeat(inner));
        out.push_str(&name);
        lay_out_value(out, value, inner, inner + name.chars().count());
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_broken_and_keep_their_order() {
        let message = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"deploy","arguments":{"service":"billing","env":"production"},"list":[1,2]}}"#;
        let expected = r#"--> {
  "jsonrpc": "2.0",
  "id": 2,
  "method": "tools/call",
  "params": {
    "name": "deploy",
    "arguments": {"service":"billing","env":"production"},
    "list": [1,2]
  }
}"#;
        assert_eq!(lay_out(Direction::Sent, message), expected);
    }

    #[test]
    fn what_is_laid_out_is_still_the_same_json() {
        let message = format!(
            r#"{{"long":["{}",{{"a\"b":null}}],"x":1.50}}"#,
            "y".repeat(99)
        );
        let laid_out = lay_out_json(&message, 2);
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&laid_out), read(&message));
        assert!(laid_out.contains("1.50"));
    }

    #[test]
    fn what_is_not_json_is_shown_all_the_same() {
        let line = "x".repeat(100);
        assert_eq!(lay_out_json(&line, 0), line);
    }
}
