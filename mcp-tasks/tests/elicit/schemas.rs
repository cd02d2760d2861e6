//! `FromSchema`: types that describe themselves by a JSON Schema.

use std::collections::{BTreeSet, HashMap};

use mcp_tasks::Elicit;
use mcp_tasks::elicit::{self, FromSchema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::decode;

#[derive(JsonSchema, Deserialize, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) struct Settings {
    /// What it is called
    #[schemars(length(min = 2, max = 10))]
    name: String,
    #[schemars(title = "Share")]
    share_of_traffic: u8,
    #[schemars(range(min = 0.5, max = 2))]
    ratio: f64,
    count: i32,
    big: u64,
    careful: bool,
    region: Region,
    /// When it suits
    window: Option<Window>,
    #[schemars(length(min = 1, max = 2))]
    regions: Vec<Region>,
    windows: BTreeSet<Window>,
    #[schemars(email)]
    address: Option<String>,
    #[schemars(url)]
    link: Option<String>,
    #[schemars(extend("format" = "date"))]
    day: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    moment: Option<String>,
    #[serde(default = "three")]
    #[schemars(extend("default" = 3))]
    retries: u32,
    #[schemars(extend("x-not-secret" = true))]
    token: Option<u16>,
    letter: Option<char>,
    r#type: Option<bool>,
}

fn three() -> u32 {
    3
}

#[derive(JsonSchema, Deserialize, Debug, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Region {
    EuWest,
    UsEast,
}

#[derive(JsonSchema, Deserialize, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Window {
    /// Tonight,
    /// 22:00 to 24:00.
    Tonight,
    NextMonday,
    #[schemars(title = "Whenever")]
    Anytime,
}

#[test]
fn a_schema_becomes_a_form_in_the_order_of_the_struct() {
    elicit::check::<FromSchema<Settings>>().unwrap();
    let windows = concat!(
        // schemars lists variants without words first.
        r#"[{"const":"NextMonday","title":"NextMonday"},"#,
        r#"{"const":"Tonight","title":"Tonight, 22:00 to 24:00"},{"const":"Anytime","title":"Whenever"}]"#
    );
    let expected = concat!(
        r#"{"type":"object","properties":{"#,
        r#""name":{"type":"string","description":"What it is called","minLength":2,"maxLength":10},"#,
        r#""shareOfTraffic":{"type":"integer","title":"Share","minimum":0,"maximum":255},"#,
        r#""ratio":{"type":"number","minimum":0.5,"maximum":2},"#,
        r#""count":{"type":"integer","minimum":-2147483648,"maximum":2147483647},"#,
        r#""big":{"type":"integer","minimum":0},"#,
        r#""careful":{"type":"boolean"},"#,
        r#""region":{"type":"string","enum":["eu-west","us-east"]},"#,
        r#""window":{"type":"string","description":"When it suits","oneOf":WINDOWS},"#,
        r#""regions":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["eu-west","us-east"]}},"#,
        r#""windows":{"type":"array","items":{"anyOf":WINDOWS}},"#,
        r#""address":{"type":"string","format":"email"},"#,
        r#""link":{"type":"string","format":"uri"},"#,
        r#""day":{"type":"string","format":"date"},"#,
        r#""moment":{"type":"string","format":"date-time"},"#,
        r#""retries":{"type":"integer","minimum":0,"maximum":4294967295,"default":3},"#,
        r#""token":{"type":"integer","minimum":0,"maximum":65535},"#,
        r#""letter":{"type":"string","minLength":1,"maxLength":1},"#,
        r#""type":{"type":"boolean"}},"#,
        r#""required":["name","shareOfTraffic","ratio","count","big","careful","region","regions","windows"]}"#,
    )
    .replace("WINDOWS", windows);
    let form = FromSchema::<Settings>::form();
    assert_eq!(form.to_json_text(), expected);
}

#[test]
fn an_answer_is_read_by_serde() {
    let answer = json!({
        "name": "ada", "shareOfTraffic": 25.0, "ratio": 1, "count": -1, "big": 7, "careful": true,
        "region": "us-east", "window": null, "regions": ["us-east", "eu-west"],
        "windows": ["NextMonday"], "letter": "ß", "unknown": 1,
    });
    let FromSchema(settings) = decode::<FromSchema<Settings>>(&answer).unwrap();
    assert_eq!(
        settings,
        Settings {
            name: "ada".to_owned(),
            share_of_traffic: 25,
            ratio: 1.0,
            count: -1,
            big: 7,
            careful: true,
            region: Region::UsEast,
            window: None,
            regions: vec![Region::UsEast, Region::EuWest],
            windows: BTreeSet::from([Window::NextMonday]),
            address: None,
            link: None,
            day: None,
            moment: None,
            retries: 3,
            token: None,
            letter: Some('ß'),
            r#type: None,
        }
    );
}

