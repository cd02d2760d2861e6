//! Where the browser leaves from, and where it comes back to.

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::header::{CACHE_CONTROL, COOKIE, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use mcp_tasks::{Caller, Tasks};
use serde::Deserialize;

use crate::accounts::Accounts;
use crate::tool::{SIGNED_IN, SignIn};

/// The cookie by which the browser that comes back is the one that left.
const TICKET: &str = "sign-in-ticket";

#[derive(Clone)]
struct Pages {
    accounts: Accounts,
    tasks: Tasks,
}

pub(crate) fn routes(accounts: Accounts, tasks: Tasks) -> Router {
    Router::new()
        .route("/sign-in/{ticket}", get(leave))
        .route("/sign-in/back", get(come_back))
        .with_state(Pages { accounts, tasks })
}

/// What becomes of a page that is not.
type Refusal = (StatusCode, &'static str);

const UNKNOWN: Refusal = (
    StatusCode::NOT_FOUND,
    "This page is no longer good. Please call the tool again.",
);
const FAILED: Refusal = (
    StatusCode::BAD_GATEWAY,
    "The sign-in did not work. Please call the tool again.",
);

const DONE: &str = "Thank you. You can close this page.";

/// The page that the task asks to open.
async fn leave(
    State(pages): State<Pages>,
    headers: HeaderMap,
    Path(ticket): Path<String>,
) -> Result<Response, Refusal> {
    let caller = pages.accounts.caller_of(&ticket).ok_or(UNKNOWN)?;
    if !is_opened_by(&caller, &headers) {
        return Err(UNKNOWN);
    }
    let provider = pages.accounts.depart(&ticket).map_err(|_| FAILED)?;
    let provider = provider.ok_or(UNKNOWN)?;
    // `Lax`, since the provider's page sends the browser back. Add `Secure` where
    // the server is reached by https.
    let cookie = format!("{TICKET}={ticket}; Path=/sign-in; HttpOnly; SameSite=Lax; Max-Age=600");
    let headers = [
        (SET_COOKIE, cookie.as_str()),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, Redirect::to(provider.as_str())).into_response())
}

/// Whether it is the caller of the tool who opens the page: or else one could call
/// the tool, send the address to somebody else, and look at *their* albums.
///
/// Here the session of your own application says who it is. This example has none,
/// and its callers are all the same to it.
fn is_opened_by(caller: &Caller, _headers: &HeaderMap) -> bool {
    *caller == Caller::anonymous()
}

#[derive(Deserialize)]
struct Back {
    state: String,
    code: Option<String>,
}

/// The page that the provider sends the browser back to.
async fn come_back(
    State(pages): State<Pages>,
    headers: HeaderMap,
    Query(back): Query<Back>,
) -> Result<Response, Refusal> {
    // The browser must be the one that left, and the state that which it left with:
    // nobody can have somebody else's browser end a sign-in that they began. What
    // does not fit changes nothing, and the task goes on waiting.
    let ticket = ticket_in(&headers).unwrap_or_default();
    let arrived = pages.accounts.arrive(ticket, &back.state);
    let (task, verifier) = arrived.ok_or((
        StatusCode::BAD_REQUEST,
        "This is not the sign-in that was begun in this browser.",
    ))?;
    // Without a code there is an error, `access_denied` as a rule. Whatever comes of
    // it, the task is told: it waits for nothing else.
    let (sign_in, words) = match back.code {
        Some(code) => match pages.accounts.exchange(&code, &verifier).await {
            Ok(handle) => (SignIn::Connected(handle), DONE),
            Err(error) => (SignIn::Failed(error.to_string()), FAILED.1),
        },
        None => (SignIn::Failed("access was not allowed".to_owned()), DONE),
    };
    match pages.tasks.signal(&task, SIGNED_IN, &sign_in).await {
        Ok(true) => Ok(([(CACHE_CONTROL, "no-store")], words).into_response()),
        Ok(false) => Err(UNKNOWN),
        Err(_) => Err(FAILED),
    }
}

fn ticket_in(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get(COOKIE)?.to_str().ok()?;
    let mut pairs = cookies.split("; ").filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(name, value)| (name == TICKET).then_some(value))
}
