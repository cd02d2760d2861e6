//! What a function returns, and how it fails.

use std::error::Error;
use std::fmt;

use anyhow::Context as _;
use mcp_tasks::prelude::*;
use mcp_tasks::{Audience, ContentBlock, ProtocolError, ToolResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::client::Client;

#[derive(Serialize, JsonSchema)]
struct Deployed {
    version: u32,
}

#[mcp_task]
async fn blocks() -> Vec<ContentBlock> {
    vec![
        ContentBlock::text("see")
            .audience([Audience::User])
            .priority(0.5),
        ContentBlock::image([0, 255], "image/png"),
        ContentBlock::audio(b"hi", "audio/wav").meta("example/length", 2),
        ContentBlock::link("file:///a.csv", "a")
            .title("A")
            .description("the figures")
            .mime_type("text/csv")
            .size(17),
        ContentBlock::resource("note://1", "a note").mime_type("text/plain"),
        ContentBlock::binary_resource("blob://1", [0, 1, 2]),
    ]
}

#[mcp_task]
async fn one_block() -> Result<ContentBlock, ToolError> {
    Ok(ContentBlock::image("x", "image/png"))
}

#[mcp_task]
async fn two_blocks() -> [ContentBlock; 2] {
    ["a", "b"].map(ContentBlock::text)
}

#[mcp_task]
async fn both() -> Result<(String, Json<Deployed>), ToolError> {
    Ok(("version 3 is out".to_owned(), Json(Deployed { version: 3 })))
}

#[mcp_task]
async fn chart() -> (Vec<ContentBlock>, Json<Deployed>) {
    (
        vec![ContentBlock::image("x", "image/png")],
        Json(Deployed { version: 4 }),
    )
}

#[mcp_task]
async fn nothing() {}

#[mcp_task]
async fn nothing_or_error() -> Result<(), std::io::Error> {
    Ok(())
}

#[mcp_task]
async fn with_meta() -> ToolResult {
    let mut result = ToolResult::text("done");
    result.meta.insert("example/cost".to_owned(), json!(3));
    result
}

fn client() -> Client {
    Client::new(|server| {
        server
            .task(blocks)
            .task(one_block)
            .task(two_blocks)
            .task(both)
            .task(chart)
            .task(nothing)
            .task(nothing_or_error)
            .task(with_meta)
            .task(fails)
            .task(in_anyhow)
    })
}

#[tokio::test]
async fn content_blocks_of_every_kind_are_written_as_the_protocol_has_them() {
    let result = client().call("blocks", json!({})).await;
    assert_eq!(
        result["content"],
        json!([
            {
                "type": "text", "text": "see",
                "annotations": { "audience": ["user"], "priority": 0.5 },
            },
            { "type": "image", "data": "AP8=", "mimeType": "image/png" },
            {
                "type": "audio", "data": "aGk=", "mimeType": "audio/wav",
                "_meta": { "example/length": 2 },
            },
            {
                "type": "resource_link", "uri": "file:///a.csv", "name": "a", "title": "A",
                "description": "the figures", "mimeType": "text/csv", "size": 17,
            },
            {
                "type": "resource",
                "resource": { "uri": "note://1", "text": "a note", "mimeType": "text/plain" },
            },
            { "type": "resource", "resource": { "uri": "blob://1", "blob": "AAEC" } },
        ])
    );
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn one_block_or_an_array_will_do() {
    let client = client();
    let result = client.call("one_block", json!({})).await;
    assert_eq!(result["content"][0]["type"], "image");
    let result = client.call("two_blocks", json!({})).await;
    assert_eq!(result["content"][1]["text"], "b");
}

#[tokio::test]
async fn structured_content_may_have_words_or_pictures_of_its_own() {
    let client = client();
    let result = client.call("both", json!({})).await;
    assert_eq!(
        result["content"],
        json!([{ "type": "text", "text": "version 3 is out" }])
    );
    assert_eq!(result["structuredContent"], json!({ "version": 3 }));
    let schema = &client.listing("both")["outputSchema"];
    assert_eq!(schema["required"], json!(["version"]));
    let result = client.call("chart", json!({})).await;
    assert_eq!(result["content"][0]["type"], "image");
    assert_eq!(result["structuredContent"], json!({ "version": 4 }));
    assert_eq!(client.listing("chart")["outputSchema"]["type"], "object");
}

#[tokio::test]
async fn nothing_is_a_result_without_content() {
    let client = client();
    for tool in ["nothing", "nothing_or_error"] {
        let result = client.call(tool, json!({})).await;
        assert_eq!(result["content"], json!([]));
        assert_eq!(result["isError"], false);
        assert!(client.listing(tool)["outputSchema"].is_null());
    }
}

#[tokio::test]
async fn a_result_may_have_meta_beside_the_servers() {
    let client = client();
    let result = client.call("with_meta", json!({})).await;
    assert_eq!(result["_meta"]["example/cost"], 3);
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "test"
    );
    let id = client.start("with_meta", json!({})).await;
    let task = client.until(&id, "completed").await;
    assert_eq!(task["result"]["_meta"]["example/cost"], 3);
}

#[derive(Debug, thiserror::Error)]
#[error("rolling out {service}")]
struct RollOut {
    service: String,
    #[source]
    because: std::io::Error,
}

/// Repeats its source, as many errors do.
#[derive(Debug, thiserror::Error)]
#[error("outer: {0}")]
struct Repeating(#[from] std::num::ParseIntError);

/// Written by hand.
#[derive(Debug)]
struct ByHand(Box<dyn Error + Send + Sync>);

impl fmt::Display for ByHand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("by hand")
    }
}

