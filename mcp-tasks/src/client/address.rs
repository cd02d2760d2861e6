//! A server's URL, with what goes along with each request.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::{ExponentialBackoff, SseRetryPolicy as _};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::ClientError;
use super::link::{Http, Mirrors, Tap};

/// How long a connection may take to stand. What comes after may take its time.
const CONNECT: Duration = Duration::from_secs(10);

/// How many requests may be under way at once: calls are open for as long as
/// they take.
const CONCURRENT: usize = 1024;

/// How large a reply may be: the largest result that this crate's servers allow,
/// and its envelope.
const LARGEST: usize = 64 * 1024 * 1024;

/// How often a request may be sent elsewhere.
const REDIRECTS: usize = 5;

/// A URL and the headers of requests to it.
pub(super) struct HttpAddress {
    url: String,
    headers: HashMap<HeaderName, HeaderValue>,
    mirrors: Arc<Mirrors>,
}

impl HttpAddress {
    /// # Errors
    ///
    /// [`ClientError::Connect`] if the URL or a header is none.
    pub(super) fn new(url: String, headers: &[(String, String)]) -> Result<Self, ClientError> {
        let wrong = |problem: String| ClientError::Connect {
            server: without_secrets(&url),
            problem,
        };
        let parsed = reqwest::Url::parse(&url).map_err(|error| {
            wrong(format!(
                "it is no URL ({error}); write http://HOST:PORT/mcp"
            ))
        })?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(wrong(format!(
                "`{}` is not spoken here; write http:// or https://",
                parsed.scheme()
            )));
        }
        let mut all = HashMap::new();
        for (name, value) in headers {
            let name: HeaderName = name
                .parse()
                .map_err(|_| wrong(format!("`{name}` cannot be the name of a header")))?;
            // The value may be a secret: it is not repeated.
            let mut value: HeaderValue = value.parse().map_err(|_| {
                wrong(format!(
                    "the header `{name}` has characters that no header has"
                ))
            })?;
            value.set_sensitive(true);
            all.insert(name, value);
        }
        Ok(Self {
            url,
            headers: all,
            mirrors: Arc::default(),
        })
    }

    /// What is known of the server's tools.
    pub(super) fn mirrors(&self) -> &Mirrors {
        &self.mirrors
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The URL as it can be shown.
    pub(super) fn shown(&self) -> String {
        without_secrets(&self.url)
    }

    pub(super) fn transport(
        &self,
        tap: &Arc<Tap>,
        patience: Duration,
    ) -> Result<StreamableHttpClientTransport<Http>, ClientError> {
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .redirect(same_origin())
            .build()
            .map_err(|error| ClientError::Connect {
                server: self.shown(),
                problem: error.to_string(),
            })?;
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str());
        config.custom_headers.clone_from(&self.headers);
        config.max_concurrent_requests = CONCURRENT;
        config.retry_config = Arc::new(resumption(patience));
        config.max_json_response_size = LARGEST;
        config.max_sse_event_size = LARGEST;
        let http = Http::new(client, Arc::clone(tap), Arc::clone(&self.mirrors));
        Ok(StreamableHttpClientTransport::with_client(http, config))
    }
}

/// How often a stream that was cut off is asked for again, where a server numbers its
/// events: as long as a server that says nothing is waited for.
fn resumption(patience: Duration) -> ExponentialBackoff {
    /// What is waited at most before the next attempt.
    const LONGEST: Duration = Duration::from_secs(8);
    /// Whoever waits for longer than that may be said to wait for ever.
    const FOR_EVER: Duration = Duration::from_secs(7 * 24 * 3600);

    let patience = patience.min(FOR_EVER);
    let mut resumption = ExponentialBackoff::default();
    resumption.max_delay = Some(LONGEST);
    let mut waited = Duration::ZERO;
    let mut times = 1;
    while let Some(pause) = resumption.retry(times)
        && waited + pause <= patience
    {
        waited += pause;
        times += 1;
    }
    resumption.max_times = Some(times);
    resumption
}

/// Follows a server to another place of its own, as from `/mcp` to `/mcp/`, and
/// nowhere else: credentials are for the server that they were given for. Nor where
/// the request would be made a GET, as the statuses up to 303 do.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let origin = attempt.previous().first().map(reqwest::Url::origin);
        if attempt.status().as_u16() <= 303
            || origin != Some(attempt.url().origin())
            || attempt.previous().len() > REDIRECTS
        {
            attempt.stop()
        } else {
            attempt.follow()
        }
    })
}

impl fmt::Debug for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers may be secrets.
        f.debug_struct("HttpAddress")
            .field("url", &self.shown())
            .finish_non_exhaustive()
    }
}

/// A URL without what may be a password or a key in it.
fn without_secrets(url: &str) -> String {
    let Ok(mut parsed) = reqwest::Url::parse(url) else {
        let end = url.find(['@', '?', '#']).map_or(url.len(), |at| at);
        return format!("`{}`", &url[..end]);
    };
    // Neither fails for a URL that has a host, and others have nothing to hide.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.set_query(None);
    parsed.set_fragment(None);
    parsed.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_asked_for_again_for_as_long_as_a_server_is_waited_for() {
        for (patience, least) in [(0, 0), (1, 0), (7, 6), (120, 110)] {
            let resumption = resumption(Duration::from_secs(patience));
            let mut waited = Duration::ZERO;
            let pauses = (1..1000).map_while(|times| resumption.retry(times));
            pauses.for_each(|pause| waited += pause);
            assert!((least..=patience).contains(&waited.as_secs()), "{waited:?}");
        }
        assert!(resumption(Duration::MAX).max_times.is_some());
    }
}
