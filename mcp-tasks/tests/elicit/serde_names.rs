//! Types that serde reads as well: the form asks under the names that serde
//! was told.

use mcp_tasks::Elicit;
use mcp_tasks::protocol::FieldKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Whatever serde writes of a value fits the form, and both read the same.
#[track_caller]
fn round_trip<T: Elicit + Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let written = serde_json::to_value(value).unwrap();
    let form = T::form();
    let content = form.judge(Some(&written));
    let content = content.unwrap_or_else(|errors| panic!("{written}: {errors:?}"));
    assert_eq!(&T::from_content(&content).unwrap(), value);
    let read: T = serde_json::from_value(json!(content)).unwrap();
    assert_eq!(&read, value);
    for (name, _) in form.fields() {
        assert!(written.get(name).is_some(), "{name} is not in {written}");
    }
}

macro_rules! spelled {
    ($($module:ident $case:literal)*) => {$(
        mod $module {
            use super::*;

            #[derive(Elicit, Serialize, Deserialize, Debug, PartialEq)]
            #[serde(rename_all = $case)]
            struct Form {
                plain: bool,
                two_words: u8,
                with_2_digits: u8,
                #[serde(rename = "Its own")]
                other: u8,
                choice: Choice,
                choices: Vec<Choice>,
            }

            #[derive(Elicit, Serialize, Deserialize, Debug, PartialEq, Clone, Copy)]
            #[serde(rename_all = $case)]
            enum Choice {
                Plain,
                TwoWords,
                HTTPServer,
                #[serde(rename = "its own")]
                Other,
            }

            #[test]
            fn names_are_those_of_serde() {
                use Choice::{HTTPServer, Other, Plain, TwoWords};
                for choice in [Plain, TwoWords, HTTPServer, Other] {
                    round_trip(&Form {
                        plain: true,
                        two_words: 2,
                        with_2_digits: 3,
                        other: 4,
                        choice,
                        choices: vec![Plain, TwoWords, HTTPServer, Other],
                    });
                }
            }

            /// The same words in `elicit`'s own attribute mean the same.
            #[derive(Elicit)]
            #[elicit(rename_all = $case)]
            #[expect(dead_code, reason = "only its form matters")]
            struct Own {
                two_words: bool,
            }

            #[test]
            fn elicit_spells_as_serde_does() {
                let ours = Own::form();
                let serdes = Form::form();
                let (name, _) = ours.fields().next().unwrap();
                assert!(serdes.field(name).is_some(), "{name}");
            }
        }
    )*};
}

spelled! {
    lower "lowercase"
    upper "UPPERCASE"
    pascal "PascalCase"
    camel "camelCase"
    snake "snake_case"
    screaming_snake "SCREAMING_SNAKE_CASE"
    kebab "kebab-case"
    screaming_kebab "SCREAMING-KEBAB-CASE"
}

/// What serde is told of writing, and other names by which it reads, are
/// nothing to a form.
#[derive(Elicit, Serialize, Deserialize, Debug, PartialEq)]
#[serde(rename_all(serialize = "UPPERCASE", deserialize = "camelCase"))]
struct Lopsided {
    #[serde(alias = "first", skip_serializing_if = "Option::is_none")]
    first_name: Option<String>,
    #[serde(rename(deserialize = "Family"))]
    last_name: String,
    #[serde(rename(serialize = "Third"))]
    third_name: String,
    #[serde(default)]
    #[elicit(default = 7)]
    with_default: u8,
    #[serde(rename = "serde")]
    #[elicit(rename = "elicit")]
    both: bool,
}

#[test]
fn what_serde_reads_decides_and_elicit_overrules_it() {
    let form = Lopsided::form();
    let names: Vec<_> = form.fields().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["firstName", "Family", "thirdName", "withDefault", "elicit"]
    );
}

#[derive(Elicit)]
#[elicit(rename_all = "kebab-case")]
enum Region {
    EuWest,
    #[elicit(rename = "usa")]
    UsEast,
}

#[test]
fn elicit_has_the_attributes_by_itself() {
    let FieldKind::Select { choices, .. } = Region::form().field("answer").unwrap().kind.clone()
    else {
        panic!("an enum is a choice");
    };
    let values: Vec<Value> = choices.into_iter().map(|c| c.value.into()).collect();
    assert_eq!(json!(values), json!(["eu-west", "usa"]));
}
