//! Properties of forms and answers: what fits a form is decoded, whatever was
//! sent, and a form means the same after a trip through JSON.

use mcp_tasks::Elicit;
use mcp_tasks::elicit::FromSchema;
use mcp_tasks::protocol::{Choice, Field, FieldKind, Form, StringFormat};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;

use serde_json::{Value, json};

use super::schemas::Settings;
use super::{Everything, Region, Window};

/// Values near what forms ask for, and some that are far from it.
fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-10_i64..300).prop_map(Value::from),
        (-10_i64..300).prop_map(|n| json!(f64::from(i32::try_from(n).unwrap()))),
        any::<f64>().prop_map(Value::from),
        ".{0,5}".prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    prop_oneof![
        4 => scalar.clone(),
        1 => vec(word().prop_map(Value::from), 0..3).prop_map(Value::from),
        1 => vec(scalar, 0..3).prop_map(Value::from),
    ]
}

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "eu_west",
        "us_east",
        "apac",
        "tonight",
        "any",
        "a@b.co",
        "https://example.org",
        "2024-02-29",
        "2024-02-29T10:00:00Z",
    ])
}

/// Answers to `form` with some of its fields, and fields that it lacks.
fn answer(form: &Form) -> impl Strategy<Value = Value> + use<> {
    let names: Vec<String> = form.fields().map(|(name, _)| name.to_owned()).collect();
    let name = prop_oneof![
        9 => prop::sample::select(names),
        1 => "[a-z]{1,3}",
    ];
    btree_map(name, value(), 0..20).prop_map(|fields| json!(fields))
}

/// Answers that have a fair chance of fitting [`Everything`].
fn likely() -> impl Strategy<Value = Value> {
    (
        answer(&Everything::form()),
        of(Just("text")),
        -10_i64..1000,
        any::<bool>(),
    )
        .prop_map(|(mut answer, text, whole, only)| {
            if only {
                answer = json!({});
            }
            answer["text"] = json!(text);
            answer["whole"] = json!(whole);
            answer
        })
}

/// Whatever fits the form can be decoded; decoding never fails a person who
/// was told that the answer is fine.
fn fits_and_decodes<T: Elicit>(answer: &Value) {
    if let Ok(content) = T::form().judge(Some(answer)) {
        assert!(T::from_content(&content).is_ok(), "{answer}");
        let again = serde_json::to_value(&content).unwrap();
        assert_eq!(T::form().judge(Some(&again)).as_ref(), Ok(&content));
    }
}

/// Answers that have a fair chance of fitting [`Settings`].
fn settings() -> impl Strategy<Value = Value> {
    let some = answer(&FromSchema::<Settings>::form());
    some.prop_map(|some| {
        let mut answer = json!({
            "name": "ada", "shareOfTraffic": 25, "ratio": 1, "count": -1, "big": 7,
            "careful": true, "region": "us-east", "regions": ["eu-west"], "windows": [],
        });
        for (name, value) in some.as_object().into_iter().flatten().take(3) {
            answer[name] = value.clone();
        }
        answer
    })
}

fn single() -> impl Strategy<Value = Value> {
    value().prop_map(|value| json!({ "answer": value }))
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    prop_oneof![
        vec(".{1,4}".prop_map(Choice::new), 1..4),
        vec(
            (".{1,4}", ".{0,4}").prop_map(|(v, t)| Choice::titled(v, t)),
            1..4
        ),
    ]
}

fn kind() -> impl Strategy<Value = FieldKind> {
    let format = prop::sample::select(vec![
        StringFormat::Email,
        StringFormat::Uri,
        StringFormat::Date,
        StringFormat::DateTime,
    ]);
    // Eighths have few digits: reading many of them exactly is up to
    // serde_json's `float_roundtrip`.
    let number = || of(any::<i32>().prop_map(|n| f64::from(n) / 8.0));
    prop_oneof![
        (of(0_usize..9), of(0_usize..9), of(format), of(".{0,4}")).prop_map(
            |(min_len, max_len, format, default)| FieldKind::Text {
                min_len,
                max_len,
                format,
                default
            }
        ),
        (number(), number(), number()).prop_map(|(min, max, default)| FieldKind::Number {
            min,
            max,
            default
        }),
        (
            any::<Option<i64>>(),
            any::<Option<i64>>(),
            any::<Option<i64>>()
        )
            .prop_map(|(min, max, default)| FieldKind::Integer { min, max, default }),
        any::<Option<bool>>().prop_map(|default| FieldKind::Boolean { default }),
        (choices(), of(".{0,4}"))
            .prop_map(|(choices, default)| FieldKind::Select { choices, default }),
        (
            choices(),
            of(0_usize..9),
            of(0_usize..9),
            of(vec(".{0,4}", 0..3))
        )
            .prop_map(|(choices, min_items, max_items, default)| {
                FieldKind::MultiSelect {
                    choices,
                    min_items,
                    max_items,
                    default,
                }
            }),
    ]
}

fn form() -> impl Strategy<Value = Form> {
    let field = (of(".{0,4}"), of(".{0,4}"), kind()).prop_map(|(title, description, kind)| Field {
        title,
        description,
        kind,
    });
    vec((".{0,4}", field, any::<bool>()), 0..5).prop_map(|fields| {
        let add = |form: Form, (name, field, required)| {
            if required {
                Form::require(form, name, field)
            } else {
                Form::offer(form, name, field)
            }
        };
        fields.into_iter().fold(Form::new(), add)
    })
}

proptest! {
    #[test]
    fn what_fits_is_decoded(answer in likely()) {
        fits_and_decodes::<Everything>(&answer);
    }

    #[test]
    fn what_fits_a_schema_is_read(answer in settings()) {
        fits_and_decodes::<FromSchema<Settings>>(&answer);
    }

    #[test]
    fn what_fits_one_field_is_decoded(answer in single()) {
        fits_and_decodes::<String>(&answer);
        fits_and_decodes::<bool>(&answer);
        fits_and_decodes::<i8>(&answer);
        fits_and_decodes::<u16>(&answer);
        fits_and_decodes::<i64>(&answer);
        fits_and_decodes::<u64>(&answer);
        fits_and_decodes::<u128>(&answer);
        fits_and_decodes::<usize>(&answer);
        fits_and_decodes::<f32>(&answer);
        fits_and_decodes::<f64>(&answer);
        fits_and_decodes::<Region>(&answer);
        fits_and_decodes::<Vec<Window>>(&answer);
    }

    #[test]
    fn a_form_survives_json_byte_for_byte(form in form()) {
        let text = form.to_json_text();
        let read: Form = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &form);
        prop_assert_eq!(read.to_json_text(), text);
    }

    #[test]
    fn judging_never_panics(form in form(), answer in value()) {
        let content = form.fields().map(|(name, _)| (name.to_owned(), answer.clone()));
        let content: serde_json::Map<_, _> = content.collect();
        let _ = form.judge(Some(&Value::Object(content)));
        let _ = form.judge(Some(&answer));
    }
}
