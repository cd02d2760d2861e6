//! What the attribute emits: the function, its call value, and beside them
//! what a server needs to list the tool and to decode a call.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Ident, Lifetime, LitStr, Stmt, Type};

use super::arguments::Arguments;
use super::attribute::{Attribute, Support};
use super::check::Shape;
use super::keys::unraw;
use super::parse::{Owner, Param, TaskFn};
use super::rewrite::{alias, flow_ident, located_at};

/// Everything that takes the place of the user's item.
pub(crate) fn expand(task: &TaskFn, attribute: &Attribute, shape: Shape) -> TokenStream {
    let krate = &attribute.krate;
    let runtime = ours!(#krate::__private);
    if shape == Shape::Method {
        return refused_method(task, &runtime);
    }

    let function = function(task, &runtime, shape);
    let call = call(task, &runtime);
    let tool = match shape {
        Shape::Whole => tool(task, attribute, &runtime),
        Shape::Undecodable => undecodable(task, &runtime),
        Shape::CallOnly | Shape::Method => TokenStream::new(),
    };
    ours!(#function #call #tool)
}

/// The function under its own name: it builds a call.
fn function(task: &TaskFn, runtime: &TokenStream, shape: Shape) -> TokenStream {
    let TaskFn {
        attrs,
        vis,
        ident,
        call,
        generics,
        params,
        output,
        ..
    } = task;
    let where_clause = &generics.where_clause;
    let names: Vec<&Ident> = params.iter().map(|param| &param.ident).collect();
    let types: Vec<&Type> = params.iter().map(|param| &param.ty).collect();
    let body_params = params.iter().map(body_param);
    let flow = flow_ident();
    let block = body_block(&task.block, runtime, &ours!(&#flow));
    // An item, and so not hygienic: it must not be called like a parameter.
    let mut body = format_ident!("__body", span = Span::mixed_site());
    while names.iter().any(|name| **name == body) {
        body = format_ident!("_{body}", span = Span::mixed_site());
    }

    let start = if shape == Shape::Whole {
        // At the function's name: where rustc says that a body is not `Send`.
        let span = Span::mixed_site().located_at(ident.span());
        let returned = task.output();
        let (runtime, body) = (
            located_at(runtime, span),
            Ident::new(&body.to_string(), span),
        );
        let tuple = quote_spanned!(span=> (#(#names,)*));
        let start = quote_spanned! {span=>
            #call(#runtime::Arguments(#tuple).body::<#returned, _>(
                |#flow, #tuple| #body(#flow, #(#names),*)
            ))
        };
        let import = ours! {
            #[allow(unused_imports, reason = "used where an argument is not `Clone`")]
            use #runtime::AnyArguments as _;
        };
        if names.iter().any(|name| unraw(name).starts_with('_')) {
            ours! {
                #import
                #[allow(clippy::used_underscore_binding, reason = "handed on to the body")]
                let call = #start;
                call
            }
        } else {
            ours!(#import #start)
        }
    } else {
        // The function was refused: this only keeps its uses from adding errors.
        ours!({
            let _ = (#(#names,)*);
            ::core::unimplemented!()
        })
    };
    // The lints below are about the user's signature, which a tool's schema
    // decides; about the user's body nothing is allowed.
    ours! {
        #(#attrs)*
        #[allow(
            clippy::fn_params_excessive_bools,
            clippy::too_many_arguments,
            reason = "the parameters are the tool's arguments"
        )]
        #vis fn #ident #generics (#(#names: #types),*) -> #call #where_clause {
            #[allow(
                dead_code,
                clippy::unused_async,
                reason = "the body of a task is async whether or not it waits"
            )]
            async fn #body #generics (
                #flow: #runtime::Flow,
                #(#body_params),*
            ) #output #where_clause #block
            #start
        }
    }
}

/// The body, which knows its task as `flow`.
///
/// Its braces are the user's: there rustc shows what is wrong with it as a whole.
pub(crate) fn body_block(block: &Block, runtime: &TokenStream, flow: &TokenStream) -> Group {
    let (name, statements) = (flow_ident(), statements(block));
    let alias = alias();
    let body = ours! {
        #[allow(unused_imports, reason = "used where a call turns out not to be ours")]
        use #runtime::{
            self as #alias, BindFlowOther as _, BindOther as _, DroppedOther as _,
            EvaluateOther as _, UnawaitedOther as _,
        };
        let #name: &#alias::Flow = #flow;
        #statements
    };
    let mut body = Group::new(Delimiter::Brace, body);
    body.set_span(block.brace_token.span.join());
    body
}

