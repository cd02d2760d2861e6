//! `#[derive(Elicit)]` as its users see it: which form a type asks with, and
//! which answers become which values.

mod asking;
mod properties;
mod schemas;
mod serde_names;

use mcp_tasks::Elicit;
use mcp_tasks::protocol::Content;
use serde_json::{Value, json};

#[derive(Elicit, Debug, PartialEq)]
struct Approval {
    /// Ship this plan?
    approve: bool,
    /// Share of traffic
    /// in the first hour
    ///
    /// The rest follows a day later.
    #[elicit(min = 1, max = 100, default = 10, title = "Percent")]
    percent: u8,
    window: Window,
    #[elicit(format = "email", rename = "notify-address")]
    notify: Option<String>,
}

#[derive(Elicit, Debug, PartialEq)]
enum Window {
    /// Tonight, 22:00 to 24:00.
    Tonight,
    NextMonday,
    #[elicit(title = "Whenever", rename = "any")]
    Anytime,
}

#[derive(Elicit, Debug, PartialEq, Clone, Copy)]
enum Region {
    EuWest,
    UsEast,
    Apac,
}

#[derive(Elicit, Debug, PartialEq)]
struct Everything {
    text: String,
    #[elicit(min_len = 2, max_len = 4, default = "äöü")]
    short: String,
    #[elicit(format = "uri")]
    link: Option<String>,
    #[elicit(format = "date")]
    day: Option<String>,
    #[elicit(format = "date-time")]
    moment: Option<String>,
    #[elicit(min = -0.5, max = 2, default = 1)]
    ratio: f64,
    #[elicit(default = 0.1)]
    small: f32,
    #[elicit(min = -5)]
    whole: i64,
    natural: Option<u64>,
    #[elicit(default = true)]
    flag: bool,
    #[elicit(default = UsEast)]
    region: Region,
    #[elicit(min_items = 1, max_items = 2, default = [EuWest, Region::Apac])]
    regions: Vec<Region>,
    windows: Option<Vec<Window>>,
    #[elicit(default = STANDARD)]
    standard: Region,
    #[elicit(default = 3)]
    retries: Option<u32>,
    r#type: Option<bool>,
}

const STANDARD: Region = Region::Apac;

#[derive(Elicit, Debug, PartialEq)]
struct Nothing {}

#[derive(Elicit, Debug, PartialEq)]
struct Unit;

/// Names that generated code could trip over.
#[derive(Elicit)]
struct Awkward {
    #[elicit(default = default_content())]
    content: String,
    errors: String,
    form: Option<String>,
    #[elicit(not_secret)]
    token: String,
    reset_password: bool,
}

macro_rules! documented {
    ($name:ident: $doc:expr) => {
        #[derive(Elicit)]
        struct $name {
            #[doc = $doc]
            #[expect(dead_code, reason = "only its form is looked at")]
            word: String,
        }
    };
}

documented!(Documented: "Words from a macro");

fn default_content() -> &'static str {
    "from a function"
}

fn decode<T: Elicit>(answer: &Value) -> Result<T, Vec<String>> {
    let said = |errors: Vec<mcp_tasks::protocol::FieldError>| {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let content = T::form().judge(Some(answer)).map_err(said)?;
    T::from_content(&content).map_err(said)
}

#[test]
fn a_form_keeps_the_authors_order_titles_and_defaults() {
    assert_eq!(
        Approval::form().to_json_text(),
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""approve":{"type":"boolean","description":"Ship this plan?"},"#,
            r#""percent":{"type":"integer","title":"Percent","#,
            r#""description":"Share of traffic in the first hour\n\nThe rest follows a day later.","#,
            r#""minimum":1,"maximum":100,"default":10},"#,
            r#""window":{"type":"string","oneOf":["#,
            r#"{"const":"tonight","title":"Tonight, 22:00 to 24:00"},"#,
            r#"{"const":"next_monday","title":"Next monday"},"#,
            r#"{"const":"any","title":"Whenever"}]},"#,
            r#""notify-address":{"type":"string","format":"email"}},"#,
            r#""required":["approve","window"]}"#,
        )
    );
}

