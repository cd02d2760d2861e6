//! The types whose arguments `#[arg(..)]` can limit.
//!
//! A limit is a keyword of the argument's JSON Schema, so what counts is what a
//! value is on the wire: a number, a text or a list. The types of the standard
//! library say so themselves. A type of your own that is one of these on the
//! wire implements the trait that fits:
//!
//! ```
//! use mcp_tasks::argument;
//! use mcp_tasks::prelude::*;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(transparent)]
//! struct Port(u16);
//!
//! impl argument::Number for Port {
//!     type Whole = u16;
//! }
//!
//! /// Opens a port.
//! #[mcp_task]
//! async fn open(#[arg(min = 1024)] port: Port) -> String {
//!     format!("{} is open", port.0)
//! }
//! ```

use std::borrow::Cow;
use std::collections::{BTreeSet, BinaryHeap, HashSet, LinkedList, VecDeque};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroIsize, NonZeroU8, NonZeroU16, NonZeroU32,
    NonZeroU64, NonZeroUsize,
};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// A number on the wire: `#[arg(min, max)]`.
#[diagnostic::on_unimplemented(
    message = "`min` and `max` are for numbers, and `{Self}` is none",
    label = "this limit does not fit `{Self}`",
    note = "for the length of a text write `min_len` or `max_len`, for that of a list `min_items` or `max_items`",
    note = "a type of your own that is a number on the wire implements `mcp_tasks::argument::Number`"
)]
pub trait Number {
    /// Of what type a limit is that is written without a fraction.
    type Whole;
}

/// A number on the wire that may have a fraction.
#[diagnostic::on_unimplemented(
    message = "`{Self}` holds whole numbers only",
    label = "this limit has a fraction",
    note = "write the limit without a fraction"
)]
pub trait Fractional: Number {}

/// A text on the wire: `#[arg(min_len, max_len, pattern)]`, counted in
/// characters.
#[diagnostic::on_unimplemented(
    message = "`min_len`, `max_len` and `pattern` are for texts, and `{Self}` is none",
    label = "this limit does not fit `{Self}`",
    note = "for a number write `min` or `max`, for the length of a list `min_items` or `max_items`",
    note = "a type of your own that is a text on the wire implements `mcp_tasks::argument::Text`"
)]
pub trait Text {}

/// A list on the wire: `#[arg(min_items, max_items)]`.
#[diagnostic::on_unimplemented(
    message = "`min_items` and `max_items` are for lists, and `{Self}` is none",
    label = "this limit does not fit `{Self}`",
    note = "for a number write `min` or `max`, for the length of a text `min_len` or `max_len`",
    note = "a type of your own that is a list on the wire implements `mcp_tasks::argument::List`"
)]
pub trait List {}

macro_rules! numbers {
    ($($number:ty: $whole:ty),* $(,)?) => {
        $(
            #[diagnostic::do_not_recommend]
            impl Number for $number {
                type Whole = $whole;
            }
        )*
    };
}

numbers!(
    i8: i8, i16: i16, i32: i32, i64: i64, i128: i128, isize: isize,
    u8: u8, u16: u16, u32: u32, u64: u64, u128: u128, usize: usize,
    NonZeroI8: i8, NonZeroI16: i16, NonZeroI32: i32, NonZeroI64: i64, NonZeroIsize: isize,
    NonZeroU8: u8, NonZeroU16: u16, NonZeroU32: u32, NonZeroU64: u64, NonZeroUsize: usize,
    f32: i128, f64: i128,
);

impl Fractional for f32 {}
impl Fractional for f64 {}

macro_rules! texts {
    ($($text:ty),*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl Text for $text {}
        )*
    };
}

texts!(
    String,
    Box<str>,
    Arc<str>,
    Rc<str>,
    Cow<'_, str>,
    PathBuf,
    char
);

macro_rules! lists {
    ($($list:ident),*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl<T> List for $list<T> {}
        )*
    };
}

lists!(Vec, VecDeque, LinkedList, BTreeSet, BinaryHeap);

#[diagnostic::do_not_recommend]
impl<T> List for Box<[T]> {}

#[diagnostic::do_not_recommend]
impl<T, S> List for HashSet<T, S> {}

// A limit is one of what is there.
#[diagnostic::do_not_recommend]
impl<T: Number> Number for Option<T> {
    type Whole = T::Whole;
}
#[diagnostic::do_not_recommend]
impl<T: Fractional> Fractional for Option<T> {}
#[diagnostic::do_not_recommend]
impl<T: Text> Text for Option<T> {}
#[diagnostic::do_not_recommend]
impl<T: List> List for Option<T> {}
