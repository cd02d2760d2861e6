//! `oauth-url`: a sign-in in a browser, and what must not be found anywhere else.

use std::path::Path;

use axum::http::{Request, request};
use mcp_tasks_tests::{Client, Declares, Fixture, Launch, Transport, acknowledged, declared, web};
use serde_json::json;
use tempfile::TempDir;

use super::{answer, asked, tool_error};

/// A client that can show URLs.
fn showing_urls(server: &Fixture) -> Client {
    let mut meta = declared(Declares::Everything);
    meta["io.modelcontextprotocol/clientCapabilities"]["elicitation"] = json!({ "url": {} });
    server.client().with_meta(meta)
}

/// Waits for the page, and agrees to open it.
async fn page(client: &Client, id: &str) -> String {
    let shown = asked(client, id, "url").await;
    assert_eq!(shown["params"]["mode"], "url", "{shown}");
    let page = shown["params"]["url"].as_str().unwrap().to_owned();
    assert!(!page.contains(id), "the page names the task: {page}");
    acknowledged(&answer(client, id, "url", json!({ "action": "accept" })).await);
    page
}

/// A browser, as far as it is needed here: it keeps one cookie of the server, and is
/// told to follow each link.
#[derive(Default)]
struct Browser {
    cookie: String,
}

/// What a browser is shown.
struct Shown {
    status: u16,
    text: String,
    location: String,
}

impl Browser {
    async fn get(&mut self, url: &str) -> Shown {
        self.send(Request::get(url), "").await
    }

    async fn send(&mut self, request: request::Builder, body: &str) -> Shown {
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .header("cookie", &self.cookie)
            .body(body.to_owned());
        let response = web(request.unwrap()).await;
        let header = |name| {
            let value = response.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned())
        };
        if let Some(cookie) = header("set-cookie") {
            let (pair, attributes) = cookie.split_once(';').unwrap();
            for attribute in ["HttpOnly", "SameSite=Lax", "Max-Age="] {
                assert!(attributes.contains(attribute), "{cookie}");
            }
            pair.clone_into(&mut self.cookie);
        }
        Shown {
            status: response.status().as_u16(),
            location: header("location").unwrap_or_default(),
            text: response.into_body(),
        }
    }

    /// Opens the page of a task, and is sent to the provider; gives its address.
    async fn leave(&mut self, page: &str) -> String {
        let left = self.get(page).await;
        assert_eq!(left.status, 303, "{}", left.text);
        for part in ["code_challenge=", "code_challenge_method=S256", "state="] {
            assert!(left.location.contains(part), "{}", left.location);
        }
        left.location
    }

    /// Signs in at the provider, and chooses; gives the address that leads back.
    async fn choose(&mut self, provider: &str, choice: &str) -> String {
        let form = self.get(provider).await;
        assert_eq!(form.status, 200, "{}", form.text);
        let (_, rest) = form.text.split_once("name=page value=").unwrap();
        let (token, _) = rest.split_once('>').unwrap();
        let (address, _) = provider.split_once('?').unwrap();
        let body = format!("page={token}&name=Ada&choice={choice}");
        let chosen = self.send(Request::post(address), &body).await;
        assert_eq!(chosen.status, 303, "{}", chosen.text);
        chosen.location
    }
}

/// The value of a parameter in an address.
fn parameter<'a>(address: &'a str, name: &str) -> &'a str {
    let (_, query) = address.split_once('?').unwrap();
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(found, _)| *found == name);
    found.unwrap_or_else(|| panic!("no {name} in {address}")).1
}

async fn open(flags: &[&str]) -> (Fixture, Client, String) {
    let server = Launch::example(env!("CARGO_BIN_EXE_oauth-url"), Transport::Http)
        .flags(flags)
        .start()
        .await;
    let client = showing_urls(&server);
    let id = client.task("list_albums", json!({})).await;
    (server, client, id)
}

