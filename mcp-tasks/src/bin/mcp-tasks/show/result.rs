//! The result of a call, on the standard output: text as it is, also that of resources
//! that are in it; structured content laid out; everything else by name.

use std::io;

use mcp_tasks::ToolResult;
use mcp_tasks::protocol::ProtocolError;
use serde_json::Value;

use super::json::pretty;
use crate::screen::{Look, Screen, harmless};

/// Shows a result.
pub(crate) fn show(result: &ToolResult) -> io::Result<()> {
    let screen = Screen::stdout();
    let structured = result
        .structured
        .as_ref()
        .map(|structured| structured.get());
    let look = if result.is_error {
        Look::Bad
    } else {
        Look::Plain
    };
    for block in &result.content {
        let block = serde_json::to_value(block)?;
        match block["text"].as_str().filter(|_| block["type"] == "text") {
            // Servers say what is structured once more as text.
            Some(text) if structured.is_some_and(|json| is_same(json, text)) => {}
            Some(text) => verbatim(screen, look, text)?,
            None => {
                screen.prose(0, Look::Dim, &format!("[{}]", name(&block)))?;
                if let Some(text) = block["resource"]["text"].as_str() {
                    verbatim(screen, look, text)?;
                }
            }
        }
    }
    if let Some(structured) = structured {
        verbatim(screen, look, &pretty(structured))?;
    }
    Ok(())
}

/// Text that is not broken into lines: it may be meant for a program.
fn verbatim(screen: Screen, look: Look, text: &str) -> io::Result<()> {
    if !screen.is_terminal() {
        return screen.raw(text);
    }
    for line in text.lines() {
        screen.line(&screen.paint(look, harmless(line)))?;
    }
    Ok(())
}

fn is_same(json: &str, text: &str) -> bool {
    let text = text.trim_start();
    // Most text is no JSON, and need not be read to see that.
    if !text.starts_with(['{', '[', '"'])
        && !text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
    {
        return false;
    }
    match (
        serde_json::from_str::<Value>(json),
        serde_json::from_str::<Value>(text),
    ) {
        (Ok(json), Ok(text)) => json == text,
        _ => false,
    }
}

/// What a block is, without what is in it.
fn name(block: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut parts = Vec::new();
    match block["type"].as_str() {
        Some(kind @ ("image" | "audio")) => {
            let kind = if kind == "audio" { "sound" } else { kind };
            parts.push(match text(&block["mimeType"]) {
                Some(mime) => format!("{kind}: {mime}"),
                None => kind.to_owned(),
            });
            parts.extend(text(&block["data"]).map(|data| bytes(decoded_length(&data))));
        }
        Some("resource_link") => {
            let name = text(&block["title"]).or_else(|| text(&block["name"]));
            let uri = text(&block["uri"]).unwrap_or_default();
            parts.push(match name {
                Some(name) => format!("link: {name} <{uri}>"),
                None => format!("link: <{uri}>"),
            });
            parts.extend(text(&block["mimeType"]));
            parts.extend(block["size"].as_u64().map(bytes));
            parts.extend(text(&block["description"]));
        }
        Some("resource") => {
            let resource = &block["resource"];
            parts.push(format!(
                "resource: <{}>",
                text(&resource["uri"]).unwrap_or_default()
            ));
            parts.extend(text(&resource["mimeType"]));
            let length = text(&resource["text"]).map(|text| text.len() as u64);
            let length =
                length.or_else(|| text(&resource["blob"]).map(|blob| decoded_length(&blob)));
            parts.extend(length.map(bytes));
        }
        Some(kind) => parts.push(format!("something of the type `{kind}`")),
        None => parts.push("something without a type".to_owned()),
    }
    parts.join(", ")
}

/// How many bytes a text in base64 stands for.
fn decoded_length(base64: &str) -> u64 {
    let padding = base64
        .bytes()
        .rev()
        .take_while(|&byte| byte == b'=')
        .count();
    (base64.len() * 3 / 4).saturating_sub(padding) as u64
}

fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        0..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{} kB", count / 1000),
        _ => format!("{} MB", count / 1_000_000),
    }
}

/// An error as the server gave it.
pub(crate) fn error_words(error: &ProtocolError) -> String {
    let mut words = format!("{} (code {})", error.message, error.code.0);
    if let Some(data) = &error.data {
        words = format!("{words}\n{}", pretty(&data.to_string()));
    }
    words
}

#[cfg(test)]
mod tests {
    use mcp_tasks::ContentBlock;
    use serde_json::json;

    use super::*;

    fn named(block: ContentBlock) -> String {
        name(&serde_json::to_value(block).unwrap())
    }

    #[test]
    fn what_is_no_text_is_named() {
        for (block, words) in [
            (
                ContentBlock::image([0, 255], "image/png"),
                "image: image/png, 2 bytes",
            ),
            (
                ContentBlock::audio([1], "audio/wav"),
                "sound: audio/wav, 1 byte",
            ),
            (
                ContentBlock::link("file:///a.csv", "a").title("A").size(17),
                "link: A <file:///a.csv>, 17 bytes",
            ),
            (
                ContentBlock::resource("note://1", "a note").mime_type("text/plain"),
                "resource: <note://1>, text/plain, 6 bytes",
            ),
            (
                ContentBlock::binary_resource("blob://1", [0, 1, 2]),
                "resource: <blob://1>, 3 bytes",
            ),
        ] {
            assert_eq!(named(block), words);
        }
        assert_eq!(
            name(&json!({"type": "dance"})),
            "something of the type `dance`"
        );
    }

    #[test]
    fn text_that_says_the_structured_content_again_is_known() {
        assert!(is_same(r#"{"b":1,"a":2}"#, r#"{ "a": 2, "b": 1 }"#));
        assert!(!is_same(r#"{"b":1}"#, "b is 1"));
        assert!(!is_same(r#"{"b":1}"#, r#"{"b":2}"#));
    }
}