#[test]
fn an_answer_is_held_to_the_form_first() {
    let answer = json!({
        "name": "a", "shareOfTraffic": 256, "ratio": 1, "count": 2_147_483_648_i64, "big": -1,
        "careful": true, "region": "EuWest", "regions": [], "windows": [], "address": "nobody",
    });
    assert_eq!(
        decode::<FromSchema<Settings>>(&answer).unwrap_err(),
        [
            "`name` must have 2 to 10 characters, not 1",
            "`shareOfTraffic` must be between 0 and 255, got 256",
            "`count` must be between -2147483648 and 2147483647, got 2147483648",
            "`big` must be at least 0, got -1",
            "`region` must be one of `eu-west`, `us-east`, got `EuWest`",
            "`regions` must list 1 to 2 choices, not 0",
            "`address` must be a mail address such as `ana@example.org`",
        ]
    );
}

#[test]
fn what_is_no_struct_is_one_answer() {
    assert_eq!(
        FromSchema::<Region>::form().to_json_text(),
        r#"{"type":"object","properties":{"answer":{"type":"string","enum":["eu-west","us-east"]}},"required":["answer"]}"#
    );
    assert_eq!(
        decode(&json!({"answer": "us-east"})),
        Ok(FromSchema(Region::UsEast))
    );
    assert_eq!(decode(&json!({})), Ok(FromSchema(None::<bool>)));
}

#[derive(JsonSchema, Deserialize)]
struct Empty {}

#[test]
fn a_struct_without_fields_is_a_bare_confirmation() {
    elicit::check::<FromSchema<Empty>>().unwrap();
    assert!(FromSchema::<Empty>::form().is_empty());
    assert!(decode::<FromSchema<Empty>>(&json!({})).is_ok());
}

/// Everything that a form cannot have.
#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "never asked for")]
struct Deep {
    fine: bool,
    address: Address,
    tags: Vec<String>,
    shape: Shape,
    #[schemars(regex(pattern = "^a"))]
    code: String,
    #[schemars(extend("format" = "uuid"))]
    id: String,
    anything: serde_json::Value,
    labels: HashMap<String, String>,
    pair: (u8, u8),
    nothing: (),
    mixed: Mixed,
    #[schemars(extend("multipleOf" = 3))]
    third: u8,
    #[schemars(extend("default" = 500))]
    percent: u8,
    #[schemars(range(min = 9, max = 1))]
    crossed: u8,
    again: Option<Box<Deep>>,
    db_password: Option<String>,
    #[schemars(extend("writeOnly" = true))]
    hidden: String,
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "never asked for")]
struct Address {
    street: String,
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "never asked for")]
enum Shape {
    Circle { radius: f64 },
    Point,
}

#[derive(JsonSchema, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "never asked for")]
enum Mixed {
    Text(String),
    Number(u8),
}

#[test]
fn every_property_that_a_form_cannot_have_is_named_with_the_reason() {
    let error = elicit::check::<FromSchema<Deep>>().unwrap_err();
    let said: Vec<_> = error.faults().iter().map(ToString::to_string).collect();
    for (said, expected) in said.iter().zip([
        "`address` is a struct or a map, and a form is flat: put its fields",
        "`tags` is a list of something else than choices",
        "`shape` is an enum with data, or one of several types",
        "`code` has the rule `pattern`, which a form cannot express",
        "`id` has the format `uuid`: those of a form are",
        "`anything` takes any JSON value",
        "`labels` is a struct or a map",
        "`pair` is a list of something else",
        "`nothing` is always `null`",
        "`mixed` is an enum with data, or one of several types",
        "`third` has the rule `multipleOf`",
        "`percent` has a default that does not fit: it must be between 0 and 255, got 500",
        "`again` contains itself",
        "`db_password` looks like a secret",
        "`hidden` looks like a secret",
        "`crossed` has no answer that fits: at least 9 and at most 1 are asked for",
    ]) {
        assert!(said.starts_with(expected), "{said}\n{expected}");
    }
    assert_eq!(said.len(), 16, "{said:#?}");
    let words = error.to_string();
    assert!(words.contains("Deep>` cannot be asked for in a form: `address` is"));
    // What can be asked for is still there, and nothing panics.
    assert_eq!(FromSchema::<Deep>::form().fields().len(), 2);
}

#[test]
fn a_map_is_no_form() {
    let error = elicit::check::<FromSchema<HashMap<String, String>>>().unwrap_err();
    assert!(error.to_string().contains("fields of any name"), "{error}");
}

/// Reads more strictly than its schema says.
#[derive(JsonSchema, Deserialize, Debug)]
struct Strict {
    #[schemars(with = "String")]
    #[expect(dead_code, reason = "never read")]
    id: std::num::NonZeroU8,
}

#[test]
fn what_only_serde_refuses_is_named_by_its_field() {
    let errors = decode::<FromSchema<Strict>>(&json!({"id": "x"})).unwrap_err();
    assert!(errors[0].starts_with("`id` cannot be read: "), "{errors:?}");
}
