//! `#[mcp_task_impl]`: the methods of a value as tasks.
//!
//! A marked method stays a method of its name. It is called on an `Arc` of the
//! value and builds a call, as a task function does; its body becomes a method
//! beside it. Everything else in the block is left as it is.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute as Written, Ident, ImplItem, ImplItemFn, ItemFn, ItemImpl, Meta, Type};

use super::attribute::Attribute;
use super::check::{self, Shape};
use super::expand::{self, body_block, body_param};
use super::flow::is_for_body;
use super::half_written::{self, Read};
use super::keys::unraw;
use super::marks::{self, Mark};
use super::parse::{Owner, Param, TaskFn, cfgs};
use super::report::Report;
use super::rewrite::{self, Rules, ends, flow_ident, located_at};
use super::{crate_path, forms, messages};

/// The whole attribute, from its tokens and the item's to what is emitted.
pub(crate) fn mcp_task_impl(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let report = Report::default();
    let krate = crate_path(attribute, messages::IMPL_ATTRIBUTE, &report);
    let Some(Read { item, is_whole }) = half_written::impl_block(item) else {
        return refuse_item(item, report);
    };
    let mut block = item;
    marks::refuse_others(&mut block.attrs, Mark::Impl, &report);
    let owner = owner(&block, &report);
    let mut tasks = Tasks {
        report: &report,
        krate: &krate,
        is_whole,
        tools: tools(&block),
        owner,
        cfgs: cfgs(&block.attrs),
        items: TokenStream::new(),
        mark: None,
        registered: Vec::new(),
    };
    let marked = tasks.take_methods(&mut block);
    let output = tasks.expand(&block);
    if !marked {
        report.error(block.impl_token.span, messages::IMPL_EMPTY);
    }
    let name = Ident::new("methods", block.impl_token.span);
    let refusal = (!is_whole).then(|| half_written::refuse_unless_refused(&krate, &name));
    let errors = report.into_compile_errors();
    quote!(#output #refusal #errors)
}

/// The type that the methods are of; `None` if it can have no tasks.
fn owner(block: &ItemImpl, report: &Report) -> Option<Owner> {
    let mut is_allowed = true;
    let mut refuse = |tokens: &dyn quote::ToTokens, message: &str| {
        report.error_spanned(tokens, message);
        is_allowed = false;
    };
    if let Some((path, _)) = &block.trait_ {
        refuse(path, messages::IMPL_OF_TRAIT);
    }
    if !block.generics.params.is_empty() {
        refuse(&block.generics.params, messages::IMPL_GENERICS);
    }
    if let Some(clause) = &block.generics.where_clause {
        refuse(clause, messages::IMPL_WHERE);
    }
    let name = match &*block.self_ty {
        Type::Path(ty) if ty.qself.is_none() => ty.path.segments.last(),
        _ => None,
    };
    match name {
        None => refuse(&block.self_ty, messages::IMPL_TYPE),
        Some(_) if check::borrows(&block.self_ty) && block.generics.params.is_empty() => {
            refuse(&block.self_ty, messages::IMPL_BORROWS);
        }
        Some(_) => {}
    }
    let name = unraw(&name?.ident);
    is_allowed.then(|| Owner {
        ty: (*block.self_ty).clone(),
        name,
    })
}

/// What becomes of the marked methods.
struct Tasks<'a> {
    report: &'a Report,
    krate: &'a syn::Path,
    /// Whether all of the block could be read.
    is_whole: bool,
    /// The names of those that are marked.
    tools: Vec<Ident>,
    owner: Option<Owner>,
    /// The block's own `#[cfg]`, for what comes beside it.
    cfgs: Vec<Written>,
    /// What comes beside the block.
    items: TokenStream,
    /// The path of the first mark.
    mark: Option<syn::Path>,
    /// One statement for each method.
    registered: Vec<TokenStream>,
}

