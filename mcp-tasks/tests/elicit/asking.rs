//! Forms in questions: what is asked, and what becomes of a form that cannot be.

use mcp_tasks::elicit::{self, FromSchema};
use mcp_tasks::prelude::*;
use mcp_tasks::runtime::Runtime;
use mcp_tasks::testing::{TestTask, crash_everywhere};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    zone: String,
    #[schemars(range(max = 100))]
    at_most: u8,
}

#[mcp_task]
async fn settle() -> Result<String, ToolError> {
    let FromSchema(settings) = ask_user::<FromSchema<Settings>>("Which?").await?;
    Ok(format!("{} {}", settings.zone, settings.at_most))
}

#[tokio::test(start_paused = true)]
async fn a_type_with_a_schema_is_asked_for_and_read_again_after_a_crash() {
    let mut task = TestTask::start(settle()).await;
    let question = task.asked("settings").await;
    assert_eq!(
        question.params.get(),
        concat!(
            r#"{"mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":{"#,
            r#""zone":{"type":"string"},"atMost":{"type":"integer","minimum":0,"maximum":100}},"#,
            r#""required":["zone","atMost"]}}"#
        )
    );
    task.crash().await;
    task.answer("settings", json!({"atMost": 7, "zone": "a"}))
        .await;
    task.crash().await;
    assert_eq!(task.result().await.text(), "a 7");
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "`atMost` must be between 0 and 100, got 250")]
async fn an_answer_that_does_not_fit_the_schema_is_refused() {
    let task = TestTask::start(settle()).await;
    task.answer("settings", json!({"atMost": 250, "zone": "a"}))
        .await;
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "never read")]
struct Nested {
    fine: bool,
    inner: Inner,
    tags: Vec<String>,
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "never read")]
struct Inner {
    deep: bool,
}

/// The default is only known when the program runs.
#[derive(Elicit)]
#[expect(dead_code, reason = "never read")]
struct Computed {
    #[elicit(max = 100, default = limit())]
    percent: u8,
}

fn limit() -> u8 {
    250
}

/// Under a name that the attribute does not know.
type Hidden = FromSchema<Nested>;

#[mcp_task]
async fn never_asked(which: bool) -> Result<&'static str, ToolError> {
    if which {
        ask_user::<Hidden>("Which?").key("nested").await?;
    } else {
        ask_user::<Computed>("Which?").await?;
    }
    Ok("asked")
}

#[tokio::test(start_paused = true)]
async fn a_form_that_cannot_be_fails_the_task_in_words() {
    for (which, expected) in [
        (
            true,
            [
                "the question `nested`",
                "`inner` is a struct",
                "`tags` is a list",
            ]
            .as_slice(),
        ),
        (
            false,
            &[
                "the question `computed`",
                "`percent` has a default that does not fit: it must be between 0 and 100, got 250",
            ],
        ),
    ] {
        let result = TestTask::start(never_asked(which)).await.result().await;
        let error = &result.error().expect("the task failed").message;
        for words in expected {
            assert!(error.contains(words), "{words:?} in {error}");
        }
    }
}

#[mcp_task]
async fn written_out() -> Result<(), ToolError> {
    let first: FromSchema<Nested> = ask_user("Which?").await?;
    let _second = ask_user::<FromSchema<Settings>>("Which?").await?;
    let FromSchema(Nested { .. }) = first;
    Ok(())
}

#[test]
fn a_schema_that_is_no_form_is_found_when_the_server_is_built() {
    let server = Runtime::builder("s", "1").task(settle).task(written_out);
    let error = server.build().err().expect("one form is unfit").to_string();
    assert!(
        error.starts_with("tool `written_out`: `FromSchema<"),
        "{error}"
    );
    for words in ["Nested>`", "`inner` is a struct", "`tags` is a list"] {
        assert!(error.contains(words), "{words:?} in {error}");
    }
    assert!(!error.contains("Settings"), "{error}");
}

