//! Books a table, and asks for another day if there is none.

use mcp_tasks::prelude::*;
use serde_json::json;

use super::{asked, decline, fill_in, open, server};

#[derive(Elicit)]
struct Alternative {
    /// Shall it be another day?
    another_day: bool,
    #[elicit(format = "date", default = "2026-12-27")]
    date: String,
}

/// Books a table in the restaurant.
#[mcp_task]
async fn book_table(
    /// The day, as in 2026-12-25
    #[arg(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    date: String,
    #[arg(min = 1, max = 20, default = 2)] guests: u8,
) -> Result<String, ToolError> {
    if date != "2026-12-25" {
        return Ok(format!("booked for {guests} on {date}"));
    }
    let question = format!("There is no table for {guests} on {date}.");
    Ok(match ask_user::<Alternative>(question).optional().await? {
        Some(answer) if answer.another_day => format!("booked for {guests} on {}", answer.date),
        Some(_) => "not booked".to_owned(),
        None => "never mind".to_owned(),
    })
}

#[tokio::test]
async fn a_table_on_another_day() {
    let (_server, client) = open(server().task(book_table)).await;
    let free = client
        .task("book_table", json!({"date": "2026-11-02"}))
        .await;
    assert_eq!(client.until_text(&free).await, "booked for 2 on 2026-11-02");

    let full = json!({"date": "2026-12-25", "guests": 4});
    let id = client.task("book_table", full.clone()).await;
    let question = asked(&client, &id, "alternative").await;
    assert_eq!(
        question["message"],
        "There is no table for 4 on 2026-12-25."
    );
    fill_in(&client, &id, "alternative", json!({"another_day": true})).await;
    assert_eq!(client.until_text(&id).await, "booked for 4 on 2026-12-27");

    let id = client.task("book_table", full).await;
    decline(&client, &id, "alternative").await;
    assert_eq!(client.until_text(&id).await, "never mind");

    let refused = client
        .call("book_table", json!({"date": "tomorrow", "guests": 40}))
        .await;
    let words = refused.message["error"]["message"].as_str().unwrap();
    assert!(
        words.contains("`date`") && words.contains("`guests` must be at most 20"),
        "{words}"
    );
}
