//! What is on the page.

use axum::Router;
use mcp_tasks_tests::{Client, Visitor};
use serde_json::json;

use super::server::{Desk, desk, serve, title_as_shown};

#[tokio::test]
async fn nothing_is_served_unless_it_is_asked_for() {
    let server = desk().build().unwrap();
    let error = server.inbox_service().unwrap_err().to_string();
    assert!(error.contains("`.inbox()`"), "{error}");
    let fixtures = env!("CARGO_BIN_EXE_fixtures");
    let server = mcp_tasks_tests::Fixture::http(fixtures, &["--token", "alice=a-secret"]).await;
    let url = server.client().url().replace("/mcp", "/inbox");
    let page = Visitor::of(url)
        .with("authorization", "Bearer a-secret")
        .look()
        .await;
    assert_eq!(page.status, 404);
}

#[tokio::test]
async fn a_server_with_an_address_of_its_own_has_it_beside_the_protocol() {
    let flags = ["--token", "alice=a-secret", "--inbox"];
    let server = mcp_tasks_tests::Fixture::http(env!("CARGO_BIN_EXE_fixtures"), &flags).await;
    let url = server.client().url().replace("/mcp", "/inbox");
    assert!(
        server.said().contains(&format!("inbox at {url}")),
        "{}",
        server.said()
    );
    let page = Visitor::of(url)
        .with("authorization", "Bearer a-secret")
        .look()
        .await;
    assert_eq!(page.status, 200);
    page.shows(&["No open questions", "Questions for <strong>alice</strong>"]);
}

#[tokio::test]
async fn an_open_question_is_a_form_until_it_is_answered() {
    let desk = Desk::with_inbox().await;
    let page = desk.visiting_alice().look().await;
    page.shows(&["No open questions", "<title>Inbox \u{b7} desk</title>"]);
    let id = desk.asks("name").await;
    let page = desk.visiting_alice().look().await;
    page.shows(&[
        "1 open question",
        "<title>(1) Inbox \u{b7} desk</title>",
        ">name</h2>",
        "What is your name?\nYour full name.",
        "waiting for a name",
        "<form method=\"post\" action=\"?\"",
    ]);
    assert_eq!(page.form().hidden("task"), id);
    desk.alice().answer(&id, "name", "Ada").await;
    desk.alice().until(&id, "completed").await;
    assert!(desk.visiting_alice().look().await.forms().is_empty());
}

#[tokio::test]
async fn what_did_not_count_does_not_look_like_what_did() {
    let desk = Desk::with_inbox().await;
    for (done, looks) in [
        ("answered", "good"),
        ("declined", "good"),
        ("dismissed", "good"),
        ("late", "bad"),
    ] {
        let page = desk.visiting_alice().get(&format!("done={done}")).await;
        page.shows(&[&format!("class=\"note {looks}\"")]);
    }
}

#[tokio::test]
async fn what_tools_say_may_run_from_right_to_left() {
    let desk = Desk::with_inbox().await;
    desk.asks("everything").await;
    let card = desk.visiting_alice().look().await.form().card;
    let tags = card.split('<');
    let mut said = tags.filter(|tag| {
        ["p class=\"message\"", "div class=\"field\"", "fieldset "]
            .iter()
            .any(|start| tag.starts_with(start))
    });
    assert!(said.clone().count() > 10, "{card}");
    assert!(said.all(|tag| tag.contains("dir=\"auto\"")), "{card}");
}

#[tokio::test]
async fn whoever_else_comes_sees_none_of_it() {
    let desk = Desk::with_inbox().await;
    let id = desk.asks("name").await;
    let page = desk.visitor("b-secret").look().await;
    page.shows(&["No open questions", "Questions for <strong>bob</strong>"]);
    assert!(!page.text.contains(&id) && !page.text.contains("your name"));
}

#[tokio::test]
async fn what_tools_say_is_text_wherever_it_stands() {
    let desk = Desk::with_inbox().await;
    desk.asks("hostile").await;
    let page = desk.visiting_alice().look().await;
    let scripts: Vec<_> = page.text.match_indices("<script").collect();
    assert_eq!(scripts.len(), 1, "that of the page: {}", page.text);
    for place in [
        "message",
        "title",
        "description",
        "default",
        "choice",
        "status",
    ] {
        page.shows(&[&format!("&lt;script&gt;alert('{place}')")]);
    }
    page.shows(&[
        &title_as_shown(),
        "&amp; &quot;so on&quot;",
        "&lt;/option&gt;&amp;amp;",
    ]);
    // Nor when it comes back.
    let form = page.form();
    let typed = "</textarea>\"><script>alert('typed')</script>";
    let page = desk
        .visiting_alice()
        .submit(&form.filled("answer", &[("f0", typed)]))
        .await;
    assert_eq!(page.status, 422);
    page.shows(&["value=\"&lt;/textarea&gt;&quot;&gt;&lt;script&gt;alert('typed')"]);
    assert_eq!(page.text.matches("<script").count(), 1);
}

