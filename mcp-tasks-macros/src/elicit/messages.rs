//! Every message of `#[derive(Elicit)]`: what is wrong, then what to write.

use std::fmt::Display;

pub(super) const UNION: &str =
    "a union is not a form: derive `Elicit` for a struct with named fields or an enum without data";

pub(super) const TUPLE_STRUCT: &str = "the fields of a form have names: write \
     `struct Name { field: Type }`, or ask for the type itself if there is only one";

pub(super) const EMPTY_ENUM: &str =
    "there is nothing to choose from: give the enum at least one variant";

pub(super) const GENERICS: &str = "a form is one fixed set of fields, so `Elicit` cannot be \
     derived for a generic type: write the types out";

pub(super) const VARIANT_DATA: &str = "a choice is a value without data, so a variant of an \
     `Elicit` enum has no fields: ask for the data in fields of their own, `Option`al where they \
     only go with one of the choices";

pub(super) const ATTRIBUTE_FORM: &str =
    "write the keys in parentheses, as in `#[elicit(title = \"..\")]`";

pub(super) const CRATE_PATH: &str = "`crate` is the path to mcp-tasks as a string, as in `#[elicit(crate = \"path::to::mcp_tasks\")]`";

pub(super) const EMPTY_NAME: &str =
    "a name on the wire has at least one character: write it, or leave `rename` out";

pub(super) const CHOICE_DEFAULT: &str =
    "the default of a choice is one of its variants: write `default = Variant`, not a string";

pub(super) const LIST_DEFAULT: &str =
    "the default of a list is a list of variants: write `default = [First, Second]`";

pub(super) const EMPTY_WORDS: &str =
    "there is nothing to show: write some words, or leave the key out";

pub(super) const SERDE_FLATTEN: &str = "a form is flat and its fields are known when it is compiled: write the fields of this struct \
     beside the others instead of `#[serde(flatten)]`";

pub(super) const SERDE_DEFAULT: &str = "`#[serde(default)]` lets a value be missing that the form requires: write \
     `#[elicit(default = ..)]` as well, or make the field an `Option`";

pub(super) const REFERENCE: &str =
    "an answer is owned: write `String` for `&str`, and the type itself for any other reference";

pub(super) const OPTION_TWICE: &str =
    "a field is filled in or empty, and nothing between: write `Option` once";

pub(super) const OPTION_IN_LIST: &str = "a list holds what was chosen, and nothing else: write `Vec<E>`, or `Option<Vec<E>>` for a list \
     that may be left empty";

pub(super) const SET: &str =
    "several choices are a `Vec`, in which each stands at most once: write `Vec<E>`";

pub(super) const CHAR: &str = "a single character is a text: write `String` with \
     `#[elicit(min_len = 1, max_len = 1)]`";

pub(super) const DEFAULT_NONE: &str =
    "a field that may be left empty starts empty: leave `default` out";

pub(super) const DEFAULT_SOME: &str = "the default of an `Option` is written without `Some`";

pub(super) fn pointer(name: &str) -> String {
    format!("a field holds its value itself: write the type without `{name}`")
}

pub(super) fn serde_default_of_all(field: impl Display) -> String {
    format!(
        "`#[serde(default)]` lets `{field}` be missing, and the form requires it: write \
         `#[elicit(default = ..)]` on it as well, or make it an `Option`"
    )
}

pub(super) fn serde_skip(key: &str) -> String {
    format!(
        "everything in a form is asked for and read, so `#[serde({key})]` cannot be meant: take \
         this out of the type that is asked for"
    )
}

pub(super) fn serde_reads_otherwise(key: &str) -> String {
    format!(
        "`#[serde({key})]` makes serde read something else than the form of `#[derive(Elicit)]` \
         asks for: leave it out, or derive `JsonSchema` and `Deserialize` instead and ask for \
         `FromSchema<..>`"
    )
}

pub(super) fn unknown_case(case: &str, nearest: Option<&str>, known: &[&str]) -> String {
    let known = list(known);
    match nearest {
        Some(nearest) => format!("unknown spelling `{case}`, did you mean `{nearest}`? ({known})"),
        None => format!("unknown spelling `{case}`: write one of {known}"),
    }
}

pub(super) fn default_format(text: &str, format: &str, example: &str) -> String {
    format!(
        "the default `{text}` is no `{format}`, so the form would be refused as it is first shown: \
         write one such as `{example}`"
    )
}

pub(super) fn default_twice(item: &str) -> String {
    format!("`{item}` is chosen twice, and each choice is made once: keep one")
}

pub(super) fn attribute_syntax(error: &syn::Error) -> String {
    format!(
        "{error}; `#[elicit(..)]` takes keys separated by commas, as in \
         `#[elicit(min = 1, max = 10)]`"
    )
}

pub(super) fn unknown_key(key: &str, nearest: Option<&str>, place: &str, known: &[&str]) -> String {
    let keys = list(known);
    let has = if known.len() == 1 { "has only" } else { "has" };
    match nearest {
        Some(nearest) => {
            format!("unknown key `{key}`, did you mean `{nearest}`? ({place} {has} {keys})")
        }
        None => format!("unknown key `{key}`: {place} {has} {keys}"),
    }
}

pub(super) fn repeated_key(key: &str) -> String {
    format!("`{key}` is given twice: keep one")
}

pub(super) fn missing_value(key: &str, example: &str) -> String {
    format!("`{key}` needs a value: write `{key} = {example}`")
}

pub(super) fn wrong_value(key: &str, wanted: &str, example: &str) -> String {
    format!("the value of `{key}` is {wanted}: write `{key} = {example}`")
}

pub(super) fn flag_with_value(key: &str) -> String {
    format!("`{key}` stands alone: write `#[elicit({key})]`")
}

/// `has` says what the field is, as in "this field is a `bool`".
pub(super) fn key_misfit(key: &str, fits: &str, has: &str, instead: &str) -> String {
    format!("`{key}` is for {fits}, but this field is {has}: {instead}")
}

pub(super) fn unknown_format(format: &str) -> String {
    format!("unknown format `{format}`: write `email`, `uri`, `date` or `date-time`")
}

pub(super) fn above(lower: &str, upper: &str, low: impl Display, high: impl Display) -> String {
    format!(
        "`{lower}` is greater than `{upper}` ({low} > {high}), so no answer would fit: swap them"
    )
}

pub(super) fn outside_type(key: &str, value: impl Display, ty: &str, range: &str) -> String {
    format!(
        "`{key} = {value}` is outside what the type `{ty}` can hold in a form: write a whole number {range}"
    )
}

pub(super) fn default_outside(value: impl Display, bound: &str, limit: impl Display) -> String {
    format!(
        "the default {value} does not fit `{bound} = {limit}`: change one of them, so that the form \
         can be accepted as it is first shown"
    )
}

pub(super) fn default_type(has: &str, wanted: &str) -> String {
    format!("this field is {has}, so its default is {wanted}")
}

pub(super) fn secret(name: &str) -> String {
    format!(
        "`{name}` looks like a secret, and secrets must not be asked for in a form, which the \
         client and its model can read: take it on a page of your own. If it is no secret, write \
         `#[elicit(not_secret)]`"
    )
}

pub(super) fn same_name(name: &str, owner: impl Display) -> String {
    format!("`{name}` is already what `{owner}` is called on the wire: `rename` one of them")
}

fn list(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
