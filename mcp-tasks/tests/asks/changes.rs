//! Journals of such questions under code that has changed.

use mcp_tasks::ModelRequest;
use mcp_tasks::prelude::*;
use mcp_tasks::runtime::Runtime;
use mcp_tasks::testing::{self, TestTask};

macro_rules! asking {
    ($module:ident, $question:expr) => {
        mod $module {
            use super::*;

            #[mcp_task(name = "asking")]
            pub(super) async fn asking() -> Result<&'static str, ToolError> {
                $question.key("q").await?;
                Ok("asked")
            }
        }
    };
}

fn prompt(text: &str) -> ModelRequest {
    ModelRequest::new(1).user(text)
}

asking!(url, ask_user_url("Open it?", "https://example.org/a"));
asking!(
    url_in_other_words,
    ask_user_url("Open?", "https://example.org/a").any_wording()
);
asking!(
    other_url,
    ask_user_url("Open it?", "https://example.org/b").any_wording()
);
asking!(model, ask_model(prompt("Hi")));
asking!(other_prompt, ask_model(prompt("Ho")));
asking!(any_prompt, ask_model(prompt("Ho")).any_wording());
asking!(roots, list_roots());
asking!(form, ask_user::<()>("Open it?"));

/// What a replay of a task that asks one question says under other code.
macro_rules! replayed {
    ($recorded:ident under $code:ident) => {{
        let task = TestTask::start($recorded::asking()).await;
        task.asked("q").await;
        let journal = task.journal().await.expect("the task waits");
        let saved = journal.to_string().parse().unwrap();
        let server = Runtime::builder("test", "1").task($code::asking).build();
        testing::replay(&server.unwrap(), &saved)
            .await
            .map_err(|mismatch| mismatch.to_string())
    }};
}

#[track_caller]
fn held(replayed: Result<(), String>, words: &str) {
    let mismatch = replayed.expect_err("the code does not fit");
    assert!(mismatch.contains(words), "{mismatch}");
}

#[tokio::test]
async fn the_same_question_fits() {
    assert_eq!(replayed!(url under url), Ok(()));
    assert_eq!(replayed!(model under model), Ok(()));
    assert_eq!(replayed!(roots under roots), Ok(()));
}

#[tokio::test]
async fn words_may_vary_where_that_is_said_and_urls_may_not() {
    assert_eq!(replayed!(url under url_in_other_words), Ok(()));
    held(
        replayed!(url under other_url),
        "a question with another URL",
    );
    assert_eq!(replayed!(model under any_prompt), Ok(()));
    held(
        replayed!(model under other_prompt),
        "a question in other words",
    );
}

#[tokio::test]
async fn a_question_of_another_kind_does_not_fit() {
    held(replayed!(url under form), "a question of another kind");
    held(replayed!(form under url), "a question of another kind");
    held(replayed!(url under model), "a question of another kind");
    held(replayed!(model under roots), "a question of another kind");
    held(
        replayed!(roots under any_prompt),
        "a question of another kind",
    );
}
