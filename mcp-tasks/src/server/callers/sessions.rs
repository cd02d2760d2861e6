//! Whose an older session is.
//!
//! rmcp keeps sessions by their ids and does not ask who uses them. An
//! authenticated caller is given an id that is signed for it; with anybody
//! else's, a session does not exist. Callers without a name have their ids
//! alone, as with tasks.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderValue};
use sha2::Sha256;

use super::super::headers::SESSION_HEADER;
use crate::Error;
use crate::task::Caller;

/// Signs ids of sessions, which end with the process.
pub(in crate::server) struct SessionIds {
    key: [u8; 32],
}

/// Between an id and its signature; no id of rmcp's has one.
const SEPARATOR: char = '.';

/// The id of no session.
const NOBODYS: HeaderValue = HeaderValue::from_static("none");

impl SessionIds {
    pub(in crate::server) fn new() -> Result<Self, Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| {
            Error::Config(format!(
                "the operating system gives no random bytes: {error}"
            ))
        })?;
        Ok(Self { key })
    }

    /// Makes a request name the session that its caller means, or none at all.
    pub(in crate::server) fn open(&self, headers: &mut HeaderMap, caller: &Caller) {
        if caller.is_anonymous() {
            return;
        }
        if let Some(given) = headers.get(SESSION_HEADER) {
            let its = self.of(given, caller).unwrap_or(NOBODYS);
            headers.insert(SESSION_HEADER, its);
        }
    }

    /// Makes the id that a response gives good for this caller alone.
    pub(in crate::server) fn sign(&self, headers: &mut HeaderMap, caller: &Caller) {
        if caller.is_anonymous() {
            return;
        }
        if let Some(Ok(id)) = headers.get(SESSION_HEADER).map(HeaderValue::to_str) {
            let signature = self.signature(id, caller).finalize().into_bytes();
            let signature = BASE64.encode(signature);
            if let Ok(signed) = format!("{id}{SEPARATOR}{signature}").parse() {
                headers.insert(SESSION_HEADER, signed);
            }
        }
    }

    fn of(&self, given: &HeaderValue, caller: &Caller) -> Option<HeaderValue> {
        let (id, signature) = given.to_str().ok()?.rsplit_once(SEPARATOR)?;
        let signature = BASE64.decode(signature).ok()?;
        self.signature(id, caller)
            .verify_slice(&signature)
            .is_ok()
            .then(|| id.parse().ok())
            .flatten()
    }

    fn signature(&self, id: &str, caller: &Caller) -> Hmac<Sha256> {
        Hmac::new_from_slice(&self.key)
            .expect("a key may have any length")
            .chain_update(id.len().to_le_bytes())
            .chain_update(id)
            .chain_update(caller.as_str())
    }
}
