//! `#[arg(..)]` on an argument: its limits, and what it is when it is left out.
//!
//! Limits become keywords of the argument's schema, and the schema is what the
//! runtime enforces. Whether a limit fits the type is the type's to say, by a
//! trait of the runtime; only what the literals show is judged here.

mod default;
mod limits;
mod messages;
mod parse;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Attribute, Ident, LitStr, Type};

use self::limits::Limits;
use self::parse::KEYS;
use super::report::Report;
use super::rewrite::located_at;

/// What `#[arg(..)]` says of one argument.
#[derive(Default)]
pub(crate) struct Arg {
    limits: Limits,
    default: Option<Default>,
}

/// What an argument is that was left out.
enum Default {
    /// `default` alone, at this place: the type's own.
    OfType(Span),
    /// The body of a function that makes it.
    Value(TokenStream),
}

impl Arg {
    /// Reads and takes away the attributes that are ours; `others` stay.
    pub(crate) fn take(
        attrs: &mut Vec<Attribute>,
        ty: &Type,
        extracted: bool,
        report: &Report,
    ) -> Self {
        let (ours, others): (Vec<_>, Vec<_>) = std::mem::take(attrs)
            .into_iter()
            .partition(|attribute| attribute.path().is_ident("arg"));
        *attrs = others;
        let Some(first) = ours.first() else {
            return Self::default();
        };
        if extracted {
            report.error_spanned(first, messages::ARG_ON_EXTRACTOR);
            return Self::default();
        }
        let entries = parse::entries(&ours, report);
        let limits = Limits::read(&entries, ty, report);
        let has_default = parse::beside_serde(&entries, attrs, report);
        let default = entries
            .iter()
            .find(|entry| entry.name() == "default" && !has_default)
            .and_then(|entry| default::read(entry, ty, &limits, report));
        Self { limits, default }
    }

    /// Whether only the type says how the argument is decoded.
    pub(crate) fn is_plain(&self) -> bool {
        self.default.is_none()
    }

    /// The attributes of the argument's field.
    pub(crate) fn field_attrs(&self, index: usize) -> TokenStream {
        let keywords = self.limits.keywords();
        let default = self.default.as_ref().map(|_| {
            let path = LitStr::new(&function(index).to_string(), Span::mixed_site());
            ours!(#[serde(default = #path)])
        });
        ours!(#keywords #default)
    }

    /// What stands beside the struct: the checks of the limits, and the
    /// function that makes the default.
    pub(crate) fn items(&self, index: usize, ty: &Type, runtime: &TokenStream) -> TokenStream {
        let checks = self.limits.checks(ty, runtime);
        let default = self.default.as_ref().map(|default| {
            let value = match default {
                Default::OfType(span) => {
                    let runtime = located_at(runtime, *span);
                    quote_spanned!(*span=> #runtime::default_of_type())
                }
                Default::Value(value) => value.clone(),
            };
            let name = function(index);
            ours!(fn #name() -> #ty { #value })
        });
        ours!(#checks #default)
    }
}

fn function(index: usize) -> Ident {
    Ident::new(&format!("__default_{index}"), Span::mixed_site())
}
