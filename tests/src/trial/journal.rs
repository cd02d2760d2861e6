//! The journal of a task as it is stored.

use std::collections::BTreeMap;

use serde_json::Value;

/// Events by their sequence numbers.
pub type Journal = BTreeMap<u64, Value>;

/// The kind of an event.
pub fn kind(event: &Value) -> &str {
    match event {
        Value::Object(event) => event.keys().next().map_or("", String::as_str),
        event => event.as_str().unwrap_or_default(),
    }
}

/// The events of a kind, in order.
pub fn of_kind<'a>(
    journal: &'a Journal,
    wanted: &'a str,
) -> impl Iterator<Item = (u64, &'a Value)> {
    journal
        .iter()
        .filter(move |(_, event)| kind(event) == wanted)
        .map(move |(seq, event)| (*seq, &event[wanted]))
}

/// A journal for a person to read.
pub fn dump(journal: &Journal) -> String {
    let lines = journal
        .iter()
        .map(|(seq, event)| format!("  {seq:>3} {event}\n"));
    lines.collect()
}
