//! Sealing: what travels through clients can be neither read nor made by them.
//!
//! XChaCha20-Poly1305 under a random nonce. A sealed state is Base64 (URL-safe,
//! without padding) of a version, the id of the key, the nonce, and what is
//! sealed.

use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::store::{StoreError, TaskStore};
use crate::task::{KeyId, KeyRing, SealingKey, Timestamp};

/// Says how the rest is sealed.
const VERSION: u8 = 1;

const KEY_ID: usize = size_of::<KeyId>();

const NONCE: usize = 24;

/// Stands in front of what is sealed, and is authenticated with it.
const HEAD: usize = 1 + KEY_ID;

/// Unknown keys are looked for in the store this often at most: anybody can
/// name one.
const LOOK_AGAIN_MS: u64 = 1000;

/// How short a secret may be that is given to a server.
const SHORTEST_SECRET: usize = 32;

/// Seals and opens.
pub(in super::super) struct Sealer {
    /// Given by whoever runs the server; else the store has the keys.
    given: bool,
    known: RwLock<Known>,
}

#[derive(Clone, Default)]
struct Known {
    keys: Arc<KeyRing>,
    /// When the store was asked last.
    asked_at: Timestamp,
}

/// Something was not sealed by this server, or has been changed since.
#[derive(Debug)]
pub(super) struct NotSealed;

impl Sealer {
    /// Seals with the keys in the store.
    pub(in super::super) fn with_store() -> Self {
        Self {
            given: false,
            known: RwLock::default(),
        }
    }

    /// Seals with the first of these secrets, and opens what any of them has
    /// sealed.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if there is none, or one is too short.
    pub(in super::super) fn with_secrets(secrets: &[Vec<u8>]) -> Result<Self, Error> {
        if secrets.is_empty() {
            return Err(Error::Config(
                "`state_keys` needs at least one key: the first seals".to_owned(),
            ));
        }
        if let Some(at) = secrets
            .iter()
            .position(|secret| secret.len() < SHORTEST_SECRET)
        {
            return Err(Error::Config(format!(
                "key {} of `state_keys` has {} bytes: a key is at least {SHORTEST_SECRET} random \
                 bytes",
                at + 1,
                secrets[at].len()
            )));
        }
        // The order is that of the ring, which goes by time.
        let keys = secrets.iter().rev().zip(0..);
        let keys = keys.map(|(secret, age)| derive(secret, Timestamp::from_millis(age)));
        Ok(Self {
            given: true,
            known: RwLock::new(Known {
                keys: Arc::new(KeyRing::new(keys.collect())),
                asked_at: Timestamp::default(),
            }),
        })
    }

    /// Whether the keys were given, and so are the same after a restart.
    pub(in super::super) fn has_secrets(&self) -> bool {
        self.given
    }

    pub(super) async fn seal(
        &self,
        text: &[u8],
        store: &dyn TaskStore,
        now: Timestamp,
    ) -> Result<String, StoreError> {
        let key = self.newest(store, now).await?;
        let mut nonce = [0; NONCE];
        random(&mut nonce)?;
        Ok(seal_with(&key, nonce, text))
    }

    pub(super) async fn open(
        &self,
        sealed: &str,
        store: &dyn TaskStore,
        now: Timestamp,
    ) -> Result<Result<Vec<u8>, NotSealed>, StoreError> {
        let Some(sealed) = Sealed::read(sealed) else {
            return Ok(Err(NotSealed));
        };
        let key = self.key(sealed.key(), store, now).await?;
        Ok(key.ok_or(NotSealed).and_then(|key| sealed.open_with(&key)))
    }

    /// The key that seals now.
    pub(in super::super) async fn newest(
        &self,
        store: &dyn TaskStore,
        now: Timestamp,
    ) -> Result<SealingKey, StoreError> {
        let mut keys = self.known().keys;
        if !self.given && keys.needs_a_key(now) {
            keys = self.ask(store, now).await?;
        }
        let newest = keys.newest().cloned();
        newest.ok_or_else(|| StoreError::Unavailable("the store gave no sealing key".to_owned()))
    }

    /// The key of this id, if it is good still.
    pub(in super::super) async fn key(
        &self,
        id: KeyId,
        store: &dyn TaskStore,
        now: Timestamp,
    ) -> Result<Option<SealingKey>, StoreError> {
        let Known { mut keys, asked_at } = self.known();
        let is_stranger = keys.get(id).is_none();
        if is_stranger && !self.given && asked_at.plus_millis(LOOK_AGAIN_MS) <= now {
            keys = self.ask(store, now).await?;
        }
        Ok(keys.get(id).cloned())
    }

    fn known(&self) -> Known {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }

    async fn ask(&self, store: &dyn TaskStore, now: Timestamp) -> Result<Arc<KeyRing>, StoreError> {
        let mut fresh = SealingKey {
            id: KeyId::default(),
            secret: [0; 32],
            made_at: now,
        };
        random(&mut fresh.id)?;
        random(&mut fresh.secret)?;
        let keys = Arc::new(store.sealing_keys(fresh, now).await?);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Known {
            keys: keys.clone(),
            asked_at: now,
        };
        Ok(keys)
    }
}

fn random(bytes: &mut [u8]) -> Result<(), StoreError> {
    getrandom::fill(bytes).map_err(|error| {
        StoreError::Unavailable(format!(
            "the operating system gives no random bytes: {error}"
        ))
    })
}

