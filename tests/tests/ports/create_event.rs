//! Makes an entry in a calendar from two forms, one after the other.

use mcp_tasks::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{decline, fill_in, open, server};

#[derive(Elicit)]
struct What {
    #[elicit(title = "Event title", min_len = 1)]
    title: String,
    description: Option<String>,
}

#[derive(Elicit)]
struct When {
    #[elicit(format = "date")]
    date: String,
    /// In minutes
    #[elicit(min = 15, max = 480, default = 60)]
    duration: u16,
    /// Whom to remind of it
    #[elicit(min_items = 1)]
    remind: Vec<Who>,
}

#[derive(Elicit, Serialize, JsonSchema)]
enum Who {
    Me,
    /// Everybody who comes
    Guests,
}

#[derive(Serialize, JsonSchema)]
struct Event {
    title: String,
    description: Option<String>,
    date: String,
    minutes: u16,
    remind: Vec<Who>,
}

/// Creates a calendar event.
#[mcp_task]
async fn create_event() -> Result<Json<Event>, ToolError> {
    let what: What = ask_user("What is it?").await?;
    let when: When = ask_user(format!("When is {}?", what.title)).await?;
    Ok(Json(Event {
        title: what.title,
        description: what.description,
        date: when.date,
        minutes: when.duration,
        remind: when.remind,
    }))
}

#[tokio::test]
async fn an_event_from_two_forms() {
    let (_server, client) = open(server().task(create_event)).await;
    let id = client.task("create_event", json!({})).await;
    fill_in(&client, &id, "what", json!({"title": "Tea"})).await;

    let wrong = json!({"date": "soon", "duration": 5, "remind": []});
    super::asked(&client, &id, "when").await;
    let response = json!({"when": {"action": "accept", "content": wrong}});
    let refused = client.update(&id, response).await;
    let faults = refused.message["error"]["data"]["errors"]
        .as_array()
        .unwrap();
    let fields: Vec<_> = faults.iter().map(|fault| fault["field"].as_str()).collect();
    assert_eq!(fields, [Some("date"), Some("duration"), Some("remind")]);

    let right = json!({"date": "2026-12-24", "remind": ["guests"]});
    fill_in(&client, &id, "when", right).await;
    let task = client.until(&id, "completed").await;
    assert_eq!(
        task["result"]["structuredContent"],
        json!({
            "title": "Tea", "description": null, "date": "2026-12-24",
            "minutes": 60, "remind": ["Guests"],
        })
    );

    let id = client.task("create_event", json!({})).await;
    fill_in(&client, &id, "what", json!({"title": "Tea"})).await;
    decline(&client, &id, "when").await;
    assert_eq!(
        super::tool_error(&client, &id).await,
        "the question was declined"
    );
}
