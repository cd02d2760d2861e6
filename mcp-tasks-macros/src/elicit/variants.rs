//! Holds the variants of an enum against what a choice can be.

use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Fields, Ident, Token};

use super::case::Case;
use super::check::WireNames;
use super::container::Container;
use super::parse::{self, Place};
use super::{Errors, literals, messages, names, serde};

/// One thing to choose.
pub(super) struct Variant<'a> {
    pub ident: &'a Ident,
    /// What is sent.
    pub value: String,
    /// What is shown; all variants have one, or none.
    pub title: Option<String>,
}

pub(super) fn check<'a>(
    variants: &'a Punctuated<syn::Variant, Token![,]>,
    container: &Container,
    errors: &mut Errors,
) -> Vec<Variant<'a>> {
    let mut seen = WireNames::default();
    let mut checked: Vec<Variant<'a>> = Vec::new();
    for variant in variants {
        if !matches!(variant.fields, Fields::Unit) {
            errors.push_over(&variant.fields, messages::VARIANT_DATA);
        }
        let mut title = parse::doc(&variant.attrs).as_deref().map(as_title);
        let mut renamed = serde::look_at(&variant.attrs, errors).rename;
        for entry in parse::entries(&variant.attrs, Place::Variant, errors) {
            if entry.key == "title" {
                title = literals::words(&entry, errors);
            } else if let Some(name) = literals::name(&entry, errors) {
                renamed = Some((name, entry.value_span()));
            }
        }
        let (value, span) = renamed.unwrap_or_else(|| {
            let name = variant.ident.unraw().to_string();
            let written = |case: Case| case.variant(&name);
            let sent = container.rename_all.map(written);
            let sent = sent.unwrap_or_else(|| names::snake_case(&name));
            (sent, variant.ident.span())
        });
        seen.add(&value, &variant.ident, span, errors);
        checked.push(Variant {
            ident: &variant.ident,
            value,
            title,
        });
    }
    if checked.iter().any(|variant| variant.title.is_some()) {
        for variant in &mut checked {
            let words = || names::sentence_case(&variant.ident.unraw().to_string());
            variant.title.get_or_insert_with(words);
        }
    }
    checked
}

/// The first paragraph of a doc comment, without the full stop that ends it.
fn as_title(doc: &str) -> String {
    let first = doc.split("\n\n").next().unwrap_or(doc);
    let bare = first.strip_suffix('.').unwrap_or(first);
    let title = if bare.ends_with('.') { first } else { bare };
    title.to_owned()
}
