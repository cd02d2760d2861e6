//! Holds an item against what a form can be.

use proc_macro2::Span;
use syn::{Data, DeriveInput, Fields, Ident};

use super::container::Container;
use super::fields::{self, Field};
use super::variants::{self, Variant};
use super::{Errors, messages};

/// An item that can be a form.
pub(super) enum Item<'a> {
    Form(Vec<Field<'a>>),
    Choice(Vec<Variant<'a>>),
}

/// What the item asks for, as far as it can be told; with errors it is not used.
pub(super) fn check<'a>(
    input: &'a DeriveInput,
    container: &Container,
    errors: &mut Errors,
) -> Option<Item<'a>> {
    if !input.generics.params.is_empty() {
        errors.push_over(&input.generics.params, messages::GENERICS);
    }
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(named) => {
                Some(Item::Form(fields::check(&named.named, container, errors)))
            }
            Fields::Unit => Some(Item::Form(Vec::new())),
            Fields::Unnamed(unnamed) => {
                errors.push_over(unnamed, messages::TUPLE_STRUCT);
                None
            }
        },
        Data::Enum(data) => {
            if data.variants.is_empty() {
                errors.push(input.ident.span(), messages::EMPTY_ENUM);
            }
            Some(Item::Choice(variants::check(
                &data.variants,
                container,
                errors,
            )))
        }
        Data::Union(data) => {
            errors.push(data.union_token.span, messages::UNION);
            None
        }
    }
}

/// Names on the wire and whose they are, to find the second of two.
#[derive(Default)]
pub(super) struct WireNames<'a>(Vec<(String, &'a Ident)>);

impl<'a> WireNames<'a> {
    pub(super) fn add(&mut self, name: &str, owner: &'a Ident, span: Span, errors: &mut Errors) {
        match self.0.iter().find(|(other, _)| other == name) {
            Some((_, first)) => errors.push(span, messages::same_name(name, first)),
            None => self.0.push((name.to_owned(), owner)),
        }
    }
}
