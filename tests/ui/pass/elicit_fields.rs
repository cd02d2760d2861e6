//! Every kind of field and key.

#![deny(warnings)]

use mcp_tasks::Elicit;

#[derive(Elicit)]
pub struct Survey {
    /// Which colours?
    #[elicit(min_items = 1, max_items = 2, default = [Red])]
    pub colours: Vec<Colour>,
    #[elicit(default = Colour::Blue)]
    pub best: Option<Colour>,
    #[elicit(min_len = 1, max_len = 80, title = "Why?", description = "In one line")]
    pub reason: String,
    #[elicit(format = "email", rename = "e-mail")]
    pub address: Option<String>,
    #[elicit(min = -1, max = 1.5, default = 0)]
    pub mood: f64,
    #[elicit(min = 1, default = 7)]
    pub count: i128,
    #[elicit(not_secret)]
    pub token: u16,
    pub reset_password: bool,
}

#[derive(Elicit)]
pub enum Colour {
    Red,
    /// The sky's
    Blue,
    #[elicit(title = "Grass", rename = "gruen")]
    Green,
}

/// With serde beside it.
#[derive(Elicit, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shared {
    pub first_word: String,
    #[serde(rename = "Kind", alias = "kind", skip_serializing_if = "Option::is_none")]
    pub r#type: Option<Speed>,
    #[serde(default)]
    #[elicit(default = 3)]
    pub count: u8,
}

#[derive(Elicit, serde::Serialize, serde::Deserialize)]
#[elicit(rename_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Speed {
    VerySlow,
    #[serde(rename = "quick")]
    Fast,
}

#[test]
fn names_are_those_of_serde() {
    let form = <Shared as Elicit>::form();
    let names: Vec<_> = form.fields().map(|(name, _)| name).collect();
    assert_eq!(names, ["firstWord", "Kind", "count"]);
}

#[test]
fn every_field_is_in_the_form() {
    let form = <Survey as Elicit>::form();
    assert_eq!(form.fields().len(), 8);
}
