//! What can be asked of a client beside forms: URLs, its model, its roots.

mod changes;

use mcp_tasks::prelude::*;
use mcp_tasks::protocol::{Capabilities, ElicitationModes};
use mcp_tasks::runtime::{CallRequest, Called, Runtime};
use mcp_tasks::testing::TestTask;
use mcp_tasks::{Caller, Consent, ContentBlock, InputKind, ModelRequest, ProtocolError, Root};
use serde_json::json;

#[mcp_task]
async fn connect(url: String) -> Result<String, ToolError> {
    let _: Consent = ask_user_url("Sign in, please.", url).await?;
    let name: String = signal("connected").await?;
    Ok(format!("connected to {name}"))
}

#[tokio::test(start_paused = true)]
async fn a_url_is_agreed_to_and_its_outcome_comes_by_a_signal() {
    let mut task = TestTask::start(connect("https://example.org/in?t=1".to_owned())).await;
    let question = task.asked("url").await;
    assert_eq!(question.method, "elicitation/create");
    assert_eq!(
        question.params.get(),
        r#"{"mode":"url","message":"Sign in, please.","url":"https://example.org/in?t=1"}"#
    );
    task.agree("url").await;
    task.crash().await;
    task.signal("connected", "Ada").await;
    assert_eq!(task.result().await.text(), "connected to Ada");
}

#[tokio::test(start_paused = true)]
async fn a_url_that_is_none_ends_the_task_in_words() {
    for url in ["", "example.org", "https://", "no url at all"] {
        let result = TestTask::start(connect(url.to_owned()))
            .await
            .result()
            .await;
        let error = &result.error().expect("the task failed").message;
        assert!(
            error.contains("the question `url` cannot be asked"),
            "{error}"
        );
        assert!(error.contains("an absolute URI"), "{error}");
    }
}

#[mcp_task]
async fn ask_each() -> Result<String, ToolError> {
    let opened = ask_user_url("Open it?", "https://example.org")
        .optional()
        .await?;
    let request = ModelRequest::new(100)
        .system("Be brief.")
        .user("Why?")
        .assistant("Because.")
        .user(ContentBlock::image(b"png", "image/png"))
        .temperature(0.5)
        .stop("END")
        .hint("sonnet")
        .hint("haiku")
        .cost_priority(0.25)
        .speed_priority(1.0)
        .intelligence_priority(0.0)
        .metadata("tier", "low");
    let reply = ask_model(request).await?;
    let folders = list_roots().timeout(Duration::from_secs(60)).await;
    let folders = match folders {
        Ok(roots) => format!("{roots:?}"),
        Err(error) => error.to_string(),
    };
    Ok(format!("{} {} {folders}", opened.is_some(), reply.text()))
}

#[tokio::test(start_paused = true)]
async fn a_model_is_asked_as_the_request_says() {
    let mut task = TestTask::start(ask_each()).await;
    task.decline("opened").await;
    let question = task.asked("reply").await;
    assert_eq!(question.method, "sampling/createMessage");
    assert_eq!(
        question.params.get(),
        concat!(
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"Why?"}},"#,
            r#"{"role":"assistant","content":{"type":"text","text":"Because."}},"#,
            r#"{"role":"user","content":{"type":"image","data":"cG5n","mimeType":"image/png"}}],"#,
            r#""modelPreferences":{"hints":[{"name":"sonnet"},{"name":"haiku"}],"costPriority":0.25,"#,
            r#""speedPriority":1.0,"intelligencePriority":0.0},"systemPrompt":"Be brief.","#,
            r#""temperature":0.5,"maxTokens":100,"stopSequences":["END"],"metadata":{"tier":"low"}}"#
        )
    );
    task.crash().await;
    task.answer_as_model("reply", "Hm.").await;
    task.crash().await;
    assert_eq!(task.asked("folders").await.method, "roots/list");
    tokio::time::sleep(Duration::from_secs(61)).await;
    let text = task.result().await.text();
    assert_eq!(text, "false Hm. the question was not answered in time");
}

#[tokio::test(start_paused = true)]
async fn roots_are_the_same_after_a_crash() {
    let mut task = TestTask::start(ask_each()).await;
    task.agree("opened").await;
    task.answer_as_model("reply", "Yes.").await;
    task.answer_with_roots("folders", [Root::new("file:///a").named("A")])
        .await;
    task.crash().await;
    let expected = format!("true Yes. {:?}", [Root::new("file:///a").named("A")]);
    assert_eq!(task.result().await.text(), expected);
}

