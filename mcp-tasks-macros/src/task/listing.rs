//! The keys that only say more of a tool in listings: annotations, icons and
//! `_meta`.

use proc_macro2::{Group, Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Ident, Lit, LitBool, Token, parenthesized, token};

use super::messages;
use super::report::Report;

/// The hints, as they are written and as they are listed.
pub(crate) const HINTS: [(&str, &str); 4] = [
    ("read_only", "readOnlyHint"),
    ("destructive", "destructiveHint"),
    ("idempotent", "idempotentHint"),
    ("open_world", "openWorldHint"),
];

/// What was given.
#[derive(Default)]
pub(crate) struct Listing {
    hints: Vec<(&'static str, bool)>,
    icons: Option<Expr>,
    meta: Option<Group>,
}

impl Listing {
    /// Reads `annotations(read_only, open_world = false)` after its key.
    pub(crate) fn annotations(
        &mut self,
        input: ParseStream<'_>,
        report: &Report,
    ) -> syn::Result<()> {
        if !input.peek(token::Paren) {
            return Err(input.error(messages::ANNOTATIONS_SYNTAX));
        }
        let content;
        parenthesized!(content in input);
        while !content.is_empty() {
            if !content.peek(Ident::peek_any) {
                return Err(content.error(messages::ANNOTATIONS_SYNTAX));
            }
            let key = content.call(Ident::parse_any)?;
            let value = if content.peek(Token![=]) {
                content.parse::<Token![=]>()?;
                let wrong = content.error(messages::annotation_value(&key.to_string()));
                content.parse::<LitBool>().map_err(|_| wrong)?.value
            } else {
                true
            };
            self.hint(&key, value, report);
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    fn hint(&mut self, key: &Ident, value: bool, report: &Report) {
        let name = key.to_string();
        let Some((_, hint)) = HINTS.into_iter().find(|(known, _)| *known == name) else {
            report.error(key.span(), messages::unknown_annotation(&name));
            return;
        };
        if self.hints.iter().any(|(given, _)| *given == hint) {
            report.error(key.span(), messages::repeated_attribute_key(&name));
            return;
        }
        self.hints.push((hint, value));
        let says = |hint| self.hints.contains(&(hint, true));
        if says("readOnlyHint") && says("destructiveHint") {
            report.error(key.span(), messages::READ_ONLY_AND_DESTRUCTIVE);
        }
    }

    /// Reads what `icons` is.
    pub(crate) fn icons(&mut self, input: ParseStream<'_>, report: &Report) -> syn::Result<()> {
        let expr: Expr = input.parse()?;
        let Expr::Array(array) = &expr else {
            if matches!(expr, Expr::Lit(_)) {
                return Err(syn::Error::new(expr.span(), messages::ICONS_EXPECTED));
            }
            self.icons = Some(expr);
            return Ok(());
        };
        for icon in &array.elems {
            if let Expr::Lit(ExprLit {
                lit: Lit::Str(uri), ..
            }) = icon
                && !["https://", "http://", "data:"]
                    .iter()
                    .any(|scheme| uri.value().starts_with(scheme))
            {
                report.error(uri.span(), messages::ICON_URI);
            }
        }
        self.icons = Some(expr);
        Ok(())
    }

    /// Reads what `meta` is.
    pub(crate) fn meta(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if !input.peek(token::Brace) {
            return Err(input.error(messages::META_EXPECTED));
        }
        self.meta = Some(input.parse()?);
        Ok(())
    }

    /// The calls that complete the definition.
    pub(crate) fn calls(&self, runtime: &TokenStream) -> TokenStream {
        let hints = self
            .hints
            .iter()
            .map(|(hint, value)| ours!(.annotation(#hint, #value)));
        let icons = self.icons.iter().map(|icons| {
            // Where rustc says that something is no icon.
            let span = Span::mixed_site().located_at(icons.span());
            quote_spanned!(span=> .icons(#icons))
        });
        let meta = self
            .meta
            .iter()
            .map(|meta| ours!(.meta(#runtime::json!(#meta))));
        ours!(#(#hints)* #(#icons)* #(#meta)*)
    }
}
