//! Holds the fields of a struct against what the fields of a form can be.
//!
//! Here is what concerns a field as a whole: its names, its words, and whether
//! it looks like a secret. Keys and defaults have files of their own.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Ident, Token, Type};

use super::check::WireNames;
use super::defaults::Initial;
use super::keys::Checker;
use super::parse::{self, Place};
use super::types::{self, Shape};
use super::{Errors, literals, messages, secrets};

/// One field of a form.
pub(super) struct Field<'a> {
    pub ident: &'a Ident,
    pub ty: &'a Type,
    /// The name on the wire.
    pub name: String,
    pub description: Option<String>,
    /// What the field starts with, without `Some`.
    pub default: Option<Initial>,
    pub optional: bool,
    /// Calls that describe the field further, such as `.min(1)`.
    pub calls: Vec<(Ident, TokenStream)>,
}

pub(super) fn check<'a>(
    fields: &'a Punctuated<syn::Field, Token![,]>,
    errors: &mut Errors,
) -> Vec<Field<'a>> {
    let mut seen = WireNames::default();
    let mut checked = Vec::new();
    for field in fields {
        let Some(ident) = &field.ident else { continue };
        let entries = parse::entries(&field.attrs, Place::Field, errors);
        let ty = types::look_at(&field.ty);
        let mut keys = Checker::new(&ty, errors);
        let mut name = (ident.unraw().to_string(), ident.span());
        let mut description = parse::doc(&field.attrs);
        let mut not_secret = false;
        let mut default = None;
        for entry in &entries {
            match entry.name().as_str() {
                "description" => description = literals::text(entry, keys.errors),
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
        let default = default.and_then(|entry| keys.default(entry));
        let calls = keys.into_calls();
        let may_hold_secret = !matches!(ty.shape, Shape::Bool | Shape::List);
        let own_name = ident.unraw().to_string();
        let suspect = [&own_name, &name.0]
            .into_iter()
            .find(|name| secrets::is_secret(name));
        if let (Some(suspect), true, false) = (suspect, may_hold_secret, not_secret) {
            errors.push(ident.span(), messages::secret(suspect));
        }
        let (name, name_span) = name;
        seen.add(&name, ident, name_span, errors);
        checked.push(Field {
            ident,
            ty: &field.ty,
            name,
            description,
            default,
            optional: ty.optional,
            calls,
        });
    }
    checked
}
