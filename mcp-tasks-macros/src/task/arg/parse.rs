//! Reads `#[arg(..)]` into keys and values.

use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Ident, Lit, LitStr, Meta, Token};

use super::super::report::Report;
use super::messages;
use crate::literal::literal;

/// Every key, in the order in which an error lists them.
pub(super) const KEYS: [&str; 8] = [
    "min",
    "max",
    "min_len",
    "max_len",
    "pattern",
    "min_items",
    "max_items",
    "default",
];

/// One key and its value.
pub(super) struct Entry {
    pub(super) key: Ident,
    pub(super) value: Option<Expr>,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
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

impl Entry {
    pub(super) fn name(&self) -> String {
        self.key.unraw().to_string()
    }

    /// Where a mistake in the value is shown.
    pub(super) fn value_span(&self) -> Span {
        let value = self.value.as_ref();
        value.map_or_else(|| self.key.span(), Expr::span)
    }

    /// Reports that there is no value, or one of another kind.
    pub(super) fn wants(&self, what: &str, example: &str, report: &Report) {
        let message = messages::arg_value(&self.name(), what, example, self.value.is_some());
        report.error(self.value_span(), message);
    }

    pub(super) fn text(&self, report: &Report) -> Option<LitStr> {
        if let Some(Lit::Str(text)) = self.value.as_ref().and_then(literal) {
            return Some(text.clone());
        }
        self.wants("a text", r#""^[a-z]+$""#, report);
        None
    }
}

/// The known keys of one argument, each once.
pub(super) fn entries(attrs: &[Attribute], report: &Report) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for attribute in attrs {
        let Meta::List(list) = &attribute.meta else {
            report.error_spanned(attribute, messages::ARG_SYNTAX);
            continue;
        };
        let parsed = match list.parse_args_with(Punctuated::<Entry, Token![,]>::parse_terminated) {
            Ok(parsed) => parsed,
            Err(error) => {
                report.error(error.span(), messages::arg_syntax(&error));
                continue;
            }
        };
        for entry in parsed {
            let name = entry.name();
            if !KEYS.contains(&name.as_str()) {
                report.error(entry.key.span(), messages::unknown_arg_key(&name));
            } else if entries.iter().any(|other| other.name() == name) {
                report.error(
                    entry.key.span(),
                    super::super::messages::repeated_attribute_key(&name),
                );
            } else {
                entries.push(entry);
            }
        }
    }
    entries
}

/// Reports what serde's attributes on the same argument would undo, and says
/// whether they give a default.
pub(super) fn beside_serde(entries: &[Entry], attrs: &[Attribute], report: &Report) -> bool {
    let mut has_default = false;
    let serde = attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("serde"));
    for attribute in serde {
        // What cannot be read here is serde's to report.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("default") {
                has_default = true;
                if entries.iter().any(|entry| entry.name() == "default") {
                    report.error(meta.path.span(), messages::DEFAULT_TWICE);
                }
            }
            if meta.path.is_ident("alias") && entries.iter().any(|entry| entry.name() != "default")
            {
                report.error(meta.path.span(), messages::ALIAS_WITH_LIMIT);
            }
            if meta.input.peek(Token![=]) {
                meta.value()?.parse::<Expr>()?;
            }
            Ok(())
        });
    }
    has_default
}
