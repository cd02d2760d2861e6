//! What a client is asked, and how often.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_tasks::client::{
    Answer, Answers, CallError, CallOptions, Question, QuestionKind, TaskClient,
};
use mcp_tasks::protocol::{InputKind, ModelReply, ProtocolError, Root};
use mcp_tasks_tests::{PATIENCE, Transport, over_every_transport};
use serde_json::json;
use tokio::sync::{Barrier, Notify};
use tokio::time::timeout;

use super::{Echo, Pair, outcome, text};

over_every_transport! {
    each_question_is_put_once,
    questions_that_are_open_together_are_put_together,
    a_question_that_is_taken_back_is_not_thought_about_any_longer,
    nobody_thinks_about_the_questions_of_a_task_that_has_ended,
    a_refused_answer_is_thought_over,
    a_refused_answer_that_is_not_thought_over_ends_the_call,
    an_answer_by_hand_that_is_refused_leaves_the_call_as_it_was,
    a_question_that_is_left_open_waits_for_others,
    a_form_has_its_fields_in_the_servers_order,
    every_kind_of_question_is_put_if_it_was_offered,
    what_was_not_offered_is_not_asked,
}

async fn each_question_is_put_once(transport: Transport) {
    let echo = Echo::default();
    let pair = Pair::new(transport, TaskClient::builder().answers(echo.clone())).await;
    let result = outcome!(pair.client.call("ask_loop", json!({ "n": 5 }))).unwrap();
    let expected = ["answer", "answer#2", "answer#3", "answer#4", "answer#5"];
    assert_eq!(text(&result), expected.join(","));
    assert_eq!(echo.keys(), expected);
    let asked = echo.asked();
    assert!(asked.iter().all(|question| question.task.is_some()));
}

async fn questions_that_are_open_together_are_put_together(transport: Transport) {
    // Neither is answered before both are asked.
    let barrier = Arc::new(Barrier::new(2));
    let builder = TaskClient::builder().answers(move |question: Question| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Answer::accept(json!({ "answer": question.key })).ok()
        }
    });
    let pair = Pair::new(transport, builder).await;
    let result = outcome!(pair.client.call("askpar", json!({}))).unwrap();
    assert_eq!(text(&result), "left/answer,right/answer");
}

/// Says when it is dropped.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Thinks for ever, and says when it no longer need do so.
fn thinker(gone: &Arc<Notify>) -> impl Answers {
    let gone = Arc::clone(gone);
    move |_: Question| {
        let dropped = Dropped(Arc::clone(&gone));
        async move {
            let _dropped = dropped;
            std::future::pending().await
        }
    }
}

async fn a_question_that_is_taken_back_is_not_thought_about_any_longer(transport: Transport) {
    let gone = Arc::new(Notify::new());
    let pair = Pair::new(transport, TaskClient::builder().answers(thinker(&gone))).await;
    let result = outcome!(pair.client.call("race", json!({ "ms": 400 }))).unwrap();
    assert_eq!(text(&result), "timed out");
    timeout(PATIENCE, gone.notified()).await.unwrap();
}

async fn nobody_thinks_about_the_questions_of_a_task_that_has_ended(transport: Transport) {
    let gone = Arc::new(Notify::new());
    let pair = Pair::new(transport, TaskClient::builder().answers(thinker(&gone))).await;
    let call = pair.client.call("ask1", json!({}));
    let mut states = call.states();
    let id = loop {
        let state = states.next().await.unwrap();
        if !state.questions.is_empty() {
            break state.id.unwrap();
        }
    };
    // Somebody else cancels it.
    pair.client.cancel(&id).await.unwrap();
    assert!(matches!(outcome!(call), Err(CallError::Cancelled { .. })));
    timeout(PATIENCE, gone.notified()).await.unwrap();
}

/// Answers wrongly first, and then, if it learns from that, rightly.
struct Careless {
    learns: bool,
    refusals: Arc<Mutex<Vec<String>>>,
}

impl Answers for Careless {
    async fn answer(&self, _: Question) -> Option<Answer> {
        Answer::accept(json!({ "answer": 7 })).ok()
    }

    async fn refused(&self, question: Question, refusal: ProtocolError) -> Option<Answer> {
        assert_eq!(&*question.key, "answer");
        self.refusals.lock().unwrap().push(refusal.message);
        let answer = Answer::accept(json!({ "answer": "seven" }));
        answer.ok().filter(|_| self.learns)
    }
}