impl Error for ByHand {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

fn refused() -> std::io::Error {
    std::io::Error::other("connection refused")
}

fn protocol() -> ProtocolError {
    ProtocolError::invalid_params("no such row")
}

/// Fails in the way that it is told to, each time by `?`.
#[mcp_task]
async fn fails(how: String) -> Result<String, ToolError> {
    match how.as_str() {
        "std" => Err(refused())?,
        "thiserror" => Err(RollOut {
            service: "billing".to_owned(),
            because: refused(),
        })?,
        "repeating" => Err(Repeating("x".parse::<u8>().unwrap_err()))?,
        "boxed" => Err(Box::<dyn Error + Send + Sync>::from(refused()))?,
        "text" => Err("not today")?,
        "anyhow" => Err::<(), _>(refused()).context("rolling out")?,
        "anyhow alone" => Err(anyhow::anyhow!(refused()))?,
        "step" => step(async { Err::<(), _>(refused()).context("rolling out") }).await?,
        "protocol" => Err(protocol())?,
        "protocol in anyhow" => Err(anyhow::Error::new(protocol()))?,
        "protocol in context" => Err::<(), _>(protocol()).context("a").context("b")?,
        "protocol by hand" => Err(ByHand(Box::new(protocol())))?,
        "ask" => drop(ask_user::<String>("?").await?),
        "ask in anyhow" => drop(
            ask_user::<String>("?")
                .key("other")
                .await
                .context("asking the owner")?,
        ),
        _ => Err(ToolError::protocol(protocol()))?,
    }
    Ok(String::new())
}

#[mcp_task]
async fn in_anyhow() -> anyhow::Result<String> {
    let answer: String = ask_user("?").await?;
    anyhow::ensure!(answer == "yes", "the answer was {answer}");
    Ok(answer)
}

async fn how(how: &str) -> Value {
    let params = json!({"name": "fails", "arguments": { "how": how }});
    let mut reply = client().send("tools/call", params, false).await;
    let result = reply["result"].take();
    if result.is_null() {
        reply["error"].take()
    } else {
        result
    }
}

#[tokio::test]
async fn errors_of_every_make_become_a_result_with_their_words_and_causes() {
    for (make, words) in [
        ("std", "connection refused"),
        ("thiserror", "rolling out billing: connection refused"),
        ("repeating", "outer: invalid digit found in string"),
        ("boxed", "connection refused"),
        ("text", "not today"),
        ("anyhow", "rolling out: connection refused"),
        ("anyhow alone", "connection refused"),
        ("step", "step `block`: rolling out: connection refused"),
    ] {
        let result = how(make).await;
        assert_eq!(result["isError"], true, "{make}: {result}");
        assert_eq!(result["content"][0]["text"], words, "{make}");
    }
}

#[tokio::test]
async fn a_function_may_be_written_with_anyhow_alone() {
    let client = client();
    let id = client.start("in_anyhow", json!({})).await;
    client.until(&id, "input_required").await;
    client.answer(&id, "answer", json!("no")).await;
    let task = client.until(&id, "completed").await;
    assert_eq!(task["result"]["isError"], true);
    assert_eq!(task["result"]["content"][0]["text"], "the answer was no");
}

#[tokio::test]
async fn a_protocol_error_keeps_its_meaning_anywhere_in_the_chain() {
    for make in [
        "protocol",
        "protocol in anyhow",
        "protocol in context",
        "protocol by hand",
        "as it is",
    ] {
        let error = how(make).await;
        assert_eq!(error["code"], -32602, "{make}: {error}");
        assert_eq!(error["message"], "no such row", "{make}");
    }
}

#[tokio::test]
async fn a_question_that_could_not_be_asked_keeps_its_meaning_and_one_that_was_declined_its_words()
{
    let client = client();
    for (how, key, words) in [
        ("ask", "string", "the question was declined"),
        (
            "ask in anyhow",
            "other",
            "asking the owner: the question was declined",
        ),
    ] {
        let id = client.start("fails", json!({ "how": how })).await;
        client.until(&id, "input_required").await;
        client
            .respond(&id, key, json!({ "action": "decline" }))
            .await;
        let task = client.until(&id, "completed").await;
        assert_eq!(task["result"]["isError"], true);
        assert_eq!(task["result"]["content"][0]["text"], words);
    }
    let mut mute = self::client();
    mute.meta = json!({ "io.modelcontextprotocol/clientCapabilities": {
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    } });
    for how in ["ask", "ask in anyhow"] {
        let id = mute.start("fails", json!({ "how": how })).await;
        let task = mute.until(&id, "failed").await;
        assert_eq!(task["error"]["code"], -32021, "{task}");
    }
}

#[cfg(feature = "server")]
mod rmcp_types {
    use mcp_tasks::rmcp::ErrorData;
    use mcp_tasks::rmcp::model::{
        CallToolResult, ContentBlock as TheirBlock, MetaObject, TextContent,
    };
    use serde_json::json;

