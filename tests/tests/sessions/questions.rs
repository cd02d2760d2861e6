//! What is asked, and how each version puts it.

use mcp_tasks_tests::{Said, Session, Transport};
use serde_json::{Value, json};

use super::{ELICITING, FIXTURES, able, accepted, open, over_every_transport};

over_every_transport! {
    a_form_is_asked_on_the_open_call,
    several_questions_are_asked_at_once,
    each_version_has_its_own_forms,
    a_url_is_opened_and_its_end_is_told,
    a_model_is_asked,
    roots_are_listed,
    nothing_of_the_newer_protocol_shows,
    a_handshake_of_the_newer_version_opens_the_last_session,
}

async fn a_form_is_asked_on_the_open_call(transport: Transport) {
    for version in ELICITING {
        let mut session = open(transport, version, json!({ "elicitation": {} })).await;
        let id = session.call("ask2", json!({})).await;
        for (words, answer) in [("The first?", "A"), ("The second?", "B")] {
            let asked = session.asked("elicitation/create").await;
            let params = &asked.message["params"];
            assert_eq!(params["message"], words, "{version}");
            let mode = if version == "2025-11-25" {
                json!("form")
            } else {
                Value::Null
            };
            assert_eq!(params["mode"], mode, "{version}");
            if transport == Transport::Http {
                assert_eq!(asked.on, Some(id), "not on the call's own stream");
            }
            session
                .answer(&asked, accepted(json!({ "answer": answer })))
                .await;
        }
        assert_eq!(session.text(id).await, "A,B");
        for (action, outcome) in [("decline", "declined"), ("cancel", "dismissed")] {
            let id = session.call("ask1", json!({})).await;
            let asked = session.asked("elicitation/create").await;
            session.answer(&asked, json!({ "action": action })).await;
            assert_eq!(session.text(id).await, outcome);
        }
    }
}

/// The two questions of a call, the left one first. Over HTTP they come in any
/// order.
pub(super) async fn both(session: &mut Session) -> (Said, Said) {
    let one = session.asked("elicitation/create").await;
    let two = session.asked("elicitation/create").await;
    let is_left = one.message["params"]["message"] == "The left one?";
    if is_left || one.on.is_none() {
        (one, two)
    } else {
        (two, one)
    }
}

async fn several_questions_are_asked_at_once(transport: Transport) {
    let mut session = open(transport, "2025-11-25", able()).await;
    let id = session.call("askpar", json!({})).await;
    let (left, right) = both(&mut session).await;
    assert_eq!(left.message["params"]["message"], "The left one?");
    assert_eq!(right.message["params"]["message"], "The right one?");
    session
        .answer(&right, accepted(json!({ "answer": "B" })))
        .await;
    session
        .answer(&left, accepted(json!({ "answer": "A" })))
        .await;
    assert_eq!(session.text(id).await, "A,B");
    // Two calls at once, too.
    let one = session.call("ask1", json!({})).await;
    let first = session.asked("elicitation/create").await;
    let two = session.call("ask1", json!({})).await;
    let second = session.asked("elicitation/create").await;
    session
        .answer(&second, accepted(json!({ "answer": "two" })))
        .await;
    assert_eq!(session.text(two).await, "got: two");
    session
        .answer(&first, accepted(json!({ "answer": "one" })))
        .await;
    assert_eq!(session.text(one).await, "got: one");
}

async fn each_version_has_its_own_forms(transport: Transport) {
    let colour = |version| match version {
        "2025-11-25" => json!({
            "type": "string", "default": "green", "oneOf": [
                { "const": "red", "title": "Red as a rose" },
                { "const": "green", "title": "Green as grass" },
            ],
        }),
        _ => json!({
            "type": "string",
            "enum": ["red", "green"], "enumNames": ["Red as a rose", "Green as grass"],
        }),
    };
    for version in ELICITING {
        let mut session = open(transport, version, able()).await;
        let id = session.call("choose", json!({})).await;
        let asked = session.asked("elicitation/create").await;
        let fields = &asked.message["params"]["requestedSchema"]["properties"];
        if transport == Transport::Stdio {
            let at = |name: &str| asked.text.find(&format!("\"{name}\":{{")).unwrap();
            assert!(
                at("colour") < at("on") && at("on") < at("minutes"),
                "{}",
                asked.text
            );
        }
        let mut shown = fields["colour"].clone();
        shown.as_object_mut().unwrap().remove("title");
        assert_eq!(shown, colour(version), "{version}");
        assert_eq!(fields["on"]["default"], true, "{version}");
        let minutes = fields["minutes"].get("default").is_some();
        assert_eq!(minutes, version == "2025-11-25", "{asked:?}");
        session
            .answer(
                &asked,
                accepted(json!({ "colour": "red", "on": false, "minutes": 7 })),
            )
            .await;
        assert_eq!(session.text(id).await, "Red false 7");
    }
    // A choice of several came with 2025-11-25.
    let mut session = open(transport, "2025-06-18", able()).await;
    let reply = session.result_of("form", json!({})).await;
    let words = reply["error"]["message"].as_str().unwrap();
    assert!(
        words.contains("`levels`") && words.contains("2025-06-18"),
        "{words}"
    );
}

