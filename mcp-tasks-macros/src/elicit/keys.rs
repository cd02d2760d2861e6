//! The keys that describe a field: whether each goes with the field's type and
//! has a value that makes sense, and the call that passes it on.
//!
//! Only what syntax shows is judged here. A key on a type that is none of the
//! standard library's is left to the trait bounds of the generated code.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Ident;

use super::formats::Format;
use super::literals;
use super::parse::Entry;
use super::types::{self, FieldType, Shape};
use super::{Errors, messages};
use crate::literal::Number;

/// A bound and the place that gave it.
pub(super) type Bound = Option<(Number, Span)>;

/// The bounds that were given.
#[derive(Default)]
pub(super) struct Bounds {
    pub min: Bound,
    pub max: Bound,
    pub min_len: Bound,
    pub max_len: Bound,
    pub min_items: Bound,
    pub max_items: Bound,
}

/// Goes through the keys of one field.
pub(super) struct Checker<'a> {
    pub ty: &'a FieldType<'a>,
    pub bounds: Bounds,
    pub given_format: Option<Format>,
    calls: Vec<(Ident, TokenStream)>,
    pub errors: &'a mut Errors,
}

impl<'a> Checker<'a> {
    pub(super) fn new(ty: &'a FieldType<'a>, errors: &'a mut Errors) -> Self {
        Self {
            ty,
            bounds: Bounds::default(),
            given_format: None,
            calls: Vec::new(),
            errors,
        }
    }

    pub(super) fn into_calls(self) -> Vec<(Ident, TokenStream)> {
        self.calls
    }

    /// A key that describes the field, other than its name and default.
    pub(super) fn describe(&mut self, entry: &Entry) {
        let key = entry.name();
        let fits = self.fits(entry, &key);
        let argument = match key.as_str() {
            "title" => literals::words(entry, self.errors).map(ToTokens::into_token_stream),
            "min" | "max" => self.bound(entry, &key, fits),
            "format" => self.format(entry),
            _ => self.count(entry, &key),
        };
        if let (true, Some(argument)) = (fits, argument) {
            // Located at the key, where the compiler reports a misfit.
            let method = Ident::new(&key, entry.key.span().resolved_at(Span::mixed_site()));
            self.calls.push((method, argument));
        }
    }

    /// Whether the key goes with the field's type, as far as that can be seen.
    fn fits(&mut self, entry: &Entry, key: &str) -> bool {
        use Shape::{Float, Integer, List, Other, Text};
        let shape = self.ty.shape;
        let end = key.get(..3).unwrap_or(key);
        let instead = match (key, shape) {
            ("title", _)
            | (_, Other)
            | ("min" | "max", Integer(_) | Float(_))
            | ("min_len" | "max_len" | "format", Text)
            | ("min_items" | "max_items", List) => return true,
            ("format", _) => "make it a `String`, or leave `format` out".to_owned(),
            (_, Integer(_) | Float(_)) => format!("write `{end}`"),
            (_, Text) => format!("write `{end}_len`"),
            (_, List) => format!("write `{end}_items`"),
            _ => format!("leave `{key}` out"),
        };
        let wanted = match key {
            "min" | "max" => "numbers",
            "min_items" | "max_items" => "lists",
            _ => "texts",
        };
        let message = messages::key_misfit(key, wanted, &shape.described(), &instead);
        self.errors.push(entry.key.span(), message);
        false
    }

    fn bound(&mut self, entry: &Entry, key: &str, fits: bool) -> Option<TokenStream> {
        let Some(number) = entry.value.as_ref().and_then(Number::read) else {
            literals::complain(entry, "a number", "10", self.errors);
            return None;
        };
        let number = match self.ty.shape {
            Shape::Integer(name) => {
                if let Some(range) = types::outside(name, number) {
                    let message = messages::outside_type(key, number, name, &range);
                    self.errors.push(entry.value_span(), message);
                    return None;
                }
                number
            }
            Shape::Float(_) => Number::Fraction(number.as_f64()),
            _ => number,
        };
        if fits {
            self.remember(key, number, entry);
        }
        Some(Self::located(number, entry))
    }

    fn count(&mut self, entry: &Entry, key: &str) -> Option<TokenStream> {
        let count = Number::Whole(literals::count(entry, self.errors)?.into());
        self.remember(key, count, entry);
        Some(Self::located(count, entry))
    }

    fn format(&mut self, entry: &Entry) -> Option<TokenStream> {
        let name = literals::text(entry, self.errors)?;
        self.given_format = Format::named(&name);
        if self.given_format.is_none() {
            let message = messages::unknown_format(&name);
            self.errors.push(entry.value_span(), message);
        }
        Some(name.into_token_stream())
    }

    fn remember(&mut self, key: &str, number: Number, entry: &Entry) {
        let bounds = &mut self.bounds;
        let bound = match key {
            "min" => &mut bounds.min,
            "max" => &mut bounds.max,
            "min_len" => &mut bounds.min_len,
            "max_len" => &mut bounds.max_len,
            "min_items" => &mut bounds.min_items,
            _ => &mut bounds.max_items,
        };
        *bound = Some((number, entry.value_span()));
    }

    pub(super) fn located(number: Number, entry: &Entry) -> TokenStream {
        let mut literal = literals::unsuffixed(number);
        literal.set_span(entry.value_span().resolved_at(Span::mixed_site()));
        literal.into_token_stream()
    }

    /// A lower bound above its upper one lets nothing through.
    pub(super) fn compare(&mut self) {
        let Bounds {
            min,
            max,
            min_len,
            max_len,
            min_items,
            max_items,
        } = &self.bounds;
        for (lower, upper, low, high) in [
            ("min", "max", min, max),
            ("min_len", "max_len", min_len, max_len),
            ("min_items", "max_items", min_items, max_items),
        ] {
            if let (Some((low, span)), Some((high, _))) = (low, high)
                && high.is_less_than(*low)
            {
                let message = messages::above(lower, upper, low, high);
                self.errors.push(*span, message);
            }
        }
    }
}
