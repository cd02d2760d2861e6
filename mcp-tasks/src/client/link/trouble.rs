//! Why a request has no result, as far as it matters for what to do next.

use std::time::Duration;

#[cfg(feature = "client")]
use chrono::{DateTime, Utc};
use rmcp::service::ServiceError;

use crate::client::ClientError;
use crate::protocol::{ErrorCode, ProtocolError};

/// What became of a request that has no result.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(feature = "client"),
    allow(dead_code, reason = "some of it happens over HTTP only")
)]
pub(in crate::client) enum Trouble {
    /// The server answered with an error.
    Refused(ProtocolError),
    /// The server did not take the request, and says when to come again.
    Busy {
        words: String,
        wait: Option<Duration>,
    },
    /// The request did not reach the server.
    NotSent(String),
    /// The request may have reached the server; its reply did not come.
    NoReply(String),
    /// There is no use in coming again.
    Denied(String),
    /// Nor here: what answers is not what was asked.
    Odd(String),
    /// There is no connection, and there will be none.
    Connect(ClientError),
}

impl Trouble {
    /// What rmcp says.
    pub(super) fn of(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::Refused(ProtocolError {
                code: ErrorCode(i64::from(error.code.0)),
                message: error.message.into_owned(),
                data: error.data,
            }),
            ServiceError::TransportSend(error) => Self::of_transport(error.error.as_ref()),
            other => Self::NoReply(other.to_string()),
        }
    }

    #[cfg(not(feature = "client"))]
    pub(super) fn of_transport(error: &(dyn std::error::Error + 'static)) -> Self {
        Self::NoReply(chain(error))
    }

    #[cfg(feature = "client")]
    pub(super) fn of_transport(error: &(dyn std::error::Error + 'static)) -> Self {
        use rmcp::transport::streamable_http_client::StreamableHttpError;

        match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::HttpStatus(http)) => {
                let words = format!("the server replied with the HTTP status {}", http.status);
                let wait = http
                    .retry_after
                    .as_deref()
                    .and_then(|value| wait(value, Utc::now()));
                match http.status {
                    425 | 429 | 503 => Self::Busy { words, wait },
                    // Timed out: whoever said so may be in front of a server that goes on.
                    408 | 500.. => Self::NoReply(words),
                    401 | 403 => Self::Denied(words),
                    _ => Self::Odd(words),
                }
            }
            Some(StreamableHttpError::Client(error)) if error.is_connect() => {
                Self::NotSent(chain(error))
            }
            Some(
                StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_),
            ) => Self::Denied("it wants credentials, or others than these".to_owned()),
            Some(StreamableHttpError::Client(error)) => Self::NoReply(chain(error)),
            Some(StreamableHttpError::UnexpectedServerResponse(words)) => {
                Self::NoReply(words.clone().into_owned())
            }
            Some(StreamableHttpError::UnexpectedContentType(kind)) => {
                let kind = kind.as_deref().filter(|kind| !kind.is_empty());
                let kind = kind.unwrap_or("no type that it names");
                Self::NoReply(format!(
                    "it replied with {kind}, which is not what MCP speaks"
                ))
            }
            // It would be as large the next time.
            Some(StreamableHttpError::ResponseBodyTooLarge { max_size }) => {
                Self::Odd(format!("the reply is larger than {max_size} bytes"))
            }
            _ => Self::NoReply(chain(error)),
        }
    }

    /// Whether the same request may be sent again, given that it does no harm if
    /// it is received twice.
    pub(in crate::client) fn is_passing(&self) -> bool {
        match self {
            Self::Busy { .. }
            | Self::NotSent(_)
            | Self::NoReply(_)
            | Self::Connect(ClientError::Connect { .. }) => true,
            // A server whose store is away for a moment says so.
            Self::Refused(error) => error.code == ErrorCode::INTERNAL,
            Self::Denied(_) | Self::Odd(_) | Self::Connect(_) => false,
        }
    }

    /// Whether the server has surely not acted on the request.
    pub(in crate::client) fn is_unheard(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::NotSent(_))
    }

    /// How long the server wants to be left alone.
    pub(in crate::client) fn wait(&self) -> Option<Duration> {
        match self {
            Self::Busy { wait, .. } => *wait,
            _ => None,
        }
    }

    pub(in crate::client) fn words(&self) -> String {
        match self {
            Self::Refused(error) => error.to_string(),
            Self::Busy { words, .. }
            | Self::NotSent(words)
            | Self::NoReply(words)
            | Self::Denied(words)
            | Self::Odd(words) => words.clone(),
            Self::Connect(error) => error.to_string(),
        }
    }

    pub(in crate::client) fn into_error(self, method: &str) -> ClientError {
        let method = method.to_owned();
        match self {
            Self::Refused(error) => ClientError::Refused { method, error },
            Self::Denied(words) => ClientError::Denied(words),
            Self::Connect(error) => error,
            Self::Odd(problem) => ClientError::Unexpected { method, problem },
            Self::Busy { words: problem, .. } | Self::NotSent(problem) | Self::NoReply(problem) => {
                ClientError::NoReply { method, problem }
            }
        }
    }
}

/// The longest that a server is left alone because it says so: one that says more has
/// made a mistake, which must not make a call endless.
#[cfg(feature = "client")]
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// `Retry-After`, as HTTP has it: seconds, or a date (RFC 9110, 10.2.3). One that has
/// passed, or is now, says nothing of when to come again.
#[cfg(feature = "client")]
fn wait(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let value = value.trim();
    let wait = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // What no number holds is long.
        Duration::from_secs(value.parse().unwrap_or(u64::MAX))
    } else {
        let until = DateTime::parse_from_rfc2822(value).ok()?;
        (until.with_timezone(&Utc) - now).to_std().ok()?
    };
    (!wait.is_zero()).then(|| wait.min(LONGEST_WAIT))
}

/// An error with its causes: what a library says last is what has happened.
pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
        source = error.source();
    }
    words
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_how_long_to_wait_in_seconds_or_by_a_date() {
        let now = DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap();
        let wait = |value| wait(value, now.into());
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(
            wait("Mon, 30 Nov 2026 12:01:30 GMT"),
            Some(Duration::from_secs(90))
        );
        assert_eq!(wait("Mon, 30 Nov 2026 11:00:00 GMT"), None);
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("0"), None);
        assert_eq!(wait("18446744073709551615"), Some(LONGEST_WAIT));
        assert_eq!(wait("99999999999999999999999"), Some(LONGEST_WAIT));
        assert_eq!(wait("Sun, 30 Nov 2036 12:00:00 GMT"), Some(LONGEST_WAIT));
    }
}
