//! The function as the expansion needs it: arguments told from extractors,
//! and every attribute where it will go.

use proc_macro2::Span;
use quote::format_ident;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Block, Expr, ExprLit, FnArg, GenericArgument, Generics, Ident, ItemFn, Lit, Meta,
    Pat, PatTupleStruct, PatType, Path, PathArguments, ReturnType, Type, Visibility,
};

use super::arg::Arg;
use super::check::is_cfg;
use super::keys::{unraw, upper_camel};
use super::report::Report;
use super::rewrite::Found;

/// A task function after the checks and with its body rewritten.
pub(crate) struct TaskFn {
    /// All of the user's attributes; they stay on the function.
    pub(crate) attrs: Vec<Attribute>,
    /// Copies of `#[cfg]`, for the items that come beside the function.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    /// The type that it is a method of.
    pub(crate) owner: Option<Owner>,
    /// `DeployCall`; of a method `DeployerDeployCall`.
    pub(crate) call: Ident,
    pub(crate) generics: Generics,
    /// The receiver, where a method was refused.
    pub(crate) receiver: Option<FnArg>,
    pub(crate) params: Vec<Param>,
    pub(crate) output: ReturnType,
    pub(crate) block: Box<Block>,
    /// The schemas that the body is seen to ask for.
    pub(crate) asked: Vec<Type>,
    /// What else it has.
    pub(crate) found: Found,
}

/// A type with task methods.
#[derive(Clone)]
pub(crate) struct Owner {
    pub(crate) ty: Type,
    /// Its name, without a path.
    pub(crate) name: String,
}

/// One parameter.
pub(crate) struct Param {
    /// What `#[arg(..)]` says.
    pub(crate) arg: Arg,
    /// Documentation and the attributes of serde and schemars; they move to
    /// the field of the generated arguments.
    pub(crate) field_attrs: Vec<Attribute>,
    /// What else was written on the parameter.
    pub(crate) attrs: Vec<Attribute>,
    /// The pattern as written, for the body.
    pub(crate) pat: Pat,
    /// The name that the function shows.
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) extracted: bool,
}

impl TaskFn {
    pub(crate) fn new(
        function: ItemFn,
        asked: Vec<Type>,
        found: Found,
        owner: Option<Owner>,
        report: &Report,
    ) -> Self {
        let ItemFn {
            attrs,
            vis,
            sig,
            block,
            ..
        } = function;
        let cfgs = cfgs(&attrs);
        let prefix = owner.as_ref().map_or("", |owner| &owner.name);
        let call = Ident::new(
            &format!("{prefix}{}Call", upper_camel(&unraw(&sig.ident))),
            // Ours, so that lints about the user's names skip it.
            Span::mixed_site().located_at(sig.ident.span()),
        );
        let mut receiver = None;
        let mut params = Vec::new();
        for (index, input) in sig.inputs.into_iter().enumerate() {
            match input {
                FnArg::Typed(argument) => params.push(Param::new(argument, index, report)),
                FnArg::Receiver(_) => receiver = Some(input),
            }
        }
        Self {
            attrs,
            cfgs,
            vis,
            ident: sig.ident,
            owner,
            call,
            generics: sig.generics,
            receiver,
            params,
            output: sig.output,
            block,
            asked,
            found,
        }
    }

    /// The type that the function was written to return.
    pub(crate) fn output(&self) -> Type {
        match &self.output {
            ReturnType::Type(_, ty) => (**ty).clone(),
            ReturnType::Default => syn::parse_quote!(()),
        }
    }

    /// The function's documentation, as the description of the tool.
    pub(crate) fn description(&self) -> Option<String> {
        documentation(&self.attrs)
    }
}

