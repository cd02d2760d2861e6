//! The signature of the function that makes a call, with a name for every
//! lifetime: the call holds what the arguments borrow, and says so in its type.

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, GenericParam, Generics, Lifetime, Receiver, ReturnType, Signature, Type, TypeReference,
    parse_quote,
};

/// What such a function has in place of what the user wrote.
pub(crate) struct Outer {
    pub(crate) generics: Generics,
    pub(crate) receiver: Option<Receiver>,
    /// The arguments' types, in order.
    pub(crate) types: Vec<Type>,
    /// What the call gives.
    pub(crate) output: Type,
    /// As long as everything that the arguments borrow.
    pub(crate) lifetime: Lifetime,
}

impl Outer {
    pub(crate) fn new(signature: &Signature) -> Self {
        let mut names = Names::default();
        let mut receiver = None;
        let mut types = Vec::new();
        let mut of_receiver = None;
        for input in &signature.inputs {
            match input.clone() {
                FnArg::Receiver(mut found) => {
                    found.mutability = None;
                    names.visit_receiver_mut(&mut found);
                    of_receiver = names.only_one();
                    receiver = Some(found);
                }
                FnArg::Typed(mut argument) => {
                    names.visit_type_mut(&mut argument.ty);
                    types.push(*argument.ty);
                }
            }
        }
        let mut output: Type = match &signature.output {
            ReturnType::Type(_, ty) => (**ty).clone(),
            ReturnType::Default => parse_quote!(()),
        };
        // What rustc would take for a lifetime that is left out.
        if let Some(lifetime) = of_receiver.or_else(|| names.only_one()) {
            Fill(lifetime).visit_type_mut(&mut output);
        }
        let lifetime = Lifetime::new("'__flow", Span::mixed_site());
        Self {
            generics: generics(&signature.generics, &names.new, &lifetime),
            receiver,
            types,
            output,
            lifetime,
        }
    }
}

/// The generics as written, with every lifetime, all of which outlive one.
fn generics(written: &Generics, new: &[Lifetime], shortest: &Lifetime) -> Generics {
    let mut generics = written.clone();
    let mut outlive: Vec<Type> = Vec::new();
    let mut lifetimes: Vec<Lifetime> = new.to_vec();
    for parameter in &written.params {
        match parameter {
            GenericParam::Lifetime(parameter) => lifetimes.push(parameter.lifetime.clone()),
            GenericParam::Type(parameter) => {
                let ident = &parameter.ident;
                outlive.push(parse_quote!(#ident));
            }
            GenericParam::Const(_) => {}
        }
    }
    if !lifetimes.is_empty() || !outlive.is_empty() {
        let predicates = &mut generics.make_where_clause().predicates;
        predicates.extend(
            lifetimes
                .iter()
                .map(|lifetime| -> syn::WherePredicate { parse_quote!(#lifetime: #shortest) }),
        );
        predicates.extend(
            outlive
                .iter()
                .map(|ty| -> syn::WherePredicate { parse_quote!(#ty: #shortest) }),
        );
    }
    let added = std::iter::once(shortest).chain(new);
    for (index, lifetime) in added.enumerate() {
        generics.params.insert(index, parse_quote!(#lifetime));
    }
    generics
}

/// Names the lifetimes of parameters.
#[derive(Default)]
struct Names {
    /// Those that had no name.
    new: Vec<Lifetime>,
    /// All that stand in the parameters.
    all: Vec<Lifetime>,
}

impl Names {
    /// The only lifetime so far.
    fn only_one(&self) -> Option<Lifetime> {
        match self.all.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        }
    }

    fn make(&mut self) -> Lifetime {
        let name = format!("'__{}", self.new.len());
        let lifetime = Lifetime::new(&name, Span::mixed_site());
        self.new.push(lifetime.clone());
        self.all.push(lifetime.clone());
        lifetime
    }
}

impl VisitMut for Names {
    fn visit_receiver_mut(&mut self, receiver: &mut Receiver) {
        match &mut receiver.kind {
            syn::ReceiverKind::Reference(_, lifetime, _) => match lifetime {
                Some(lifetime) => self.visit_lifetime_mut(lifetime),
                none => *none = Some(self.make()),
            },
            _ => visit_mut::visit_receiver_mut(self, receiver),
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(self.make());
            self.visit_type_mut(&mut reference.elem);
        } else {
            visit_mut::visit_type_reference_mut(self, reference);
        }
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.make();
        } else if lifetime.ident != "static" && !self.all.contains(lifetime) {
            self.all.push(lifetime.clone());
        }
    }

    // Lifetimes in the signature of a function are its own.
    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
    fn visit_parenthesized_generic_arguments_mut(
        &mut self,
        _: &mut syn::ParenthesizedGenericArguments,
    ) {
    }
}

/// Gives every lifetime that is left out a name.
struct Fill(Lifetime);

impl VisitMut for Fill {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime.get_or_insert_with(|| self.0.clone());
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.0.clone();
        }
    }

    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
    fn visit_parenthesized_generic_arguments_mut(
        &mut self,
        _: &mut syn::ParenthesizedGenericArguments,
    ) {
    }
}
