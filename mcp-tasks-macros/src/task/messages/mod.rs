//! Every message of the attributes: what is wrong, then what to write.

mod attribute;
mod calls;
mod flows;
mod item;
mod methods;
mod misplaced;
mod replay;
mod steps;
mod waits;

pub(crate) use attribute::*;
pub(crate) use calls::*;
pub(crate) use flows::*;
pub(crate) use item::*;
pub(crate) use methods::*;
pub(crate) use misplaced::*;
pub(crate) use replay::*;
pub(crate) use steps::*;
pub(crate) use waits::*;

/// The known key that is a slip of the finger away.
pub(crate) fn nearest<'k>(key: &str, keys: &[&'k str]) -> Option<&'k str> {
    // What people are used to from elsewhere.
    let habit = match key {
        "timeout" | "lifetime" | "expires" => "ttl",
        "poll" | "interval" => "poll_interval",
        "task" | "tasks" | "task_support" | "taskSupport" => "support",
        "desc" | "doc" | "docs" => "description",
        "grace" => "cancel_grace",
        "durable" => "replay",
        "concurrent" | "max_concurrency" | "max_concurrent" | "parallel" | "parallelism"
        | "max_parallel" => "concurrency",
        "minimum" | "ge" => "min",
        "maximum" | "le" => "max",
        "min_length" | "minLength" => "min_len",
        "max_length" | "maxLength" => "max_len",
        "minItems" => "min_items",
        "maxItems" => "max_items",
        "regex" => "pattern",
        "_meta" | "metadata" => "meta",
        "icon" => "icons",
        "annotation" | "hints" | "read_only" | "readonly" | "destructive" | "idempotent"
        | "open_world" => "annotations",
        _ => "",
    };
    let mut known = keys.iter().copied();
    known.find(|known| *known == habit).or_else(|| {
        let distances = keys.iter().map(|known| (distance(key, known), *known));
        distances
            .min()
            .filter(|(distance, known)| *distance <= known.len().max(key.len()) / 3)
            .map(|(_, known)| known)
    })
}

/// Levenshtein's distance, which is small enough to have of one's own.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
