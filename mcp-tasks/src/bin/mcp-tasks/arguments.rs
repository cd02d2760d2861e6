//! The arguments of a call as they are typed: a JSON object, or `key=value`s whose
//! values are typed by the tool's input schema.

mod schema;

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;

use serde_json::{Map, Value};

pub(crate) use schema::{Argument, Arguments};

use crate::exit::Stop;

/// One `key=value`, in one of its spellings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) key: String,
    pub(crate) value: Typed,
}

/// What was typed for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// `key=text`, to be read as its schema says.
    Text(String),
    /// `key:=json`.
    Json(String),
}

impl Pair {
    /// Reads `key=value`, `key:=json`, `key=@file` or `key:=@file`.
    ///
    /// # Errors
    ///
    /// Words about what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(format!(
                "`{text}` is no argument; write key=value, or key:=JSON for a value in JSON"
            ));
        };
        let (key, is_json) = match key.strip_suffix(':') {
            Some(key) => (key, true),
            None => (key, false),
        };
        if key.is_empty() {
            return Err(format!(
                "`{text}` does not say which argument it is; write key=value"
            ));
        }
        let value = match value.strip_prefix('@') {
            Some(path) => read(path)?,
            // A text that begins with an @ is written with a second one.
            None => value
                .strip_prefix("\\@")
                .map_or_else(|| value.to_owned(), |rest| format!("@{rest}")),
        };
        Ok(Self {
            key: key.to_owned(),
            value: if is_json {
                Typed::Json(value)
            } else {
                Typed::Text(value)
            },
        })
    }
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("`{path}` cannot be read: {error}"))
}

/// Reads what was typed after a tool's name.
pub(crate) fn arguments(tool: &str, known: &Arguments, typed: &[String]) -> Result<Value, Stop> {
    let wrong = |words: String| Stop::usage(format_args!("{words}\n\n{}", listing(tool, known)));
    let object = match typed {
        [] => Map::new(),
        [whole] if whole == "-" || whole.trim_start().starts_with('{') => {
            whole_object(whole).map_err(Stop::usage)?
        }
        pairs => {
            let mut object = Map::new();
            for text in pairs {
                let pair = Pair::parse(text).map_err(Stop::usage)?;
                let argument = known.get(&pair.key);
                let before = object.remove(&pair.key);
                let value = typed_value(&pair, argument, before).map_err(wrong)?;
                object.insert(pair.key, value);
            }
            object
        }
    };
    if let Some(unknown) = object.keys().find(|key| !known.takes(key)) {
        return Err(wrong(format!("`{tool}` has no argument `{unknown}`")));
    }
    let missing: Vec<_> = known
        .all()
        .iter()
        .filter(|argument| argument.required && !object.contains_key(&argument.name))
        .map(|argument| format!("`{}`", argument.name))
        .collect();
    if !missing.is_empty() {
        return Err(wrong(format!("`{tool}` needs {}", missing.join(" and "))));
    }
    Ok(Value::Object(object))
}

fn whole_object(text: &str) -> Result<Map<String, Value>, String> {
    let mut read = String::new();
    let text = if text == "-" {
        let input = std::io::stdin().read_to_string(&mut read);
        input.map_err(|error| format!("the standard input cannot be read: {error}"))?;
        &read
    } else {
        text
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("the arguments are no JSON object".to_owned()),
        Err(error) => Err(format!("the arguments are not JSON: {error}")),
    }
}

/// The value of one pair; an argument that is a list may be given several times.
fn typed_value(
    pair: &Pair,
    argument: Option<&Argument>,
    before: Option<Value>,
) -> Result<Value, String> {
    let key = &pair.key;
    let value = match &pair.value {
        Typed::Json(text) => serde_json::from_str(text)
            .map_err(|error| format!("the value of `{key}` is not JSON: {error}"))?,
        Typed::Text(text) => match argument {
            Some(argument) => argument
                .read(text)
                .map_err(|rule| format!("`{key}` {rule}"))?,
            // Nothing is known of it: what looks like JSON is.
            None => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
        },
    };
    match (before, value) {
        (None, value) => Ok(value),
        (Some(Value::Array(mut before)), Value::Array(more)) => {
            before.extend(more);
            Ok(Value::Array(before))
        }
        (Some(_), _) => Err(format!("`{key}` is given twice")),
    }
}