/// The statements of a block that begins with one of ours. With items they
/// stay a block of their own, in which the items come first, as lints want.
pub(crate) fn statements(block: &Block) -> TokenStream {
    let statements = &block.stmts;
    if statements
        .iter()
        .any(|statement| matches!(statement, Stmt::Item(_)))
    {
        ours!(#block)
    } else {
        ours!(#(#statements)*)
    }
}

pub(crate) fn body_param(param: &Param) -> TokenStream {
    let Param { attrs, pat, ty, .. } = param;
    ours!(#(#attrs)* #pat: #ty)
}

/// The named value that a call of the function builds.
pub(crate) fn call(task: &TaskFn, runtime: &TokenStream) -> TokenStream {
    let TaskFn {
        cfgs,
        vis,
        call,
        ident,
        ..
    } = task;
    let path = match &task.owner {
        Some(owner) => format!("{}::{}", owner.name, unraw(ident)),
        None => unraw(ident),
    };
    let doc = format!(" The call that [`{path}`] builds.");
    ours! {
        #(#cfgs)*
        #[doc = #doc]
        #[must_use = "a call does nothing until a server or a test drives it"]
        #vis struct #call(#runtime::Body);
    }
}

/// Arguments, definition and decoder.
pub(crate) fn tool(task: &TaskFn, attribute: &Attribute, runtime: &TokenStream) -> TokenStream {
    let TaskFn {
        cfgs,
        ident,
        call,
        params,
        ..
    } = task;
    let types: Vec<&Type> = params.iter().map(|param| &param.ty).collect();
    let arguments = Arguments::new(params);
    let alias = &alias();
    let items = arguments.items(runtime, alias);
    let (decode, locals) = arguments.decode(alias);
    let definition = definition(task, attribute, alias, &arguments.schema(alias));
    let (construct, this) = match &task.owner {
        Some(Owner { ty, .. }) => (ours!(<#ty>::#ident), Some(ours!(&call.owner::<#ty>()?))),
        None => (ours!(#ident), None),
    };
    let mut decoded = locals.iter();
    let values = params.iter().map(|param| {
        let ty = &param.ty;
        if param.extracted {
            ours!(call.extract::<#ty>()?)
        } else {
            let local = decoded.next();
            ours!(#local)
        }
    });
    let values = this.into_iter().chain(values);

    ours! {
        #(#cfgs)*
        #[allow(
            deprecated,
            clippy::pedantic,
            reason = "a task function is registered whatever its own attributes say"
        )]
        const _: () = {
            #[allow(unused_imports, reason = "used where a type is refused")]
            use #runtime::{self as #alias, AnyType as _};

            #items

            #[automatically_derived]
            impl #alias::TaskCall<(#(#types,)*)> for #call {
                fn definition() -> #alias::Definition {
                    #definition
                }

                fn decode(
                    call: &#alias::CallContext<'_>,
                ) -> ::core::result::Result<Self, #alias::DecodeError> {
                    #decode
                    ::core::result::Result::Ok(#construct(#(#values),*))
                }

                fn into_body(self) -> #alias::Body {
                    self.0
                }
            }
        };
    }
}

/// What a server lists of the tool; only what was given is said.
fn definition(
    task: &TaskFn,
    attribute: &Attribute,
    runtime: &TokenStream,
    schema: &TokenStream,
) -> TokenStream {
    let name = match &attribute.name {
        Some(name) => name.clone(),
        None => LitStr::new(&unraw(&task.ident), task.ident.span()),
    };
    let mut calls = TokenStream::new();
    let description = match &attribute.description {
        Some(text) => Some(text.value()),
        None => task.description(),
    };
    if let Some(text) = description {
        calls.extend(ours!(.description(#text)));
    }
    if let Some(title) = &attribute.title {
        calls.extend(ours!(.title(#title)));
    }
    calls.extend(attribute.listing.calls(runtime));
    if let Some(ttl) = &attribute.ttl {
        let value = if let Some(milliseconds) = ttl.value {
            ours!(::core::option::Option::Some(#milliseconds))
        } else {
            ours!(::core::option::Option::None)
        };
        calls.extend(ours!(.ttl_ms(#value)));
    }
    if let Some(poll) = &attribute.poll_interval {
        let milliseconds = poll.value;
        calls.extend(ours!(.poll_interval_ms(#milliseconds)));
    }
    let support = match (&attribute.support, &attribute.inline) {
        (Some(support), _) => Some(support.value),
        // A client without tasks is refused at once rather than half way.
        (None, None) if task.found.waits_long => Some(Support::Required),
        (None, _) => None,
    };
    if let Some(support) = support {
        let variant = match support {
            Support::Optional => ours!(Optional),
            Support::Required => ours!(Required),
            Support::Forbidden => ours!(Forbidden),
        };
        calls.extend(ours!(.support(#runtime::Support::#variant)));
    }
    if let Some(inline) = &attribute.inline {
        let milliseconds = inline.value;
        calls.extend(ours!(.inline_ms(#milliseconds)));
    }
    if task.found.start.is_some() {
        calls.extend(ours!(.starts_task()));
    }
    if let Some(ttl) = &attribute.state_ttl {
        let milliseconds = ttl.value;
        calls.extend(ours!(.state_ttl_ms(#milliseconds)));
    }
    if !attribute.once {
        calls.extend(ours!(.once(false)));
    }
    if let Some(grace) = &attribute.cancel_grace {
        let milliseconds = grace.value;
        calls.extend(ours!(.cancel_grace_ms(#milliseconds)));
    }
    if let Some(seats) = &attribute.concurrency {
        calls.extend(ours!(.concurrency(#seats)));
    }
    if !attribute.replay {
        calls.extend(ours!(.replay(false)));
    }
    if let Some(version) = &attribute.version {
        calls.extend(ours!(.version(#version)));
    }
    let extracted = task.params.iter().filter(|param| param.extracted);
    let extracted = extracted.map(|param| param.ty.to_token_stream());
    let owner = task.owner.as_ref();
    let owner = owner.map(|Owner { ty, .. }| ours!(#runtime::Owner<#ty>));
    let extracted = owner.into_iter().chain(extracted);
    let asked = &task.asked;
    let output = task.output();
    ours! {
        #runtime::Definition::new(#name)
            #calls
            .input(#schema)
            #(.extract(#runtime::Of::<#extracted>::extractor()))*
            #(.asks(#runtime::Of::<#asked>::check_form))*
            .output(#runtime::Of::<#output>::output_schema())
    }
}

/// Enough for `.task(deploy)` to be accepted after a borrowed argument was
/// refused, so that the refusal stays the only error.
fn undecodable(task: &TaskFn, runtime: &TokenStream) -> TokenStream {
    let TaskFn {
        cfgs, call, params, ..
    } = task;
    let types = params.iter().map(|param| {
        let mut ty = param.ty.clone();
        Static.visit_type_mut(&mut ty);
        ty
    });
    ours! {
        #(#cfgs)*
        #[automatically_derived]
        impl #runtime::TaskCall<(#(#types,)*)> for #call {
            fn definition() -> #runtime::Definition {
                ::core::unimplemented!()
            }

            fn decode(
                _: &#runtime::CallContext<'_>,
            ) -> ::core::result::Result<Self, #runtime::DecodeError> {
                ::core::unimplemented!()
            }

            fn into_body(self) -> #runtime::Body {
                self.0
            }
        }
    }
}

/// Makes every borrow in a type last for ever.
struct Static;

impl VisitMut for Static {
    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        reference.lifetime = Some(Lifetime::new("'static", Span::mixed_site()));
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'static", lifetime.span());
    }
}

/// A method, which is refused: itself, with types in its body.
pub(crate) fn refused_method(task: &TaskFn, runtime: &TokenStream) -> TokenStream {
    let TaskFn {
        attrs,
        vis,
        ident,
        generics,
        receiver,
        params,
        output,
        ..
    } = task;
    let where_clause = &generics.where_clause;
    let receiver = receiver.iter();
    let params = params.iter().map(body_param);
    let block = body_block(&task.block, runtime, &ours!(::core::unimplemented!()));
    ours! {
        #(#attrs)*
        #[allow(unreachable_code, unused_variables, reason = "the method was refused")]
        #vis async fn #ident #generics (#(#receiver,)* #(#params),*) #output #where_clause #block
    }
}
