//! Whether a function belongs to a type, as far as it can be told from the
//! function itself.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemFn, Macro, Path};

/// Whether a function has a `self`, or says `Self`, which only means something
/// where a method may stand.
pub(crate) fn is_associated(function: &ItemFn) -> bool {
    let mut says = SaysSelf(function.sig.receiver().is_some());
    says.visit_signature(&function.sig);
    says.visit_block(&function.block);
    says.0
}

struct SaysSelf(bool);

impl<'ast> Visit<'ast> for SaysSelf {
    fn visit_path(&mut self, path: &'ast Path) {
        self.0 |= path
            .segments
            .first()
            .is_some_and(|first| first.ident == "Self");
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast Macro) {
        self.0 |= says_self(invocation.tokens.clone());
    }

    // There `Self` is another one.
    fn visit_item(&mut self, _: &'ast Item) {}
}

fn says_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "Self",
        TokenTree::Group(group) => says_self(group.stream()),
        _ => false,
    })
}
