//! Sealed states of every released format, as clients hold them: today's code
//! opens them and goes on.
//!
//! `golden/state-1/*.txt` were written once and are never renewed: what no longer
//! opens here is somebody's call. With `WRITE_STATES=1` those that are missing are
//! written.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use mcp_tasks::Caller;
use mcp_tasks::prelude::*;
use mcp_tasks::protocol::{Capabilities, ElicitationModes};
use mcp_tasks::runtime::{CallRequest, Called, InputRequired, Retry, Runtime};
use mcp_tasks::task::{Answer, InputKey};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::Instant;

/// When the golden states were given.
const GIVEN: Duration = Duration::from_secs(1_800_000_000);

/// A step, questions at once, a timer and chance: all that a state may hold.
#[mcp_task(support = "optional", state_ttl = "7d")]
async fn order(service: String) -> Result<String, ToolError> {
    set_status("planning");
    let plan = step(plan(&service)).await?;
    let lot: u32 = random();
    let (name, sure) = join!(
        name: ask_user::<String>(format!("Who ships {plan}?")).timeout(Duration::from_secs(86_400)),
        sure: ask_user::<bool>("Are you sure?"),
    );
    let unhurried = unrecorded(std::future::ready(true)).await;
    Ok(format!("{} {} {plan} {lot} {unhurried}", name?, sure?))
}

/// Not what it was when the golden states were given.
#[allow(clippy::unused_async, reason = "a step takes a future")]
async fn plan(service: &str) -> std::io::Result<String> {
    Ok(format!("a new plan for {service}"))
}

/// A server `after` the golden states were given.
fn server(after: Duration) -> Runtime {
    let now = SystemTime::UNIX_EPOCH + GIVEN + after;
    Runtime::builder("golden", "1")
        .tokio_clock(now, Instant::now())
        .state_keys([[b'k'; 32]])
        .task(order)
        .build()
        .expect("the server is put together")
}

async fn call(runtime: &Runtime, retry: Option<&Retry<'_>>) -> Called {
    let arguments = to_raw_value(&json!({ "service": "billing" })).expect("JSON");
    let call = CallRequest {
        arguments: Some(&arguments),
        caller: &Caller::new("ada"),
        capabilities: Capabilities {
            elicitation: ElicitationModes {
                form: true,
                url: false,
            },
            ..Capabilities::default()
        },
        client: None,
        meta: None,
        retry,
        session: None,
        progress: None,
    };
    let tool = runtime.tool("order").expect("the tool is there");
    let called = runtime.call(tool, call).await;
    called.unwrap_or_else(|error| panic!("{}", error.message))
}

fn answer(content: &serde_json::Value) -> Box<RawValue> {
    to_raw_value(&json!({ "action": "accept", "content": { "answer": content } })).expect("JSON")
}

/// Calls again with answers under these keys.
async fn retry(runtime: &Runtime, state: &str, answers: &[(&str, &RawValue)]) -> Called {
    let answers = answers.iter().map(|(key, response)| Answer {
        key: InputKey::new(*key),
        response,
    });
    let retry = Retry {
        state: Cow::Borrowed(state),
        answers: answers.collect(),
    };
    call(runtime, Some(&retry)).await
}

fn asks(called: Called) -> InputRequired {
    match called {
        Called::InputRequired(required) => required,
        other => panic!("it asks nothing: {other:?}"),
    }
}

/// The golden state of this name; written if it is missing and is to be.
fn golden(name: &str, fresh: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/state-1");
    let path = folder.join(format!("{name}.txt"));
    if std::env::var_os("WRITE_STATES").is_some() && !path.exists() {
        fs::write(&path, format!("{fresh}\n")).expect("the file can be written");
    }
    let text = fs::read_to_string(&path).expect("the golden state is there");
    text.trim().to_owned()
}

#[tokio::test(start_paused = true)]
async fn states_of_format_1_are_opened_and_gone_on_with() {
    let before = server(Duration::ZERO);
    let (name, sure) = (answer(&json!("Luca")), answer(&json!(true)));
    let first = asks(call(&before, None).await).state;
    let second = asks(retry(&before, &first, &[("name/string", &name)]).await).state;
    let (first, second) = (golden("asked", &first), golden("half-answered", &second));
    let after = server(Duration::from_secs(3600));
    let both: [(&str, &RawValue); 2] = [("name/string", &name), ("sure/bool", &sure)];
    for (state, answers) in [(first, &both[..]), (second, &both[1..])] {
        let Called::Result(result) = retry(&after, &state, answers).await else {
            panic!("it asks again");
        };
        // The plan and the lot are those that were drawn then.
        assert!(
            result.get().contains(r#""Luca true a plan for billing 1"#),
            "{result}"
        );
    }
}
