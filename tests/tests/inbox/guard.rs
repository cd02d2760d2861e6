//! Who is kept out, and from what.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use mcp_tasks::prelude::*;
use mcp_tasks_tests::{Page, PageForm, StoreFile, Visitor};
use serde_json::json;

use super::server::{Desk, desk, nameless, serve};

/// Fails if an answer was taken.
async fn refused(desk: &Desk, id: &str, page: &Page, status: u16) {
    assert_eq!(page.status, status, "{}", page.text);
    page.shows(&["Nothing was recorded"]);
    assert_eq!(desk.alice().get(id).await["status"], "input_required");
}

#[tokio::test]
async fn a_form_counts_with_the_token_that_was_made_for_it_alone() {
    let desk = Desk::with_inbox().await;
    let id = desk.asks("name").await;
    let alice = desk.visiting_alice();
    let form = alice.look().await.form();
    let bobs = desk.client("b-secret").task("name", json!({})).await;
    desk.client("b-secret").until_asked(&bobs, None).await;
    let foreign = desk.visitor("b-secret").look().await.form();
    let other = desk.asks("confirm").await;
    let of = |forms: Vec<PageForm>| forms.into_iter().find(|form| form.hidden("task") == other);
    let others = of(alice.look().await.forms()).unwrap();
    let mut changed = form.hidden("token").to_owned();
    let last = changed.pop().unwrap();
    changed.push(if last == 'A' { 'Q' } else { 'A' });
    for forged in [
        form.clone().without("token"),
        form.clone().forged("token", ""),
        form.clone().forged("token", "AAAA"),
        form.clone().forged("token", "no base64!"),
        form.clone().forged("token", &changed),
        form.clone().forged("token", &form.hidden("token")[..11]),
        form.clone().forged("token", foreign.hidden("token")),
        form.clone().forged("token", others.hidden("token")),
        others.clone().forged("task", &id),
    ] {
        let page = alice
            .submit(&forged.filled("answer", &[("f0", "Eve")]))
            .await;
        refused(&desk, &id, &page, 403).await;
    }
    let page = alice.submit(&form.filled("answer", &[("f0", "Ada")])).await;
    assert_eq!(page.status, 303);
}

#[tokio::test]
async fn nobody_answers_for_somebody_else() {
    let desk = Desk::with_inbox().await;
    let id = desk.asks("name").await;
    let form = desk.visiting_alice().look().await.form();
    let bob = desk.visitor("b-secret");
    let page = bob.submit(&form.filled("answer", &[("f0", "Bob")])).await;
    refused(&desk, &id, &page, 403).await;
    assert!(!page.text.contains("your name"));
}

#[tokio::test]
async fn pages_of_other_sites_send_nothing() {
    let desk = Desk::with_inbox().await;
    let id = desk.asks("name").await;
    let form = desk.visiting_alice().look().await.form();
    let fields = form.filled("answer", &[("f0", "Eve")]);
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        // It may speak the protocol, but this is not its form.
        ("origin", "http://localhost:3000"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let page = desk
            .visiting_alice()
            .with(name, value)
            .submit(&fields)
            .await;
        assert_eq!(page.status, 403, "{name}: {value}");
        assert_eq!(desk.alice().get(&id).await["status"], "input_required");
    }
    let own = desk.visiting_alice().with("origin", desk.origin.clone());
    let own = own.with("sec-fetch-site", "same-origin");
    assert_eq!(own.submit(&fields).await.status, 303);
}

#[tokio::test]
async fn a_browser_is_asked_to_sign_in() {
    let desk = Desk::with_inbox().await;
    desk.asks("name").await;
    for stranger in [desk.stranger(), desk.visitor("guessed")] {
        for query in ["", "style", "events"] {
            let page = stranger.get(query).await;
            assert_eq!(page.status, 401);
            let challenge = &page.headers["www-authenticate"];
            assert_eq!(challenge, "Basic realm=\"inbox\", charset=\"UTF-8\"");
            assert!(!page.text.contains("your name"));
            // It asks for nothing that would not be given.
            assert!(!page.text.contains("?style") && !page.text.contains("?script"));
        }
        assert_eq!(stranger.submit(&[("task", "x")]).await.status, 401);
    }
    // The password of `x:a-secret` is alice's token.
    let signed_in = desk
        .stranger()
        .with("authorization", "Basic eDphLXNlY3JldA==");
    let page = signed_in.look().await;
    page.shows(&["Questions for <strong>alice</strong>", "your name"]);
}

#[tokio::test]
async fn a_name_is_needed_unless_the_inbox_is_for_anybody() {
    let careful = Desk::open(nameless().inbox()).await;
    let id = careful.client("none").task("name", json!({})).await;
    careful.client("none").until_asked(&id, None).await;
    let page = careful.stranger().look().await;
    assert_eq!(page.status, 403);
    page.shows(&["nothing says who you are"]);
    assert!(!page.text.contains(&id) && !page.text.contains("your name"));
    assert_eq!(careful.stranger().get("events").await.status, 403);

    let open = Desk::open(nameless().inbox_for_anybody()).await;
    let id = open.client("none").task("name", json!({})).await;
    open.client("none").until_asked(&id, None).await;
    let page = open.stranger().look().await;
    page.shows(&["Open to everybody", "your name"]);
    let page = open
        .stranger()
        .submit(&page.form().filled("answer", &[("f0", "Ada")]))
        .await;
    assert_eq!(page.status, 303);
    assert_eq!(open.client("none").until_text(&id).await, "got: Ada");
}

