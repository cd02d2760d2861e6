//! Arguments: what the schema shows, and what is enforced of it.

use std::collections::HashMap;

use mcp_tasks::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::Client;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Environment {
    Staging,
    Production,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "shown by `Debug`")]
struct Window {
    #[schemars(range(min = 0, max = 23))]
    hour: u8,
    label: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "shown by `Debug`")]
struct Paging {
    #[serde(default)]
    #[schemars(range(max = 50))]
    limit: u32,
}

/// Everything that has a limit.
#[mcp_task]
#[allow(clippy::too_many_arguments)]
async fn limited(
    /// Share of traffic
    #[arg(min = 1, max = 100)]
    percent: u8,
    #[arg(min = -1.5)] offset: f64,
    #[arg(min_len = 2, max_len = 5, pattern = "^[a-zß]+$")] name: String,
    #[arg(max_items = 2)] tags: Option<Vec<String>>,
    #[arg(max = 9)]
    #[serde(rename = "retryCount")]
    retries: Option<u32>,
    window: Option<Window>,
    windows: HashMap<String, Window>,
    #[serde(flatten)] paging: Paging,
) -> String {
    format!("{percent} {offset} {name} {tags:?} {retries:?} {window:?} {windows:?} {paging:?}")
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Nothing;

const LARGE: u64 = 1 << 20;

fn somewhere() -> String {
    "here".to_owned()
}

/// Everything that has a default.
#[mcp_task]
async fn defaulted(
    #[arg(default = 10, max = 20)] percent: u8,
    #[arg(default = "main")] branch: String,
    #[arg(default = Staging)] env: Environment,
    #[arg(default = ["a", "b"])] tags: Vec<String>,
    #[arg(default = 3)] retries: Option<u8>,
    #[arg(default = 1 + LARGE)] bytes: u64,
    #[arg(default = somewhere())] place: String,
    #[arg(default)] dry_run: bool,
    #[arg(default = Nothing)] nothing: Nothing,
    #[serde(default, rename = "forceIt")] force: bool,
) -> String {
    format!(
        "{percent} {branch} {env:?} {tags:?} {retries:?} {bytes} {place} {dry_run} {force} {nothing:?}"
    )
}

fn client() -> Client {
    Client::new(|server| server.task(limited).task(defaulted))
}

fn fits() -> Value {
    json!({
        "percent": 100, "offset": -1.5, "name": "maß", "tags": ["a", "b"], "retryCount": 9,
        "window": { "hour": 23, "label": null }, "windows": { "night": { "hour": 0 } }, "limit": 50,
    })
}

fn with(member: &str, value: Value) -> Value {
    let mut arguments = fits();
    arguments[member] = value;
    arguments
}

#[tokio::test]
async fn the_schema_shows_the_limits() {
    let schema = &client().listing("limited")["inputSchema"];
    let property = |name: &str| &schema["properties"][name];
    let percent = property("percent");
    assert_eq!(percent["minimum"], 1);
    assert_eq!(percent["maximum"], 100);
    assert_eq!(percent["description"], "Share of traffic");
    assert_eq!(property("offset")["minimum"], -1.5);
    let name = property("name");
    assert_eq!(name["minLength"], 2);
    assert_eq!(name["maxLength"], 5);
    assert_eq!(name["pattern"], "^[a-zß]+$");
    assert_eq!(property("tags")["maxItems"], 2);
    assert_eq!(property("retryCount")["maximum"], 9);
    assert_eq!(property("limit")["maximum"], 50);
    let mut required: Vec<&str> = schema["required"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    required.sort_unstable();
    assert_eq!(required, ["name", "offset", "percent", "windows"]);
}

#[tokio::test]
async fn what_fits_the_limits_runs() {
    let client = client();
    let text = client.text("limited", fits()).await;
    assert!(text.starts_with("100 -1.5 maß"), "{text}");
    // What is optional may be left out, or be null.
    let least = json!({
        "percent": 1, "offset": 0, "name": "ab", "retryCount": null, "windows": {},
    });
    client.text("limited", least).await;
}

#[tokio::test]
async fn what_does_not_fit_is_refused_by_argument_path_and_rule_before_a_task_exists() {
    let client = client();
    for (member, value, words) in [
        (
            "percent",
            json!(0),
            "`percent` must be at least 1, and is 0",
        ),
        (
            "percent",
            json!(101),
            "`percent` must be at most 100, and is 101",
        ),
        (
            "offset",
            json!(-1.6),
            "`offset` must be at least -1.5, and is -1.6",
        ),
        (
            "name",
            json!("a"),
            "`name` must have at least 2 characters, and has 1",
        ),
        (
            "name",
            json!("abcdef"),
            "`name` must have at most 5 characters, and has 6",
        ),
        (
            "name",
            json!("Abc"),
            "`name` must match the pattern `^[a-zß]+$`",
        ),
        (
            "tags",
            json!(["a", "b", "c"]),
            "`tags` must have at most 2 items, and has 3",
        ),
        (
            "retryCount",
            json!(10),
            "`retryCount` must be at most 9, and is 10",
        ),
        (
            "window",
            json!({ "hour": 24 }),
            "`window.hour` must be at most 23, and is 24",
        ),
        (
            "windows",
            json!({ "night": { "hour": 99 } }),
            "`windows.night.hour` must be at most 23, and is 99",
        ),
        ("limit", json!(51), "`limit` must be at most 50, and is 51"),
    ] {
        let error = client.refused("limited", with(member, value)).await;
        assert_eq!(error["code"], -32602, "{error}");
        assert_eq!(
            error["message"],
            format!("tool `limited`: wrong argument: {words}")
        );
    }
}

#[tokio::test]
async fn all_that_is_wrong_is_said_at_once_and_for_programs_too() {
    let mut arguments = with("percent", json!(0));
    arguments["window"] = json!({ "hour": 24 });
    let error = client().refused("limited", arguments).await;
    let message = error["message"].as_str().expect("words");
    assert!(message.contains("wrong arguments: "), "{message}");
    assert!(message.contains("`percent` must"), "{message}");
    assert!(message.contains("; `window.hour` must"), "{message}");
    assert_eq!(
        error["data"]["errors"][0],
        json!({ "argument": "percent", "rule": "must be at least 1, and is 0" })
    );
}

#[tokio::test]
async fn a_type_that_does_not_fit_is_named_with_its_path() {
    let error = client()
        .refused("limited", with("window", json!({ "hour": "noon" })))
        .await;
    assert_eq!(error["code"], -32602);
    let message = error["message"].as_str().expect("words");
    assert!(
        message.starts_with("tool `limited`: wrong argument `window.hour`: "),
        "{message}"
    );
}

#[tokio::test]
async fn what_is_left_out_is_the_default() {
    let client = client();
    assert_eq!(
        client.text("defaulted", json!({})).await,
        r#"10 main Staging ["a", "b"] Some(3) 1048577 here false false Nothing"#
    );
    let given = json!({
        "percent": 1, "branch": "dev", "env": "production", "tags": [], "retries": null,
        "bytes": 0, "place": "", "dry_run": true, "forceIt": true,
    });
    assert_eq!(
        client.text("defaulted", given).await,
        "1 dev Production [] None 0  true true Nothing"
    );
}

#[tokio::test]
async fn the_schema_shows_the_defaults_and_requires_nothing_then() {
    let schema = &client().listing("defaulted")["inputSchema"];
    assert!(schema["required"].is_null(), "{schema}");
    let default = |name: &str| &schema["properties"][name]["default"];
    assert_eq!(default("percent"), 10);
    assert_eq!(default("branch"), "main");
    assert_eq!(default("env"), "staging");
    assert_eq!(default("tags"), &json!(["a", "b"]));
    assert_eq!(default("retries"), 3);
    assert_eq!(default("dry_run"), false);
    assert_eq!(default("forceIt"), false);
    assert_eq!(schema["properties"]["percent"]["maximum"], 20);
}