#[test]
fn every_kind_of_field_can_be_derived() {
    let (form, expected) = (
        Everything::form().to_json_text(),
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""text":{"type":"string"},"#,
            r#""short":{"type":"string","minLength":2,"maxLength":4,"default":"äöü"},"#,
            r#""link":{"type":"string","format":"uri"},"#,
            r#""day":{"type":"string","format":"date"},"#,
            r#""moment":{"type":"string","format":"date-time"},"#,
            r#""ratio":{"type":"number","minimum":-0.5,"maximum":2,"default":1},"#,
            r#""small":{"type":"number","default":0.1},"#,
            r#""whole":{"type":"integer","minimum":-5},"#,
            r#""natural":{"type":"integer","minimum":0},"#,
            r#""flag":{"type":"boolean","default":true},"#,
            r#""region":{"type":"string","enum":["eu_west","us_east","apac"],"default":"us_east"},"#,
            r#""regions":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["eu_west","us_east","apac"]},"default":["eu_west","apac"]},"#,
            r#""windows":{"type":"array","items":{"anyOf":[{"const":"tonight","title":"Tonight, 22:00 to 24:00"},{"const":"next_monday","title":"Next monday"},{"const":"any","title":"Whenever"}]}},"#,
            r#""standard":{"type":"string","enum":["eu_west","us_east","apac"],"default":"apac"},"#,
            r#""retries":{"type":"integer","minimum":0,"maximum":4294967295,"default":3},"#,
            r#""type":{"type":"boolean"}},"#,
            r#""required":["text","whole"]}"#,
        ),
    );
    assert_eq!(form, expected);
}

#[test]
fn an_answer_becomes_the_value() {
    let answer = json!({
        "notify-address": "ana@example.org",
        "window": "any",
        "percent": 25.0,
        "approve": true,
        "unknown": [],
    });
    assert_eq!(
        decode(&answer),
        Ok(Approval {
            approve: true,
            percent: 25,
            window: Window::Anytime,
            notify: Some("ana@example.org".to_owned()),
        })
    );
}

#[test]
fn what_was_left_empty_has_its_default() {
    let everything: Everything = decode(&json!({"text": "", "whole": -5, "flag": null})).unwrap();
    assert_eq!(
        everything,
        Everything {
            text: String::new(),
            short: "äöü".to_owned(),
            link: None,
            day: None,
            moment: None,
            ratio: 1.0,
            small: 0.1,
            whole: -5,
            natural: None,
            flag: true,
            region: Region::UsEast,
            regions: vec![Region::EuWest, Region::Apac],
            windows: None,
            standard: Region::Apac,
            retries: Some(3),
            r#type: None,
        }
    );
}

#[test]
fn every_mistake_in_an_answer_is_named() {
    let answer = json!({"percent": 0, "window": "yesterday", "notify-address": "nobody"});
    assert_eq!(
        decode::<Approval>(&answer).unwrap_err(),
        [
            "`approve` is required",
            "`percent` must be between 1 and 100, got 0",
            "`window` must be one of `tonight`, `next_monday`, `any`, got `yesterday`",
            "`notify-address` must be a mail address such as `ana@example.org`",
        ]
    );
}

#[test]
fn content_that_was_never_judged_is_refused_field_by_field() {
    let content: Content = [("approve", json!("yes")), ("window", json!(3))]
        .into_iter()
        .collect();
    let errors = Approval::from_content(&content).unwrap_err();
    let said: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "`approve` must be true or false",
            "`window` must be one of `tonight`, `next_monday`, `any`",
        ]
    );
}

#[test]
fn an_enum_and_a_list_of_it_can_be_asked_for_by_themselves() {
    assert_eq!(
        Region::form().to_json_text(),
        r#"{"type":"object","properties":{"answer":{"type":"string","enum":["eu_west","us_east","apac"]}},"required":["answer"]}"#
    );
    assert_eq!(decode(&json!({"answer": "apac"})), Ok(Region::Apac));
    assert_eq!(
        decode(&json!({"answer": ["apac", "eu_west"]})),
        Ok(vec![Region::Apac, Region::EuWest])
    );
}

#[test]
fn a_struct_without_fields_is_a_bare_confirmation() {
    assert!(Nothing::form().is_empty() && Unit::form().is_empty());
    assert_eq!(decode(&json!({})), Ok(Nothing {}));
    assert_eq!(Unit::from_content(&Content::new()), Ok(Unit));
}

#[test]
fn doc_comments_may_come_from_macros() {
    let form = Documented::form();
    let description = form.field("word").unwrap().description.as_deref();
    assert_eq!(description, Some("Words from a macro"));
}

#[test]
fn field_names_do_not_meet_generated_names() {
    let answer = json!({"errors": "e", "token": "t", "reset_password": true});
    let awkward: Awkward = decode(&answer).unwrap();
    assert_eq!(awkward.content, "from a function");
    assert_eq!(
        (awkward.errors.as_str(), awkward.token.as_str()),
        ("e", "t")
    );
    assert!(awkward.form.is_none() && awkward.reset_password);
}
