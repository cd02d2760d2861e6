//! Holds a room while a person thinks, and lets it go if the call is cancelled.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use mcp_tasks::prelude::*;
use serde_json::json;

use super::{asked, fill_in, open, server};

/// The rooms that are held.
#[derive(Clone, Default)]
struct Hotel(Arc<Mutex<BTreeSet<String>>>);

impl Hotel {
    async fn hold(&self, room: &str) -> Result<(), String> {
        tokio::task::yield_now().await;
        let is_free = self.0.lock().unwrap().insert(room.to_owned());
        if is_free {
            Ok(())
        } else {
            Err(format!("room {room} is taken"))
        }
    }

    async fn release(&self, room: &str) {
        tokio::task::yield_now().await;
        self.0.lock().unwrap().remove(room);
    }
}

/// Holds a room until somebody decides.
#[mcp_task(cancel_grace = "10s")]
async fn hold_room(room: String, State(hotel): State<Hotel>) -> Result<String, ToolError> {
    step(hotel.hold(&room)).await?;
    report_progress(1, 2);
    let kept = race!(
        kept: async { ask_user::<bool>(format!("Keep room {room}?")).await.unwrap_or(false) },
        cancelled: async {
            cancelled().await;
            false
        },
    );
    if kept {
        report_progress(2, 2);
        return Ok(format!("room {room} is yours"));
    }
    step_value(hotel.release(&room)).await;
    Err("the room is free again".into())
}

#[tokio::test]
async fn a_room_is_kept_or_let_go() {
    let hotel = Hotel::default();
    let (_server, client) = open(server().task(hold_room).state(hotel.clone())).await;
    let id = client.task("hold_room", json!({"room": "7"})).await;
    asked(&client, &id, "kept/bool").await;
    let task = client.get(&id).await;
    let progress = &task["_meta"]["rs.mcp-tasks/progress"];
    assert_eq!(*progress, json!({"done": 1, "total": 2}));
    let other = client.task("hold_room", json!({"room": "7"})).await;
    let words = super::tool_error(&client, &other).await;
    assert_eq!(words, "step `hold`: room 7 is taken");
    fill_in(&client, &id, "kept/bool", json!({"answer": true})).await;
    assert_eq!(client.until_text(&id).await, "room 7 is yours");

    let id = client.task("hold_room", json!({"room": "8"})).await;
    asked(&client, &id, "kept/bool").await;
    client.cancelled(&id).await;
    let words = super::tool_error(&client, &id).await;
    assert_eq!(words, "the room is free again");
    assert_eq!(*hotel.0.lock().unwrap(), BTreeSet::from(["7".to_owned()]));
}
