//! What a function takes, returns and says of itself, in both eras: listings
//! and older sessions go through rmcp's types, and must lose nothing there.

use serde_json::{Value, json};

use super::stdio::Client;
use super::{initialize, server, standalone};
use crate::{Audience, Caller, ClientInfo, ContentBlock, Json, Meta, ToolResult, mcp_task};

// An older session knows objects only.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Looked {
    depth: u8,
}

#[mcp_task(
    crate = crate,
    title = "Look",
    annotations(read_only, open_world = false),
    icons = ["https://example.com/a.png"],
    meta = { "example.com/tier": 1 },
)]
async fn look(
    #[arg(min = 1, max = 9, default = 3)] depth: u8,
    #[arg(pattern = "^[a-z]+$")] name: String,
) -> (Vec<ContentBlock>, Json<Looked>) {
    let link = ContentBlock::link("file:///a", name)
        .size(3)
        .audience([Audience::User]);
    (
        vec![link, ContentBlock::audio("x", "audio/wav")],
        Json(Looked { depth }),
    )
}

#[mcp_task(crate = crate)]
async fn who(caller: Caller, client: ClientInfo, meta: Meta) -> ToolResult {
    let trace = meta.get("example/trace").and_then(Value::as_str);
    let mut result = ToolResult::text(format!(
        "{caller}, {:?} {:?}, {trace:?}",
        client.name(),
        client.version()
    ));
    result.meta.insert("example/cost".to_owned(), json!(3));
    result
}

fn client() -> Client {
    Client::of(server().task(look).task(who))
}

async fn session() -> Client {
    let mut client = client();
    client.ask(&initialize(1)).await;
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    client.send(&initialized).await;
    client
}

fn in_session(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn check_listing(reply: &Value) {
    let tool = &reply["result"]["tools"][0];
    assert_eq!(tool["name"], "look", "{reply}");
    assert_eq!(tool["title"], "Look");
    assert_eq!(
        tool["annotations"],
        json!({ "readOnlyHint": true, "openWorldHint": false })
    );
    assert_eq!(
        tool["icons"],
        json!([{ "src": "https://example.com/a.png" }])
    );
    assert_eq!(tool["_meta"], json!({ "example.com/tier": 1 }));
    let depth = &tool["inputSchema"]["properties"]["depth"];
    assert_eq!(depth["minimum"], 1);
    assert_eq!(depth["maximum"], 9);
    assert_eq!(depth["default"], 3);
    assert_eq!(
        tool["inputSchema"]["properties"]["name"]["pattern"],
        "^[a-z]+$"
    );
    assert_eq!(tool["outputSchema"]["required"], json!(["depth"]));
}

fn check_look(reply: &Value) {
    let result = &reply["result"];
    assert_eq!(
        result["content"],
        json!([
            {
                "type": "resource_link", "uri": "file:///a", "name": "abc", "size": 3,
                "annotations": { "audience": ["user"] },
            },
            { "type": "audio", "data": "eA==", "mimeType": "audio/wav" },
        ]),
        "{reply}"
    );
    assert_eq!(result["structuredContent"], json!({ "depth": 3 }));
}

fn check_limit(reply: &Value) {
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    assert_eq!(
        reply["error"]["message"],
        "tool `look`: wrong argument: `depth` must be at least 1, and is 0"
    );
    assert_eq!(reply["error"]["data"]["errors"][0]["argument"], "depth");
}

#[tokio::test]
async fn both_eras_list_all_that_was_said_of_a_tool() {
    let list = standalone(1, "tools/list", json!({}));
    check_listing(&client().ask(&list).await);
    let list = in_session(2, "tools/list", &json!({}));
    check_listing(&session().await.ask(&list).await);
}

#[tokio::test]
async fn both_eras_get_all_of_a_result_and_all_of_a_refusal() {
    let fits = json!({ "name": "look", "arguments": { "name": "abc" } });
    let misfits = json!({ "name": "look", "arguments": { "name": "abc", "depth": 0 } });
    let mut client = client();
    check_look(&client.ask(&standalone(1, "tools/call", fits.clone())).await);
    check_limit(
        &client
            .ask(&standalone(2, "tools/call", misfits.clone()))
            .await,
    );
    let mut session = session().await;
    check_look(&session.ask(&in_session(2, "tools/call", &fits)).await);
    check_limit(&session.ask(&in_session(3, "tools/call", &misfits)).await);
}

#[tokio::test]
async fn both_eras_say_who_calls_and_with_what() {
    let mut params = json!({ "name": "who", "arguments": {} });
    let mut request = standalone(1, "tools/call", params.clone());
    request["params"]["_meta"]["example/trace"] = "00-17".into();
    let standalone = client().ask(&request).await;
    params["_meta"] = json!({ "example/trace": "00-17" });
    let session = session()
        .await
        .ask(&in_session(2, "tools/call", &params))
        .await;
    for reply in [standalone, session] {
        assert_eq!(
            reply["result"]["content"][0]["text"],
            r#"anonymous, Some("test") Some("0"), Some("00-17")"#,
            "{reply}"
        );
        assert_eq!(reply["result"]["_meta"]["example/cost"], 3);
    }
}
