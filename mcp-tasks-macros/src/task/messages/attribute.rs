//! About the attribute's arguments.

use super::nearest;
use crate::task::attribute::KEYS;
use crate::task::listing;

pub(crate) const ATTRIBUTE_SYNTAX: &str =
    "expected `key = value`, for example `#[mcp_task(ttl = \"24h\")]`";
pub(crate) const DURATION_EXPECTED: &str =
    "expected a duration in quotes: `\"90s\"`, `\"1h30m\"`, `\"7d\"`";
pub(crate) const SUPPORT_EXPECTED: &str = "`support` is `\"optional\"` (a task if the client can), \
     `\"required\"` (always a task) or `\"forbidden\"` (never a task)";
pub(crate) const REPLAY_EXPECTED: &str = "`replay` is `true` or `false`";
pub(crate) const VERSION_EXPECTED: &str = "`version` is a whole number from 1 on";
pub(crate) const CONCURRENCY_EXPECTED: &str = "`concurrency` is a whole number from 1 on: so many \
     functions of the tool run at once, in all processes together. Write `concurrency = 4`";
pub(crate) const NO_CONCURRENCY: &str = "with `concurrency = 0` no call would ever run: write how \
     many may run at once, or leave `concurrency` out for no limit";
pub(crate) const PATH_EXPECTED: &str =
    "`crate` is the path of the mcp_tasks crate, for example `crate = ::my_name_for_it`";
pub(crate) const ANNOTATIONS_SYNTAX: &str = "write the annotations in parentheses, each alone or \
     with `true` or `false`: `annotations(read_only, open_world = false)`";
pub(crate) const READ_ONLY_AND_DESTRUCTIVE: &str = "`read_only` and `destructive` contradict each \
     other: a tool that only reads destroys nothing. Remove one of them";
pub(crate) const ICONS_EXPECTED: &str = "`icons` is a list: write `icons = [\"https://..\"]`";
pub(crate) const ICON_URI: &str =
    "clients show icons from `https:` addresses and `data:` URIs only: write one of these";
pub(crate) const META_EXPECTED: &str =
    "`meta` is a JSON object: write `meta = { \"example.com/tier\": \"gold\" }`";
pub(crate) const INLINE_WITH_REQUIRED: &str = "`inline` and `support = \"required\"` contradict \
     each other: a required task never answers in line. Remove one of them";

/// `given` is what stands in place of the text, if it is a name.
pub(crate) fn text_expected(key: &str, given: Option<&str>) -> String {
    let text = given.unwrap_or("..");
    format!("`{key}` is a text in quotes: write `{key} = \"{text}\"`")
}

pub(crate) fn unknown_key(key: &str) -> String {
    if [
        "retry",
        "retries",
        "max_retries",
        "attempts",
        "max_attempts",
    ]
    .contains(&key)
    {
        return format!(
            "there is no key `{key}`: a task is not tried again, its steps are. Write \
             `step_with(Retry::attempts(3), || ..)`"
        );
    }
    let all = KEYS.map(|key| format!("`{key}`")).join(", ");
    match nearest(key, &KEYS) {
        Some(nearest) => {
            format!("there is no key `{key}`; did you mean `{nearest}`? The keys are {all}")
        }
        None => format!("there is no key `{key}`. The keys are {all}"),
    }
}

pub(crate) fn unknown_annotation(key: &str) -> String {
    let known = listing::HINTS.map(|(known, _)| known);
    let all = known.map(|known| format!("`{known}`")).join(", ");
    let key_or_hint = key.strip_suffix("_hint").unwrap_or(key);
    match nearest(key_or_hint, &known) {
        Some(nearest) => format!(
            "there is no annotation `{key}`; did you mean `{nearest}`? The annotations are {all}"
        ),
        None => format!("there is no annotation `{key}`. The annotations are {all}"),
    }
}

pub(crate) fn annotation_value(key: &str) -> String {
    format!("`{key}` is `true` or `false`: write `{key}` alone, or `{key} = false`")
}

pub(crate) fn repeated_attribute_key(key: &str) -> String {
    format!("`{key}` is given twice: remove one")
}

pub(crate) fn key_without_value(key: &str) -> String {
    format!("`{key}` needs a value: write `{key} = ..`")
}

pub(crate) fn bad_duration(text: &str) -> String {
    format!(
        "`{}` is not a duration: write a whole number with `ms`, `s`, `m`, `h` or `d`, largest \
         unit first, for example `\"90s\"`, `\"1h30m\"`, `\"7d\"`",
        text.escape_debug()
    )
}

pub(crate) fn long_duration(text: &str) -> String {
    format!(
        "`{}` is too long: more milliseconds than fit in 64 bits. For no limit write \
         `ttl = \"none\"`",
        text.escape_debug()
    )
}

pub(crate) fn no_duration(key: &str) -> String {
    format!("`{key}` cannot be `none`, only `ttl` can: write a duration, or leave `{key}` out")
}

pub(crate) fn zero_duration(text: &str) -> String {
    format!(
        "`{}` is no time at all: a duration must be longer than zero",
        text.escape_debug()
    )
}

pub(crate) fn negative_duration(text: &str) -> String {
    format!(
        "`{}` is negative: a duration must be longer than zero",
        text.escape_debug()
    )
}

pub(crate) fn poll_longer_than_ttl(given: bool) -> String {
    let ttl = if given {
        "`ttl`"
    } else {
        "the default `ttl` of 24 hours"
    };
    format!(
        "`poll_interval` is longer than {ttl}: a client would look only after the task's end. Make \
         it shorter"
    )
}

pub(crate) const ONCE_EXPECTED: &str = "`once` is `true` or `false`: whether each state that a \
     call gives to its client is accepted once only";
pub(crate) const STATE_TTL_TOO_LONG: &str = "`state_ttl` can be \"7d\" at most: the keys that seal \
     what clients bring back are kept for no longer";
