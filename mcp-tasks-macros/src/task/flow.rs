//! `#[mcp_task_flow]`: a function of its own for a part of a task.
//!
//! The function keeps its name, parameters and body. Its call gives a value
//! that is bound to the task where it is awaited; the body is run with that
//! task at hand.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::visit::Visit;
use syn::{
    Attribute, FnArg, GenericParam, Ident, ItemFn, Pat, PatType, Path, ReturnType, Safety,
    Signature, Type, TypeImplTrait,
};

use super::associated::is_associated;
use super::check::is_cfg;
use super::expand::body_block;
use super::half_written::{self, Read};
use super::keys::unraw;
use super::lifetimes::Outer;
use super::marks::{self, Mark};
use super::report::Report;
use super::rewrite::{self, Rules, flow_ident, located_at};
use super::{crate_path, messages};

/// The whole attribute, from its tokens and the item's to what is emitted.
pub(crate) fn mcp_task_flow(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let report = Report::default();
    let krate = crate_path(attribute, messages::FLOW_ATTRIBUTE, &report);
    let Some(Read { item, is_whole }) = half_written::function(item) else {
        let item = marks::refuse_item(item, Mark::Flow, &report);
        let errors = report.into_compile_errors();
        return quote!(#item #errors);
    };
    let mut function = item;
    marks::refuse_others(&mut function.attrs, Mark::Flow, &report);
    marks::refuse_logged_results(&mut function.attrs, &report);
    let can_be_called = check(&function, &report);
    let is_associated = is_associated(&function);
    marks::drop_instrumented(&mut function, messages::FLOW_INSTRUMENTED, &report);
    let rules = Rules {
        krate: &krate,
        replayable: true,
        // Whether it has one is the task's affair.
        cancel_grace: true,
        no_start: Some(messages::START_IN_FLOW),
        is_whole,
        tools: &[],
    };
    rewrite::body(&mut function.block, rules, &report);
    let name = &function.sig.ident;
    let refusal = (!is_whole).then(|| half_written::refuse_unless_refused(&krate, name));
    let flow = FlowFn {
        function: &function,
        is_associated,
        can_be_called,
    };
    let output = flow.expand(&krate);
    let errors = report.into_compile_errors();
    quote!(#output #refusal #errors)
}

/// Reports everything about the signature that a flow cannot have; false if its
/// call cannot be made.
fn check(function: &ItemFn, report: &Report) -> bool {
    let signature = &function.sig;
    let mut can_be_called = true;
    if signature.asyncness.is_none() && signature.constness.is_none() {
        report.error(signature.fn_token.span, messages::FLOW_NOT_ASYNC);
    }
    if let Some(token) = &signature.constness {
        report.error(token.span, messages::FLOW_CONST);
    }
    if !matches!(signature.safety, Safety::Default) {
        report.error_spanned(&signature.safety, messages::FLOW_UNSAFE);
    }
    if let Some(abi) = &signature.abi {
        report.error_spanned(abi, messages::FLOW_EXTERN);
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && let Some(found) = impl_trait(ty)
    {
        report.error_spanned(found, messages::FLOW_IMPL_TRAIT_RETURN);
        can_be_called = false;
    }
    for argument in typed(signature) {
        if let Some(found) = impl_trait(&argument.ty) {
            report.error_spanned(found, messages::FLOW_IMPL_TRAIT);
            can_be_called = false;
        }
        for attribute in argument.attrs.iter().filter(|attribute| is_cfg(attribute)) {
            report.error_spanned(attribute, messages::CFG_ON_FLOW_ARGUMENT);
        }
    }
    can_be_called
}

fn impl_trait(ty: &Type) -> Option<&TypeImplTrait> {
    struct Found<'ast>(Option<&'ast TypeImplTrait>);
    impl<'ast> Visit<'ast> for Found<'ast> {
        fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
            self.0.get_or_insert(ty);
        }
    }
    let mut found = Found(None);
    found.visit_type(ty);
    found.0
}

/// A flow after the checks and with its body rewritten.
struct FlowFn<'a> {
    function: &'a ItemFn,
    /// Whether it stands among the methods of a type.
    is_associated: bool,
    /// Whether a call of it can be made.
    can_be_called: bool,
}

