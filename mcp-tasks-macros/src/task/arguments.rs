//! How a tool's arguments are described and decoded.
//!
//! Where the types alone say it, each argument by itself: that is compiled once
//! for each type. Attributes of serde's or schemars' need a struct of all the
//! arguments, with their derives.
//!
//! What serde's and schemars' derives say of a type that they cannot use is
//! long, and they say it several times. So they are shown a type parameter in
//! its place, and each type is checked by itself, where it stands in the user's
//! signature. Only beside attributes of theirs, which may need it, do they see
//! the type.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Attribute, Ident, LitStr, Type};

use super::keys::unraw;
use super::parse::{Param, documentation};
use super::rewrite::{ends, located_at};

/// The arguments, and how they are used.
pub(crate) struct Arguments<'t> {
    params: Vec<&'t Param>,
    /// The types that the struct takes as parameters.
    checked: Vec<&'t Type>,
}

impl<'t> Arguments<'t> {
    pub(crate) fn new(params: &'t [Param]) -> Self {
        let params: Vec<&Param> = params.iter().filter(|param| !param.extracted).collect();
        let checked = params.iter().filter(|param| is_plain(param));
        Self {
            checked: checked.map(|param| &param.ty).collect(),
            params,
        }
    }

    /// Whether each can be had by itself.
    fn are_plain(&self) -> bool {
        let mut params = self.params.iter().enumerate();
        params.all(|(index, param)| is_plain(param) && param.arg.field_attrs(index).is_empty())
    }

    /// The items that the rest takes for granted.
    ///
    /// The derives are told the full path of the runtime; the rest knows it by
    /// its alias.
    pub(crate) fn items(&self, path: &TokenStream, runtime: &TokenStream) -> TokenStream {
        // Whether or not the derives see it too: these words are to come first.
        let checked = self.params.iter().filter(|param| is_described(param));
        let checks = checked.map(|param| {
            let ty = &param.ty;
            let (span, _) = ends(ty);
            let runtime = located_at(runtime, span);
            quote_spanned!(span=> const _: () = #runtime::argument::<#ty>();)
        });
        let item = (!self.are_plain()).then(|| self.item(path, runtime));
        ours!(#(#checks)* #item)
    }

    /// The struct, and what its attributes name.
    fn item(&self, path: &TokenStream, runtime: &TokenStream) -> TokenStream {
        let path = path.to_string().replace(' ', "");
        let serde = LitStr::new(&format!("{path}::serde"), Span::mixed_site());
        let schemars = LitStr::new(&format!("{path}::schemars"), Span::mixed_site());

        let generic = |index: usize| format_ident!("__T{index}", span = Span::mixed_site());
        let generics: Vec<Ident> = (0..self.checked.len()).map(generic).collect();
        let mut unused = generics.iter();
        let fields = self.params.iter().enumerate().map(|(index, param)| {
            let Param {
                arg,
                field_attrs,
                ident,
                ty,
                ..
            } = param;
            let arg = arg.field_attrs(index);
            let generic = is_plain(param).then(|| unused.next()).flatten();
            let ty = generic.map_or_else(|| quote::quote!(#ty), |generic| quote::quote!(#generic));
            ours!(#(#field_attrs)* #arg #ident: #ty)
        });
        let generics = generics_of(&generics);
        let args = self.params.iter().enumerate();
        let args = args.map(|(index, param)| param.arg.items(index, &param.ty, runtime));
        ours! {
            #[allow(unused_imports, reason = "schemars takes the prelude for granted")]
            use ::core::{convert::Into as _, default::Default as _, option::Option::Some};

            #[derive(#runtime::serde::Deserialize, #runtime::schemars::JsonSchema)]
            #[serde(crate = #serde, expecting = "an object with the tool's arguments")]
            #[schemars(crate = #schemars)]
            struct __Arguments #generics { #(#fields),* }

            #(#args)*
        }
    }

    /// An expression for the schema of all of them.
    pub(crate) fn schema(&self, runtime: &TokenStream) -> TokenStream {
        if !self.are_plain() {
            let ty = self.ty();
            return ours!(#runtime::Of::<#ty>::input_schema());
        }
        let arguments = self.params.iter().map(|param| {
            let (ty, name) = (&param.ty, unraw(&param.ident));
            let description = if let Some(text) = documentation(&param.field_attrs) {
                ours!(::core::option::Option::Some(#text))
            } else {
                ours!(::core::option::Option::None)
            };
            ours!(#runtime::Of::<#ty>::plain(#name, #description))
        });
        ours!(#runtime::plain_schema(&[#(#arguments),*]))
    }

    /// Statements that decode them, and the names of what they give.
    pub(crate) fn decode(&self, runtime: &TokenStream) -> (TokenStream, Vec<Ident>) {
        // Names that a parameter cannot shadow.
        let local = |index: usize| format_ident!("argument_{index}", span = Span::mixed_site());
        let locals: Vec<Ident> = (0..self.params.len()).map(local).collect();
        let statements = if self.params.is_empty() {
            ours!(call.plain()?;)
        } else if self.are_plain() {
            let takes = self.params.iter().zip(&locals).map(|(param, local)| {
                let (ty, name) = (&param.ty, unraw(&param.ident));
                ours!(let #local = #runtime::Of::<#ty>::take(&arguments, #name)?;)
            });
            ours! {
                let arguments = call.plain()?;
                #(#takes)*
            }
        } else {
            let (ty, names) = (self.ty(), self.params.iter().map(|param| &param.ident));
            ours! {
                let __Arguments { #(#names: #locals),* } = #runtime::Of::<#ty>::decode(call)?;
            }
        };
        (statements, locals)
    }

    /// The struct with its types.
    fn ty(&self) -> TokenStream {
        let types = generics_of(&self.checked);
        ours!(__Arguments #types)
    }
}

/// Whether only its type says how a parameter is decoded.
fn is_plain(param: &Param) -> bool {
    param.arg.is_plain() && is_described(param)
}

/// Whether no attribute of serde or schemars may take its type's place.
fn is_described(param: &Param) -> bool {
    let mut attributes = param.field_attrs.iter();
    attributes.all(|attribute| attribute.path().is_ident("doc") || names(attribute))
}

/// Whether an attribute of serde only says what a parameter is called.
fn names(attribute: &Attribute) -> bool {
    let only_names = attribute.parse_nested_meta(|meta| {
        if !["rename", "alias"]
            .iter()
            .any(|key| meta.path.is_ident(key))
        {
            return Err(meta.error("not a name"));
        }
        meta.value()?.parse::<LitStr>().map(drop)
    });
    attribute.path().is_ident("serde") && only_names.is_ok()
}

fn generics_of(types: &[impl quote::ToTokens]) -> TokenStream {
    if types.is_empty() {
        TokenStream::new()
    } else {
        ours!(<#(#types),*>)
    }
}
