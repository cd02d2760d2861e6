//! What cannot be asked, and answers that are none.

use mcp_tasks_tests::Transport;
use serde_json::json;

use super::{able, accepted, open, over_every_transport};

over_every_transport! {
    a_client_that_can_do_nothing_is_told_what_is_missing,
    versions_without_a_kind_are_not_asked_for_it,
    an_error_of_the_client_ends_the_call_in_its_words,
    a_malformed_answer_ends_the_call_in_words,
}

async fn a_client_that_can_do_nothing_is_told_what_is_missing(transport: Transport) {
    let mut session = open(transport, "2025-11-25", json!({})).await;
    for (tool, capability) in [
        ("ask1", "`elicitation`"),
        ("open_url", "`elicitation.url`"),
        ("ask_the_model", "`sampling`"),
        ("show_roots", "`roots`"),
    ] {
        let reply = session.result_of(tool, json!({ "prompt": "Hi" })).await;
        assert_eq!(reply["error"]["code"], -32021, "{reply}");
        let words = reply["error"]["message"].as_str().unwrap();
        assert!(words.contains(capability), "{words}");
    }
}

async fn versions_without_a_kind_are_not_asked_for_it(transport: Transport) {
    // Whatever a client says, these versions do not have it.
    for (version, tools) in [
        ("2025-06-18", ["open_url"].as_slice()),
        ("2025-03-26", &["open_url", "ask1"]),
    ] {
        let mut session = open(transport, version, able()).await;
        for tool in tools {
            let reply = session.result_of(tool, json!({})).await;
            assert_eq!(reply["error"]["code"], -32021, "{version}: {reply}");
        }
    }
}

async fn an_error_of_the_client_ends_the_call_in_its_words(transport: Transport) {
    let mut session = open(transport, "2025-11-25", able()).await;
    for (code, said, heard) in [
        (-32603, "the window is gone", "the window is gone"),
        (-32601, "method not found", "it does not know how to"),
        (-1, "no", "no"),
    ] {
        let id = session.call("ask1", json!({})).await;
        let asked = session.asked("elicitation/create").await;
        session.fail(&asked, code, said).await;
        let reply = session.reply(id).await;
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
        let words = reply["error"]["message"].as_str().unwrap();
        assert!(words.contains("the question `answer`"), "{words}");
        assert!(words.contains(heard), "{words}");
    }
}

async fn a_malformed_answer_ends_the_call_in_words(transport: Transport) {
    let mut session = open(transport, "2025-11-25", able()).await;
    for (tool, answer, heard) in [
        ("ask1", json!({}), "missing field `action`"),
        ("ask1", json!({ "action": "maybe" }), "`answer`"),
        ("ask1", accepted(json!({})), "`answer`"),
        ("ask1", accepted(json!({ "answer": 7 })), "must be text"),
        ("open_url", json!({ "roots": [] }), "missing field `action`"),
        (
            "ask_the_model",
            json!({ "action": "accept" }),
            "missing field `role`",
        ),
        (
            "show_roots",
            json!({ "roots": [{ "name": "A" }] }),
            "missing field `uri`",
        ),
    ] {
        let id = session.call(tool, json!({ "prompt": "Hi" })).await;
        let asked = session.next().await;
        session.answer(&asked, answer).await;
        let reply = session.reply(id).await;
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
        let words = reply["error"]["message"].as_str().unwrap();
        assert!(
            words.contains("the client's answer cannot be used"),
            "{words}"
        );
        assert!(words.contains(heard), "{words}");
    }
    // The session goes on.
    let id = session.call("ask1", json!({})).await;
    let asked = session.asked("elicitation/create").await;
    session
        .answer(&asked, accepted(json!({ "answer": "A" })))
        .await;
    assert_eq!(session.text(id).await, "got: A");
}
