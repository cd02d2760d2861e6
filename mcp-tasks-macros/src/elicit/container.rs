//! What is said of the struct or enum as a whole.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Attribute, Expr, Path};

use super::case::Case;
use super::parse::{self, Entry, Place};
use super::{Errors, literals, messages, names, serde};

/// The keys of the struct or enum.
pub(super) struct Container {
    /// Where the runtime crate is found.
    pub crate_path: TokenStream,
    /// How the names on the wire are written.
    pub rename_all: Option<Case>,
    /// Where serde was told that all fields may be missing.
    pub serde_default: Option<Span>,
}

pub(super) fn read(attrs: &[Attribute], errors: &mut Errors) -> Container {
    let serde = serde::look_at(attrs, errors);
    let mut container = Container {
        crate_path: quote!(::mcp_tasks),
        rename_all: serde.rename_all,
        serde_default: serde.default,
    };
    for entry in parse::entries(attrs, Place::Container, errors) {
        if entry.key == "crate" {
            match crate_path(&entry) {
                Some(path) => container.crate_path = quote!(#path),
                None => errors.push(entry.value_span(), messages::CRATE_PATH),
            }
        } else if let Some(case) = case(&entry, errors) {
            container.rename_all = Some(case);
        }
    }
    container
}

fn crate_path(entry: &Entry) -> Option<Path> {
    match &entry.value {
        Some(Expr::Path(path)) => Some(path.path.clone()),
        _ => literals::quiet_text(entry)?.parse().ok(),
    }
}

fn case(entry: &Entry, errors: &mut Errors) -> Option<Case> {
    let Some(name) = literals::quiet_text(entry) else {
        literals::complain(entry, "a string", "\"camelCase\"", errors);
        return None;
    };
    let name = name.value();
    let case = Case::named(&name);
    if case.is_none() {
        let nearest = names::nearest(&name, &Case::NAMES);
        let message = messages::unknown_case(&name, nearest, &Case::NAMES);
        errors.push(entry.value_span(), message);
    }
    case
}