async fn a_url_is_opened_and_its_end_is_told(transport: Transport) {
    let mut session = open(transport, "2025-11-25", able()).await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let id = session.call("open_url", json!({})).await;
        let asked = session.asked("elicitation/create").await;
        let params = &asked.message["params"];
        assert_eq!(params["mode"], "url");
        assert_eq!(params["message"], "Please sign in.");
        assert_eq!(params["url"], "https://example.org/in");
        let elicitation = params["elicitationId"].as_str().unwrap().to_owned();
        assert!(!ids.contains(&elicitation));
        session.answer(&asked, json!({ "action": "accept" })).await;
        // The streams of HTTP have no common order.
        let (mut told, mut replied) = (false, false);
        for _ in 0..2 {
            let said = session.next().await.message;
            if said["method"] == "notifications/elicitation/complete" {
                assert_eq!(said["params"], json!({ "elicitationId": elicitation }));
                assert!(
                    transport == Transport::Http || !replied,
                    "told after the reply"
                );
                told = true;
            } else {
                assert_eq!(said["id"], id, "{said}");
                assert_eq!(said["result"]["content"][0]["text"], "agreed");
                replied = true;
            }
        }
        assert!(told && replied);
        ids.push(elicitation);
    }
    // What was not opened does not end.
    for (action, outcome) in [("decline", "declined"), ("cancel", "dismissed")] {
        let id = session.call("open_url", json!({})).await;
        let asked = session.asked("elicitation/create").await;
        session.answer(&asked, json!({ "action": action })).await;
        assert_eq!(session.text(id).await, outcome);
    }
}

async fn a_model_is_asked(transport: Transport) {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let mut session = open(transport, version, able()).await;
        let id = session
            .call("ask_the_model", json!({ "prompt": "Why?" }))
            .await;
        let asked = session.asked("sampling/createMessage").await;
        let params = &asked.message["params"];
        let content = json!({ "type": "text", "text": "Why?" });
        assert_eq!(
            params["messages"],
            json!([{ "role": "user", "content": content }])
        );
        assert_eq!(params["systemPrompt"], "Be brief.");
        assert_eq!(params["maxTokens"], 100);
        assert_eq!(params["temperature"], 0.5);
        let said = json!({
            "role": "assistant", "model": "m-1", "stopReason": "endTurn",
            "content": { "type": "text", "text": "Because." },
        });
        session.answer(&asked, said).await;
        assert_eq!(session.text(id).await, "m-1: Because.");
        let id = session
            .call("ask_the_model", json!({ "prompt": "Why?" }))
            .await;
        let asked = session.asked("sampling/createMessage").await;
        session
            .fail(&asked, -1, "User rejected sampling request")
            .await;
        assert_eq!(session.text(id).await, "declined");
    }
}

async fn roots_are_listed(transport: Transport) {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let mut session = open(transport, version, able()).await;
        let id = session.call("show_roots", json!({})).await;
        let asked = session.asked("roots/list").await;
        let roots = json!([{ "uri": "file:///a", "name": "A" }, { "uri": "file:///b" }]);
        session.answer(&asked, json!({ "roots": roots })).await;
        assert_eq!(session.text(id).await, "A file:///a,  file:///b");
    }
}

async fn nothing_of_the_newer_protocol_shows(transport: Transport) {
    // Each message is looked through as it comes.
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let mut session = open(transport, version, able()).await;
        let id = session.request("tools/list", json!({})).await;
        let listed = session.reply(id).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let names: Vec<&str> = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert!(
            names.contains(&"sync") && names.contains(&"ask1"),
            "{names:?}"
        );
        for required in ["required", "wait_signal"] {
            assert!(!names.contains(&required), "{names:?}");
            let reply = session.result_of(required, json!({})).await;
            assert_eq!(reply["error"]["code"], -32602, "{reply}");
            let words = reply["error"]["message"].as_str().unwrap();
            assert!(words.contains("only runs as a task"), "{words}");
        }
        for tool in ["sync", "soft", "hard", "shows"] {
            session.result_of(tool, json!({})).await;
        }
        let timer = session.call("timer", json!({ "ms": 1 })).await;
        assert_eq!(session.text(timer).await, "rang");
        let id = session.request("tasks/get", json!({})).await;
        assert_eq!(session.reply(id).await["error"]["code"], -32601);
    }
}

async fn a_handshake_of_the_newer_version_opens_the_last_session(transport: Transport) {
    let opened = Session::begin(FIXTURES, transport, "2026-07-28", able()).await;
    let (mut session, version) = opened;
    assert_eq!(version, "2025-11-25");
    let id = session.call("ask1", json!({})).await;
    let asked = session.asked("elicitation/create").await;
    session
        .answer(&asked, accepted(json!({ "answer": "A" })))
        .await;
    assert_eq!(session.text(id).await, "got: A");
}

#[tokio::test]
async fn a_client_with_no_stream_of_its_own_gets_its_reply() {
    // What belongs to no request has nowhere to go then.
    let opened = Session::begin(FIXTURES, Transport::Http, "2025-11-25", able()).await;
    let (mut session, _) = opened;
    let id = session.call("open_url", json!({})).await;
    let asked = session.asked("elicitation/create").await;
    assert_eq!(asked.on, Some(id));
    session.answer(&asked, json!({ "action": "accept" })).await;
    assert_eq!(session.text(id).await, "agreed");
    let id = session.call("race", json!({ "ms": 10 })).await;
    session.asked("elicitation/create").await;
    assert_eq!(session.text(id).await, "timed out");
    let id = session.call("sync", json!({})).await;
    session.reply(id).await;
}
