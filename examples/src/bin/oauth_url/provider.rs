//! An authorization server to play with, and the albums behind it: it believes
//! whoever says who they are. It is a part of this program, and is spoken to over
//! HTTP and nothing else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Query, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, Redirect};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::accounts::{CLIENT_ID, challenge, random};

#[derive(Default)]
struct Grants {
    /// Pages that are looked at, by what their form sends along
    asked: HashMap<String, Asked>,
    /// What was agreed to: the challenge, and by whom
    codes: HashMap<String, (String, String)>,
    /// Whose token it is
    tokens: HashMap<String, String>,
}

#[derive(Clone, Deserialize)]
struct Asked {
    client_id: String,
    redirect_uri: String,
    state: String,
    code_challenge: String,
    code_challenge_method: String,
}

#[derive(Clone)]
struct Provider {
    /// The only address that it sends browsers back to
    registered: String,
    grants: Arc<Mutex<Grants>>,
}

impl Provider {
    fn grants(&self) -> MutexGuard<'_, Grants> {
        // Nothing panics while it is locked.
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn routes(url: &str) -> Router {
    Router::new()
        .route("/authorize", get(ask).post(decide))
        .route("/token", post(grant))
        .route("/albums", get(albums))
        .with_state(Provider {
            registered: format!("{url}/sign-in/back"),
            grants: Arc::default(),
        })
}

/// Shows the page on which a person signs in, and agrees or not.
async fn ask(
    State(provider): State<Provider>,
    Query(asked): Query<Asked>,
) -> Result<Html<String>, StatusCode> {
    let known = asked.client_id == CLIENT_ID && asked.redirect_uri == provider.registered;
    if !known || asked.code_challenge_method != "S256" {
        return Err(StatusCode::BAD_REQUEST);
    }
    let page = random().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let form = format!(
        "<!doctype html><html lang=en><title>Sign in</title><h1>Sign in</h1>\
         <p>{CLIENT_ID} would like to see your albums.</p>\
         <form method=post><input type=hidden name=page value={page}>\
         <p><label>Who are you? <input name=name value=Ada></label></p>\
         <button name=choice value=allow>Allow</button> \
         <button name=choice value=deny>Deny</button></form>"
    );
    provider.grants().asked.insert(page, asked);
    Ok(Html(form))
}

#[derive(Deserialize)]
struct Decision {
    page: String,
    name: String,
    choice: String,
}

async fn decide(
    State(provider): State<Provider>,
    Form(decision): Form<Decision>,
) -> Result<Redirect, StatusCode> {
    let mut grants = provider.grants();
    let asked = grants.asked.remove(&decision.page);
    let asked = asked.ok_or(StatusCode::BAD_REQUEST)?;
    let outcome = if decision.choice == "allow" {
        let code = random().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        let agreed = (asked.code_challenge, decision.name);
        grants.codes.insert(code.clone(), agreed);
        ("code", code)
    } else {
        ("error", "access_denied".to_owned())
    };
    let parameters = [outcome, ("state", asked.state)];
    let back = Url::parse_with_params(&asked.redirect_uri, parameters);
    let back = back.map_err(|_| StatusCode::BAD_REQUEST)?;
    Ok(Redirect::to(back.as_str()))
}

#[derive(Deserialize)]
struct Exchange {
    code: String,
    code_verifier: String,
}

/// Gives a token for a code, once, to whoever knows the verifier.
async fn grant(
    State(provider): State<Provider>,
    Form(exchange): Form<Exchange>,
) -> Result<Json<Value>, StatusCode> {
    let mut grants = provider.grants();
    let agreed = grants.codes.remove(&exchange.code);
    let (expected, name) = agreed.ok_or(StatusCode::BAD_REQUEST)?;
    if challenge(&exchange.code_verifier) != expected {
        return Err(StatusCode::BAD_REQUEST);
    }
    let token = random().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let token = format!("pretended-token-{token}");
    grants.tokens.insert(token.clone(), name);
    Ok(Json(
        json!({ "access_token": token, "token_type": "Bearer" }),
    ))
}

async fn albums(
    State(provider): State<Provider>,
    headers: HeaderMap,
) -> Result<Json<Vec<String>>, StatusCode> {
    let token = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.strip_prefix("Bearer "));
    let grants = provider.grants();
    let name = token.and_then(|token| grants.tokens.get(token));
    let name = name.ok_or(StatusCode::UNAUTHORIZED)?;
    Ok(Json(vec![
        format!("{name} in Turin"),
        format!("{name} by the sea"),
    ]))
}
