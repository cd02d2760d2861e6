//! What becomes of answers.

use mcp_tasks_tests::{Declares, Page};
use serde_json::json;

use super::server::{Desk, nameless};

/// The page that the browser is sent to after an answer.
async fn after(desk: &Desk, page: &Page) -> Page {
    assert_eq!(page.status, 303, "{}", page.text);
    let location = page.headers["location"].to_str().unwrap();
    let query = location.strip_prefix('?').unwrap();
    desk.visiting_alice().get(query).await
}

#[tokio::test]
async fn an_answer_goes_on_with_the_task_and_the_list_says_so() {
    let desk = Desk::with_inbox().await;
    let id = desk.asks("name").await;
    let visitor = desk.visiting_alice();
    let form = visitor.look().await.form();
    let page = visitor
        .submit(&form.filled("answer", &[("f0", "Ada <3")]))
        .await;
    assert!(!page.text.contains("Ada"));
    let page = after(&desk, &page).await;
    page.shows(&[
        "role=\"status\"",
        "Your answer was recorded.",
        "No open questions",
    ]);
    assert_eq!(desk.alice().until_text(&id).await, "got: Ada <3");
    // It is said once.
    assert!(
        !visitor
            .look()
            .await
            .text
            .contains("Your answer was recorded.")
    );
}

#[tokio::test]
async fn declining_and_dismissing_look_at_nothing_that_was_typed() {
    for (button, note, text) in [
        ("decline", "You declined", "declined"),
        ("dismiss", "You dismissed", "dismissed"),
    ] {
        let desk = Desk::with_inbox().await;
        let id = desk.asks("name").await;
        let form = desk.visiting_alice().look().await.form();
        let page = desk
            .visiting_alice()
            .submit(&form.filled(button, &[]))
            .await;
        after(&desk, &page).await.shows(&[note]);
        assert_eq!(desk.alice().until_text(&id).await, text);
    }
}

#[tokio::test]
async fn every_kind_of_field_is_sent_as_what_it_is() {
    let desk = Desk::with_inbox().await;
    let id = desk.asks("everything").await;
    let visitor = desk.visiting_alice();
    let form = visitor.look().await.form();
    let fields = [
        ("f0", " two\r\nlines "),
        ("f1", "\u{1f980}\u{1f980}"),
        ("f2", ""),
        ("f3", " j\u{f6}rg@b\u{fc}cher.example "),
        ("f4", "https://example.org/a?b=c&d"),
        ("f5", "2026-07-28"),
        ("f6", "2026-07-28T09:30"),
        ("f6offset", "+05:45"),
        ("f7", "1.25"),
        ("f8", "100"),
        ("f9", "no"),
        ("f10", ""),
        ("f11", "1"),
        ("f12", "5"),
        ("f13", "0"),
        ("f13", "1"),
    ];
    let page = visitor.submit(&form.filled("answer", &fields)).await;
    assert_eq!(page.status, 303, "{}", page.text);
    let task = desk.alice().until(&id, "completed").await;
    assert_eq!(
        task["result"]["structuredContent"],
        json!({
            "text": " two\nlines ", "short": "\u{1f980}\u{1f980}", "long": null,
            "email": "j\u{f6}rg@b\u{fc}cher.example", "link": "https://example.org/a?b=c&d",
            "day": "2026-07-28", "moment": "2026-07-28T09:30:00+05:45",
            "ratio": 1.25, "percent": 100, "sure": false, "maybe": null,
            "level": "high", "many": "f", "levels": ["low", "high"],
        })
    );
}

#[tokio::test]
async fn what_does_not_fit_comes_back_as_it_was_typed_with_all_that_is_wrong() {
    let desk = Desk::with_inbox().await;
    let id = desk.asks("everything").await;
    let other = desk.asks("name").await;
    let visitor = desk.visiting_alice();
    let forms = visitor.look().await.forms();
    let form = forms.iter().find(|form| form.hidden("task") == id).unwrap();
    let fields = [
        ("f0", "typed"),
        ("f1", "too long"),
        ("f2", "first\r\nsecond"),
        ("f3", "nobody"),
        ("f5", "2026-02-30"),
        ("f6", "2026-07-28T09:30"),
        ("f6offset", ""),
        ("f7", "many"),
        ("f8", "101"),
        ("f9", "yes"),
        ("f10", "no"),
        ("f11", "7"),
        ("f12", "2"),
        ("f13", "0"),
    ];
    let page = visitor.submit(&form.filled("answer", &fields)).await;
    assert_eq!(page.status, 422);
    page.shows(&["<title>Error: ", "role=\"alert\"", "autofocus"]);
    let again = page
        .forms()
        .into_iter()
        .find(|form| form.hidden("task") == id)
        .unwrap();
    let card = &again.card;
    let id_of = card
        .split("id=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    for (field, words) in [
        (1, "Short must have 2 to 4 characters, not 8."),
        (3, "Email must be a mail address"),
        (5, "Day must be a date"),
        (6, "Moment needs its offset from UTC"),
        (7, "Ratio must be a number."),
        (8, "Percent must be between 1 and 100, got 101."),
        (11, "Level is required."),
    ] {
        let link = format!("<a href=\"#{id_of}-f{field}\">{words}");
        assert!(card.contains(&link), "`{link}` is not on: {card}");
        assert!(card.contains(&format!("id=\"{id_of}-f{field}-error\"")));
    }
    for typed in [
        "value=\"typed\"",
        "value=\"too long\" required",
        "first\nsecond</textarea>",
        "value=\"nobody\"",
        "value=\"2026-02-30\"",
        "value=\"2026-07-28T09:30\"",
        "value=\"many\"",
        "value=\"101\"",
        "value=\"yes\" checked",
        "value=\"no\" checked",
        "<option value=\"2\" selected",
        "value=\"0\" checked",
    ] {
        assert!(card.contains(typed), "`{typed}` is not on: {card}");
    }
    assert_eq!(card.matches("aria-invalid=\"true\"").count(), 7, "{card}");
    // Nothing was recorded, nothing else is gone, and it can be sent again.
    assert_eq!(desk.alice().get(&id).await["status"], "input_required");
    assert!(page.forms().iter().any(|form| form.hidden("task") == other));
    let page = visitor.submit(&again.filled("decline", &[])).await;
    assert_eq!(page.status, 303);
}

