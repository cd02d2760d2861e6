//! Writes the impls: little, and by way of `mcp_tasks::__private::elicit`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Ident};

use super::check::Item;
use super::defaults::Initial;
use super::fields::Field;
use super::variants::Variant;

pub(super) fn expand(ident: &Ident, crate_path: &TokenStream, item: &Item<'_>) -> TokenStream {
    let e = quote!(#crate_path::__private::elicit);
    match item {
        Item::Form(fields) if fields.is_empty() => expand_confirmation(ident, &e),
        Item::Form(fields) => expand_form(ident, &e, fields),
        Item::Choice(variants) => expand_choice(ident, &e, variants),
    }
}

fn expand_form(ident: &Ident, e: &TokenStream, fields: &[Field<'_>]) -> TokenStream {
    let types = fields.iter().map(|field| field.ty);
    let defaults = fields.iter().filter_map(|field| default_fn(field, e));
    let specs = fields.iter().map(|field| spec(field, e));
    let members: Vec<_> = fields.iter().map(|field| field.ident).collect();
    // Names of our own, so that a field named `content` hides nothing.
    let locals: Vec<_> = members.iter().map(|member| own("field", member)).collect();
    quote! {
        const _: () = {
            #(#defaults)*

            fn __fields() -> (#(#e::FieldSpec<#types>,)*) {
                (#(#specs,)*)
            }

            #[automatically_derived]
            impl #e::Elicit for #ident {
                fn form() -> #e::Form {
                    let (#(#locals,)*) = __fields();
                    let form = #e::Form::new();
                    #(let form = #e::FieldSpec::add_to(#locals, form);)*
                    form
                }

                fn from_content(content: &#e::Content) -> #e::Answer<Self> {
                    let (#(#locals,)*) = __fields();
                    let mut errors = #e::Vec::new();
                    #(let #locals = #e::FieldSpec::read(#locals, content, &mut errors);)*
                    match (#(#locals,)*) {
                        (#(::core::option::Option::Some(#locals),)*) => {
                            ::core::result::Result::Ok(Self { #(#members: #locals,)* })
                        }
                        _ => ::core::result::Result::Err(errors),
                    }
                }
            }
        };
    }
}

fn expand_confirmation(ident: &Ident, e: &TokenStream) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl #e::Elicit for #ident {
            fn form() -> #e::Form {
                #e::Form::new()
            }

            fn from_content(_: &#e::Content) -> #e::Answer<Self> {
                ::core::result::Result::Ok(Self {})
            }
        }
    }
}

/// `field::<u8>("percent").description("..").min(1).default(__default_percent())`
fn spec(field: &Field<'_>, e: &TokenStream) -> TokenStream {
    let Field {
        ident, ty, name, ..
    } = field;
    let description = field.description.iter();
    let calls = field
        .calls
        .iter()
        .map(|(method, argument)| quote!(.#method(#argument)));
    let default = field.default.as_ref().map(|_| {
        let function = own("default", ident);
        quote!(.default(#function()))
    });
    quote! {
        #e::field::<#ty>(#name) #(.description(#description))* #(#calls)* #default
    }
}

/// The default is a function, so that the author's expression is compiled, and
/// complained about, once.
fn default_fn(field: &Field<'_>, e: &TokenStream) -> Option<TokenStream> {
    let function = own("default", field.ident);
    let ty = field.ty;
    let value = match field.default.as_ref()? {
        Initial::Value(value) => value.clone(),
        Initial::Text(text) => quote!(::core::convert::Into::<#e::String>::into(#text)),
        Initial::Items(items) => {
            quote!(<#e::Vec<_> as ::core::convert::From<_>>::from([#(#items),*]))
        }
    };
    let value = if field.optional {
        quote!(::core::option::Option::Some(#value))
    } else {
        value
    };
    Some(quote! {
        fn #function() -> #ty {
            #value
        }
    })
}

fn own(role: &str, ident: &Ident) -> Ident {
    format_ident!("__{role}_{}", ident.unraw(), span = Span::mixed_site())
}

fn expand_choice(ident: &Ident, e: &TokenStream, variants: &[Variant<'_>]) -> TokenStream {
    let idents: Vec<_> = variants.iter().map(|variant| variant.ident).collect();
    let values: Vec<_> = variants.iter().map(|variant| &variant.value).collect();
    let none = quote!(::core::option::Option::None);
    let some = |title| quote!(::core::option::Option::Some(#title));
    let titles = variants
        .iter()
        .map(|variant| variant.title.as_ref().map_or(none.clone(), some));
    choice_impls(
        &quote!(),
        &quote!(#ident),
        e,
        &quote!(#e::choices(&[#((#values, #titles),)*])),
        &quote!(match self { #(Self::#idents => #values,)* }),
        &quote!(match value {
            #(#values => ::core::option::Option::Some(Self::#idents),)*
            _ => ::core::option::Option::None,
        }),
    )
}

/// The impls of an enum: a choice, so a field, so an answer.
fn choice_impls(
    generics: &TokenStream,
    ty: &TokenStream,
    e: &TokenStream,
    choices: &TokenStream,
    value: &TokenStream,
    from_value: &TokenStream,
) -> TokenStream {
    quote! {
        const _: () = {
            #[automatically_derived]
            impl #generics #e::ElicitChoice for #ty {
                fn choices() -> #e::Vec<#e::Choice> {
                    #choices
                }

                fn value(&self) -> &'static ::core::primitive::str {
                    #value
                }

                fn from_value(value: &::core::primitive::str) -> ::core::option::Option<Self> {
                    #from_value
                }
            }

            #[automatically_derived]
            impl #generics #e::ElicitField for #ty {
                fn kind() -> #e::FieldKind {
                    #e::kind_of_choice::<Self>()
                }

                fn encode(&self) -> #e::Value {
                    #e::encode_choice(self)
                }

                fn decode(value: ::core::option::Option<&#e::Value>) -> #e::Decoded<Self> {
                    #e::decode_choice(value)
                }
            }

            #[automatically_derived]
            impl #generics #e::Elicit for #ty {
                fn form() -> #e::Form {
                    #e::form_of::<Self>()
                }

                fn from_content(content: &#e::Content) -> #e::Answer<Self> {
                    #e::answer_of(content)
                }
            }
        };
    }
}

/// Impls that satisfy the compiler while the author mends the item.
pub(super) fn fallback(input: &DeriveInput, crate_path: &TokenStream) -> TokenStream {
    let e = quote!(#crate_path::__private::elicit);
    let ident = &input.ident;
    let never = quote!(::core::unreachable!());
    let (params, arguments, clause) = input.generics.split_for_impl();
    // A generic type is in error already; its bounds need not be right.
    let ty = if input.generics.params.is_empty() {
        quote!(#ident)
    } else {
        let predicates = clause.map(|clause| &clause.predicates).into_iter();
        quote! {
            #ident #arguments
            where Self: ::core::marker::Send + 'static, #(#predicates)*
        }
    };
    if matches!(input.data, Data::Enum(_)) {
        return choice_impls(&quote!(#params), &ty, &e, &never, &never, &never);
    }
    quote! {
        #[automatically_derived]
        impl #params #e::Elicit for #ty {
            fn form() -> #e::Form {
                #never
            }

            fn from_content(_: &#e::Content) -> #e::Answer<Self> {
                #never
            }
        }
    }
}
