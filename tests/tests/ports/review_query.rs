//! Shows a person what a model wants to run: it is run, changed or refused.

use mcp_tasks::prelude::*;
use serde_json::json;

use super::{asked, fill_in, open, server, tool_error};

#[derive(Elicit)]
enum Verdict {
    /// Run it as it is
    Approve,
    /// Run it with changes
    Edit,
    /// Do not run it
    Reject,
}

#[derive(Elicit)]
struct Review {
    verdict: Verdict,
    /// The changed query, or why not
    text: Option<String>,
}

/// Runs a query against the database, once a person has looked at it.
#[mcp_task(annotations(destructive), support = "required")]
async fn run_query(query: String) -> Result<String, ToolError> {
    let review: Review = ask_user(format!("Run this?\n{query}")).await?;
    let query = match (review.verdict, review.text) {
        (Verdict::Approve, _) => query,
        (Verdict::Edit, Some(changed)) => changed,
        (Verdict::Edit, None) => return Err("the change is missing".into()),
        (Verdict::Reject, why) => {
            let why = why.unwrap_or_else(|| "no reason given".to_owned());
            return Err(ToolError::new(format!("rejected: {why}")));
        }
    };
    let rows = step(execute(&query)).await?;
    Ok(format!("{rows} rows"))
}

/// Counts the rows that the query names.
async fn execute(query: &str) -> Result<usize, std::num::ParseIntError> {
    tokio::task::yield_now().await;
    query.trim_start_matches("select ").parse()
}

#[tokio::test]
async fn a_query_is_run_changed_or_refused() {
    let (_server, client) = open(server().task(run_query)).await;
    let listed = client.request("tools/list", json!({})).await;
    let annotations = &listed.result()["tools"][0]["annotations"];
    assert_eq!(annotations["destructiveHint"], true);

    let start = async || client.task("run_query", json!({"query": "select 3"})).await;
    let id = start().await;
    let question = asked(&client, &id, "review").await;
    let verdict = &question["requestedSchema"]["properties"]["verdict"]["oneOf"];
    assert_eq!(
        verdict[1],
        json!({"const": "edit", "title": "Run it with changes"})
    );
    fill_in(&client, &id, "review", json!({"verdict": "approve"})).await;
    assert_eq!(client.until_text(&id).await, "3 rows");

    let id = start().await;
    let edit = json!({"verdict": "edit", "text": "select 2"});
    fill_in(&client, &id, "review", edit).await;
    assert_eq!(client.until_text(&id).await, "2 rows");

    let id = start().await;
    let reject = json!({"verdict": "reject", "text": "too slow"});
    fill_in(&client, &id, "review", reject).await;
    assert_eq!(tool_error(&client, &id).await, "rejected: too slow");

    let id = start().await;
    let edit = json!({"verdict": "edit", "text": "select all"});
    fill_in(&client, &id, "review", edit).await;
    let words = tool_error(&client, &id).await;
    assert_eq!(words, "step `rows`: invalid digit found in string");
}
