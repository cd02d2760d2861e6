//! What a field's type looks like, as far as syntax can tell.
//!
//! Only names of the standard library are recognised. Everything else is
//! [`Shape::Other`]: an enum, most likely, or a mistake, which the trait bounds
//! of the generated code then report.

use syn::{GenericArgument, PathArguments, Type};

use super::messages;
use crate::literal::Number;

/// 2^53 - 1, the limit that the runtime holds whole numbers to.
const SAFE_INTEGER: i128 = 9_007_199_254_740_991;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Bool,
    /// The name of the type.
    Integer(&'static str),
    Float(&'static str),
    List,
    Other,
}

/// A field's type, looked at through `Option`.
pub(super) struct FieldType<'a> {
    pub shape: Shape,
    pub optional: bool,
    /// The type without `Option`.
    pub inner: &'a Type,
    /// The type of a list's items, otherwise `inner`.
    pub item: &'a Type,
}

pub(super) fn look_at(ty: &Type) -> FieldType<'_> {
    let (optional, inner) = match named(ty) {
        Some((name, Some(inner))) if name == "Option" => (true, inner),
        _ => (false, ty),
    };
    let (shape, item) = match named(inner) {
        Some((name, Some(item))) if name == "Vec" => (Shape::List, item),
        Some((name, None)) => (primitive(&name), inner),
        _ => (Shape::Other, inner),
    };
    FieldType {
        shape,
        optional,
        inner,
        item,
    }
}

/// What to write instead of a type that is no field, where that can be told.
pub(super) fn instead(ty: &Type) -> Option<String> {
    if let Type::Reference(_) = ungrouped(ty) {
        return Some(messages::REFERENCE.to_owned());
    }
    let (name, argument) = named(ty)?;
    let of = |name: &str| {
        argument
            .and_then(named)
            .is_some_and(|(inner, _)| inner == name)
    };
    match (name.as_str(), argument) {
        ("Option", Some(_)) if of("Option") => Some(messages::OPTION_TWICE.to_owned()),
        ("Vec", Some(_)) if of("Option") => Some(messages::OPTION_IN_LIST.to_owned()),
        ("Option" | "Vec", Some(inner)) => instead(inner),
        ("HashSet" | "BTreeSet" | "IndexSet" | "VecDeque", _) => Some(messages::SET.to_owned()),
        ("Box" | "Rc" | "Arc", Some(_)) => Some(messages::pointer(&name)),
        ("char", None) => Some(messages::CHAR.to_owned()),
        _ => None,
    }
}

/// The type without parentheses and the invisible groups of macros.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        other => other,
    }
}

/// The last segment of a path, with its only type argument.
fn named(ty: &Type) -> Option<(String, Option<&Type>)> {
    let path = match ungrouped(ty) {
        Type::Path(path) if path.qself.is_none() => &path.path,
        _ => return None,
    };
    let last = path.segments.last()?;
    let argument = match &last.arguments {
        PathArguments::None => None,
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(ty) => Some(ty),
            _ => return None,
        },
        PathArguments::Parenthesized(_) => return None,
    };
    Some((last.ident.to_string(), argument))
}

fn primitive(name: &str) -> Shape {
    const INTEGERS: [&str; 12] = [
        "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize",
    ];
    if let Some(integer) = INTEGERS.into_iter().find(|integer| *integer == name) {
        return Shape::Integer(integer);
    }
    match name {
        "String" => Shape::Text,
        "bool" => Shape::Bool,
        "f32" => Shape::Float("f32"),
        "f64" => Shape::Float("f64"),
        _ => Shape::Other,
    }
}

impl Shape {
    /// As in "this field is a `bool`".
    pub(super) fn described(self) -> String {
        match self {
            Self::Text => "a `String`".to_owned(),
            Self::Bool => "a `bool`".to_owned(),
            Self::Integer(name @ ("i8" | "i16" | "i32" | "i64" | "i128" | "isize")) => {
                format!("an `{name}`")
            }
            Self::Integer(name) => format!("a `{name}`"),
            Self::Float(name) => format!("an `{name}`"),
            Self::List => "a `Vec`".to_owned(),
            Self::Other => "a choice".to_owned(),
        }
    }
}

/// The whole numbers that a field of this type can hold.
pub(super) fn integer_range(name: &str) -> (i128, i128) {
    let (low, high) = match name {
        "i8" => (i8::MIN.into(), i8::MAX.into()),
        "i16" => (i16::MIN.into(), i16::MAX.into()),
        "i32" => (i32::MIN.into(), i32::MAX.into()),
        "u8" => (0, u8::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "u32" => (0, u32::MAX.into()),
        "u64" | "u128" | "usize" => (0, SAFE_INTEGER),
        _ => (-SAFE_INTEGER, SAFE_INTEGER),
    };
    (low, high)
}

/// The range in words, if the number is outside it.
pub(super) fn outside(name: &str, number: Number) -> Option<String> {
    let (low, high) = integer_range(name);
    match number {
        Number::Whole(whole) if (low..=high).contains(&whole) => None,
        _ => Some(format!("from {low} to {high}")),
    }
}
