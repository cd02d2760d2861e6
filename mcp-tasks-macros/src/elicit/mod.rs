//! `#[derive(Elicit)]`, in stages: [`parse`] reads the attributes, [`check`]
//! holds the item against what a form can be, [`expand`] writes the impls.
//!
//! Everything that is wrong is reported at once. Even then impls are written,
//! so that code elsewhere that relies on them is not in error as well.

mod case;
mod check;
mod container;
mod defaults;
mod expand;
mod fields;
mod formats;
mod keys;
mod literals;
mod messages;
mod names;
mod parse;
mod secrets;
mod serde;
mod types;
mod variants;

use proc_macro2::{Span, TokenStream};
use syn::DeriveInput;

pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut errors = Errors::default();
    let container = container::read(&input.attrs, &mut errors);
    let crate_path = &container.crate_path;
    let item = check::check(&input, &container, &mut errors);
    match (item, errors.into_compile_errors()) {
        (Some(item), None) => expand::expand(&input.ident, crate_path, &item),
        (_, errors) => {
            let fallback = expand::fallback(&input, crate_path);
            quote::quote!(#errors #fallback)
        }
    }
}

/// All that is wrong with one item.
#[derive(Default)]
struct Errors(Option<syn::Error>);

impl Errors {
    fn push(&mut self, span: Span, message: impl std::fmt::Display) {
        self.add(syn::Error::new(span, message));
    }

    /// Reports a mistake that is best shown by more than one token.
    fn push_over(&mut self, tokens: impl quote::ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    fn into_compile_errors(self) -> Option<TokenStream> {
        self.0.map(syn::Error::into_compile_error)
    }
}
