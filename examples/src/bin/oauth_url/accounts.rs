//! Who may sign in for which task, and what came of it: tickets and tokens, and
//! the requests to the provider that need them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use mcp_tasks::Caller;
use mcp_tasks::task::TaskId;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// How long a ticket is good.
const GOOD_FOR: Duration = Duration::from_secs(600);

/// Whom this server is to the provider. A public client: PKCE stands in for a
/// secret. If your provider gave you one, it goes into `exchange`.
pub(crate) const CLIENT_ID: &str = "albums-server";

/// The name of an account whose token we have: all that a task needs to know.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Handle(String);

/// What opens the account. It is neither `Debug` nor `Serialize`, so that it gets
/// into no log, and a step that returned it would not compile.
#[derive(Clone)]
struct Token(String);

/// A sign-in that somebody was asked for.
struct Ticket {
    task: TaskId,
    /// Who called the tool
    caller: Caller,
    since: Instant,
    /// The browser that is on its way; a page that is opened again starts anew
    trip: Option<Trip>,
}

struct Trip {
    state: String,
    verifier: String,
}

#[derive(Default)]
struct Kept {
    tickets: HashMap<String, Ticket>,
    tokens: HashMap<Handle, Token>,
}

/// All of them; a cheap handle.
#[derive(Clone)]
pub(crate) struct Accounts {
    http: reqwest::Client,
    /// Where this server is found
    url: String,
    kept: Arc<Mutex<Kept>>,
}

impl Accounts {
    pub(crate) fn new(url: &str) -> reqwest::Result<Self> {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(10));
        Ok(Self {
            http: http.build()?,
            url: url.to_owned(),
            kept: Arc::default(),
        })
    }

    /// Gives the address of a page at which one person can sign in for this task.
    /// The task's id is not in it: addresses end up in histories and logs.
    pub(crate) fn issue_ticket(
        &self,
        task: TaskId,
        caller: Caller,
    ) -> Result<String, getrandom::Error> {
        let name = random()?;
        let page = format!("{}/sign-in/{name}", self.url);
        let ticket = Ticket {
            task,
            caller,
            since: Instant::now(),
            trip: None,
        };
        let mut kept = self.kept();
        kept.tickets
            .retain(|_, ticket| ticket.since.elapsed() < GOOD_FOR);
        kept.tickets.insert(name, ticket);
        Ok(page)
    }

    /// Who is to sign in with this ticket, if it is good.
    pub(crate) fn caller_of(&self, ticket: &str) -> Option<Caller> {
        let kept = self.kept();
        let ticket = kept.tickets.get(ticket)?;
        (ticket.since.elapsed() < GOOD_FOR).then(|| ticket.caller.clone())
    }

    /// Sends a browser off: gives the provider's address for it.
    pub(crate) fn depart(&self, ticket: &str) -> Result<Option<Url>, getrandom::Error> {
        let (state, verifier) = (random()?, random()?);
        let challenge = challenge(&verifier);
        let mut kept = self.kept();
        let Some(ticket) = kept.tickets.get_mut(ticket) else {
            return Ok(None);
        };
        let parameters = [
            ("response_type", "code"),
            ("client_id", CLIENT_ID),
            ("redirect_uri", &self.redirect_uri()),
            ("scope", "albums"),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        let provider = format!("{}/provider/authorize", self.url);
        let address = Url::parse_with_params(&provider, parameters);
        ticket.trip = Some(Trip { state, verifier });
        Ok(address.ok())
    }

    /// Lets a browser back in: if it was sent off with this ticket and this state,
    /// the ticket is used up, and its task is given with the verifier.
    pub(crate) fn arrive(&self, ticket: &str, state: &str) -> Option<(TaskId, String)> {
        let mut kept = self.kept();
        let trip = kept.tickets.get(ticket)?.trip.as_ref()?;
        if trip.state != state {
            return None;
        }
        let ticket = kept.tickets.remove(ticket)?;
        Some((ticket.task, ticket.trip?.verifier))
    }

    /// Changes a code for a token, keeps it, and gives its handle.
    pub(crate) async fn exchange(&self, code: &str, verifier: &str) -> Result<Handle, Trouble> {
        #[derive(Deserialize)]
        struct Granted {
            access_token: String,
        }
        let form = [
            ("grant_type", "authorization_code"),
            ("client_id", CLIENT_ID),
            ("redirect_uri", &self.redirect_uri()),
            ("code", code),
            ("code_verifier", verifier),
        ];
        let request = self.http.post(format!("{}/provider/token", self.url));
        let response = request.form(&form).send().await?.error_for_status()?;
        let granted: Granted = response.json().await?;
        let handle = Handle(random()?);
        let token = Token(granted.access_token);
        self.kept().tokens.insert(handle.clone(), token);
        Ok(handle)
    }

    /// What the account has.
    pub(crate) async fn albums(&self, account: &Handle) -> Result<Vec<String>, Trouble> {
        let token = self.kept().tokens.get(account).cloned();
        let token = token.ok_or(Trouble::Gone)?;
        let request = self.http.get(format!("{}/provider/albums", self.url));
        let response = request.bearer_auth(token.0).send().await?;
        Ok(response.error_for_status()?.json().await?)
    }

    fn redirect_uri(&self) -> String {
        format!("{}/sign-in/back", self.url)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing panics while it is locked.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What can go wrong with an account. The words are recorded with the task, and
/// name no secret: `reqwest` names the address, which has none in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(transparent)]
    Provider(#[from] reqwest::Error),
    #[error(transparent)]
    Random(#[from] getrandom::Error),
    #[error("the account is not connected any more: call the tool again")]
    Gone,
}

/// 256 bits that nobody can guess, fit for an address.
pub(crate) fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// What PKCE shows first of a verifier that it shows last (S256).
pub(crate) fn challenge(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}
