//! What shows that a form was made here for whoever sends it.
//!
//! An HMAC over the caller and the question, under a key that the servers on one
//! store share: any of them, and a later one, takes what another has given out.
//! It is good for as long as its key, some days.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::protocol::ProtocolError;
use crate::runtime::Runtime;
use crate::task::{Caller, InputKey, KeyId, SealingKey, TaskId};

/// The keys seal other things, too: what they sign here is signed with a key of
/// its own.
const PURPOSE: &[u8] = b"mcp-tasks inbox form\0";

/// The token of a question's form.
pub(super) fn make(
    key: &SealingKey,
    caller: &Caller,
    task: &TaskId,
    question: &InputKey,
) -> String {
    let mut token = key.id.to_vec();
    token.extend(mac(key, caller, task, question).finalize().into_bytes());
    BASE64.encode(token)
}

/// Whether the form of this question was made for this caller.
pub(super) async fn is_good(
    runtime: &Runtime,
    caller: &Caller,
    task: &TaskId,
    question: &InputKey,
    token: &str,
) -> Result<bool, ProtocolError> {
    let Ok(token) = BASE64.decode(token) else {
        return Ok(false);
    };
    let Some((id, signature)) = token.split_first_chunk::<{ size_of::<KeyId>() }>() else {
        return Ok(false);
    };
    let Some(key) = runtime.key(*id).await? else {
        return Ok(false);
    };
    // In constant time.
    let verified = mac(&key, caller, task, question).verify_slice(signature);
    Ok(verified.is_ok())
}

fn mac(key: &SealingKey, caller: &Caller, task: &TaskId, question: &InputKey) -> Hmac<Sha256> {
    let of = |key: &[u8]| Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    let own = of(&key.secret)
        .chain_update(PURPOSE)
        .finalize()
        .into_bytes();
    let parts = [caller.as_str(), task.as_str(), question.as_str()];
    parts.iter().fold(of(&own), |mac, part| {
        mac.chain_update((part.len() as u64).to_le_bytes())
            .chain_update(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Timestamp;

    #[test]
    fn a_token_is_good_for_one_caller_and_one_question_alone() {
        let key = |id| SealingKey {
            id: [id; 8],
            secret: [id; 32],
            made_at: Timestamp::default(),
        };
        let token = |key: SealingKey, caller: &str, task: &str, question: &str| {
            let task = TaskId::from_text(task);
            make(&key, &Caller::new(caller), &task, &InputKey::new(question))
        };
        let one = token(key(1), "alice", "task", "answer");
        assert_eq!(one, token(key(1), "alice", "task", "answer"));
        for other in [
            token(key(2), "alice", "task", "answer"),
            token(key(1), "bob", "task", "answer"),
            token(key(1), "alice", "other", "answer"),
            token(key(1), "alice", "task", "other"),
            // The same letters, cut elsewhere.
            token(key(1), "alicet", "ask", "answer"),
            token(key(1), "alice", "taska", "nswer"),
        ] {
            assert_ne!(one, other);
        }
    }
}
