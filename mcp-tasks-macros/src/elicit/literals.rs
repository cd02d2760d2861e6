//! Values of attribute keys, read as what the key wants.

use proc_macro2::Literal;
use syn::{Lit, LitStr};

use super::parse::Entry;
use super::{Errors, messages};
use crate::literal::{Number, literal};

/// As a literal without a suffix, so that its place decides the type.
pub(super) fn unsuffixed(number: Number) -> Literal {
    match number {
        Number::Whole(whole) => Literal::i128_unsuffixed(whole),
        Number::Fraction(number) => Literal::f64_unsuffixed(number),
    }
}

/// A string, without complaint if it is none.
pub(super) fn quiet_text(entry: &Entry) -> Option<&LitStr> {
    match literal(entry.value.as_ref()?)? {
        Lit::Str(text) => Some(text),
        _ => None,
    }
}

pub(super) fn text(entry: &Entry, errors: &mut Errors) -> Option<String> {
    let text = quiet_text(entry).map(LitStr::value);
    if text.is_none() {
        complain(entry, "a string", "\"..\"", errors);
    }
    text
}

/// Words for a person.
pub(super) fn words(entry: &Entry, errors: &mut Errors) -> Option<String> {
    let words = text(entry, errors)?;
    if words.trim().is_empty() {
        errors.push(entry.value_span(), messages::EMPTY_WORDS);
    }
    Some(words)
}

/// A name on the wire.
pub(super) fn name(entry: &Entry, errors: &mut Errors) -> Option<String> {
    let name = text(entry, errors)?;
    if name.is_empty() {
        errors.push(entry.value_span(), messages::EMPTY_NAME);
        return None;
    }
    Some(name)
}

pub(super) fn count(entry: &Entry, errors: &mut Errors) -> Option<u32> {
    let count = match entry.value.as_ref().and_then(Number::read) {
        Some(Number::Whole(count)) => u32::try_from(count).ok(),
        _ => None,
    };
    if count.is_none() {
        complain(entry, "a count", "3", errors);
    }
    count
}

/// Says which value a key needs, or that it needs one.
pub(super) fn complain(entry: &Entry, wanted: &str, example: &str, errors: &mut Errors) {
    let key = entry.name();
    let message = match entry.value {
        Some(_) => messages::wrong_value(&key, wanted, example),
        None => messages::missing_value(&key, example),
    };
    errors.push(entry.value_span(), message);
}
