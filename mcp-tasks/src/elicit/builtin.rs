//! The types of the standard library that can be asked for.

use serde_json::Value;

use super::derived::{NumberField, answer_of, form_of};
use super::{Elicit, ElicitChoice, ElicitField};
use crate::protocol::{Content, FieldError, FieldKind, Form, SAFE_INTEGER};

pub(super) fn present(value: Option<&Value>) -> Result<&Value, String> {
    value.ok_or_else(|| "is required".to_owned())
}

/// A bare confirmation: nothing to fill in.
#[diagnostic::do_not_recommend]
impl Elicit for () {
    fn form() -> Form {
        Form::new()
    }

    fn from_content(_: &Content) -> Result<Self, Vec<FieldError>> {
        Ok(())
    }
}

/// Makes a field an answer by itself. A blanket impl would do the same, but
/// then the compiler would explain fields to somebody who asks for a struct.
macro_rules! answer_by_itself {
    ($($ty:ty)*) => {$(
        // Whoever asks for something else is not shown all of these.
        #[diagnostic::do_not_recommend]
        impl Elicit for $ty {
            fn form() -> Form {
                form_of::<Self>()
            }

            fn from_content(content: &Content) -> Result<Self, Vec<FieldError>> {
                answer_of(content)
            }
        }
    )*};
}

answer_by_itself! {
    String bool f32 f64
    i8 i16 i32 i64 i128 isize
    u8 u16 u32 u64 u128 usize
}

impl<E: ElicitChoice> Elicit for Vec<E> {
    fn form() -> Form {
        form_of::<Self>()
    }

    fn from_content(content: &Content) -> Result<Self, Vec<FieldError>> {
        answer_of(content)
    }
}

#[diagnostic::do_not_recommend]
impl ElicitField for String {
    fn kind() -> FieldKind {
        FieldKind::text()
    }

    fn encode(&self) -> Value {
        Value::from(self.as_str())
    }

    fn decode(value: Option<&Value>) -> Result<Self, String> {
        let text = present(value)?.as_str().ok_or("must be text")?;
        Ok(text.to_owned())
    }
}

#[diagnostic::do_not_recommend]
impl ElicitField for bool {
    fn kind() -> FieldKind {
        FieldKind::boolean()
    }

    fn encode(&self) -> Value {
        Value::from(*self)
    }

    fn decode(value: Option<&Value>) -> Result<Self, String> {
        Ok(present(value)?.as_bool().ok_or("must be true or false")?)
    }
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ElicitField for $ty {
            fn kind() -> FieldKind {
                FieldKind::Integer {
                    min: i64::try_from(<$ty>::MIN).ok().filter(|min| *min >= -SAFE_INTEGER),
                    max: i64::try_from(<$ty>::MAX).ok().filter(|max| *max <= SAFE_INTEGER),
                    default: None,
                }
            }

            fn encode(&self) -> Value {
                i64::try_from(*self).map_or(Value::Null, Value::from)
            }

            fn decode(value: Option<&Value>) -> Result<Self, String> {
                let whole = Self::kind().judge(present(value)?)?;
                let whole = whole.as_i64().and_then(|whole| Self::try_from(whole).ok());
                Ok(whole.ok_or("must be a whole number")?)
            }
        }

        #[diagnostic::do_not_recommend]
        impl NumberField for $ty {
            type Bound = i64;

            fn set_min(kind: &mut FieldKind, bound: i64) {
                if let FieldKind::Integer { min, .. } = kind {
                    *min = Some(bound);
                }
            }

            fn set_max(kind: &mut FieldKind, bound: i64) {
                if let FieldKind::Integer { max, .. } = kind {
                    *max = Some(bound);
                }
            }
        }
    )*};
}

mod integers {
    #![allow(clippy::useless_conversion, reason = "i64 is one of the types")]
    use super::{ElicitField, FieldKind, NumberField, SAFE_INTEGER, Value, present};

    integers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }
}

macro_rules! floats {
    ($($ty:ty: $narrow:expr, $widen:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ElicitField for $ty {
            fn kind() -> FieldKind {
                FieldKind::number()
            }

            fn encode(&self) -> Value {
                let widen: fn($ty) -> f64 = $widen;
                Value::from(widen(*self))
            }

            fn decode(value: Option<&Value>) -> Result<Self, String> {
                let number = present(value)?.as_f64().ok_or("must be a number")?;
                let narrow: fn(f64) -> $ty = $narrow;
                Ok(narrow(number))
            }
        }

        #[diagnostic::do_not_recommend]
        impl NumberField for $ty {
            type Bound = f64;

            fn set_min(kind: &mut FieldKind, bound: f64) {
                if let FieldKind::Number { min, .. } = kind {
                    *min = Some(bound);
                }
            }

            fn set_max(kind: &mut FieldKind, bound: f64) {
                if let FieldKind::Number { max, .. } = kind {
                    *max = Some(bound);
                }
            }
        }
    )*};
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the author asked for the precision of f32; what is beyond its range stops at its ends"
)]
fn nearest_f32(number: f64) -> f32 {
    (number as f32).clamp(f32::MIN, f32::MAX)
}

