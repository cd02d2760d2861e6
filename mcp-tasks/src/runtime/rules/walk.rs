//! Goes through arguments with their schema beside them.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::{ArgumentRules, Broken};

/// How much is said to be wrong at once: a client may send a long list of
/// nothing that fits.
const MOST: usize = 16;

/// A keyword that bounds a number, in words, and what it lets through.
type Bound = (&'static str, &'static str, fn(Ordering) -> bool);

const BOUNDS: [Bound; 4] = [
    ("minimum", "at least", Ordering::is_ge),
    ("maximum", "at most", Ordering::is_le),
    ("exclusiveMinimum", "greater than", Ordering::is_gt),
    ("exclusiveMaximum", "less than", Ordering::is_lt),
];

/// A walk over a value, with its schema beside it.
pub(super) struct Walk<'a> {
    rules: &'a ArgumentRules,
    path: String,
    pub(super) broken: Vec<Broken>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(rules: &'a ArgumentRules) -> Self {
        Self {
            rules,
            path: String::new(),
            broken: Vec::new(),
        }
    }

    pub(super) fn value(&mut self, schema: &Value, value: &Value) {
        let Value::Object(schema) = schema else {
            return;
        };
        if let Some(referred) = self.rules.referred(schema) {
            self.value(referred, value);
        }
        match value {
            Value::Number(number) => self.number(schema, number),
            Value::String(text) => self.text(schema, text),
            Value::Array(items) => self.items(schema, items),
            Value::Object(members) => self.members(schema, members),
            Value::Null | Value::Bool(_) => {}
        }
        for part in alternatives(schema, "allOf") {
            self.value(part, value);
        }
        for keyword in ["anyOf", "oneOf"] {
            let mut fitting =
                alternatives(schema, keyword).filter(|each| self.rules.applies(each, value));
            // Where several fit, which of them the decoder took is not known.
            if let (Some(only), None) = (fitting.next(), fitting.next()) {
                self.value(only, value);
            } else if value.is_array()
                && alternatives(schema, keyword).any(|each| self.is_object(each))
            {
                self.broke("must be an object, not a list");
            }
        }
    }

    fn is_object(&self, schema: &Value) -> bool {
        let referred = schema
            .as_object()
            .and_then(|schema| self.rules.referred(schema));
        referred.unwrap_or(schema)["type"] == "object"
    }

    fn number(&mut self, schema: &Map<String, Value>, number: &Number) {
        for (keyword, words, allowed) in BOUNDS {
            if let Some(Value::Number(limit)) = schema.get(keyword)
                && !compare(number, limit).is_none_or(allowed)
            {
                self.broke(format!("must be {words} {limit}, and is {number}"));
            }
        }
        if let Some(Value::Number(unit)) = schema.get("multipleOf")
            && !is_multiple(number, unit)
        {
            self.broke(format!("must be a multiple of {unit}, and is {number}"));
        }
    }

    fn text(&mut self, schema: &Map<String, Value>, text: &str) {
        let count = text.chars().count();
        self.count(schema, ("minLength", "maxLength"), count, "character");
        if let Some(Value::String(pattern)) = schema.get("pattern")
            && let Some(regex) = self.rules.patterns.get(pattern)
            && !regex.is_match(text)
        {
            self.broke(format!("must match the pattern `{pattern}`"));
        }
    }

    fn items(&mut self, schema: &Map<String, Value>, items: &[Value]) {
        // serde also reads a struct from a list, where its names are not looked at.
        if schema.get("type").is_some_and(|ty| ty == "object") {
            self.broke("must be an object, not a list");
        }
        self.count(schema, ("minItems", "maxItems"), items.len(), "item");
        let first = alternatives(schema, "prefixItems").map(Some);
        let rest = std::iter::repeat(schema.get("items"));
        for (index, (item, schema)) in items.iter().zip(first.chain(rest)).enumerate() {
            if let Some(schema) = schema {
                self.at(&format!("[{index}]"), schema, item);
            }
        }
    }

    fn members(&mut self, schema: &Map<String, Value>, members: &Map<String, Value>) {
        let properties = schema.get("properties");
        for (name, member) in members {
            let own = properties.and_then(|properties| properties.get(name));
            if let Some(schema) = own.or_else(|| schema.get("additionalProperties")) {
                let dot = if self.path.is_empty() { "" } else { "." };
                self.at(&format!("{dot}{name}"), schema, member);
            }
        }
    }

    fn count(
        &mut self,
        schema: &Map<String, Value>,
        (least, most): (&str, &str),
        count: usize,
        what: &str,
    ) {
        let limit = |keyword| schema.get(keyword).and_then(Value::as_u64);
        if let Some(least) = limit(least).filter(|least| (count as u64) < *least) {
            self.broke(format!(
                "must have at least {}, and has {count}",
                several(least, what)
            ));
        }
        if let Some(most) = limit(most).filter(|most| (count as u64) > *most) {
            self.broke(format!(
                "must have at most {}, and has {count}",
                several(most, what)
            ));
        }
    }

    /// Goes one step down.
    fn at(&mut self, step: &str, schema: &Value, value: &Value) {
        let here = self.path.len();
        self.path.push_str(step);
        self.value(schema, value);
        self.path.truncate(here);
    }

    fn broke(&mut self, rule: impl Into<String>) {
        let broken = Broken {
            path: self.path.clone(),
            rule: rule.into(),
        };
        // A limit may stand at a reference and behind it.
        if self.broken.len() < MOST && !self.broken.contains(&broken) {
            self.broken.push(broken);
        }
    }
}

fn alternatives<'s>(
    schema: &'s Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = &'s Value> + use<'s> {
    let parts = schema.get(keyword).and_then(Value::as_array);
    parts.into_iter().flatten()
}

fn several(count: u64, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

fn whole(number: &Number) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    signed.or_else(|| number.as_u64().map(i128::from))
}

/// Whole numbers exactly, others as floating-point numbers are.
fn compare(number: &Number, limit: &Number) -> Option<Ordering> {
    match (whole(number), whole(limit)) {
        (Some(number), Some(limit)) => Some(number.cmp(&limit)),
        _ => number.as_f64()?.partial_cmp(&limit.as_f64()?),
    }
}

fn is_multiple(number: &Number, unit: &Number) -> bool {
    if let (Some(number), Some(unit)) = (whole(number), whole(unit)) {
        return unit == 0 || number % unit == 0;
    }
    let (Some(number), Some(unit)) = (number.as_f64(), unit.as_f64()) else {
        return true;
    };
    let times = number / unit;
    // 0.3 is three times 0.1, though not in binary.
    (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
}