impl Tasks<'_> {
    /// Puts every marked method in the block to its new form; true if there is
    /// one.
    fn take_methods(&mut self, block: &mut ItemImpl) -> bool {
        let mut marked = false;
        for item in &mut block.items {
            if let ImplItem::Fn(method) = item
                && let Some(mark) = take_mark(&mut method.attrs, self.report)
            {
                marked = true;
                *item = ImplItem::Verbatim(self.method(&mark, method.clone()));
            }
        }
        marked
    }

    /// What a marked method becomes in its block.
    fn method(&mut self, mark: &Written, method: ImplItemFn) -> TokenStream {
        let report = self.report;
        let attribute = self.attribute(mark);
        let mut function = ItemFn {
            attrs: method.attrs,
            vis: method.vis,
            modifiers: method.modifiers,
            sig: method.sig,
            block: Box::new(method.block),
        };
        marks::refuse_others(&mut function.attrs, Mark::Task, report);
        marks::refuse_takeovers(&mut function, report);
        marks::refuse_logged_results(&mut function.attrs, report);
        let (receiver, allowed) = check::receiver(&mut function, report);
        let shape = allowed.max(check::signature(&function, report));
        check::tool_name(&attribute, &function.sig.ident, report);
        marks::drop_instrumented(&mut function, messages::INSTRUMENTED, report);
        // Before calls become tokens.
        let asked = forms::asked(&function.block);
        let rules = Rules {
            tools: &self.tools,
            ..Rules::of(&attribute, self.is_whole)
        };
        let found = rewrite::body(&mut function.block, rules, report);

        let owner = self.owner.clone().filter(|_| shape == Shape::Whole);
        if let Some(owner) = &owner {
            Named(&owner.ty).visit_signature_mut(&mut function.sig);
        }
        let mut task = TaskFn::new(function, asked, found, owner, report);
        task.receiver = receiver.map(syn::FnArg::Receiver);
        self.mark.get_or_insert_with(|| mark.path().clone());
        let krate = &attribute.krate;
        let runtime = ours!(#krate::__private);
        if task.owner.is_none() {
            return expand::refused_method(&task, &runtime);
        }
        task.cfgs.extend_from_slice(&self.cfgs);
        self.items.extend(expand::call(&task, &runtime));
        self.items.extend(expand::tool(&task, &attribute, &runtime));
        self.register(&task);
        let (constructor, body) = (constructor(&task, &runtime), body(&task, &runtime));
        ours!(#constructor #body)
    }

    fn attribute(&self, mark: &Written) -> Attribute {
        let tokens = match &mark.meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let usual = Attribute {
            krate: self.krate.clone(),
            ..Attribute::default()
        };
        Attribute::parse_over(usual, tokens, self.report)
    }

    fn register(&mut self, task: &TaskFn) {
        let TaskFn {
            cfgs, call, params, ..
        } = task;
        let types = params.iter().map(|param| &param.ty);
        self.registered.push(ours! {
            #(#cfgs)*
            let methods = methods.add::<(#(#types,)*), #call>();
        });
    }

    fn expand(&self, block: &ItemImpl) -> TokenStream {
        let Self {
            krate,
            owner: Some(Owner { ty, .. }),
            items,
            mark,
            registered,
            ..
        } = self
        else {
            return quote!(#block);
        };
        let cfgs = &self.cfgs;
        // The marks are gone: without this their import would count as unused.
        let mark = mark.as_ref().map(|path| {
            let span = Span::mixed_site().located_at(ends(path).0);
            quote_spanned! {span=>
                #[allow(unused_imports, reason = "it is named to be used")]
                use #path as _;
            }
        });
        ours! {
            #block
            #items
            #(#cfgs)*
            #[automatically_derived]
            impl #krate::__private::TaskMethods for #ty {
                fn add_to(
                    methods: #krate::__private::Methods,
                ) -> #krate::__private::Methods {
                    #mark
                    #(#registered)*
                    methods
                }
            }
        }
    }
}

fn tools(block: &ItemImpl) -> Vec<Ident> {
    let methods = block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    methods
        .filter(|method| method.attrs.iter().any(is_mark))
        .map(|method| method.sig.ident.clone())
        .collect()
}

fn is_mark(attribute: &Written) -> bool {
    Mark::of(attribute) == Some(Mark::Task)
}

/// Takes `#[mcp_task]` away from a method.
fn take_mark(attrs: &mut Vec<Written>, report: &Report) -> Option<Written> {
    if let Some(index) = attrs.iter().position(is_mark) {
        return Some(attrs.remove(index));
    }
    let index = attrs.iter().position(is_conditional_mark)?;
    report.error_spanned(&attrs[index], messages::CONDITIONAL_MARK);
    attrs.remove(index);
    Some(syn::parse_quote!(#[mcp_task]))
}

/// `#[cfg_attr(.., mcp_task)]`, which rustc expands only after the block.
fn is_conditional_mark(attribute: &Written) -> bool {
    let Meta::List(list) = &attribute.meta else {
        return false;
    };
    let is_mark = |token| matches!(&token, TokenTree::Ident(ident) if ident == "mcp_task");
    attribute.path().is_ident("cfg_attr") && list.tokens.clone().into_iter().any(is_mark)
}

/// Reports an item that is no `impl` block, and takes the marks of a trait's
/// methods away, which would be reported as well.
fn refuse_item(item: &TokenStream, report: Report) -> TokenStream {
    let item = marks::refuse_item(item, Mark::Impl, &report);
    let errors = report.into_compile_errors();
    let Ok(mut item) = syn::parse2::<syn::ItemTrait>(item.clone()) else {
        return quote!(#item #errors);
    };
    for method in &mut item.items {
        if let syn::TraitItem::Fn(method) = method {
            method
                .attrs
                .retain(|attribute| Mark::of(attribute).is_none());
        }
    }
    quote!(#item #errors)
}

/// The name of the method with the body.
pub(crate) fn method_body_ident(method: &Ident) -> Ident {
    format_ident!("__mcp_task_{}", unraw(method), span = Span::mixed_site())
}

/// The method under its own name: it builds a call.
fn constructor(task: &TaskFn, runtime: &TokenStream) -> TokenStream {
    let TaskFn {
        attrs,
        vis,
        ident,
        call,
        params,
        ..
    } = task;
    let attrs = attrs.iter().filter(|attr| !attr.path().is_ident("expect"));
    let names: Vec<&Ident> = params.iter().map(|param| &param.ident).collect();
    let types = params.iter().map(|param| &param.ty);
    let flow = flow_ident();
    let returned = task.output();
    // At the method's name: where rustc says that a body is not `Send`.
    let span = Span::mixed_site().located_at(ident.span());
    let at = located_at(runtime, span);
    let body = Ident::new(&method_body_ident(&task.ident).to_string(), span);
    let start = quote_spanned! {span=>
        #call(
            #at::Arguments((::core::clone::Clone::clone(self), (#(#names,)*))).body::<#returned, _>(
                |#flow, (this, (#(#names,)*))| async move {
                    Self::#body(&this, #flow, #(#names),*).await
                }
            )
        )
    };
    ours! {
        #(#attrs)*
        #[allow(
            clippy::fn_params_excessive_bools,
            clippy::too_many_arguments,
            clippy::used_underscore_binding,
            clippy::used_underscore_items,
            reason = "the parameters are the tool's arguments"
        )]
        #vis fn #ident(self: &::std::sync::Arc<Self>, #(#names: #types),*) -> #call {
            #[allow(unused_imports, reason = "used where an argument is not `Clone`")]
            use #runtime::AnyArguments as _;
            #start
        }
    }
}

/// The method with the body.
fn body(task: &TaskFn, runtime: &TokenStream) -> TokenStream {
    let attrs = task.attrs.iter().filter(|attr| is_for_body(attr));
    let body = method_body_ident(&task.ident);
    let receiver = &task.receiver;
    let params = task.params.iter().map(|param: &Param| body_param(param));
    let output = &task.output;
    let flow = flow_ident();
    let block = body_block(&task.block, runtime, &ours!(&#flow));
    ours! {
        #(#attrs)*
        #[allow(
            clippy::fn_params_excessive_bools,
            clippy::too_many_arguments,
            clippy::unused_async,
            clippy::unused_self,
            reason = "the body of a task is what it is, whether or not it waits"
        )]
        async fn #body(#receiver, #flow: #runtime::Flow, #(#params),*) #output #block
    }
}

/// Writes the type's name for `Self`, which means nothing beside the block.
struct Named<'a>(&'a Type);

impl VisitMut for Named<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if matches!(ty, Type::Path(path) if path.qself.is_none() && path.path.is_ident("Self")) {
            *ty = self.0.clone();
        } else {
            visit_mut::visit_type_mut(self, ty);
        }
    }
}