/// 0.1 for `0.1_f32`, not the 0.10000000149011612 that it also is.
fn as_written(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

floats! {
    f64: |number| number, |number| number;
    f32: nearest_f32, as_written;
}

/// Any of the choices, each at most once.
impl<E: ElicitChoice> ElicitField for Vec<E> {
    fn kind() -> FieldKind {
        FieldKind::multi_select(E::choices())
    }

    fn encode(&self) -> Value {
        self.iter().map(ElicitChoice::value).collect()
    }

    fn decode(value: Option<&Value>) -> Result<Self, String> {
        let chosen = Self::kind().judge(present(value)?)?;
        let chosen = chosen.as_array().map_or(&[][..], Vec::as_slice);
        let known = |value: &Value| value.as_str().and_then(E::from_value);
        let chosen: Option<_> = chosen.iter().map(known).collect();
        Ok(chosen.ok_or("must be a list of choices")?)
    }
}

/// A field that may be left empty.
impl<T: ElicitField> ElicitField for Option<T> {
    fn kind() -> FieldKind {
        T::kind()
    }

    fn required() -> bool {
        false
    }

    fn encode(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::encode)
    }

    fn decode(value: Option<&Value>) -> Result<Self, String> {
        value.map(|value| T::decode(Some(value))).transpose()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask<T: Elicit>(content: &Value) -> Result<T, String> {
        let said = |errors: Vec<FieldError>| {
            let said: Vec<_> = errors.iter().map(ToString::to_string).collect();
            said.join("; ")
        };
        let content = T::form().judge(Some(content)).map_err(said)?;
        T::from_content(&content).map_err(said)
    }

    #[test]
    fn a_single_value_is_the_field_answer() {
        assert_eq!(
            String::form().to_json_text(),
            r#"{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}"#
        );
        assert_eq!(ask(&json!({"answer": "x"})), Ok("x".to_owned()));
        assert_eq!(ask(&json!({"answer": true})), Ok(true));
        assert_eq!(ask(&json!({"answer": 1.5})), Ok(1.5_f64));
        assert_eq!(ask(&json!({"answer": -7})), Ok(-7_i128));
        assert_eq!(
            ask::<String>(&json!({})).unwrap_err(),
            "`answer` is required"
        );
    }

    #[test]
    fn a_confirmation_asks_for_nothing() {
        assert!(<()>::form().is_empty());
        assert_eq!(ask(&json!({"surprise": 1})), Ok(()));
    }

    #[test]
    fn integers_show_their_range_where_json_can_carry_it() {
        let kind = |min, max| FieldKind::Integer {
            min,
            max,
            default: None,
        };
        assert_eq!(u8::kind(), kind(Some(0), Some(255)));
        assert_eq!(i8::kind(), kind(Some(-128), Some(127)));
        assert_eq!(u32::kind(), kind(Some(0), Some(4_294_967_295)));
        assert_eq!(u64::kind(), kind(Some(0), None));
        assert_eq!(i64::kind(), kind(None, None));
        assert_eq!(u128::kind(), kind(Some(0), None));
    }

    #[test]
    fn integers_are_decoded_up_to_the_limits_of_json() {
        assert_eq!(ask(&json!({"answer": 255.0})), Ok(255_u8));
        assert_eq!(
            ask::<u8>(&json!({"answer": 256})).unwrap_err(),
            "`answer` must be between 0 and 255, got 256"
        );
        assert_eq!(
            ask::<u64>(&json!({"answer": -1})).unwrap_err(),
            "`answer` must be at least 0, got -1"
        );
        assert_eq!(ask(&json!({"answer": -SAFE_INTEGER})), Ok(-SAFE_INTEGER));
        assert!(ask::<u64>(&json!({"answer": u64::MAX})).is_err());
    }

    #[test]
    fn a_number_beyond_f32_stops_at_its_end() {
        assert_eq!(ask(&json!({"answer": 1e300})), Ok(f32::MAX));
    }

    #[test]
    fn content_that_was_never_judged_is_refused_in_words() {
        let content: Content = [("answer", json!("x"))].into_iter().collect();
        let errors = u8::from_content(&content).unwrap_err();
        assert_eq!(errors[0].to_string(), "`answer` must be a whole number");
        let errors = bool::from_content(&Content::new()).unwrap_err();
        assert_eq!(errors[0].to_string(), "`answer` is required");
    }
}
