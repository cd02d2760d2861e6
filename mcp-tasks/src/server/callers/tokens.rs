//! Bearer tokens that are known beforehand.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest as _, Sha256};

use super::requests::Unauthenticated;
use crate::Error;
use crate::task::Caller;

/// The callers that a server knows by their tokens.
///
/// Of a token only its hash is kept.
pub(in crate::server) struct BearerTokens(Vec<Known>);

struct Known {
    hash: Hash,
    caller: Caller,
}

type Hash = [u8; 32];

/// What a client is told that sends no token (RFC 6750).
const CHALLENGE: &str = "Bearer";

/// What a client is told that sends one which nobody has.
const INVALID: &str = r#"Bearer error="invalid_token""#;

/// What a person's browser is told, which then asks for a name and a password
/// (RFC 7617).
const SIGN_IN: &str = r#"Basic realm="inbox", charset="UTF-8""#;

const BASIC: &str = "Basic";

impl BearerTokens {
    /// # Errors
    ///
    /// [`Error::Config`] naming the caller whose entry is wrong, never a token.
    pub(super) fn new(
        tokens: impl IntoIterator<Item = (impl Into<Arc<str>>, impl AsRef<str>)>,
    ) -> Result<Self, Error> {
        let mut known: Vec<Known> = Vec::new();
        for (name, secret) in tokens {
            let (caller, secret) = (Caller::new(name), secret.as_ref());
            let refuse = |words: &str| Error::Config(format!("bearer_tokens: {words}"));
            if caller.as_str().is_empty() || caller.is_anonymous() {
                return Err(refuse(
                    "a token needs a caller with a name, other than `anonymous`",
                ));
            }
            if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(refuse(&format!(
                    "no client can send the token of `{caller}`: a token is one or more visible \
                     ASCII characters without spaces"
                )));
            }
            let hash = hash(secret.as_bytes());
            if let Some(same) = known.iter().find(|known| known.hash == hash) {
                return Err(refuse(&format!(
                    "`{}` and `{caller}` have the same token",
                    same.caller
                )));
            }
            known.push(Known { hash, caller });
        }
        if known.is_empty() {
            return Err(Error::Config(
                "bearer_tokens: without a token nobody could call the server".to_owned(),
            ));
        }
        Ok(Self(known))
    }

    pub(super) fn caller_of(&self, headers: &HeaderMap) -> Result<Caller, Unauthenticated> {
        let Some(secret) = only(headers).and_then(token) else {
            return Err(Unauthenticated {
                challenge: Some(CHALLENGE),
                words: "send one `Authorization` header: `Bearer` and your token",
            });
        };
        self.find(secret).ok_or(Unauthenticated {
            challenge: Some(INVALID),
            words: "this bearer token is not valid here",
        })
    }

    /// The caller whose token is the password that a browser sends, beside any
    /// user name; what programs send is as good.
    pub(super) fn visitor_of(&self, headers: &HeaderMap) -> Result<Caller, Unauthenticated> {
        let sent = only(headers);
        let password = sent.and_then(password);
        let secret = password.as_deref().or_else(|| sent.and_then(token));
        secret
            .and_then(|secret| self.find(secret))
            .ok_or(Unauthenticated {
                challenge: Some(SIGN_IN),
                words: "Sign in with your token as the password; the user name can be anything.",
            })
    }

    /// Looks at all tokens, whichever it is, and at all of each: how long that
    /// takes tells nothing.
    fn find(&self, secret: &[u8]) -> Option<Caller> {
        let sent = hash(secret);
        let mut found = None;
        for known in &self.0 {
            if is_same(&sent, &known.hash) {
                found = Some(&known.caller);
            }
        }
        found.cloned()
    }
}

/// The value of the header, if there is one and no other.
fn only(headers: &HeaderMap) -> Option<&[u8]> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    match (sent.next(), sent.next()) {
        (Some(value), None) => Some(value.as_bytes()),
        _ => None,
    }
}

/// The token in the value of a header.
fn token(value: &[u8]) -> Option<&[u8]> {
    credentials(CHALLENGE, value)
}

/// The password in the value of a header.
fn password(value: &[u8]) -> Option<Vec<u8>> {
    let mut pair = BASE64.decode(credentials(BASIC, value)?).ok()?;
    let colon = pair.iter().position(|byte| *byte == b':')?;
    pair.drain(..=colon);
    (!pair.is_empty()).then_some(pair)
}