#[mcp_task]
async fn ask_nonsense(which: u8) -> Result<String, ToolError> {
    let request = match which {
        0 => ModelRequest::new(1),
        1 => ModelRequest::new(1).user(ContentBlock::link("file:///a", "a")),
        2 => ModelRequest::new(1).user("Hi").temperature(f64::NAN),
        _ => ModelRequest::new(1).user("Hi").speed_priority(1.5),
    };
    Ok(ask_model(request).await?.text())
}

#[tokio::test(start_paused = true)]
async fn a_model_request_that_cannot_be_made_ends_the_task_in_words() {
    for (which, words) in [
        "it has no message",
        "not a block `resource_link`",
        "its temperature is not a number",
        "its `speed_priority` is 1.5, and not from 0 to 1",
    ]
    .into_iter()
    .enumerate()
    {
        let task = TestTask::start(ask_nonsense(u8::try_from(which).unwrap())).await;
        let result = task.result().await;
        let error = &result.error().expect("the task failed").message;
        assert!(
            error.contains("the question `model` cannot be asked"),
            "{error}"
        );
        assert!(error.contains(words), "{error}");
    }
}

#[mcp_task]
async fn ask_one(what: String) -> Result<String, ToolError> {
    match &*what {
        "form" => ask_user::<()>("Well?").key("form").await?,
        "url" => drop(ask_user_url("Open it?", "https://example.org").await?),
        "model" => drop(ask_model(ModelRequest::new(1).user("Hi")).await?),
        _ => drop(list_roots().await?),
    }
    Ok("asked".to_owned())
}

async fn call(what: &str, capabilities: Capabilities) -> Result<Called, ProtocolError> {
    let runtime = Runtime::builder("test", "1").task(ask_one).build().unwrap();
    let arguments = serde_json::value::to_raw_value(&json!({ "what": what })).unwrap();
    let request = CallRequest {
        arguments: Some(&arguments),
        caller: &Caller::anonymous(),
        capabilities,
        client: None,
        meta: None,
        retry: None,
        session: None,
        progress: None,
    };
    let tool = runtime.tool("ask_one").unwrap();
    runtime.call(tool, request).await
}

/// Clients without tasks, one that can do nothing and one for each kind.
fn able(kind: Option<InputKind>) -> Capabilities {
    Capabilities {
        tasks: false,
        elicitation: ElicitationModes {
            form: kind == Some(InputKind::Form),
            url: kind == Some(InputKind::Url),
        },
        sampling: kind == Some(InputKind::Model),
        roots: kind == Some(InputKind::Roots),
        ..Capabilities::default()
    }
}

#[tokio::test]
async fn only_what_the_client_declared_is_asked() {
    let kinds = [
        (InputKind::Form, "form", json!({ "elicitation": {} })),
        (
            InputKind::Url,
            "url",
            json!({ "elicitation": { "url": {} } }),
        ),
        (InputKind::Model, "model", json!({ "sampling": {} })),
        (InputKind::Roots, "roots", json!({ "roots": {} })),
    ];
    for (kind, key, required) in kinds {
        for declared in [
            None,
            Some(InputKind::Form),
            Some(InputKind::Url),
            Some(InputKind::Model),
            Some(InputKind::Roots),
        ] {
            let called = call(key, able(declared)).await;
            if declared == Some(kind) {
                let Ok(Called::InputRequired(asked)) = called else {
                    panic!("{key} was not asked");
                };
                let (asked_key, request) = &asked.requests[0];
                assert_eq!(asked_key.as_str(), key);
                assert_eq!((request.kind(), &*request.method), (kind, kind.method()));
            } else {
                let error = called.expect_err("it cannot be asked");
                assert_eq!(error.code.0, -32021, "{error:?}");
                assert!(error.message.contains(kind.capability()), "{error:?}");
                assert_eq!(
                    error.data.unwrap(),
                    json!({ "requiredCapabilities": required })
                );
            }
        }
    }
}

#[mcp_task]
async fn ask_together() -> Result<String, ToolError> {
    let (page, reply, roots) = join!(
        ask_user_url("Open it?", "https://example.org"),
        ask_model(ModelRequest::new(1).user("Hi")),
        list_roots(),
    );
    page?;
    Ok(format!("{} {}", reply?.text(), roots?.len()))
}

#[tokio::test(start_paused = true)]
async fn questions_of_all_kinds_can_be_asked_at_once() {
    let mut task = TestTask::start(ask_together()).await;
    task.answer_with_roots("2/roots", []).await;
    task.crash().await;
    task.agree("0/url").await;
    task.answer_as_model("1/model", "Hi").await;
    assert_eq!(task.result().await.text(), "Hi 0");
}