impl FlowFn<'_> {
    /// The function under its own name, which makes a call, and the function with
    /// the body: inside of the first, or beside it among the methods of a type.
    fn expand(&self, krate: &Path) -> TokenStream {
        let runtime = ours!(#krate::__private);
        let ItemFn {
            attrs, vis, sig, ..
        } = self.function;
        let Outer {
            generics,
            receiver,
            types,
            output,
            lifetime,
        } = Outer::new(sig);
        let ident = &sig.ident;
        let where_clause = &generics.where_clause;
        let names = argument_names(sig);
        let body = self.body_ident(&names);
        let inner = self.inner(&body, &runtime);
        let call = if self.can_be_called {
            self.call(&body, &names, &runtime)
        } else {
            // The function was refused: this only keeps it from adding errors.
            ours!(::core::unimplemented!())
        };
        let output = if impl_trait(&output).is_some() {
            ours!(())
        } else {
            ours!(#output)
        };
        let (inside, beside) = if self.is_associated {
            (TokenStream::new(), inner)
        } else {
            (inner, TokenStream::new())
        };
        let attrs = attrs
            .iter()
            .filter(|attribute| !self.is_associated || !attribute.path().is_ident("expect"));
        let receiver = receiver.iter();
        ours! {
            #(#attrs)*
            #[allow(
                unused_variables,
                clippy::multiple_bound_locations,
                clippy::too_many_arguments,
                clippy::used_underscore_binding,
                clippy::used_underscore_items,
                reason = "the parameters are those of the body"
            )]
            #vis fn #ident #generics (
                #(#receiver,)*
                #(#names: #types),*
            ) -> #runtime::FlowCall<#lifetime, #output> #where_clause {
                #inside
                #call
            }
            #beside
        }
    }

    /// What the function does: it makes a call that runs the body.
    fn call(&self, body: &Ident, names: &[Ident], runtime: &TokenStream) -> TokenStream {
        let sig = &self.function.sig;
        let flow = flow_ident();
        let this = sig.receiver().map(|receiver| &receiver.self_token);
        let owner = self.is_associated.then(|| ours!(Self::));
        let this = this.into_iter();
        let parameters = sig.generics.params.iter();
        let types: Vec<&Ident> = parameters
            .filter_map(|parameter| match parameter {
                GenericParam::Type(parameter) => Some(&parameter.ident),
                GenericParam::Const(parameter) => Some(&parameter.ident),
                GenericParam::Lifetime(_) => None,
            })
            .collect();
        let types = (!types.is_empty()).then(|| ours!(::<#(#types),*>));
        // At the function's name: where rustc says that a body is not `Send`.
        let span = Span::mixed_site().located_at(sig.ident.span());
        let runtime = located_at(runtime, span);
        let body = Ident::new(&body.to_string(), span);
        quote_spanned! {span=>
            #runtime::FlowCall::new(move |#flow| #owner #body #types (#(#this,)* #flow, #(#names),*))
        }
    }

    /// The function with the body.
    fn inner(&self, body: &Ident, runtime: &TokenStream) -> TokenStream {
        let ItemFn {
            attrs, sig, block, ..
        } = self.function;
        let Signature {
            generics, output, ..
        } = sig;
        let where_clause = &generics.where_clause;
        let receiver = sig.receiver().into_iter();
        // Beside the first function, it does not inherit what that allows.
        let attrs = attrs
            .iter()
            .filter(|attribute| self.is_associated && is_for_body(attribute));
        let params = typed(sig).map(|argument| {
            let (attrs, pat, ty) = (&argument.attrs, &argument.pat, &argument.ty);
            ours!(#(#attrs)* #pat: #ty)
        });
        let flow = flow_ident();
        let block = body_block(block, runtime, &ours!(&#flow));
        ours! {
            #(#attrs)*
            #[allow(
                dead_code,
                clippy::too_many_arguments,
                clippy::unused_async,
                reason = "the body of a flow is async whether or not it waits"
            )]
            async fn #body #generics (
                #(#receiver,)*
                #flow: #runtime::Flow,
                #(#params),*
            ) #output #where_clause #block
        }
    }

    /// An item, and so not hygienic: inside the function it must not be called like
    /// a parameter, beside it not like anything of the user's.
    fn body_ident(&self, names: &[Ident]) -> Ident {
        let span = Span::mixed_site();
        if self.is_associated {
            return format_ident!(
                "__mcp_task_flow_{}",
                unraw(&self.function.sig.ident),
                span = span
            );
        }
        let mut body = format_ident!("__body", span = span);
        while names.contains(&body) {
            body = format_ident!("_{body}", span = span);
        }
        body
    }
}

/// Attributes about what stands in the body, or about whether it is there.
pub(crate) fn is_for_body(attribute: &Attribute) -> bool {
    ["cfg", "allow", "expect", "warn", "deny", "forbid"]
        .iter()
        .any(|name| attribute.path().is_ident(name))
}

fn typed(sig: &Signature) -> impl Iterator<Item = &PatType> {
    sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(argument) => Some(argument),
        FnArg::Receiver(_) => None,
    })
}

/// The names under which the arguments are handed on.
fn argument_names(sig: &Signature) -> Vec<Ident> {
    let name = |(index, argument): (usize, &PatType)| match &*argument.pat {
        Pat::Ident(pat) if pat.subpat.is_none() => pat.ident.clone(),
        _ => format_ident!("argument_{index}", span = Span::mixed_site()),
    };
    typed(sig).enumerate().map(name).collect()
}