/// Its schema does not say that zero is refused.
#[derive(JsonSchema, Deserialize)]
struct Strict {
    #[schemars(with = "u8")]
    count: std::num::NonZeroU8,
}

#[mcp_task]
async fn counted() -> Result<String, ToolError> {
    let FromSchema(strict) = ask_user::<FromSchema<Strict>>("How many?").await?;
    Ok(strict.count.to_string())
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_only_the_type_refuses_fails_the_task_in_words() {
    let task = TestTask::start(counted()).await;
    task.answer("strict", json!({"count": 0})).await;
    let result = task.result().await;
    let error = &result.error().expect("the task failed").message;
    assert!(
        error.contains("the answer to `strict` fits its form, but not its type: `count` cannot"),
        "{error}"
    );
}

#[test]
fn a_server_that_is_told_what_it_asks_does_not_start_with_a_form_that_cannot_be() {
    let server = || Runtime::builder("s", "1").task(never_asked).task(settle);
    let fine = server().asks::<FromSchema<Settings>>().asks::<bool>();
    assert!(fine.build().is_ok());
    let error = server()
        .asks::<FromSchema<Nested>>()
        .asks::<Computed>()
        .build()
        .err()
        .expect("the forms are unfit")
        .to_string();
    for words in [
        "`inner` is a struct",
        "`tags` is a list",
        "Computed` cannot be asked for",
    ] {
        assert!(error.contains(words), "{words:?} in {error}");
    }
    assert_eq!(elicit::check::<Computed>().unwrap_err().faults().len(), 1);
}

#[mcp_task]
async fn check_out(State(branches): State<Vec<String>>) -> Result<String, ToolError> {
    let branches = step(async { Ok::<_, std::io::Error>(branches) }).await?;
    let branch = ask_user("Which branch?").choices(&branches).await?;
    let how = ask_user("How?")
        .choices([("merge", "Merge it"), ("rebase", "Rebase onto it")])
        .optional()
        .timeout(Duration::from_secs(60))
        .await?;
    Ok(format!("{branch} {how:?}"))
}

#[tokio::test(start_paused = true)]
async fn choices_can_be_made_when_the_function_runs() {
    let text = crash_everywhere(async |crash| {
        let branches = ["main", "next"].map(str::to_owned);
        let call = check_out(State(branches.to_vec()));
        let task = TestTask::start(call).crash_after(crash).await;
        let question = task.asked("branch").await;
        assert!(question.params.get().ends_with(concat!(
            r#""requestedSchema":{"type":"object","properties":{"answer":"#,
            r#"{"type":"string","enum":["main","next"]}},"required":["answer"]}}"#
        )));
        task.answer("branch", json!({"answer": "next"})).await;
        let question = task.asked("how").await;
        assert!(question.params.get().contains(
            r#""oneOf":[{"const":"merge","title":"Merge it"},{"const":"rebase","title":"Rebase onto it"}]"#
        ));
        task.answer("how", json!({"answer": "merge"})).await;
        task.result().await.text()
    })
    .await;
    assert_eq!(text, r#"next Some("merge")"#);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "`answer` must be one of")]
async fn an_answer_that_is_none_of_the_choices_is_refused() {
    let task = TestTask::start(check_out(State(vec!["main".to_owned()]))).await;
    task.answer("branch", json!({"answer": "other"})).await;
}

#[tokio::test(start_paused = true)]
async fn a_question_with_nothing_to_choose_from_fails_the_task_in_words() {
    for (branches, words) in [
        (vec![], "`answer` has nothing to choose from"),
        (vec!["a"; 2], "`answer` offers `a` twice"),
    ] {
        let branches = branches.into_iter().map(str::to_owned).collect();
        let task = TestTask::start(check_out(State(branches))).await;
        let result = task.result().await;
        let error = result.error().expect("it failed");
        assert!(error.message.contains(words), "{}", error.message);
    }
}
