//! What a tool's input schema says of its arguments, as far as somebody who types
//! them needs to know.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Number, Value};

use crate::form::field::yes_or_no;

/// The arguments of a tool, in the server's order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    all: Vec<Argument>,
    /// Whether others may be given too.
    open: bool,
}

/// One argument.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) description: Option<String>,
    kinds: Vec<Kind>,
    choices: Vec<Value>,
    default: Option<Value>,
    /// Between which numbers it is.
    min: Option<Number>,
    max: Option<Number>,
    /// Of what a list consists.
    items: Vec<Kind>,
}

/// A type of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    Null,
}

/// How far references are followed: a schema may refer to itself.
const DEPTH: usize = 8;

impl Arguments {
    /// Reads a schema. What cannot be read of it leaves the values to the server.
    pub(crate) fn read(schema: &str) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Schema {
            #[serde(default)]
            properties: IndexMap<String, Value>,
            #[serde(default)]
            required: Vec<String>,
            #[serde(default)]
            additional_properties: Option<Value>,
        }
        let root: Value = serde_json::from_str(schema).unwrap_or_default();
        let Ok(schema) = serde_json::from_str::<Schema>(schema) else {
            return Self {
                all: Vec::new(),
                open: true,
            };
        };
        let required = schema.required;
        let argument = |(name, schema): (String, Value)| Argument {
            required: required.contains(&name),
            description: resolve(&root, &schema, "description")
                .and_then(|text| text.as_str().map(str::to_owned)),
            kinds: kinds(&root, &schema, DEPTH),
            choices: choices(&root, &schema, DEPTH),
            default: schema.get("default").cloned(),
            min: number(&root, &schema, "minimum"),
            max: number(&root, &schema, "maximum"),
            items: items(&root, &schema, DEPTH)
                .map(|items| kinds(&root, items, DEPTH))
                .unwrap_or_default(),
            name,
        };
        let open = match schema.additional_properties {
            Some(more) => more != Value::Bool(false),
            // What says nothing at all takes anything; what lists its arguments and
            // forgets to say that there are no others means it.
            None => schema.properties.is_empty(),
        };
        Self {
            all: schema.properties.into_iter().map(argument).collect(),
            open,
        }
    }

    pub(crate) fn all(&self) -> &[Argument] {
        &self.all
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Argument> {
        self.all.iter().find(|argument| argument.name == name)
    }

    /// Whether there is an argument of this name, as far as the schema says.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.open || self.get(name).is_some()
    }
}

impl Argument {
    /// Reads what was typed.
    ///
    /// # Errors
    ///
    /// What it must be instead.
    pub(crate) fn read(&self, text: &str) -> Result<Value, String> {
        if !self.choices.is_empty() {
            let is = |choice: &&Value| match choice {
                Value::String(choice) => choice == text,
                choice => serde_json::from_str::<Value>(text).is_ok_and(|value| value == **choice),
            };
            return self
                .choices
                .iter()
                .find(is)
                .cloned()
                .ok_or_else(|| format!("must be one of {}", self.shown_choices()));
        }
        if self.is_list() {
            return self.read_list(text);
        }
        read_as(&self.kinds, text).ok_or_else(|| format!("must be {}", in_words(&self.kinds)))
    }

    /// Whether it is a list, or `null`.
    fn is_list(&self) -> bool {
        let mut kinds = self.kinds.iter().filter(|kind| **kind != Kind::Null);
        kinds.next() == Some(&Kind::Array) && kinds.next().is_none()
    }

    /// A list: in JSON, or one item of it.
    fn read_list(&self, text: &str) -> Result<Value, String> {
        if text.trim_start().starts_with('[')
            && let Ok(list @ Value::Array(_)) = serde_json::from_str(text)
        {
            return Ok(list);
        }
        read_as(&self.items, text)
            .map(|item| Value::Array(vec![item]))
            .ok_or_else(|| format!("must be a list of which each is {}", in_words(&self.items)))
    }

    /// What it is, for people.
    pub(crate) fn about(&self) -> String {
        let mut about = if self.choices.is_empty() {
            names(&self.kinds)
        } else {
            self.shown_choices()
        };
        if self.is_list() && !self.items.is_empty() {
            about = format!("list of {}", names(&self.items));
        }
        // That a count is not below nothing goes without saying.
        let min = self.min.as_ref().filter(|min| min.as_f64() != Some(0.0));
        match (min, &self.min, &self.max) {
            (_, Some(min), Some(max)) => about = format!("{about} from {min} to {max}"),
            (_, None, Some(max)) => about = format!("{about} up to {max}"),
            (Some(min), ..) => about = format!("{about} from {min}"),
            (None, _, None) => {}
        }
        if self.required {
            about.push_str(", required");
        } else if let Some(default) = self.default.as_ref().filter(|value| !value.is_null()) {
            about = match default {
                Value::String(text) => format!("{about} [{text}]"),
                value => format!("{about} [{value}]"),
            };
        }
        if let Some(description) = &self.description {
            let line = description.lines().collect::<Vec<_>>().join(" ");
            about = format!("{about}: {line}");
        }
        about
    }