#[tokio::test]
async fn a_server_of_its_own_that_can_know_nobody_says_so_before_it_serves() {
    let error = nameless().inbox().serve_http("127.0.0.1:0").await;
    let words = error.unwrap_err().to_string();
    for way in ["bearer_tokens", "caller", "inbox_for_anybody"] {
        assert!(words.contains(way), "{words}");
    }
}

#[tokio::test]
async fn a_layer_in_front_says_who_comes() {
    async fn authenticate(mut request: Request, next: Next) -> axum::response::Response {
        let name = request.headers().get("x-user");
        if let Some(name) = name.and_then(|name| name.to_str().ok()) {
            let caller = Caller::new(name);
            request.extensions_mut().insert(caller);
        }
        next.run(request).await
    }
    let server = nameless().inbox().build().unwrap();
    let application = Router::new()
        .route_service("/inbox", server.inbox_service().unwrap())
        .layer(from_fn(authenticate));
    let origin = serve(application).await;
    let visitor = Visitor::of(format!("{origin}/inbox"));
    assert_eq!(visitor.look().await.status, 403);
    let page = visitor.with("x-user", "carol").look().await;
    page.shows(&["Questions for <strong>carol</strong>"]);
}

#[tokio::test]
async fn hosts_are_checked_as_for_the_protocol() {
    let desk = Desk::with_inbox().await;
    for host in ["evil.example", "localhost.evil.example:80"] {
        let page = desk.visiting_alice().with("host", host).look().await;
        assert_eq!(page.status, 403);
        page.shows(&["allowed_hosts"]);
    }
    let page = desk
        .visiting_alice()
        .with("origin", "https://evil.example")
        .look()
        .await;
    assert_eq!(page.status, 403);
}

#[tokio::test]
async fn other_methods_and_bodies_are_refused_in_words() {
    let desk = Desk::with_inbox().await;
    let alice = desk.visiting_alice();
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH"] {
        let page = alice.method(method).await;
        assert_eq!(page.status, 405, "{method}");
        assert_eq!(page.headers["allow"], "GET, HEAD, POST");
    }
    let head = alice.method("HEAD").await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    for kind in ["application/json", "text/plain", "multipart/form-data"] {
        let page = alice
            .clone()
            .with("content-type", kind)
            .submit(&[("task", "x")])
            .await;
        assert_eq!(page.status, 415, "{kind}");
    }
    let id = desk.asks("name").await;
    let form = alice.look().await.form();
    let page = alice.submit(&form.filled("burn", &[])).await;
    assert_eq!(page.status, 400);
    assert_eq!(desk.alice().get(&id).await["status"], "input_required");
}

#[tokio::test]
async fn everything_comes_with_strict_headers() {
    let desk = Desk::with_inbox().await;
    let alice = desk.visiting_alice();
    for page in [
        alice.look().await,
        alice.get("style").await,
        alice.get("script").await,
        alice.get("icon").await,
        desk.stranger().look().await,
        alice.submit(&[]).await,
        alice.method("PUT").await,
    ] {
        let header = |name: &str| page.headers[name].to_str().unwrap();
        let policy = header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(
            !policy.contains("unsafe") && !policy.contains("http"),
            "{policy}"
        );
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "same-origin");
        assert_eq!(header("cache-control"), "no-store");
    }
    let page = alice.look().await.text;
    assert!(
        !page.contains(" style=") && !page.contains(" onclick"),
        "{page}"
    );
}

#[tokio::test]
async fn a_form_is_good_at_any_server_on_the_store_and_after_a_restart() {
    let file = StoreFile::new();
    let open = async || {
        let store = SqliteStore::open(file.path()).unwrap();
        Desk::open(desk().inbox().store(store)).await
    };
    let one = open().await;
    let id = one.asks("twice").await;
    let form = one.visiting_alice().look().await.form();
    let two = open().await;
    let page = two
        .visiting_alice()
        .submit(&form.filled("answer", &[("f0", "1")]))
        .await;
    assert_eq!(page.headers["location"], "?done=answered", "{}", page.text);
    two.alice().until_asked(&id, Some("first")).await;
    let form = two.visiting_alice().look().await.form();
    one.server.shut_down().await;
    two.server.shut_down().await;
    let three = open().await;
    let page = three
        .visiting_alice()
        .submit(&form.filled("answer", &[("f0", "2")]))
        .await;
    assert_eq!(page.headers["location"], "?done=answered", "{}", page.text);
    assert_eq!(three.alice().until_text(&id).await, "1,2");
}