async fn a_refused_answer_is_thought_over(transport: Transport) {
    let refusals = Arc::default();
    let careless = Careless {
        learns: true,
        refusals: Arc::clone(&refusals),
    };
    let pair = Pair::new(transport, TaskClient::builder().answers(careless)).await;
    let result = outcome!(pair.client.call("ask1", json!({}))).unwrap();
    assert_eq!(text(&result), "got: seven");
    let refusals = refusals.lock().unwrap();
    assert_eq!(refusals.len(), 1);
    assert!(refusals[0].contains("text"), "{refusals:?}");
}

async fn a_refused_answer_that_is_not_thought_over_ends_the_call(transport: Transport) {
    let careless = Careless {
        learns: false,
        refusals: Arc::default(),
    };
    let pair = Pair::new(transport, TaskClient::builder().answers(careless)).await;
    let error = outcome!(pair.client.call("ask1", json!({}))).unwrap_err();
    assert!(
        matches!(&error, CallError::Refused { key, .. } if &**key == "answer"),
        "{error:?}"
    );
}

async fn an_answer_by_hand_that_is_refused_leaves_the_call_as_it_was(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let mut call = pair.client.call("ask1", json!({}));
    outcome!(&mut call).unwrap_err();
    let wrong = Answer::accept(json!({ "answer": 7 })).unwrap();
    let error = call.answer("answer", wrong).await.unwrap_err();
    assert!(matches!(error, CallError::Refused { .. }), "{error:?}");
    let error = call.decline("another").await.unwrap_err();
    assert!(matches!(error, CallError::NotOpen(_)), "{error:?}");
    // Still open, and handed back again.
    let error = outcome!(&mut call).unwrap_err();
    assert!(matches!(error, CallError::Unanswered { .. }), "{error:?}");
    call.decline("answer").await.unwrap();
    assert_eq!(text(&outcome!(call).unwrap()), "declined");
}

async fn a_question_that_is_left_open_waits_for_others(transport: Transport) {
    let builder = TaskClient::builder().answers(async |_: Question| None);
    let pair = Pair::new(transport, builder).await;
    let call = pair.client.call("ask1", json!({}));
    let mut states = call.states();
    while states.next().await.unwrap().questions.is_empty() {}
    call.dismiss("answer").await.unwrap();
    assert_eq!(text(&outcome!(call).unwrap()), "dismissed");
}

async fn a_form_has_its_fields_in_the_servers_order(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let error = outcome!(pair.client.call("form", json!({}))).unwrap_err();
    let CallError::Unanswered { questions, .. } = error else {
        panic!("{error:?}");
    };
    let QuestionKind::Form { form, .. } = &questions[0].kind else {
        panic!("{questions:?}");
    };
    let names: Vec<_> = form.fields().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "name", "short", "remark", "email", "link", "day", "moment", "ratio", "percent",
            "careful", "level", "window", "levels", "windows"
        ]
    );
}

/// Can be asked everything.
struct Everybody;

impl Answers for Everybody {
    async fn answer(&self, question: Question) -> Option<Answer> {
        match question.kind {
            QuestionKind::Url { url, .. } => {
                assert_eq!(url, "https://example.org/in");
                Some(Answer::consent())
            }
            QuestionKind::Model { params } => {
                assert!(params.get().contains("Be brief."), "{params}");
                Answer::reply(&ModelReply::of_text("Well.", "parrot")).ok()
            }
            QuestionKind::Roots => Answer::roots(&[Root::new("file:///a").named("A")]).ok(),
            _ => None,
        }
    }

    fn kinds(&self) -> Vec<InputKind> {
        vec![InputKind::Url, InputKind::Model, InputKind::Roots]
    }
}

async fn every_kind_of_question_is_put_if_it_was_offered(transport: Transport) {
    let pair = Pair::new(transport, TaskClient::builder().answers(Everybody)).await;
    for (tool, arguments, expected) in [
        ("open_url", json!({}), "agreed"),
        ("ask_the_model", json!({ "prompt": "?" }), "parrot: Well."),
        ("show_roots", json!({}), "A file:///a"),
    ] {
        let result = outcome!(pair.client.call(tool, arguments)).unwrap();
        assert_eq!(text(&result), expected, "{tool}");
    }
}

async fn what_was_not_offered_is_not_asked(transport: Transport) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    // These answers are of one call; the client offers forms and URLs.
    let options = CallOptions::new().answers(move |_: Question| {
        count.fetch_add(1, Ordering::Relaxed);
        async { None }
    });
    let pair = Pair::new(transport, TaskClient::builder()).await;
    let call = pair.client.call_with("show_roots", json!({}), options);
    let error = outcome!(call).unwrap_err();
    let CallError::Failed(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.code.0, -32021);
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}
