//! The collector of errors that all stages share.
//!
//! It promises that nothing reported is lost: it must be turned into tokens
//! before it is dropped.

use std::cell::RefCell;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// Errors found so far, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Report {
    errors: RefCell<Vec<syn::Error>>,
}

impl Report {
    /// An error at one token.
    pub(crate) fn error(&self, span: Span, message: impl std::fmt::Display) {
        self.errors
            .borrow_mut()
            .push(syn::Error::new(span, message));
    }

    /// An error that underlines all of `tokens`.
    pub(crate) fn error_spanned(&self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.errors
            .borrow_mut()
            .push(syn::Error::new_spanned(tokens, message));
    }

    /// An error that `syn` found.
    pub(crate) fn syn(&self, error: syn::Error) {
        self.errors.borrow_mut().push(error);
    }

    /// One `compile_error!` for each.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.errors
            .take()
            .iter()
            .map(syn::Error::to_compile_error)
            .collect()
    }

    /// How many there are so far.
    pub(crate) fn len(&self) -> usize {
        self.errors.borrow().len()
    }

    /// Forgets all but the first so many.
    pub(crate) fn forget_after(&self, length: usize) {
        self.errors.borrow_mut().truncate(length);
    }

    /// Forgets what was reported, where something is wrong that is more to the
    /// point.
    pub(crate) fn discard(self) {
        self.errors.take();
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        debug_assert!(
            std::thread::panicking() || self.errors.borrow().is_empty(),
            "errors were collected and never shown"
        );
    }
}
