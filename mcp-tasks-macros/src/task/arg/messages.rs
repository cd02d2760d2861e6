//! Every message of `#[arg(..)]`: what is wrong, then what to write.

use super::super::messages::nearest;

pub(super) const ARG_SYNTAX: &str =
    "write the keys in parentheses, as in `#[arg(min = 1, max = 10)]`";
pub(super) const ARG_ON_EXTRACTOR: &str =
    "this parameter is given by the server and is not an argument: remove `#[arg(..)]`";
pub(super) const DEFAULT_TWICE: &str = "the default is given twice: remove this one, or `default` \
     from `#[arg(..)]`";
pub(super) const ALIAS_WITH_LIMIT: &str = "under another name the argument would not be held \
     against its limits, which belong to the name in the schema: remove `alias`, or the limits from \
     `#[arg(..)]`";
pub(super) const DEFAULT_AND_PATTERN: &str =
    "the default does not match `pattern`: change one of them";

pub(super) fn arg_syntax(error: &syn::Error) -> String {
    format!(
        "{error}; `#[arg(..)]` takes keys separated by commas, as in `#[arg(min = 1, max = 10)]`"
    )
}

pub(super) fn unknown_arg_key(key: &str) -> String {
    let elsewhere = match key {
        "rename" | "alias" | "with" => {
            return format!(
                "`#[arg(..)]` has no key `{key}`, serde has: write `#[serde({key} = \"..\")]`"
            );
        }
        "flatten" => {
            return "`#[arg(..)]` has no key `flatten`, serde has: write `#[serde(flatten)]`"
                .into();
        }
        "title" | "description" | "format" | "example" | "examples" => {
            return format!(
                "`#[arg(..)]` has no key `{key}`: the doc comment describes the argument, and \
                 `#[schemars({key} = ..)]` adds to its schema"
            );
        }
        _ => nearest(key, &super::KEYS),
    };
    let all = super::KEYS.map(|key| format!("`{key}`")).join(", ");
    match elsewhere {
        Some(nearest) => {
            format!("`#[arg(..)]` has no key `{key}`; did you mean `{nearest}`? The keys are {all}")
        }
        None => format!("`#[arg(..)]` has no key `{key}`. The keys are {all}"),
    }
}

pub(super) fn arg_value(key: &str, what: &str, example: &str, given: bool) -> String {
    if given {
        format!("the value of `{key}` is {what}: write `{key} = {example}`")
    } else {
        format!("`{key}` needs a value: write `{key} = {example}`")
    }
}

pub(super) fn bad_pattern(error: &impl std::fmt::Display) -> String {
    format!(
        "this is not a pattern that can be enforced: {error}. Character classes, repetition, groups, \
         `^` and `$` are known; looking around, back references and `\\p{{..}}` are not"
    )
}

pub(super) fn negative_limit(key: &str, ty: &str) -> String {
    format!("a `{ty}` is never negative: remove `{key}`, or write 0 or more")
}

pub(super) fn text_as_default(ty: &str) -> String {
    format!("the argument is a `{ty}`, and its default is a text: write it without the quotes")
}

pub(super) fn limits_cross(
    lower: &str,
    upper: &str,
    low: &impl std::fmt::Display,
    high: &impl std::fmt::Display,
) -> String {
    format!("`{lower}` is greater than `{upper}` ({low} > {high}), so nothing would fit: swap them")
}

pub(super) fn default_outside(key: &str, limit: &impl std::fmt::Display) -> String {
    format!("the default does not fit `{key} = {limit}`: change one of them")
}