#[tokio::test]
async fn every_kind_of_field_has_a_control_that_fits() {
    let desk = Desk::with_inbox().await;
    desk.asks("everything").await;
    let form = desk.visiting_alice().look().await.form();
    let card = form.card.as_str();
    let control = |index: usize| {
        let name = format!("name=\"f{index}\"");
        let controls = card.split('<').filter(|tag| tag.contains(&name));
        controls.map(str::to_owned).collect::<Vec<_>>()
    };
    let has = |index: usize, parts: &[&str]| {
        let control = control(index);
        for part in parts {
            assert!(control[0].contains(part), "`{part}` is not in {control:?}");
        }
    };
    has(0, &["type=\"text\"", " required"]);
    has(
        1,
        &[
            "type=\"text\"",
            "pattern=\".{2,4}\"",
            "title=\"2 to 4 characters\"",
        ],
    );
    has(2, &["textarea"]);
    has(3, &["inputmode=\"email\"", "autocomplete=\"email\""]);
    has(4, &["type=\"url\""]);
    has(5, &["type=\"date\""]);
    has(6, &["type=\"datetime-local\""]);
    has(
        7,
        &[
            "type=\"number\"",
            "step=\"any\"",
            "min=\"0.5\"",
            "max=\"1.5\"",
        ],
    );
    has(
        8,
        &["type=\"number\"", "step=\"1\"", "min=\"1\"", "max=\"100\""],
    );
    has(9, &["type=\"radio\"", " required"]);
    assert_eq!(control(9).len(), 2);
    has(10, &["type=\"radio\""]);
    assert_eq!(control(10).len(), 3, "yes, no, and no answer");
    assert_eq!(control(11).len(), 2);
    has(12, &["select", " required"]);
    has(13, &["type=\"checkbox\""]);
    for words in [
        "Short<span class=\"required\"> (required)",
        "1 to 2 choices",
        "A whole number from 1 to 100.",
    ] {
        assert!(card.contains(words), "`{words}` is not on: {card}");
    }
    // Labels and help belong to controls that are there.
    for attribute in ["for=\"", "aria-describedby=\"", "aria-labelledby=\""] {
        for ids in card.split(attribute).skip(1) {
            let ids = ids.split('"').next().unwrap().split(' ');
            for id in ids {
                let there = card.contains(&format!("id=\"{id}\"")) || card.starts_with(attribute);
                assert!(there, "{attribute}{id} leads nowhere");
            }
        }
    }
}

#[tokio::test]
async fn a_page_to_open_is_named_by_its_host_and_only_the_web_is_linked() {
    let desk = Desk::with_inbox().await;
    desk.asks_with(
        "open",
        json!({ "url": "https://bank.example@evil.example/a?b=%22" }),
    )
    .await;
    let form = desk.visiting_alice().look().await.form();
    for part in [
        "<strong class=\"host\">evil.example</strong>",
        "href=\"https://bank.example@evil.example/a?b=%22\"",
        "target=\"_blank\"",
        "rel=\"noopener noreferrer\"",
    ] {
        assert!(
            form.card.contains(part),
            "`{part}` is not on: {}",
            form.card
        );
    }
    let desk = Desk::with_inbox().await;
    desk.asks_with("open", json!({ "url": "javascript:alert(1)" }))
        .await;
    let form = desk.visiting_alice().look().await.form();
    assert!(!form.card.contains("href"), "{}", form.card);
    assert!(form.card.contains("no page on the web"));
}

#[tokio::test]
async fn what_is_not_for_people_is_not_shown() {
    let desk = Desk::with_inbox().await;
    desk.asks("model").await;
    desk.visiting_alice()
        .look()
        .await
        .shows(&["No open questions"]);
}

#[tokio::test]
async fn a_long_list_ends_with_a_line_that_says_so() {
    let desk = Desk::with_inbox().await;
    let mut last = String::new();
    for count in 1..=101 {
        last = desk.asks("confirm").await;
        if count == 100 {
            let page = desk.visiting_alice().look().await;
            page.shows(&["100 open questions", "id=\"more\" hidden"]);
        }
    }
    let page = desk.visiting_alice().look().await;
    let forms = page.forms();
    assert_eq!(forms.len(), 100);
    assert_eq!(forms[0].hidden("task"), last, "the newest is the first");
    page.shows(&["id=\"more\">There are more."]);
}

#[tokio::test]
async fn it_works_wherever_it_is_mounted() {
    let server = desk().inbox().build().unwrap();
    let inbox = server.inbox_service().unwrap();
    let application = Router::new()
        .route_service("/mcp", server.service())
        .nest_service("/deep/down", inbox.clone())
        .route_service("/with/slash/", inbox);
    let origin = serve(application).await;
    let client = Client::of_url(format!("{origin}/mcp")).with_token("a-secret");
    for path in ["/deep/down", "/with/slash/"] {
        let id = client.task("confirm", json!({})).await;
        client.until_asked(&id, None).await;
        let visitor = Visitor::of(format!("{origin}{path}"));
        let visitor = visitor.with("authorization", "Bearer a-secret");
        let page = visitor.look().await;
        // Every link is a query of the page itself.
        for link in page
            .text
            .split("href=\"")
            .chain(page.text.split("src=\""))
            .skip(1)
        {
            assert!(link.starts_with(['?', '<']), "{path}: {link:.40}");
        }
        assert_eq!(
            visitor.get("style").await.headers["content-type"],
            "text/css; charset=utf-8"
        );
        let page = visitor.submit(&page.form().filled("answer", &[])).await;
        assert_eq!(page.status, 303, "{}", page.text);
        assert_eq!(page.headers["location"], "?done=answered");
        client.until(&id, "completed").await;
    }
    drop(server);
}
