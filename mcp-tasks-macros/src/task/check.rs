//! What the signature and the tool's name must look like.

use proc_macro2::Span;
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{
    Attribute, FnArg, Ident, ItemFn, Lifetime, Pat, PatType, Receiver, ReceiverKind, ReturnType,
    Safety, Type,
};

use super::attribute;
use super::keys::unraw;
use super::messages;
use super::parse::{foreign_extractor, is_extractor, state_pattern};
use super::report::Report;

/// How much of the expansion a signature allows. Every mistake is reported;
/// this says what can still be emitted without adding errors of rustc's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Shape {
    /// All of it, perhaps after leaving out what was refused.
    Whole,
    /// A tool that can be registered, though its arguments cannot be decoded.
    Undecodable,
    /// Function and call, but nothing that decodes arguments.
    CallOnly,
    /// The function alone: a method has no place for the rest.
    Method,
}

/// Reports everything about the signature that a task function cannot have.
pub(crate) fn signature(function: &ItemFn, report: &Report) -> Shape {
    let signature = &function.sig;
    let mut shape = Shape::Whole;

    if signature.asyncness.is_none() && signature.constness.is_none() {
        report.error(signature.fn_token.span, messages::NOT_ASYNC);
    }
    if let Some(token) = &signature.constness {
        report.error(token.span, messages::CONST);
    }
    match &signature.safety {
        Safety::Default => {}
        qualifier => report.error_spanned(qualifier, messages::UNSAFE),
    }
    if let Some(abi) = &signature.abi {
        report.error_spanned(abi, messages::EXTERN);
    }
    if let Some(variadic) = &signature.variadic {
        report.error_spanned(variadic, messages::VARIADIC);
    }
    if !signature.generics.params.is_empty() {
        report.error_spanned(&signature.generics.params, messages::GENERICS);
        shape = Shape::CallOnly;
    }
    if let Some(clause) = &signature.generics.where_clause {
        report.error_spanned(clause, messages::WHERE);
        shape = Shape::CallOnly;
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        let mut found = Found::default();
        found.visit_type(ty);
        if let Some(span) = found.impl_trait {
            report.error(span, messages::IMPL_TRAIT_RETURN);
            shape = Shape::CallOnly;
        }
    }
    if let Some(first) = signature.inputs.iter().nth(messages::MOST_PARAMETERS) {
        report.error_spanned(first, messages::too_many_parameters());
        shape = Shape::CallOnly;
    }
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                report.error_spanned(receiver, messages::RECEIVER);
                return Shape::Method;
            }
            FnArg::Typed(argument) => {
                shape = shape.max(self::argument(argument, report));
            }
        }
    }
    shape
}

/// Takes the receiver out of a method's signature, and reports one that a task
/// cannot have. What is left is checked like a function.
pub(crate) fn receiver(method: &mut ItemFn, report: &Report) -> (Option<Receiver>, Shape) {
    let inputs = std::mem::take(&mut method.sig.inputs);
    let mut receiver = None;
    for input in inputs {
        match input {
            FnArg::Receiver(found) => receiver = Some(found),
            FnArg::Typed(_) => method.sig.inputs.push(input),
        }
    }
    let refusal = match receiver.as_ref().map(|receiver| &receiver.kind) {
        None => messages::METHOD_WITHOUT_SELF,
        Some(ReceiverKind::Reference(_, lifetime, None))
            // A lifetime of the method's own is refused with its generics.
            if lifetime.is_none() || !method.sig.generics.params.is_empty() =>
        {
            return (receiver, Shape::Whole);
        }
        Some(ReceiverKind::Reference(_, _, Some(_))) => messages::METHOD_MUT_SELF,
        Some(ReceiverKind::Reference(_, Some(_), None)) => messages::METHOD_LIFETIME,
        Some(_) => messages::METHOD_SELF,
    };
    match &receiver {
        Some(receiver) => report.error_spanned(receiver, refusal),
        None => report.error(method.sig.ident.span(), refusal),
    }
    (receiver, Shape::Method)
}

pub(crate) fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}

