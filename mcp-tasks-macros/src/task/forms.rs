//! Which schemas a body asks for, so that a server can look at them before it
//! starts.
//!
//! Only a type that is written out as `FromSchema<T>` outside of macros is seen:
//! forms of other types are right once they compile. What is not seen is looked
//! at when it is first asked for.

use syn::visit::{self, Visit};
use syn::{Attribute, Block, GenericArgument, Item, PathArguments, Type};

/// The types `FromSchema<..>` in a body, each once; none if what they mean may
/// differ outside of it.
pub(crate) fn asked(body: &Block) -> Vec<Type> {
    let mut asked = Asked::default();
    asked.visit_block(body);
    if asked.unclear {
        return Vec::new();
    }
    asked.types.into_iter().cloned().collect()
}

#[derive(Default)]
struct Asked<'a> {
    types: Vec<&'a Type>,
    /// There are items of the body's own, or parts of it may not be there.
    unclear: bool,
}

impl<'a> Visit<'a> for Asked<'a> {
    fn visit_type(&mut self, ty: &'a Type) {
        if is_from_schema(ty) && !self.types.contains(&ty) {
            self.types.push(ty);
        }
        visit::visit_type(self, ty);
    }

    fn visit_item(&mut self, _: &'a Item) {
        self.unclear = true;
    }

    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        self.unclear |= attribute.path().is_ident("cfg");
    }
}

/// Whether it is a `FromSchema` of a type that is spelled out.
fn is_from_schema(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return false;
    };
    let mut inferred = Inferred(false);
    inferred.visit_angle_bracketed_generic_arguments(arguments);
    let only = arguments.args.len() == 1;
    let of_type = matches!(arguments.args.first(), Some(GenericArgument::Type(_)));
    last.ident == "FromSchema" && only && of_type && !inferred.0
}

/// Whether some of a type is left to the compiler: `_`.
struct Inferred(bool);

impl Visit<'_> for Inferred {
    fn visit_type_infer(&mut self, _: &syn::TypeInfer) {
        self.0 = true;
    }
}