/// The key that a secret of any length stands for.
fn derive(secret: &[u8], made_at: Timestamp) -> SealingKey {
    let hash = |purpose: &[u8]| -> [u8; 32] {
        let hash = Sha256::new().chain_update(purpose).chain_update(secret);
        hash.finalize().into()
    };
    let mut id = KeyId::default();
    id.copy_from_slice(&hash(b"mcp-tasks key id\0")[..KEY_ID]);
    SealingKey {
        id,
        secret: hash(b"mcp-tasks key\0"),
        made_at,
    }
}

fn seal_with(key: &SealingKey, nonce: [u8; NONCE], text: &[u8]) -> String {
    let mut sealed = Vec::with_capacity(HEAD + NONCE + text.len() + 16);
    sealed.push(VERSION);
    sealed.extend(key.id);
    let payload = Payload {
        msg: text,
        aad: &sealed,
    };
    let cipher = XChaCha20Poly1305::new(&key.secret.into());
    let body = cipher
        .encrypt(&XNonce::from(nonce), payload)
        .expect("it is shorter than 256 GiB");
    sealed.extend(nonce);
    sealed.extend(body);
    BASE64.encode(sealed)
}

/// A sealed state, taken apart.
struct Sealed(Vec<u8>);

impl Sealed {
    fn read(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text).ok()?;
        (bytes.len() > HEAD + NONCE && bytes[0] == VERSION).then_some(Self(bytes))
    }

    fn key(&self) -> KeyId {
        let mut id = KeyId::default();
        id.copy_from_slice(&self.0[1..HEAD]);
        id
    }

    fn open_with(&self, key: &SealingKey) -> Result<Vec<u8>, NotSealed> {
        let (head, rest) = self.0.split_at(HEAD);
        let (nonce, body) = rest.split_at(NONCE);
        let nonce: [u8; NONCE] = nonce.try_into().map_err(|_| NotSealed)?;
        let payload = Payload {
            msg: body,
            aad: head,
        };
        XChaCha20Poly1305::new(&key.secret.into())
            .decrypt(&XNonce::from(nonce), payload)
            .map_err(|_| NotSealed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn secret(letter: u8) -> Vec<u8> {
        vec![letter; SHORTEST_SECRET]
    }

    #[tokio::test]
    async fn what_is_sealed_opens_and_nothing_else_does() {
        let store = MemoryStore::new();
        let sealer = Sealer::with_store();
        let state = sealer.seal(b"a state", &store, NOW).await.unwrap();
        assert!(!state.contains("state"));
        let opened = sealer.open(&state, &store, NOW).await.unwrap();
        assert_eq!(opened.unwrap(), b"a state");
        for at in 0..state.len() {
            let mut bytes = state.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(bytes).unwrap();
            let opened = sealer.open(&forged, &store, NOW).await.unwrap();
            assert!(opened.is_err(), "byte {at}");
        }
        for short in ["", "A", "AQ", "=", "é", &state[..20]] {
            assert!(sealer.open(short, &store, NOW).await.unwrap().is_err());
        }
    }

    #[tokio::test]
    async fn servers_on_one_store_open_each_others_states_over_a_change_of_keys() {
        let store = MemoryStore::new();
        let other = store.share();
        let (one, two) = (Sealer::with_store(), Sealer::with_store());
        let old = one.seal(b"old", &store, NOW).await.unwrap();
        assert!(two.open(&old, &other, NOW).await.unwrap().is_ok());
        let later = NOW.plus_millis(25 * 60 * 60 * 1000);
        let new = one.seal(b"new", &store, later).await.unwrap();
        for state in [&old, &new] {
            assert!(two.open(state, &other, later).await.unwrap().is_ok());
            assert!(one.open(state, &store, later).await.unwrap().is_ok());
        }
    }

    #[tokio::test]
    async fn given_keys_can_be_replaced_one_after_the_other() {
        let store = MemoryStore::new();
        let before = Sealer::with_secrets(&[secret(b'a')]).unwrap();
        let after = Sealer::with_secrets(&[secret(b'b'), secret(b'a')]).unwrap();
        let last = Sealer::with_secrets(&[secret(b'b')]).unwrap();
        let old = before.seal(b"old", &store, NOW).await.unwrap();
        let new = after.seal(b"new", &store, NOW).await.unwrap();
        assert!(after.open(&old, &store, NOW).await.unwrap().is_ok());
        assert!(last.open(&new, &store, NOW).await.unwrap().is_ok());
        assert!(last.open(&old, &store, NOW).await.unwrap().is_err());
    }

    #[test]
    fn a_secret_that_can_be_guessed_is_refused() {
        let refused =
            |secrets: &[Vec<u8>]| Sealer::with_secrets(secrets).err().unwrap().to_string();
        assert!(refused(&[secret(b'a'), b"hunter2".to_vec()]).contains("key 2"));
        assert!(refused(&[]).contains("at least one"));
    }

    /// States that clients hold are opened by the next release.
    #[tokio::test]
    async fn a_state_of_version_1_opens() {
        let sealer = Sealer::with_secrets(&[secret(b'k')]).unwrap();
        let golden = include_str!("golden/sealed-1.txt").trim();
        let key = derive(&secret(b'k'), NOW);
        assert_eq!(seal_with(&key, [7; NONCE], b"{\"a\":\"state\"}"), golden);
        let opened = sealer.open(golden, &MemoryStore::new(), NOW).await.unwrap();
        assert_eq!(opened.unwrap(), b"{\"a\":\"state\"}");
    }
}
