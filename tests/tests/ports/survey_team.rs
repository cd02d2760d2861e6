//! Asks many people at once, and does not wait for the last of them.

use mcp_tasks::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{decline, fill_in, open, server};

#[derive(Elicit)]
struct Rating {
    #[elicit(min = 1, max = 5)]
    stars: u8,
}

/// Asks one person, twice if need be.
#[mcp_task_flow]
async fn rate(name: &str, dish: &str) -> Result<u8, AskError> {
    match ask_user::<Rating>(format!("{name}, how was the {dish}?")).await {
        Err(AskError::Dismissed) => {}
        rated => return Ok(rated?.stars),
    }
    let rating: Rating = ask_user(format!("{name}, please?")).key("again").await?;
    Ok(rating.stars)
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Survey {
    stars: Vec<u8>,
    declined: usize,
    late: usize,
}

/// How long each person has.
#[derive(Clone, Copy)]
struct Patience(Duration);

/// Asks everybody how the food was.
#[mcp_task(ttl = "7d")]
async fn survey(
    #[arg(min_items = 1)] names: Vec<String>,
    dish: String,
    State(Patience(patience)): State<Patience>,
) -> Json<Survey> {
    let asked = join_all(
        names
            .iter()
            .map(|name| rate(name, &dish).key(name).timeout(patience)),
    );
    let mut survey = Survey::default();
    for rated in asked.await {
        match rated {
            Ok(Ok(stars)) => survey.stars.push(stars),
            Ok(Err(_)) => survey.declined += 1,
            Err(TimedOut { .. }) => survey.late += 1,
        }
    }
    Json(survey)
}

#[tokio::test]
async fn a_survey_takes_who_answers() {
    let names = json!({"names": ["Ada", "Luca", "Mo"], "dish": "soup"});
    let patient = server()
        .task(survey)
        .state(Patience(Duration::from_secs(3600)));
    let (_server, client) = open(patient).await;
    let id = client.task("survey", names.clone()).await;
    fill_in(&client, &id, "Luca/rating", json!({"stars": 5})).await;
    decline(&client, &id, "Ada/rating").await;
    super::asked(&client, &id, "Mo/rating").await;
    client
        .update(&id, json!({"Mo/rating": {"action": "cancel"}}))
        .await;
    fill_in(&client, &id, "Mo/again", json!({"stars": 3})).await;
    let task = client.until(&id, "completed").await;
    let result = &task["result"]["structuredContent"];
    assert_eq!(*result, json!({"stars": [5, 3], "declined": 1, "late": 0}));

    let hasty = server()
        .task(survey)
        .state(Patience(Duration::from_millis(5)));
    let (_server, client) = open(hasty).await;
    let id = client.task("survey", names).await;
    let task = client.until(&id, "completed").await;
    assert_eq!(task["result"]["structuredContent"]["late"], 3);
}