/// The arguments of a tool, for people.
pub(crate) fn listing(tool: &str, known: &Arguments) -> String {
    if known.all().is_empty() {
        return format!("`{tool}` takes no arguments.");
    }
    let mut text = format!("The arguments of `{tool}`:");
    let widest = known.all().iter().map(|argument| argument.name.len()).max();
    let widest = widest.unwrap_or(0).min(24);
    for argument in known.all() {
        let about = argument.about();
        let _infallible = write!(text, "\n  {:widest$}  {about}", argument.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known() -> Arguments {
        Arguments::read(
            r##"{"type":"object","properties":{
                "service":{"type":"string","description":"Service to deploy"},
                "percent":{"type":"integer","minimum":1,"default":10},
                "ratio":{"type":["number","null"]},
                "dry":{"type":"boolean"},
                "tags":{"type":"array","items":{"type":"string"}},
                "ids":{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]},
                "more":{"type":"object"},
                "env":{"$ref":"#/$defs/Env"},
                "any":{}},
              "required":["service"],
              "$defs":{"Env":{"type":"string","enum":["staging","production"]}}}"##,
        )
    }

    #[test]
    fn a_listing_says_which_numbers_are_taken() {
        for (schema, about) in [
            (
                r#"{"type":"integer","minimum":1,"default":10}"#,
                "whole number from 1 [10]",
            ),
            (
                r#"{"type":"integer","minimum":0,"maximum":9}"#,
                "whole number from 0 to 9",
            ),
            (r#"{"type":"integer","minimum":0}"#, "whole number"),
            (r#"{"type":"number","maximum":0.5}"#, "number up to 0.5"),
        ] {
            let schema = format!(r#"{{"properties":{{"it":{schema}}}}}"#);
            let known = Arguments::read(&schema);
            assert_eq!(known.all()[0].about(), about);
        }
    }

    #[test]
    fn a_tool_that_lists_no_arguments_takes_any() {
        let typed = ["a=1".to_owned()];
        let read = |schema: &str| arguments("tool", &Arguments::read(schema), &typed).is_ok();
        assert!(read(r#"{"type":"object"}"#));
        assert!(read(
            r#"{"type":"object","properties":{"b":{}},"additionalProperties":true}"#
        ));
        assert!(!read(r#"{"type":"object","properties":{"b":{}}}"#));
        assert!(!read(r#"{"type":"object","additionalProperties":false}"#));
    }

    fn read(typed: &[&str]) -> Result<Value, String> {
        let typed: Vec<_> = typed.iter().map(|&text| text.to_owned()).collect();
        arguments("deploy", &known(), &typed).map_err(|stop| stop.words)
    }

    #[test]
    fn values_are_what_the_schema_says() {
        assert_eq!(
            read(&[
                "service=42",
                "percent=5",
                "ratio=0.5",
                "dry=yes",
                "tags=a",
                "tags=b,c",
                "ids=1",
                "ids=2",
                r#"more={"a":[1]}"#,
                "env=staging",
                "any=7",
            ]),
            Ok(json!({
                "service": "42", "percent": 5, "ratio": 0.5, "dry": true,
                "tags": ["a", "b,c"], "ids": [1, 2], "more": {"a": [1]}, "env": "staging", "any": 7,
            }))
        );
        assert_eq!(
            read(&[
                "service:=\"x\"",
                "ratio:=null",
                r#"tags=["a","b"]"#,
                "any=word"
            ]),
            Ok(json!({"service": "x", "ratio": null, "tags": ["a", "b"], "any": "word"}))
        );
        assert_eq!(
            read(&[r#"{"service": "billing"}"#]),
            Ok(json!({"service": "billing"}))
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_the_arguments_that_there_are() {
        for (typed, expected) in [
            (&["percent=5"][..], "`deploy` needs `service`"),
            (&["service=a", "colour=red"], "no argument `colour`"),
            (
                &["service=a", "percent=many"],
                "`percent` must be a whole number",
            ),
            (&["service=a", "dry=perhaps"], "`dry` must be true or false"),
            (
                &["service=a", "env=moon"],
                "`env` must be one of staging, production",
            ),
            (&["service=a", "service=b"], "`service` is given twice"),
            (
                &["service=a", "more=x"],
                "`more` must be an object, in JSON",
            ),
            (&["service=a", "any:=x"], "`any` is not JSON"),
        ] {
            let words = read(typed).unwrap_err();
            assert!(words.contains(expected), "{words}");
            assert!(words.contains("Service to deploy"), "{words}");
        }
        for (typed, expected) in [
            (&["billing"][..], "key=value"),
            (&["=x"], "key=value"),
            (&["service=@/nowhere/at/all"], "cannot be read"),
            (&["{"], "not JSON"),
        ] {
            let words = read(typed).unwrap_err();
            assert!(words.contains(expected), "{words}");
        }
    }
}
