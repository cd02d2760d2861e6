//! The limits of an argument, as keywords of its schema.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::{Expr, Ident, Lit, LitStr, Type};

use super::super::report::Report;
use super::super::rewrite::located_at;
use super::default::{optional, primitive};
use super::messages;
use super::parse::Entry;
use crate::literal::{Number, literal};

/// What was given, each with the entry's key and where its value stands.
#[derive(Default)]
pub(crate) struct Limits(Vec<Limit>);

struct Limit {
    key: Ident,
    name: String,
    value: Value,
    /// The value as the user wrote it.
    expr: Expr,
}

enum Value {
    Number(Number),
    Pattern(regex_lite::Regex),
}

/// Lower and upper limits, which must leave something between them.
const PAIRS: [(&str, &str); 3] = [
    ("min", "max"),
    ("min_len", "max_len"),
    ("min_items", "max_items"),
];

impl Limits {
    pub(super) fn read(entries: &[Entry], ty: &Type, report: &Report) -> Self {
        let entries = entries.iter().filter(|entry| entry.name() != "default");
        let limits = Self(
            entries
                .filter_map(|entry| read(entry, ty, report))
                .collect(),
        );
        for (lower, upper) in PAIRS {
            if let (Some((low, limit)), Some((high, _))) =
                (limits.number(lower), limits.number(upper))
                && high.is_less_than(low)
            {
                let message = messages::limits_cross(lower, upper, &low, &high);
                report.error_spanned(&limit.expr, message);
            }
        }
        limits
    }

    fn number(&self, name: &str) -> Option<(Number, &Limit)> {
        self.0.iter().find_map(|limit| match limit.value {
            Value::Number(number) if limit.name == name => Some((number, limit)),
            _ => None,
        })
    }

    /// Keywords of JSON Schema, through schemars.
    pub(super) fn keywords(&self) -> TokenStream {
        if self.0.is_empty() {
            return TokenStream::new();
        }
        let keywords = self.0.iter().map(|limit| {
            let keyword = LitStr::new(keyword(&limit.name), Span::mixed_site());
            let value = limit.value();
            ours!(#keyword = #value)
        });
        ours!(#[schemars(extend(#(#keywords),*))])
    }

    /// Asks the type whether it goes with each limit, at the limit.
    pub(super) fn checks(&self, ty: &Type, runtime: &TokenStream) -> TokenStream {
        self.0
            .iter()
            .map(|limit| limit.check(ty, runtime))
            .collect()
    }

    /// Holds a default, as far as it is a literal, against the limits.
    pub(super) fn hold(&self, default: &Expr, report: &Report) {
        let of_number = Number::read(default);
        let len = match literal(default) {
            Some(Lit::Str(text)) => Some(text.value().chars().count()),
            _ => None,
        };
        let items = match default {
            Expr::Array(array) => Some(array.elems.len()),
            _ => None,
        };
        let count = |count: usize| Number::Whole(count as i128);
        let measures = [of_number, len.map(count), items.map(count)];
        for (measure, (lower, upper)) in measures.into_iter().zip(PAIRS) {
            let Some(measure) = measure else { continue };
            let missed = self
                .number(lower)
                .filter(|(low, _)| measure.is_less_than(*low))
                .or_else(|| {
                    self.number(upper)
                        .filter(|(high, _)| high.is_less_than(measure))
                });
            if let Some((bound, limit)) = missed {
                report.error_spanned(default, messages::default_outside(&limit.name, &bound));
            }
        }
        if let Some(Lit::Str(text)) = literal(default) {
            for limit in &self.0 {
                if let Value::Pattern(regex) = &limit.value
                    && !regex.is_match(&text.value())
                {
                    report.error_spanned(default, messages::DEFAULT_AND_PATTERN);
                }
            }
        }
    }
}

impl Limit {
    /// As the schema has it: without a suffix.
    fn value(&self) -> TokenStream {
        match self.value {
            Value::Number(Number::Whole(number)) => {
                Literal::i128_unsuffixed(number).into_token_stream()
            }
            Value::Number(Number::Fraction(number)) => {
                Literal::f64_unsuffixed(number).into_token_stream()
            }
            Value::Pattern(_) => self.expr.to_token_stream(),
        }
    }

    fn check(&self, ty: &Type, runtime: &TokenStream) -> TokenStream {
        let span = Span::mixed_site().located_at(self.key.span());
        let ty = located_at(&ty.to_token_stream(), span);
        let runtime = located_at(runtime, span);
        let of_type = match self.name.as_str() {
            "min" | "max" => {
                let expr = &self.expr;
                if let Value::Number(Number::Fraction(_)) = self.value {
                    return quote_spanned!(span=> const _: () = #runtime::with_fraction::<#ty>(););
                }
                // The literal as one of the type: rustc sees whether it fits.
                return quote_spanned! {span=>
                    const _: fn() = || { let _: #runtime::Whole<#ty> = #expr; };
                };
            }
            "min_items" | "max_items" => "with_items",
            _ => "with_length",
        };
        let of_type = Ident::new(of_type, span);
        quote_spanned!(span=> const _: () = #runtime::#of_type::<#ty>();)
    }
}

/// The limit, unless its value is of another kind.
fn read(entry: &Entry, ty: &Type, report: &Report) -> Option<Limit> {
    let name = entry.name();
    let value = match name.as_str() {
        "pattern" => pattern(entry, report)?,
        "min" | "max" => {
            let number = entry.value.as_ref().and_then(Number::read);
            if number.is_none() {
                entry.wants("a number", "10", report);
            }
            let number = number?;
            let primitive = primitive(optional(ty).unwrap_or(ty));
            if let Some(unsigned) = primitive.filter(|name| name.starts_with('u'))
                && number.is_less_than(Number::Whole(0))
            {
                let message = messages::negative_limit(&name, &unsigned);
                report.error_spanned(&entry.value, message);
                return None;
            }
            Value::Number(number)
        }
        _ => {
            let count = entry.value.as_ref().and_then(Number::read);
            let count = count.filter(
                |count| matches!(count, Number::Whole(count) if u32::try_from(*count).is_ok()),
            );
            if count.is_none() {
                entry.wants("a count", "3", report);
            }
            Value::Number(count?)
        }
    };
    Some(Limit {
        key: entry.key.clone(),
        name,
        value,
        expr: entry.value.clone()?,
    })
}

fn pattern(entry: &Entry, report: &Report) -> Option<Value> {
    let text = entry.text(report)?;
    match regex_lite::Regex::new(&text.value()) {
        Ok(regex) => Some(Value::Pattern(regex)),
        Err(error) => {
            report.error(text.span(), messages::bad_pattern(&error));
            None
        }
    }
}

/// What the key is called in JSON Schema.
fn keyword(key: &str) -> &'static str {
    match key {
        "min" => "minimum",
        "max" => "maximum",
        "min_len" => "minLength",
        "max_len" => "maxLength",
        "min_items" => "minItems",
        "max_items" => "maxItems",
        _ => "pattern",
    }
}