#[tokio::test]
async fn a_person_signs_in_and_no_secret_is_kept_with_the_task() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("albums.db");
    let (mut server, client, id) = open(&["--db", file.to_str().unwrap()]).await;
    let page = page(&client, &id).await;
    let mut browser = Browser::default();
    let provider = browser.leave(&page).await;
    let back = browser.choose(&provider, "allow").await;
    let done = browser.get(&back).await;
    assert_eq!(
        (done.status, &*done.text),
        (200, "Thank you. You can close this page.")
    );
    assert_eq!(client.until_text(&id).await, "Ada in Turin\nAda by the sea");

    // Nobody signs in twice by one page.
    assert_eq!(browser.get(&back).await.status, 400);
    assert_eq!(browser.get(&page).await.status, 404);

    // All that was written of the task, what is deleted by now included.
    server.kill().await;
    let written = everything_in(folder.path());
    let has = |text: &str| {
        written
            .windows(text.len())
            .any(|bytes| bytes == text.as_bytes())
    };
    let ticket = page.rsplit_once('/').unwrap().1;
    assert!(has(ticket), "the ticket is what is stored");
    assert!(has("connected"), "the outcome is what is stored");
    for secret in [
        "pretended-token",
        parameter(&back, "code"),
        parameter(&provider, "state"),
        parameter(&provider, "code_challenge"),
    ] {
        assert!(!has(secret), "{secret}");
    }
}

fn everything_in(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap();
    let read = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    read.collect::<Vec<_>>().concat()
}

#[tokio::test]
async fn what_is_not_the_sign_in_of_this_browser_is_refused_and_the_task_goes_on() {
    let (_server, client, id) = open(&[]).await;
    let page = page(&client, &id).await;
    let mut browser = Browser::default();
    let provider = browser.leave(&page).await;
    let back = browser.choose(&provider, "allow").await;

    let state = parameter(&back, "state");
    let other = state.chars().rev().collect::<String>();
    let forged = back.replace(state, &other);
    assert_eq!(browser.get(&forged).await.status, 400);
    let without = back.replace("state=", "nothing=");
    assert_eq!(browser.get(&without).await.status, 400);
    // Another browser has the right state, and not the ticket.
    let mut stranger = Browser::default();
    assert_eq!(stranger.get(&back).await.status, 400);
    assert_eq!(client.get(&id).await["status"], "working");

    // A page that is opened again starts anew, and the state of before is no good.
    let again = browser.leave(&page).await;
    assert_eq!(browser.get(&back).await.status, 400);
    assert_eq!(client.get(&id).await["status"], "working");
    let back = browser.choose(&again, "allow").await;
    assert_eq!(browser.get(&back).await.status, 200);
    assert_eq!(client.until_text(&id).await, "Ada in Turin\nAda by the sea");
}

#[tokio::test]
async fn a_code_without_its_verifier_gives_no_token_and_ends_the_task_in_words() {
    let (_server, client, id) = open(&[]).await;
    let page = page(&client, &id).await;
    let mut browser = Browser::default();
    // A code that was given out for another sign-in: what a thief would bring.
    let stolen = browser.leave(&page).await;
    let stolen = browser.choose(&stolen, "allow").await;
    let provider = browser.leave(&page).await;
    let back = browser.choose(&provider, "allow").await;
    let back = back.replace(parameter(&back, "code"), parameter(&stolen, "code"));
    assert_eq!(browser.get(&back).await.status, 200);
    let words = tool_error(&client, &id).await;
    assert!(words.contains("400"), "{words}");
    assert!(!words.contains(parameter(&stolen, "code")), "{words}");
}

#[tokio::test]
async fn a_no_is_taken_for_one_wherever_it_is_said() {
    let (server, client, id) = open(&[]).await;
    // To the client: the page is never opened.
    acknowledged(&answer(&client, &id, "url", json!({ "action": "decline" })).await);
    assert_eq!(tool_error(&client, &id).await, "the question was declined");

    // To the provider.
    let id = client.task("list_albums", json!({})).await;
    let page = page(&client, &id).await;
    let mut browser = Browser::default();
    let provider = browser.leave(&page).await;
    let back = browser.choose(&provider, "deny").await;
    assert_eq!(browser.get(&back).await.status, 200);
    assert_eq!(tool_error(&client, &id).await, "access was not allowed");

    // A client that cannot show URLs is asked for nothing.
    let plain = server.client();
    let id = plain.task("list_albums", json!({})).await;
    let failed = plain.until(&id, "failed").await;
    assert_eq!(failed["error"]["code"], -32021, "{failed}");
}
