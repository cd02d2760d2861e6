//! What a field starts with: whether it is of the field's type and within its
//! bounds, and how it becomes a value of that type.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::{Expr, ExprArray, Lit, LitStr, Type};

use super::keys::{Bound, Checker};
use super::messages;
use super::parse::Entry;
use super::types::{self, Shape};
use crate::literal::{self, Number};

/// A default value, by how it becomes a value of the field's type.
pub(super) enum Initial {
    /// Already of the type.
    Value(TokenStream),
    /// Text, to be made a `String`.
    Text(TokenStream),
    /// Items, to be made a `Vec`.
    Items(Vec<TokenStream>),
}

impl Checker<'_> {
    pub(super) fn default(&mut self, entry: &Entry) -> Option<Initial> {
        let Some(expr) = &entry.value else {
            let example = match self.ty.shape {
                Shape::Text => "\"..\"",
                Shape::Bool => "true",
                Shape::Integer(_) | Shape::Float(_) => "10",
                Shape::List => "[Variant]",
                Shape::Other => "Variant",
            };
            let message = messages::missing_value("default", example);
            self.errors.push(entry.key.span(), message);
            return None;
        };
        if let Some(message) = about_option(expr, self.ty.optional) {
            self.errors.push(entry.value_span(), message);
            return None;
        }
        let number = Number::read(expr);
        let literal = literal::literal(expr);
        let is_literal = number.is_some() || literal.is_some();
        match (self.ty.shape, literal, number) {
            (Shape::Text, Some(Lit::Str(text)), _) => {
                let len = Number::Whole(text.value().chars().count().try_into().ok()?);
                let (min, max) = (self.bounds.min_len, self.bounds.max_len);
                self.within(
                    ("min_len", min),
                    ("max_len", max),
                    len,
                    &text.token(),
                    entry,
                );
                self.formatted(text, entry);
                Some(Initial::Text(text.into_token_stream()))
            }
            (Shape::Integer(name), _, Some(number @ Number::Whole(_))) => {
                if let Some(range) = types::outside(name, number) {
                    let message = messages::outside_type("default", number, name, &range);
                    self.errors.push(entry.value_span(), message);
                }
                let (min, max) = (self.bounds.min, self.bounds.max);
                self.within(("min", min), ("max", max), number, &number, entry);
                Some(Initial::Value(Self::located(number, entry)))
            }
            (Shape::Float(_), _, Some(number)) => {
                let (min, max) = (self.bounds.min, self.bounds.max);
                self.within(("min", min), ("max", max), number, &number, entry);
                let number = Number::Fraction(number.as_f64());
                Some(Initial::Value(Self::located(number, entry)))
            }
            (Shape::Bool, Some(Lit::Bool(_)), _) => Some(Initial::Value(expr.into_token_stream())),
            (Shape::List, _, _) => self.default_list(expr, entry, is_literal),
            (Shape::Other, Some(Lit::Str(_)), _) => {
                self.errors
                    .push(entry.value_span(), messages::CHOICE_DEFAULT);
                None
            }
            (Shape::Other, _, _) => Some(Initial::Value(variant(expr, self.ty.inner))),
            (shape, _, _) if is_literal => {
                let wanted = match shape {
                    Shape::Text => "a string, as in `default = \"..\"`",
                    Shape::Bool => "`true` or `false`",
                    Shape::Integer(_) => "a whole number, as in `default = 10`",
                    _ => "a number, as in `default = 0.5`",
                };
                let message = messages::default_type(&shape.described(), wanted);
                self.errors.push(entry.value_span(), message);
                None
            }
            (Shape::Text, _, _) => Some(Initial::Text(expr.into_token_stream())),
            _ => Some(Initial::Value(expr.into_token_stream())),
        }
    }

    fn default_list(&mut self, expr: &Expr, entry: &Entry, is_literal: bool) -> Option<Initial> {
        let Expr::Array(array) = literal::bare(expr) else {
            if is_literal {
                self.errors.push(entry.value_span(), messages::LIST_DEFAULT);
                return None;
            }
            return Some(Initial::Value(expr.into_token_stream()));
        };
        if let Some(item) = array
            .elems
            .iter()
            .find(|item| literal::literal(item).is_some())
        {
            self.errors.push_over(item, messages::LIST_DEFAULT);
            return None;
        }
        let count = Number::Whole(array.elems.len().try_into().ok()?);
        let (min, max) = (self.bounds.min_items, self.bounds.max_items);
        let shown = format!("of {count}");
        self.within(("min_items", min), ("max_items", max), count, &shown, entry);
        self.each_once(array);
        let item = self.ty.item;
        Some(Initial::Items(
            array.elems.iter().map(|each| variant(each, item)).collect(),
        ))
    }

    /// Whether a text looks as its format says, as far as can be told here.
    fn formatted(&mut self, text: &LitStr, entry: &Entry) {
        if let Some(format) = self.given_format
            && format.surely_not(&text.value())
        {
            let message = messages::default_format(&text.value(), format.name(), format.example());
            self.errors.push(entry.value_span(), message);
        }
    }

    /// Complains of a choice that is listed twice under one name.
    fn each_once(&mut self, array: &ExprArray) {
        let mut seen = Vec::new();
        for item in &array.elems {
            let Some(name) = last_name(item) else {
                continue;
            };
            if seen.contains(&name) {
                self.errors.push_over(item, messages::default_twice(&name));
            }
            seen.push(name);
        }
    }

    /// Whether the default fits the bounds, by whatever they measure.
    fn within(
        &mut self,
        (lower, min): (&str, Bound),
        (upper, max): (&str, Bound),
        measure: Number,
        shown: &dyn std::fmt::Display,
        entry: &Entry,
    ) {
        // Bounds that contradict each other are an error of their own.
        if let (Some((min, _)), Some((max, _))) = (min, max)
            && max.is_less_than(min)
        {
            return;
        }
        let missed = match (min, max) {
            (Some((min, _)), _) if measure.is_less_than(min) => Some((lower, min)),
            (_, Some((max, _))) if max.is_less_than(measure) => Some((upper, max)),
            _ => None,
        };
        if let Some((bound, limit)) = missed {
            let message = messages::default_outside(shown, bound, limit);
            self.errors.push(entry.value_span(), message);
        }
    }
}

/// What is wrong with a default that is written as an `Option`.
fn about_option(expr: &Expr, optional: bool) -> Option<&'static str> {
    match literal::bare(expr) {
        Expr::Path(_) if last_name(expr)? == "None" && optional => Some(messages::DEFAULT_NONE),
        Expr::Call(call) if last_name(&call.func)? == "Some" => Some(messages::DEFAULT_SOME),
        _ => None,
    }
}

/// The last segment of a path.
fn last_name(expr: &Expr) -> Option<String> {
    match literal::bare(expr) {
        Expr::Path(path) => Some(path.path.segments.last()?.ident.unraw().to_string()),
        _ => None,
    }
}

/// Takes a bare name in `CamelCase` for a variant of the field's enum; constants
/// and everything longer are left as they are.
fn variant(expr: &Expr, ty: &Type) -> TokenStream {
    if let Expr::Path(path) = literal::bare(expr)
        && let Some(ident) = path.path.get_ident()
    {
        let name = ident.unraw().to_string();
        let first_upper = name.starts_with(char::is_uppercase);
        let constant = name.len() > 1 && !name.chars().any(char::is_lowercase);
        if first_upper && !constant {
            return quote_spanned!(ident.span()=> <#ty>::#ident);
        }
    }
    expr.into_token_stream()
}
