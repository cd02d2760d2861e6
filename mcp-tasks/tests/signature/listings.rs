//! What the attribute says of a tool in listings.

use mcp_tasks::prelude::*;
use mcp_tasks::{Icon, IconTheme};
use serde_json::json;

use crate::client::Client;

/// The doc comment.
#[mcp_task(
    title = "Deploy a service",
    annotations(destructive, idempotent = false, open_world),
    icons = [
        Icon::new("https://example.com/deploy.svg").mime_type("image/svg+xml").size("any"),
        Icon::new("data:image/png;base64,AA==").theme(IconTheme::Dark),
    ],
    meta = { "example.com/tier": "gold", "example.com/limits": { "calls": [1, null] } },
)]
async fn described() {}

#[mcp_task(annotations(read_only), icons = ["https://example.com/look.png"])]
async fn look() {}

#[mcp_task]
async fn plain() {}

#[test]
fn a_tool_is_listed_with_all_that_was_said_of_it() {
    let client = Client::new(|server| server.task(described).task(look).task(plain));
    let listing = client.listing("described");
    assert_eq!(listing["title"], "Deploy a service");
    assert_eq!(listing["description"], "The doc comment.");
    assert_eq!(
        listing["annotations"],
        json!({ "destructiveHint": true, "idempotentHint": false, "openWorldHint": true })
    );
    assert_eq!(
        listing["icons"],
        json!([
            {
                "src": "https://example.com/deploy.svg", "mimeType": "image/svg+xml",
                "sizes": ["any"],
            },
            { "src": "data:image/png;base64,AA==", "theme": "dark" },
        ])
    );
    assert_eq!(
        listing["_meta"],
        json!({ "example.com/tier": "gold", "example.com/limits": { "calls": [1, null] } })
    );
    let listing = client.listing("look");
    assert_eq!(listing["annotations"], json!({ "readOnlyHint": true }));
    assert_eq!(
        listing["icons"],
        json!([{ "src": "https://example.com/look.png" }])
    );
    for member in ["title", "description", "annotations", "icons", "_meta"] {
        assert!(client.listing("plain")[member].is_null(), "{member}");
    }
}
