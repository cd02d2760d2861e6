//! Reads attributes into keys and values, without judging them yet.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Ident, Lit, Meta, Token};

use super::{Errors, messages, names};
use crate::literal;

/// One key of `#[elicit(..)]`.
pub(super) struct Entry {
    pub key: Ident,
    pub value: Option<Expr>,
}

impl Entry {
    pub(super) fn name(&self) -> String {
        self.key.unraw().to_string()
    }

    /// Where a mistake in the value is shown.
    pub(super) fn value_span(&self) -> Span {
        use syn::spanned::Spanned;
        self.value
            .as_ref()
            .map_or_else(|| self.key.span(), Spanned::span)
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        Ok(Self { key, value })
    }
}

/// Where a key stands; each place has its own.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Container,
    Field,
    Variant,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Container => "a struct or enum",
            Self::Field => "a field",
            Self::Variant => "a variant",
        }
    }

    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Container => &["rename_all", "crate"],
            Self::Field => &[
                "title",
                "description",
                "default",
                "rename",
                "min",
                "max",
                "min_len",
                "max_len",
                "format",
                "min_items",
                "max_items",
                "not_secret",
            ],
            Self::Variant => &["title", "rename"],
        }
    }
}

/// The known keys of an item, each at most once.
pub(super) fn entries(attrs: &[Attribute], place: Place, errors: &mut Errors) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for attr in attrs {
        if !attr.path().is_ident("elicit") {
            continue;
        }
        let Meta::List(list) = &attr.meta else {
            errors.push_over(&attr.meta, messages::ATTRIBUTE_FORM);
            continue;
        };
        let parsed = match list.parse_args_with(Punctuated::<Entry, Token![,]>::parse_terminated) {
            Ok(parsed) => parsed,
            Err(error) => {
                errors.push(error.span(), messages::attribute_syntax(&error));
                continue;
            }
        };
        for entry in parsed {
            let name = entry.name();
            if !place.keys().contains(&name.as_str()) {
                let nearest = names::nearest(&name, place.keys());
                let message = messages::unknown_key(&name, nearest, place.name(), place.keys());
                errors.push(entry.key.span(), message);
            } else if entries.iter().any(|other| other.key == entry.key) {
                errors.push(entry.key.span(), messages::repeated_key(&name));
            } else {
                entries.push(entry);
            }
        }
    }
    entries
}

/// The doc comment: each paragraph on one line, list items on their own.
pub(super) fn doc(attrs: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attrs.iter().filter_map(doc_text).collect();
    let lines = lines.iter().flat_map(|lines| lines.split('\n'));
    let mut text = String::new();
    let mut blank = false;
    for line in lines {
        let line = line.trim();
        if line.is_empty() {
            blank = !text.is_empty();
            continue;
        }
        if !text.is_empty() {
            let item = line.starts_with("- ") || line.starts_with("* ");
            text.push_str(match (blank, item) {
                (true, _) => "\n\n",
                (false, true) => "\n",
                (false, false) => " ",
            });
        }
        blank = false;
        text.push_str(line);
    }
    (!text.is_empty()).then_some(text)
}

fn doc_text(attr: &Attribute) -> Option<String> {
    match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match literal::literal(&pair.value) {
            Some(Lit::Str(text)) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
