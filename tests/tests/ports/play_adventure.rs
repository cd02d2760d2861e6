//! A story whose next turns are made up as it goes.

use mcp_tasks::prelude::*;
use serde_json::json;

use super::{asked, fill_in, open, server};

/// One scene, as whoever tells the story makes it up.
#[derive(serde::Serialize, serde::Deserialize)]
struct Scene {
    text: String,
    /// What can be done now; nothing at the end.
    turns: Vec<String>,
    hurry: bool,
}

/// Stands for a language model.
async fn tell(story: &[String]) -> std::io::Result<Scene> {
    tokio::task::yield_now().await;
    let scene = |text: &str, turns: &[&str], hurry| Scene {
        text: text.to_owned(),
        turns: turns.iter().map(ToString::to_string).collect(),
        hurry,
    };
    Ok(match story.last().map(String::as_str) {
        None => scene("A fork in the road.", &["left", "right"], false),
        Some("left") => scene("A bear!", &["run", "climb"], true),
        Some("nothing") => scene("The bear has eaten you.", &[], false),
        Some(_) => scene("You are safe.", &[], false),
    })
}

/// Plays an adventure with the person at the client.
#[mcp_task(ttl = "2h")]
async fn play() -> Result<String, ToolError> {
    let mut story = Vec::new();
    loop {
        let scene = step(tell(&story)).await?;
        if scene.turns.is_empty() {
            return Ok(format!("{}: {}", story.join(", "), scene.text));
        }
        let patience = if scene.hurry {
            Duration::from_millis(1)
        } else {
            Duration::from_secs(3600)
        };
        let turn = ask_user::<String>(scene.text)
            .choices(scene.turns)
            .timeout(patience)
            .await;
        story.push(match turn {
            Err(AskError::TimedOut) => "nothing".to_owned(),
            turn => turn?,
        });
    }
}

#[tokio::test]
async fn an_adventure_is_won_or_lost() {
    let (_server, client) = open(server().task(play)).await;
    let id = client.task("play", json!({})).await;
    let question = asked(&client, &id, "turn").await;
    assert_eq!(question["message"], "A fork in the road.");
    let turns = &question["requestedSchema"]["properties"]["answer"]["enum"];
    assert_eq!(turns, &json!(["left", "right"]));
    let lost = json!({"turn": {"action": "accept", "content": {"answer": "back"}}});
    let refused = client.update(&id, lost).await;
    assert_eq!(refused.message["error"]["code"], -32602);
    fill_in(&client, &id, "turn", json!({"answer": "right"})).await;
    assert_eq!(client.until_text(&id).await, "right: You are safe.");

    let id = client.task("play", json!({})).await;
    fill_in(&client, &id, "turn", json!({"answer": "left"})).await;
    let end = client.until_text(&id).await;
    assert_eq!(end, "left, nothing: The bear has eaten you.");
}