    use super::*;

    fn block() -> TheirBlock {
        let mut meta = MetaObject::default();
        meta.0.insert("example/k".to_owned(), json!(1));
        TheirBlock::Text(TextContent::new("theirs").with_meta(meta))
    }

    #[mcp_task]
    async fn their_result(fail: bool) -> Result<CallToolResult, ErrorData> {
        if fail {
            return Err(ErrorData::resource_not_found(
                "gone",
                Some(json!({ "uri": "x" })),
            ));
        }
        Ok(CallToolResult::structured(json!({ "a": 1 })))
    }

    #[mcp_task]
    async fn their_blocks() -> Vec<TheirBlock> {
        vec![block(), TheirBlock::image("AP8=", "image/png")]
    }

    #[mcp_task]
    async fn their_error_in_a_chain() -> Result<String, ToolError> {
        Err::<(), _>(ErrorData::invalid_params("wrong", None)).context("asking elsewhere")?;
        Ok(String::new())
    }

    #[tokio::test]
    async fn what_an_rmcp_handler_returns_can_be_returned_as_it_is() {
        let client = Client::new(|server| {
            server
                .task(their_result)
                .task(their_blocks)
                .task(their_error_in_a_chain)
        });
        let result = client.call("their_result", json!({ "fail": false })).await;
        assert_eq!(result["structuredContent"], json!({ "a": 1 }));
        let error = client.refused("their_result", json!({ "fail": 1 })).await;
        assert_eq!(error["code"], -32602);
        let id = client.start("their_result", json!({ "fail": true })).await;
        let task = client.until(&id, "failed").await;
        assert_eq!(
            task["error"],
            json!({ "code": -32002, "message": "gone", "data": { "uri": "x" } })
        );

        let result = client.call("their_blocks", json!({})).await;
        assert_eq!(
            result["content"],
            json!([
                { "type": "text", "text": "theirs", "_meta": { "example/k": 1 } },
                { "type": "image", "data": "AP8=", "mimeType": "image/png" },
            ])
        );
        let id = client.start("their_error_in_a_chain", json!({})).await;
        let task = client.until(&id, "failed").await;
        assert_eq!(task["error"]["message"], "wrong");
    }
}
