//! What an argument is when it is left out.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, GenericArgument, Lit, PathArguments, Type};

use super::super::report::Report;
use super::Default;
use super::limits::Limits;
use super::messages;
use super::parse::Entry;
use crate::literal::{Number, bare, literal};

pub(super) fn read(entry: &Entry, ty: &Type, limits: &Limits, report: &Report) -> Option<Default> {
    let Some(expr) = &entry.value else {
        return Some(Default::OfType(entry.key.span()));
    };
    let expr = bare(expr);
    limits.hold(expr, report);
    let inner = optional(ty).unwrap_or(ty);
    if let (Some(Lit::Str(_)), Some(primitive)) = (literal(expr), primitive(inner)) {
        report.error_spanned(expr, messages::text_as_default(&primitive));
        return None;
    }
    Some(Default::Value(value(expr, ty)))
}

/// The name of a number's type, or `bool`.
pub(super) fn primitive(ty: &Type) -> Option<String> {
    const OTHERS: [&str; 5] = ["bool", "f32", "f64", "isize", "usize"];
    let Type::Path(path) = ty else { return None };
    let name = path.path.get_ident()?.to_string();
    let is_integer = name
        .strip_prefix(['i', 'u'])
        .is_some_and(|bits| bits.parse::<u8>().is_ok());
    (is_integer || OTHERS.contains(&name.as_str())).then_some(name)
}

/// The expression as a value of the type: a text may be short for a `String`,
/// a list for a `Vec`, a variant for its path, a value for `Some` of it.
fn value(expr: &Expr, ty: &Type) -> TokenStream {
    let span = expr.span();
    if let Some(inner) = optional(ty) {
        let is_none = matches!(expr, Expr::Path(path) if path.path.is_ident("None"));
        if is_none {
            return expr.to_token_stream();
        }
        let is_short = Number::read(expr).is_some()
            || literal(expr).is_some()
            || matches!(expr, Expr::Array(_))
            || variant(expr, inner).is_some();
        if !is_short {
            // Of either type.
            return quote_spanned!(span=> ::core::convert::Into::into(#expr));
        }
        let value = value(expr, inner);
        return quote_spanned!(span=> ::core::option::Option::Some(#value));
    }
    if let Some(variant) = variant(expr, ty) {
        return variant;
    }
    match (expr, literal(expr)) {
        (_, Some(Lit::Str(_))) => quote_spanned!(span=> ::core::convert::Into::into(#expr)),
        (Expr::Array(array), _) => {
            let items = array.elems.iter().map(|item| match literal(item) {
                Some(Lit::Str(_)) => {
                    quote_spanned!(item.span()=> ::core::convert::Into::into(#item))
                }
                _ => item.to_token_stream(),
            });
            if matches!(ty, Type::Array(_)) {
                return quote_spanned!(span=> [#(#items),*]);
            }
            quote_spanned! {span=>
                ::core::iter::Iterator::collect(::core::iter::IntoIterator::into_iter([#(#items),*]))
            }
        }
        _ => expr.to_token_stream(),
    }
}

/// What an `Option` holds.
pub(super) fn optional(ty: &Type) -> Option<&Type> {
    let path = match ty {
        Type::Group(group) => return optional(&group.elem),
        Type::Paren(paren) => return optional(&paren.elem),
        Type::Path(path) if path.qself.is_none() => &path.path,
        _ => return None,
    };
    let last = path.segments.last().filter(|last| last.ident == "Option")?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        },
        _ => None,
    }
}

/// A bare name in `CamelCase` as a variant of the type; constants and paths are
/// left as they are.
fn variant(expr: &Expr, ty: &Type) -> Option<TokenStream> {
    let Expr::Path(path) = expr else { return None };
    let ident = path.path.get_ident()?;
    if matches!(ty, Type::Path(ty) if ty.path.is_ident(ident)) {
        // A struct without fields is its own value.
        return None;
    }
    let name = ident.unraw().to_string();
    let is_constant = name.len() > 1 && !name.contains(char::is_lowercase);
    let is_variant = name.starts_with(char::is_uppercase) && !is_constant;
    is_variant.then(|| quote_spanned!(ident.span()=> <#ty>::#ident))
}
