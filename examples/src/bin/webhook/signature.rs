//! How a callback proves that it comes from the job system: both sides have one
//! secret, and the sender signs each body with it (HMAC-SHA256). The secret itself
//! never travels.

use std::env;

use anyhow::bail;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The header that a signature comes in.
pub(crate) const SIGNATURE: &str = "x-signature";

/// The variable that a secret is taken from.
const VARIABLE: &str = "WEBHOOK_SECRET";

/// A secret that nobody else has. It is not `Debug`, and so it is in no log.
#[derive(Clone)]
pub(crate) struct Secret(Vec<u8>);

impl Secret {
    /// The one that a job system was given. It comes from the environment, since
    /// everybody on the machine can read command lines.
    pub(crate) fn from_environment() -> anyhow::Result<Self> {
        let secret = env::var(VARIABLE).unwrap_or_default();
        if secret.len() < 32 {
            bail!(
                "with --jobs, {VARIABLE} must be set to the secret that the job system \
                 signs with, of at least 32 characters, as `openssl rand -base64 32` makes"
            );
        }
        Ok(Self(secret.into_bytes()))
    }

    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut secret = vec![0; 32];
        getrandom::fill(&mut secret)?;
        Ok(Self(secret))
    }

    pub(crate) fn sign(&self, body: &[u8]) -> String {
        BASE64_STANDARD.encode(self.mac(body).finalize().into_bytes())
    }

    /// Takes the same time whatever is wrong, so that nobody can find a signature
    /// byte by byte.
    pub(crate) fn has_signed(&self, body: &[u8], signature: &[u8]) -> bool {
        let signature = BASE64_STANDARD.decode(signature).unwrap_or_default();
        self.mac(body).verify_slice(&signature).is_ok()
    }

    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0);
        let mut mac = mac.expect("HMAC takes keys of any length");
        mac.update(body);
        mac
    }
}
