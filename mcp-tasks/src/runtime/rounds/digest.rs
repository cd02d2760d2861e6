//! Whether a call is repeated with the same arguments.
//!
//! Clients write the arguments of each round anew: members in another order,
//! other spaces, `1.0` as `1`. What counts is what they say.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// The digest of arguments, whatever way they are written in; of none at all,
/// that of an empty object.
pub(super) fn digest(arguments: Option<&RawValue>) -> String {
    let value = arguments.map_or("{}", RawValue::get);
    let canonical = match serde_json::from_str(value) {
        Ok(value) => canonical(&value),
        // Only numbers past all range cannot be read.
        Err(_) => value.to_owned(),
    };
    BASE64.encode(Sha256::digest(canonical.as_bytes()))
}

fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(values) => {
            text.push('[');
            for value in values {
                write(value, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in members {
                let _ = write!(text, "{}:", Value::from(name.as_str()));
                write(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Number(number) => match number.as_f64() {
            // Beyond that not every integer is a number of every client.
            Some(float) if float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0 => {
                let _ = write!(text, "{float:.0}");
            }
            _ => {
                let _ = write!(text, "{number}");
            }
        },
        Value::Null | Value::Bool(_) | Value::String(_) => {
            let _ = write!(text, "{value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        digest(Some(serde_json::from_str(text).unwrap()))
    }

    #[test]
    fn the_way_of_writing_does_not_count() {
        let one = of(r#"{"a":[1,{"x":true,"y":null}],"b":"é"}"#);
        assert_eq!(
            one,
            of(r#" {"b":"\u00e9", "a":[1.0,{"y":null,"x":true}]} "#)
        );
        assert_eq!(digest(None), of("{}"));
        assert_eq!(of(r#"{"a":-0.0}"#), of(r#"{"a":-0}"#));
    }

    #[test]
    fn what_is_said_counts() {
        let differ = [
            "{}",
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":[1]}"#,
            r#"{"a":[[1]]}"#,
            r#"{"a":1.5}"#,
            r#"{"a":null}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":{"b":2}}"#,
            r#"{"a":9007199254740993}"#,
            r#"{"a":9007199254740994}"#,
            r#"{"a":1e300}"#,
        ];
        let digests: std::collections::HashSet<_> = differ.iter().map(|text| of(text)).collect();
        assert_eq!(digests.len(), differ.len());
    }
}
