//! What an explicit key may look like.

/// Checks a key that was computed at run time.
pub(super) fn check(key: &str) -> Result<(), String> {
    if key.is_empty() {
        return Err("a key must not be empty".to_owned());
    }
    match key
        .chars()
        .find(|c| matches!(c, '/' | '#') || c.is_control())
    {
        None => Ok(()),
        Some(c) => Err(format!(
            "the key `{}` contains {c:?}, which keys may not: `/` separates branches and `#` counts passes",
            key.escape_debug()
        )),
    }
}