impl Param {
    fn new(mut argument: PatType, index: usize, report: &Report) -> Self {
        let mut extracted = is_extractor(&argument.ty);
        // Those of other frameworks have been refused: without them they stay
        // one error.
        if let Pat::TupleStruct(pat) = &*argument.pat
            && let Some((pat, ty)) = foreign_extractor(pat, &argument.ty)
        {
            let (pat, ty) = (pat.clone(), ty.clone());
            (*argument.pat, *argument.ty) = (pat, ty);
        }
        // `State(fleet): Fleet` has been refused: read as it was meant, it
        // stays one error.
        if let Some(path) = state_pattern(&argument.pat)
            && !extracted
        {
            let ty = &argument.ty;
            *argument.ty = syn::parse_quote!(#path<#ty>);
            extracted = true;
        }
        let arg = Arg::take(&mut argument.attrs, &argument.ty, extracted, report);
        // What is conditional has been refused.
        argument.attrs.retain(|attribute| !is_cfg(attribute));
        let (field_attrs, attrs) = argument.attrs.into_iter().partition(|attribute| {
            ["doc", "serde", "schemars"]
                .iter()
                .any(|name| attribute.path().is_ident(name))
        });
        let ident = shown_name(&argument.pat)
            .unwrap_or_else(|| format_ident!("argument_{index}", span = argument.pat.span()));
        Self {
            arg,
            field_attrs,
            attrs,
            pat: *argument.pat,
            ident,
            ty: *argument.ty,
            extracted,
        }
    }
}

/// Copies of `#[cfg]`, for items that come beside another.
pub(crate) fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    let cfgs = attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    cfgs.cloned().collect()
}

/// The types of the runtime whose values the server gives.
const EXTRACTORS: [&str; 4] = ["State", "Caller", "ClientInfo", "Meta"];

/// Whether a parameter of this type is injected rather than an argument.
pub(crate) fn is_extractor(ty: &Type) -> bool {
    match ty {
        Type::Path(ty) => ty
            .path
            .segments
            .last()
            .is_some_and(|last| EXTRACTORS.iter().any(|name| last.ident == name)),
        Type::Group(group) => is_extractor(&group.elem),
        Type::Paren(paren) => is_extractor(&paren.elem),
        _ => false,
    }
}

/// The `State` of `State(..)`.
pub(crate) fn state_pattern(pat: &Pat) -> Option<&Path> {
    match pat {
        Pat::TupleStruct(pat) if pat.path.segments.last()?.ident == "State" => Some(&pat.path),
        _ => None,
    }
}

/// What is in a pattern and a type such as `Json(order): Json<Order>`, which
/// other frameworks take arguments by.
pub(crate) fn foreign_extractor<'a>(
    pat: &'a PatTupleStruct,
    ty: &'a Type,
) -> Option<(&'a Pat, &'a Type)> {
    const NAMES: [&str; 6] = ["Json", "Parameters", "Query", "Path", "Form", "Extension"];
    let name = &pat.path.segments.last()?.ident;
    let Type::Path(ty) = ty else { return None };
    let last = ty.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let (1, Some(pat), Some(GenericArgument::Type(ty))) =
        (pat.elems.len(), pat.elems.first(), arguments.args.first())
    else {
        return None;
    };
    (last.ident == *name && NAMES.iter().any(|known| name == known)).then_some((pat, ty))
}

/// The one name that a pattern binds, if it is `name` or `Extractor(name)`.
fn shown_name(pat: &Pat) -> Option<Ident> {
    match pat {
        Pat::Ident(pat) => Some(pat.ident.clone()),
        Pat::TupleStruct(pat) if pat.elems.len() == 1 => shown_name(&pat.elems[0]),
        _ => None,
    }
}

/// The text of doc comments: one leading space less per line, as rustdoc has it.
pub(crate) fn documentation(attrs: &[Attribute]) -> Option<String> {
    let mut lines = Vec::new();
    for attribute in attrs {
        if let Meta::NameValue(meta) = &attribute.meta
            && meta.path.is_ident("doc")
            && let Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) = &meta.value
        {
            for line in text.value().lines() {
                lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned());
            }
            // An empty `///` is a line too.
            if text.value().is_empty() {
                lines.push(String::new());
            }
        }
    }
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}
