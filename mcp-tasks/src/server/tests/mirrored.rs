//! Arguments that travel in headers too.

use axum::body::Body;
use http::{HeaderName, Request};
use serde_json::{Value, json};

use super::http::{post, send};
use super::{server, standalone};
use crate::server::TaskService;
use crate::{Error, mcp_task};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Zone"))]
    zone: String,
}

#[mcp_task(crate = crate)]
async fn send_to(
    #[schemars(extend("x-mcp-header" = "Region"))] region: String,
    #[schemars(extend("x-mcp-header" = "Count"))]
    #[arg(default = 1)]
    count: u32,
    #[schemars(extend("x-mcp-header" = "Urgent"))]
    #[arg(default = false)]
    urgent: bool,
    place: Option<Place>,
) -> String {
    let zone = place.map(|place| place.zone);
    format!("{region} {count} {urgent} {zone:?}")
}

fn service() -> TaskService {
    server().task(send_to).into_service().unwrap()
}

/// A call with these headers beside those that every call has.
fn call(arguments: &Value, headers: &[(&'static str, &str)]) -> Request<Body> {
    let params = json!({ "name": "send_to", "arguments": arguments });
    let mut request = post(&standalone(1, "tools/call", params));
    for (name, value) in headers {
        let name = HeaderName::from_static(name);
        request.headers_mut().append(name, value.parse().unwrap());
    }
    request
}

async fn accepted(arguments: Value, headers: &[(&'static str, &str)]) -> String {
    let (status, body) = send(&service(), call(&arguments, headers)).await;
    assert_eq!(status, 200, "{arguments} {headers:?}: {body}");
    let text = &body["result"]["content"][0]["text"];
    text.as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
}

async fn refused(arguments: Value, headers: &[(&'static str, &str)]) -> String {
    let (status, body) = send(&service(), call(&arguments, headers)).await;
    assert_eq!(status, 400, "{arguments} {headers:?}: {body}");
    assert_eq!(body["error"]["code"], -32020, "{body}");
    body["error"]["message"].as_str().unwrap().to_owned()
}

const REGION: (&str, &str) = ("mcp-param-region", "west");

#[tokio::test]
async fn a_header_that_says_the_same_is_accepted() {
    let west = json!({ "region": "west" });
    assert_eq!(accepted(west, &[REGION]).await, "west 1 false None");
    let umlaut = json!({ "region": "süd" });
    let wrapped = ("mcp-param-region", "=?base64?c8O8ZA==?=");
    assert_eq!(accepted(umlaut, &[wrapped]).await, "süd 1 false None");
    let all = json!({ "region": "west", "count": 42, "urgent": true, "place": { "zone": "b" } });
    for count in ["42", "42.0"] {
        let headers = [
            REGION,
            ("mcp-param-count", count),
            ("mcp-param-urgent", "true"),
            ("mcp-param-zone", "b"),
            ("mcp-param-unknown", "as it likes"),
        ];
        assert_eq!(
            accepted(all.clone(), &headers).await,
            "west 42 true Some(\"b\")"
        );
    }
}

#[tokio::test]
async fn a_header_that_says_something_else_is_refused() {
    let west = || json!({ "region": "west" });
    for header in ["east", "West", "", "=?base64?d2VzdA?=", "=?base64?w!!!==?="] {
        let words = refused(west(), &[("mcp-param-region", header)]).await;
        assert!(words.contains("Mcp-Param-Region"), "{words}");
    }
    let twice = refused(west(), &[REGION, REGION]).await;
    assert!(twice.contains("more than once"), "{twice}");
    for (name, argument, header) in [
        ("mcp-param-count", json!({ "count": 42 }), "43"),
        ("mcp-param-count", json!({ "count": 42 }), "forty-two"),
        ("mcp-param-urgent", json!({ "urgent": true }), "True"),
        ("mcp-param-zone", json!({ "place": { "zone": "b" } }), "a"),
    ] {
        let mut arguments = west();
        let more = argument.as_object().unwrap().clone();
        arguments.as_object_mut().unwrap().extend(more);
        refused(arguments, &[REGION, (name, header)]).await;
    }
}

#[tokio::test]
async fn a_header_is_there_if_and_only_if_the_argument_is() {
    let words = refused(json!({ "region": "west" }), &[]).await;
    assert!(words.contains("`Mcp-Param-Region` is missing"), "{words}");
    let urgent = ("mcp-param-urgent", "false");
    let words = refused(json!({ "region": "west" }), &[REGION, urgent]).await;
    assert!(words.contains("`urgent` is not"), "{words}");
    // What is wrong with the arguments themselves is told as ever.
    let (_, body) = send(&service(), call(&json!({}), &[])).await;
    assert_eq!(body["error"]["code"], -32602, "{body}");
}

#[tokio::test]
async fn other_tools_and_methods_are_not_concerned() {
    let params = json!({ "name": "greet", "arguments": { "region": "west" } });
    let (status, body) = send(&service(), post(&standalone(1, "tools/call", params))).await;
    assert_eq!(status, 200, "{body}");
    let (status, body) = send(&service(), post(&standalone(1, "tools/list", json!({})))).await;
    assert_eq!(status, 200, "{body}");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Elsewhere {
    #[schemars(extend("x-mcp-header" = "Zone"))]
    #[expect(dead_code, reason = "only its schema counts")]
    zone: String,
}

#[mcp_task(crate = crate)]
async fn number(#[schemars(extend("x-mcp-header" = "Share"))] share: f64) -> String {
    share.to_string()
}

#[mcp_task(crate = crate)]
async fn optional(#[schemars(extend("x-mcp-header" = "Name"))] name: Option<String>) -> String {
    name.unwrap_or_default()
}

#[mcp_task(crate = crate)]
async fn no_name(#[schemars(extend("x-mcp-header" = "a b"))] name: String) -> String {
    name
}

#[mcp_task(crate = crate)]
async fn twice(
    #[schemars(extend("x-mcp-header" = "Name"))] first: String,
    #[schemars(extend("x-mcp-header" = "name"))] second: String,
) -> String {
    first + &second
}

#[mcp_task(crate = crate)]
async fn elsewhere(place: Elsewhere) -> &'static str {
    let _ = place;
    ""
}

#[test]
fn an_annotation_that_clients_would_not_accept_is_an_error() {
    fn words(built: Result<TaskService, Error>) -> String {
        built.err().expect("clients refuse it").to_string()
    }
    for (built, said) in [
        (server().task(number).into_service(), "\"number\""),
        (server().task(optional).into_service(), "default"),
        (server().task(no_name).into_service(), "`a b`"),
        (server().task(twice).into_service(), "twice"),
        (server().task(elsewhere).into_service(), "inline"),
    ] {
        let words = words(built);
        assert!(words.contains(said), "{words}");
        assert!(words.contains("x-mcp-header"), "{words}");
    }
}