/// What an argument leaves of the expansion.
fn argument(argument: &PatType, report: &Report) -> Shape {
    for attribute in &argument.attrs {
        if is_cfg(attribute) {
            report.error_spanned(attribute, messages::CFG_ON_ARGUMENT);
        }
    }
    let extracted = is_extractor(&argument.ty);
    match &*argument.pat {
        Pat::Ident(pat) if pat.by_ref.is_some() || pat.subpat.is_some() => {
            report.error_spanned(pat, messages::PATTERN_ARGUMENT);
        }
        Pat::Ident(_) => {}
        Pat::TupleStruct(_) if extracted => {}
        Pat::TupleStruct(pat) if foreign_extractor(pat, &argument.ty).is_some() => {
            report.error_spanned(pat, messages::foreign_extractor(&pat.path));
        }
        pat if state_pattern(pat).is_some() => {
            report.error_spanned(&argument.ty, messages::EXTRACTOR_TYPE);
        }
        Pat::Wild(pat) if !extracted => report.error_spanned(pat, messages::WILD_ARGUMENT),
        Pat::Wild(_) => {}
        pat => report.error_spanned(pat, messages::PATTERN_ARGUMENT),
    }

    let mut found = Found::default();
    found.visit_type(&argument.ty);
    if let Some(span) = found.impl_trait {
        report.error(span, messages::IMPL_TRAIT);
        return Shape::CallOnly;
    }
    if let Some(ty) = found.trait_object.filter(|_| !extracted) {
        report.error_spanned(ty, messages::TRAIT_OBJECT);
        return Shape::CallOnly;
    }
    if let Some(borrow) = found
        .borrow
        .filter(|borrow| !extracted || !borrow.is_static)
    {
        let message = if extracted {
            messages::BORROWED_EXTRACTOR.to_owned()
        } else {
            messages::borrowed_argument(&argument.ty)
        };
        match borrow.whole {
            Some(reference) => report.error_spanned(reference, message),
            None => report.error(borrow.span, message),
        }
        return Shape::Undecodable;
    }
    Shape::Whole
}

/// The name under which the tool is listed.
pub(crate) fn tool_name(attribute: &attribute::Attribute, function: &Ident, report: &Report) {
    let (name, span) = match &attribute.name {
        Some(name) => (name.value(), name.span()),
        None => (unraw(function), function.span()),
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if name.is_empty() || name.len() > 128 {
        report.error(span, messages::tool_name_length(name.len()));
    } else if let Some(bad) = name.chars().find(|c| !allowed(*c)) {
        report.error(span, messages::tool_name_character(bad));
    }
}

/// Whether a type borrows anything.
pub(crate) fn borrows(ty: &Type) -> bool {
    let mut found = Found::default();
    found.visit_type(ty);
    found.borrow.is_some_and(|borrow| !borrow.is_static)
}

struct Borrow {
    span: Span,
    whole: Option<proc_macro2::TokenStream>,
    is_static: bool,
}

/// What a type contains that an argument must not.
#[derive(Default)]
struct Found {
    borrow: Option<Borrow>,
    impl_trait: Option<Span>,
    trait_object: Option<proc_macro2::TokenStream>,
}

impl<'ast> Visit<'ast> for Found {
    fn visit_type(&mut self, ty: &'ast Type) {
        match ty {
            Type::Reference(reference) if self.borrow.is_none() => {
                self.borrow = Some(Borrow {
                    span: reference.and_token.span,
                    whole: Some(reference.to_token_stream()),
                    is_static: reference
                        .lifetime
                        .as_ref()
                        .is_some_and(|lifetime| lifetime.ident == "static"),
                });
            }
            Type::ImplTrait(ty) => self.impl_trait = Some(ty.impl_token.span),
            // The references in a function pointer's signature borrow nothing.
            Type::FnPtr(_) => return,
            Type::TraitObject(ty) => self.trait_object = Some(ty.to_token_stream()),
            _ => {}
        }
        visit::visit_type(self, ty);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" && self.borrow.is_none() {
            self.borrow = Some(Borrow {
                span: lifetime.span(),
                whole: None,
                is_static: false,
            });
        }
    }
}
