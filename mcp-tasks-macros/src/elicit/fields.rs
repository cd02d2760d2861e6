//! Holds the fields of a struct against what the fields of a form can be.
//!
//! Here is what concerns a field as a whole: its names, its words, and whether
//! it looks like a secret. Keys and defaults have files of their own.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Ident, Token, Type};

use super::check::WireNames;
use super::container::Container;
use super::defaults::Initial;
use super::keys::Checker;
use super::parse::{self, Place};
use super::types::{self, FieldType, Shape};
use super::{Errors, literals, messages, secrets, serde};

/// One field of a form.
pub(super) struct Field<'a> {
    pub ident: &'a Ident,
    pub ty: &'a Type,
    /// The name on the wire.
    pub name: String,
    pub description: Option<String>,
    /// What the field starts with, without `Some`.
    pub default: Option<Initial>,
    /// Whether it was given one, even if it is wrong.
    has_default: bool,
    pub optional: bool,
    /// Calls that describe the field further, such as `.min(1)`.
    pub calls: Vec<(Ident, TokenStream)>,
}

impl Field<'_> {
    fn is_required(&self) -> bool {
        !self.optional && !self.has_default
    }
}

pub(super) fn check<'a>(
    fields: &'a Punctuated<syn::Field, Token![,]>,
    container: &Container,
    errors: &mut Errors,
) -> Vec<Field<'a>> {
    let mut seen = WireNames::default();
    let mut checked = Vec::new();
    for field in fields {
        let Some(ident) = &field.ident else { continue };
        checked.push(check_one(ident, field, container, &mut seen, errors));
    }
    if let Some(span) = container.serde_default
        && let Some(required) = checked.iter().find(|field| field.is_required())
    {
        errors.push(span, messages::serde_default_of_all(required.ident));
    }
    checked
}

fn check_one<'a>(
    ident: &'a Ident,
    field: &'a syn::Field,
    container: &Container,
    seen: &mut WireNames<'a>,
    errors: &mut Errors,
) -> Field<'a> {
    let entries = parse::entries(&field.attrs, Place::Field, errors);
    let serde = serde::look_at(&field.attrs, errors);
    let ty = types::look_at(&field.ty);
    if let Some(instead) = types::instead(&field.ty) {
        errors.push_over(&field.ty, instead);
    }
    let own_name = ident.unraw().to_string();
    let mut name = serde.rename.unwrap_or_else(|| {
        let written = container.rename_all.map(|case| case.field(&own_name));
        (written.unwrap_or_else(|| own_name.clone()), ident.span())
    });
    let mut description = parse::doc(&field.attrs);
    let mut not_secret = false;
    let mut default = None;
    let mut keys = Checker::new(&ty, errors);
    for entry in &entries {
        match entry.name().as_str() {
            "description" => description = literals::words(entry, keys.errors),
            "rename" => {
                if let Some(renamed) = literals::name(entry, keys.errors) {
                    name = (renamed, entry.value_span());
                }
            }
            "not_secret" => {
                not_secret = true;
                if entry.value.is_some() {
                    let message = messages::flag_with_value("not_secret");
                    keys.errors.push(entry.value_span(), message);
                }
            }
            "default" => default = Some(entry),
            _ => keys.describe(entry),
        }
    }
    keys.compare();
    let has_default = default.is_some();
    let default = default.and_then(|entry| keys.default(entry));
    let calls = keys.into_calls();
    if !not_secret {
        refuse_secret(ident, [&own_name, &name.0], &ty, errors);
    }
    let (name, name_span) = name;
    seen.add(&name, ident, name_span, errors);
    let checked = Field {
        ident,
        ty: &field.ty,
        name,
        description,
        default,
        has_default,
        optional: ty.optional,
        calls,
    };
    if let Some(span) = serde.default
        && checked.is_required()
    {
        errors.push(span, messages::SERDE_DEFAULT);
    }
    checked
}

fn refuse_secret(ident: &Ident, names: [&String; 2], ty: &FieldType<'_>, errors: &mut Errors) {
    if matches!(ty.shape, Shape::Bool | Shape::List) {
        return;
    }
    if let Some(suspect) = names.into_iter().find(|name| secrets::is_secret(name)) {
        errors.push(ident.span(), messages::secret(suspect));
    }
}
