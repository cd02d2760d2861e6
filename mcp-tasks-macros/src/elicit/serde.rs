//! What `#[serde(..)]` says of the same item.
//!
//! A type that is asked for is often read or written by serde as well, as part
//! of a result. Names that serde was told are those of the form too; what would
//! make serde read something else than the form asks for is refused, and what
//! only concerns writing is none of ours. Whether an attribute is right is for
//! serde to say.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Lit, Meta, Token};

use super::case::Case;
use super::{Errors, messages};
use crate::literal;

/// What serde was told, as far as it matters to a form.
#[derive(Default)]
pub(super) struct SerdeSays {
    pub rename: Option<(String, Span)>,
    pub rename_all: Option<Case>,
    /// The value may be missing.
    pub default: Option<Span>,
}

pub(super) fn look_at(attrs: &[Attribute], errors: &mut Errors) -> SerdeSays {
    let mut says = SerdeSays::default();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        let parsed = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        for meta in parsed.into_iter().flatten() {
            let Some(key) = meta.path().get_ident().map(ToString::to_string) else {
                continue;
            };
            match key.as_str() {
                "rename" => says.rename = read_as(&meta).or(says.rename),
                "rename_all" => {
                    let name = read_as(&meta);
                    says.rename_all = name.and_then(|(name, _)| Case::named(&name));
                }
                "default" => says.default = Some(meta.span()),
                _ => refuse(&key, &meta, errors),
            }
        }
    }
    says
}

/// The name by which serde reads: of `rename = ".."` and of
/// `rename(deserialize = "..")`.
fn read_as(meta: &Meta) -> Option<(String, Span)> {
    match meta {
        Meta::NameValue(pair) => match literal::literal(&pair.value) {
            Some(Lit::Str(text)) => Some((text.value(), text.span())),
            _ => None,
        },
        Meta::List(list) => {
            let parsed = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            let mut parsed = parsed.ok()?.into_iter();
            read_as(&parsed.find(|meta| meta.path().is_ident("deserialize"))?)
        }
        Meta::Path(_) => None,
    }
}

fn refuse(key: &str, meta: &Meta, errors: &mut Errors) {
    let message = match key {
        "flatten" => messages::SERDE_FLATTEN.to_owned(),
        "skip" | "skip_deserializing" => messages::serde_skip(key),
        "with" | "deserialize_with" | "from" | "try_from" | "remote" | "transparent" | "tag"
        | "content" | "untagged" | "other" => messages::serde_reads_otherwise(key),
        _ => return,
    };
    errors.push_over(meta, message);
}