#[tokio::test]
async fn the_first_answer_counts_and_the_second_is_told_so() {
    let desk = Desk::with_inbox().await;
    let id = desk.asks("twice").await;
    let visitor = desk.visiting_alice();
    let form = visitor.look().await.form();
    let client = desk.alice();
    client.answer(&id, "first", "client").await;
    let page = visitor
        .submit(&form.filled("answer", &[("f0", "page")]))
        .await;
    after(&desk, &page)
        .await
        .shows(&["Nothing was recorded", "answered before"]);
    client.until_asked(&id, Some("first")).await;
    let form = visitor.look().await.form();
    let page = visitor
        .submit(&form.filled("answer", &[("f0", "page")]))
        .await;
    assert_eq!(page.headers["location"], "?done=answered");
    // Sent twice, as by a second click.
    let page = visitor
        .submit(&form.filled("answer", &[("f0", "again")]))
        .await;
    assert_eq!(page.headers["location"], "?done=late");
    assert_eq!(client.until_text(&id).await, "client,page");
    // Nor does one count for what has ended, or is cancelled.
    let page = visitor
        .submit(&form.filled("answer", &[("f0", "page")]))
        .await;
    assert_eq!(page.headers["location"], "?done=late");
    let id = desk.asks("name").await;
    let form = visitor.look().await.form();
    client.cancel(&id).await;
    let page = visitor.submit(&form.filled("decline", &[])).await;
    assert_eq!(page.headers["location"], "?done=late");
}

#[tokio::test]
async fn consent_to_open_a_page_is_an_answer() {
    let desk = Desk::with_inbox().await;
    let id = desk
        .asks_with("open", json!({ "url": "https://example.org" }))
        .await;
    let form = desk.visiting_alice().look().await.form();
    let page = desk
        .visiting_alice()
        .submit(&form.filled("answer", &[]))
        .await;
    assert_eq!(page.status, 303);
    assert_eq!(desk.alice().until_text(&id).await, "opened");
}

#[tokio::test]
async fn an_answer_may_be_no_longer_than_over_the_protocol() {
    let desk = Desk::with_limits(|limits| limits.answer = 1000).await;
    let id = desk.asks("name").await;
    let visitor = desk.visiting_alice();
    let form = visitor.look().await.form();
    let long = "x".repeat(1000);
    let page = visitor
        .submit(&form.filled("answer", &[("f0", &long)]))
        .await;
    assert_eq!(page.status, 422);
    page.shows(&["the limit is 1000", &long]);
    let longer = "x".repeat(100_000);
    let page = visitor
        .submit(&form.filled("answer", &[("f0", &longer)]))
        .await;
    assert_eq!(page.status, 413);
    page.shows(&["too long", "Nothing was recorded"]);
    assert_eq!(desk.alice().get(&id).await["status"], "input_required");
}

#[tokio::test]
async fn a_client_that_cannot_show_questions_leaves_them_to_the_inbox() {
    let desk = Desk::with_inbox().await;
    let client = desk.alice().declaring(Declares::NoElicitation);
    let id = client.task("twice", json!({})).await;
    let visitor = desk.visiting_alice();
    let mut events = visitor.events().await;
    for (answer, question) in [("one", "The first?"), ("two", "The second?")] {
        let page = loop {
            let page = visitor.look().await;
            if page.text.contains(question) {
                break page;
            }
            events.next().await.unwrap();
        };
        let task = client.get(&id).await;
        assert_eq!(task["status"], "working");
        assert_eq!(
            task["statusMessage"],
            "a person is asked in the server's inbox"
        );
        assert_eq!(task["inputRequests"], json!(null));
        let page = visitor
            .submit(&page.form().filled("answer", &[("f0", answer)]))
            .await;
        assert_eq!(page.status, 303);
    }
    assert_eq!(client.until_text(&id).await, "one,two");
    // A call that is no task is asked nothing that its client cannot show.
    let inline = desk.alice().declaring(Declares::Nothing);
    let reply = inline.call("twice", json!({})).await;
    reply.refused(-32021, &["elicitation"]);
    visitor.look().await.shows(&["No open questions"]);
}

#[tokio::test]
async fn whoever_has_no_inbox_is_not_asked_there() {
    let careful = Desk::open(nameless().inbox()).await;
    let client = careful.client("none").declaring(Declares::NoElicitation);
    let id = client.task("twice", json!({})).await;
    let task = client.until(&id, "failed").await;
    assert_eq!(task["error"]["code"], -32021, "{task}");
}