/// What comes after the name of a scheme, which is in either case.
fn credentials<'a>(scheme: &str, value: &'a [u8]) -> Option<&'a [u8]> {
    let (named, rest) = value.split_at_checked(scheme.len())?;
    let credentials = rest.trim_ascii();
    (named.eq_ignore_ascii_case(scheme.as_bytes())
        && rest.starts_with(b" ")
        && !credentials.is_empty())
    .then_some(credentials)
}

fn hash(secret: &[u8]) -> Hash {
    Sha256::digest(secret).into()
}

fn is_same(one: &Hash, other: &Hash) -> bool {
    let pairs = one.iter().zip(other);
    let difference = pairs.fold(0, |difference, (a, b)| black_box(difference | (a ^ b)));
    difference == 0
}

impl fmt::Debug for BearerTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let callers = self.0.iter().map(|known| &known.caller);
        f.debug_list().entries(callers).finish()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn tokens() -> BearerTokens {
        BearerTokens::new([("alice", "a-secret"), ("bob", "b-secret")]).unwrap()
    }

    fn caller_of(values: &[&str]) -> Result<Caller, Unauthenticated> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        tokens().caller_of(&headers)
    }

    #[test]
    fn a_token_stands_for_its_caller_however_the_scheme_is_written() {
        for value in ["Bearer a-secret", "bearer a-secret", "BEARER  a-secret"] {
            assert_eq!(caller_of(&[value]), Ok(Caller::new("alice")), "{value}");
        }
        assert_eq!(caller_of(&["Bearer b-secret"]), Ok(Caller::new("bob")));
    }

    #[test]
    fn anything_else_is_refused_with_what_to_send() {
        for values in [
            &[][..],
            &["Basic a-secret"],
            &["a-secret"],
            &["Bearer"],
            &["Bearer "],
            &["Bearera-secret"],
            // Whoever is in front may have looked at the other.
            &["Bearer a-secret", "Bearer b-secret"],
        ] {
            let refused = caller_of(values).unwrap_err();
            assert_eq!(refused.challenge, Some(CHALLENGE), "{values:?}");
        }
        for value in ["Bearer A-SECRET", "Bearer a-secre", "Bearer a-secret,"] {
            assert_eq!(caller_of(&[value]).unwrap_err().challenge, Some(INVALID));
        }
    }

    #[test]
    fn a_browser_sends_the_token_as_a_password_with_any_name() {
        let visitor_of = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            tokens().visitor_of(&headers)
        };
        for pair in ["alice:a-secret", ":a-secret", "whoever:a-secret"] {
            for scheme in ["Basic", "basic"] {
                let value = format!("{scheme} {}", BASE64.encode(pair));
                assert_eq!(visitor_of(&value), Ok(Caller::new("alice")), "{pair}");
            }
        }
        assert_eq!(visitor_of("Bearer b-secret"), Ok(Caller::new("bob")));
        for pair in ["alice:b-secre", "a-secret:", "a-secret", "", "a:a:a-secret"] {
            let refused = visitor_of(&format!("Basic {}", BASE64.encode(pair)));
            assert_eq!(refused.unwrap_err().challenge, Some(SIGN_IN), "{pair}");
        }
        let refused = visitor_of("Basic ???").unwrap_err();
        assert_eq!(refused.challenge, Some(SIGN_IN));
        // Programs do not: their side is as it was.
        let basic = format!("Basic {}", BASE64.encode("alice:a-secret"));
        assert_eq!(caller_of(&[&basic]).unwrap_err().challenge, Some(CHALLENGE));
    }

    #[test]
    fn a_list_that_cannot_work_is_an_error_that_keeps_the_tokens_to_itself() {
        let refusal = |list: &[(&str, &str)]| {
            let list = list.iter().copied();
            BearerTokens::new(list).unwrap_err().to_string()
        };
        assert!(refusal(&[]).contains("nobody could call"));
        assert!(refusal(&[("", "a-secret")]).contains("a name"));
        assert!(refusal(&[("anonymous", "a-secret")]).contains("a name"));
        assert!(refusal(&[("alice", "")]).contains("`alice`"));
        for words in [
            refusal(&[("alice", "two words")]),
            refusal(&[("alice", "a-secret"), ("bob", "a-secret")]),
        ] {
            assert!(words.contains("`alice`"), "{words}");
            assert!(
                !words.contains("secret") && !words.contains("two"),
                "{words}"
            );
        }
    }

    #[test]
    fn what_is_printed_of_them_is_the_callers() {
        assert_eq!(
            format!("{:?}", tokens()),
            r#"[Caller("alice"), Caller("bob")]"#
        );
    }
}
