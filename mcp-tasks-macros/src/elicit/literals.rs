//! Values of attribute keys, read as what the key wants.

use std::fmt;

use proc_macro2::Literal;
use syn::{Expr, ExprLit, Lit, LitStr, UnOp};

use super::parse::Entry;
use super::{Errors, messages};

/// A number as it was written.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    /// To compare with; literals beyond 2^53 lose digits, not their order of magnitude.
    #[expect(
        clippy::cast_precision_loss,
        reason = "only compared with bounds that are written as fractions"
    )]
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Int(whole) => whole as f64,
            Self::Float(number) => number,
        }
    }

    pub(super) fn greater_than(self, other: Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a > b,
            (a, b) => a.as_f64() > b.as_f64(),
        }
    }

    /// As a literal without a suffix, so that its place decides the type.
    pub(super) fn literal(self) -> Literal {
        match self {
            Self::Int(whole) => Literal::i128_unsuffixed(whole),
            Self::Float(number) => Literal::f64_unsuffixed(number),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(whole) => whole.fmt(f),
            Self::Float(number) => number.fmt(f),
        }
    }
}

/// The expression without parentheses and the invisible groups of macros.
pub(super) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => bare(&group.expr),
        Expr::Paren(paren) => bare(&paren.expr),
        other => other,
    }
}

pub(super) fn literal(expr: &Expr) -> Option<&Lit> {
    match bare(expr) {
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        _ => None,
    }
}

/// A number, if it is written as one. Finite: `1e999` is none.
pub(super) fn number(expr: &Expr) -> Option<Number> {
    match bare(expr) {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match number(&unary.expr)? {
            Number::Int(whole) => Some(Number::Int(-whole)),
            Number::Float(number) => Some(Number::Float(-number)),
        },
        other => match literal(other)? {
            Lit::Int(whole) => whole.base10_parse().ok().map(Number::Int),
            Lit::Float(number) => {
                let number: f64 = number.base10_parse().ok()?;
                number.is_finite().then_some(Number::Float(number))
            }
            _ => None,
        },
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
    let count = match entry.value.as_ref().and_then(number) {
        Some(Number::Int(count)) => u32::try_from(count).ok(),
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