    fn shown_choices(&self) -> String {
        let shown = self.choices.iter().map(|choice| match choice {
            Value::String(text) => text.clone(),
            choice => choice.to_string(),
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// The value that a text stands for among these kinds; any, if there are none.
fn read_as(kinds: &[Kind], text: &str) -> Option<Value> {
    let may_be = |kind| kinds.contains(&kind);
    let json = || serde_json::from_str::<Value>(text).ok();
    if kinds.is_empty() {
        return Some(json().unwrap_or_else(|| text.into()));
    }
    // A text is a text, whatever it looks like; but where there is a choice, what
    // can only be something else is that.
    if may_be(Kind::String) {
        return Some(text.into());
    }
    let trimmed = text.trim();
    if may_be(Kind::Integer) || may_be(Kind::Number) {
        let number = trimmed.parse::<Number>().ok();
        let fits = |number: &Number| {
            may_be(Kind::Number)
                || number.is_i64()
                || number.is_u64()
                || number.as_f64().is_some_and(|number| number.fract() == 0.0)
        };
        if let Some(number) = number.filter(fits) {
            return Some(Value::Number(number));
        }
    }
    if may_be(Kind::Boolean)
        && let Some(yes) = yes_or_no(trimmed)
    {
        return Some(yes.into());
    }
    json().filter(|value| match value {
        Value::Null => may_be(Kind::Null),
        Value::Array(_) => may_be(Kind::Array),
        Value::Object(_) => may_be(Kind::Object),
        _ => false,
    })
}

fn in_words(kinds: &[Kind]) -> String {
    let words = kinds
        .iter()
        .filter(|kind| **kind != Kind::Null)
        .map(|kind| match kind {
            Kind::String => "text",
            Kind::Integer => "a whole number",
            Kind::Number => "a number",
            Kind::Boolean => "true or false",
            Kind::Array => "a list, in JSON",
            Kind::Object => "an object, in JSON",
            Kind::Null => "null",
        });
    words.collect::<Vec<_>>().join(" or ")
}

fn names(kinds: &[Kind]) -> String {
    let names = kinds
        .iter()
        .filter(|kind| **kind != Kind::Null)
        .map(|kind| match kind {
            Kind::String => "text",
            Kind::Integer => "whole number",
            Kind::Number => "number",
            Kind::Boolean => "true or false",
            Kind::Array => "list",
            Kind::Object => "object",
            Kind::Null => "null",
        });
    match names.collect::<Vec<_>>().join(" or ") {
        names if names.is_empty() => "anything".to_owned(),
        names => names,
    }
}

/// A member of a schema, or of what it refers to.
fn resolve<'a>(root: &'a Value, schema: &'a Value, member: &str) -> Option<&'a Value> {
    schema
        .get(member)
        .or_else(|| referred(root, schema)?.get(member))
}

fn number(root: &Value, schema: &Value, member: &str) -> Option<Number> {
    resolve(root, schema, member)?.as_number().cloned()
}

fn referred<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// The schemas of which a value fits one.
fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf", "allOf"]
        .into_iter()
        .filter_map(|word| schema.get(word)?.as_array())
        .flatten()
}

fn kinds(root: &Value, schema: &Value, depth: usize) -> Vec<Kind> {
    let read = |value: &Value| Kind::deserialize(value).ok();
    let mut found: Vec<Kind> = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(read).collect(),
        Some(one) => read(one).into_iter().collect(),
        None => Vec::new(),
    };
    if depth > 0 {
        let inner = referred(root, schema)
            .into_iter()
            .chain(alternatives(schema));
        for kind in inner.flat_map(|schema| kinds(root, schema, depth - 1)) {
            if !found.contains(&kind) {
                found.push(kind);
            }
        }
    }
    found
}

/// What a list consists of.
fn items<'a>(root: &'a Value, schema: &'a Value, depth: usize) -> Option<&'a Value> {
    let inner = || {
        let mut inner = referred(root, schema)
            .into_iter()
            .chain(alternatives(schema));
        inner.find_map(|schema| items(root, schema, depth.checked_sub(1)?))
    };
    schema.get("items").or_else(inner)
}

fn choices(root: &Value, schema: &Value, depth: usize) -> Vec<Value> {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices.clone();
    }
    if let Some(only) = schema.get("const") {
        return vec![only.clone()];
    }
    if depth == 0 {
        return Vec::new();
    }
    if let Some(schema) = referred(root, schema) {
        return choices(root, schema, depth - 1);
    }
    let mut found = Vec::new();
    for schema in alternatives(schema) {
        let some = choices(root, schema, depth - 1);
        let is_null = schema.get("type").is_some_and(|kind| kind == "null");
        if some.is_empty() && !is_null {
            // There is an alternative that is free.
            return Vec::new();
        }
        found.extend(some);
    }
    found
}
