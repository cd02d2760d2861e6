//! The order in which a struct's fields are written.
//!
//! A schema is a map, which `serde_json` sorts by name unless a feature that is
//! not ours to switch on says otherwise. `Deserialize`, as serde derives it,
//! tells whoever it reads from which fields it expects, in their order.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// The names of the fields, in order; none for what is not a derived struct.
pub(super) fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // It never gets a value: reading ends when it has said what it expects.
    let _ = T::deserialize(Listener(&mut fields));
    fields
}

/// Reads from nothing, and keeps the names that are asked for.
struct Listener<'a>(&'a mut &'static [&'static str]);

fn nothing() -> Error {
    Error::custom("there is nothing to read")
}

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(nothing())
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(nothing())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}
