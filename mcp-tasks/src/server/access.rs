//! Which hosts and origins a request may come by (P51).
//!
//! A web page that a person happens to open can reach servers on their own
//! machine: its requests carry the page's `Origin`, and after DNS rebinding the
//! page's `Host`. Both are checked before anything else is looked at.

use std::net::IpAddr;

use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, Uri, header};

use crate::Error;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Says yes to everything.
const ANY: &str = "*";

/// The allow-lists of one server.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    /// `None`: loopback names only.
    pub(super) hosts: Option<Vec<String>>,
    /// `None`: pages served from loopback. Pages of the same host always may.
    pub(super) origins: Option<Vec<String>>,
}

/// A host name and, where one is given, a port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    host: String,
    port: Option<u16>,
}

impl Access {
    /// Refuses entries that could never match.
    pub(super) fn validate(&self) -> Result<(), Error> {
        for host in self.hosts.iter().flatten() {
            if host != ANY && Place::parse(host).is_none() {
                return Err(Error::Config(format!(
                    "allowed_hosts: `{host}` is neither `HOST` nor `HOST:PORT` nor `*`"
                )));
            }
        }
        for origin in self.origins.iter().flatten() {
            if origin != ANY && origin_of(origin).is_none() {
                return Err(Error::Config(format!(
                    "allowed_origins: `{origin}` is neither `SCHEME://HOST[:PORT]` nor `*`"
                )));
            }
        }
        Ok(())
    }

    /// The host list in the form that rmcp takes; empty means all.
    pub(super) fn rmcp_hosts(&self) -> Vec<String> {
        match &self.hosts {
            None => LOOPBACK.map(str::to_owned).to_vec(),
            Some(hosts) if hosts.iter().any(|host| host == ANY) => Vec::new(),
            Some(hosts) => hosts.clone(),
        }
    }

    /// Checks `Host` and `Origin`.
    ///
    /// # Errors
    ///
    /// The HTTP status and the words to refuse with.
    pub(super) fn check(&self, parts: &Parts) -> Result<(), (u16, String)> {
        let host = host_of(&parts.uri, &parts.headers)
            .ok_or_else(|| (400, "the `Host` header is missing or malformed".to_owned()))?;
        if !self.allows_host(&host) {
            return Err((
                403,
                format!(
                    "host `{}` is not allowed here; the server's `allowed_hosts` names those that are",
                    host.host
                ),
            ));
        }
        let mut origins = parts.headers.get_all(header::ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None)
                if origin
                    .to_str()
                    .is_ok_and(|origin| self.allows_origin(origin, &host)) =>
            {
                Ok(())
            }
            _ => Err((
                403,
                "this `Origin` is not allowed here; the server's `allowed_origins` names those that are"
                    .to_owned(),
            )),
        }
    }

    /// Checks that a form was sent by a page of this server's own, or by no page
    /// at all. What pages of elsewhere may do with the rest of the server plays no
    /// part, unless they are named one by one.
    ///
    /// # Errors
    ///
    /// The words to refuse with.
    pub(super) fn is_from_own_page(&self, parts: &Parts) -> Result<(), &'static str> {
        const FOREIGN: &str = "Nothing was recorded: this was sent by a page of another site.";
        let one = |name: &str| {
            let mut values = parts.headers.get_all(name).iter();
            match (values.next(), values.next()) {
                (None, _) => Ok(None),
                (Some(value), None) => value.to_str().map(Some).map_err(|_| FOREIGN),
                (Some(_), Some(_)) => Err(FOREIGN),
            }
        };
        // The browser's own word, where it gives it; pages cannot set it.
        if let Some(site) = one("sec-fetch-site")? {
            return match site {
                "same-origin" | "none" => Ok(()),
                _ => Err(FOREIGN),
            };
        }
        let Some(origin) = one("origin")? else {
            return Ok(());
        };
        let parsed = origin_of(origin);
        let host = host_of(&parts.uri, &parts.headers);
        let own = matches!((&parsed, &host), (Some((scheme, place)), Some(host))
            if is_same_place(scheme, place, host));
        let named = self.origins.iter().flatten();
        let mut named = named.filter(|named| *named != ANY);
        if own || named.any(|named| parsed.is_some() && origin_of(named) == parsed) {
            return Ok(());
        }
        Err(FOREIGN)
    }

    fn allows_host(&self, host: &Place) -> bool {
        match &self.hosts {
            None => LOOPBACK.contains(&host.host.as_str()),
            Some(hosts) => hosts.iter().any(|allowed| {
                allowed == ANY
                    || Place::parse(allowed).is_some_and(|allowed| {
                        allowed.host == host.host
                            && (allowed.port.is_none() || allowed.port == host.port)
                    })
            }),
        }
    }

    fn allows_origin(&self, origin: &str, host: &Place) -> bool {
        let parsed = origin_of(origin);
        if let Some((scheme, place)) = &parsed
            && is_same_place(scheme, place, host)
        {
            return true;
        }
        match &self.origins {
            None => parsed.is_some_and(|(_, place)| LOOPBACK.contains(&place.host.as_str())),
            Some(origins) => origins.iter().any(|allowed| {
                allowed == ANY || (parsed.is_some() && origin_of(allowed) == parsed)
            }),
        }
    }
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        // A bare IPv6 address is not an authority, but people write it.
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self {
                host: address.to_string(),
                port: None,
            });
        }
        let authority: Authority = text.parse().ok()?;
        (!authority.as_str().contains('@')).then(|| Self::of(&authority))
    }

    fn of(authority: &Authority) -> Self {
        let host = authority.host();
        let host = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        Self {
            host: host.to_ascii_lowercase(),
            port: authority.port_u16(),
        }
    }
}

/// Whether a page of this origin is one of the host's.
fn is_same_place(scheme: &str, place: &Place, host: &Place) -> bool {
    let default = default_port(scheme);
    place.host == host.host && place.port.or(default) == host.port.or(default)
}

/// The host that a request is meant for; HTTP/2 carries it in the URI.
fn host_of(uri: &Uri, headers: &HeaderMap) -> Option<Place> {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => Place::parse(host.to_str().ok()?),
        (None, _) => uri.authority().map(Place::of),
        (Some(_), Some(_)) => None,
    }
}

/// Scheme and place of an origin, with the scheme's own port left out.
fn origin_of(text: &str) -> Option<(String, Place)> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let mut place = Place::parse(rest)?;
    place.port = place
        .port
        .filter(|port| Some(*port) != default_port(&scheme));
    Some((scheme, place))
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn status(access: &Access, host: &str, origin: Option<&str>) -> u16 {
        let mut request = Request::builder().uri("/mcp").header(header::HOST, host);
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        access.check(&parts).err().map_or(200, |(status, _)| status)
    }

    #[test]
    fn by_default_only_this_machine_is_served() {
        let access = Access::default();
        for host in ["localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"] {
            assert_eq!(status(&access, host, None), 200, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:80",
            "127.0.0.1.nip.io",
        ] {
            assert_eq!(status(&access, host, None), 403, "{host}");
        }
        assert_eq!(status(&access, "user@localhost", None), 400);
        assert_eq!(status(&access, "", None), 400);
    }

    #[test]
    fn a_foreign_page_is_refused() {
        let access = Access::default();
        for origin in [
            "http://localhost:3000",
            "http://[::1]",
            "https://127.0.0.1:1",
        ] {
            assert_eq!(
                status(&access, "localhost:8000", Some(origin)),
                200,
                "{origin}"
            );
        }
        for origin in [
            "https://evil.example",
            "null",
            "",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
        ] {
            assert_eq!(
                status(&access, "localhost:8000", Some(origin)),
                403,
                "{origin}"
            );
        }
    }

    #[test]
    fn a_form_is_taken_from_a_page_of_the_same_host_alone() {
        let access = Access {
            hosts: None,
            origins: Some(vec!["https://front.example".into(), ANY.into()]),
        };
        let is_own = |headers: &[(&str, &str)]| {
            let mut request = Request::builder().uri("/inbox");
            for (name, value) in [("host", "localhost:8000")].iter().chain(headers) {
                request = request.header(*name, *value);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            access.is_from_own_page(&parts).is_ok()
        };
        for own in [
            &[][..],
            &[("origin", "http://localhost:8000")],
            &[("sec-fetch-site", "same-origin")],
            &[
                ("sec-fetch-site", "none"),
                ("origin", "http://localhost:8000"),
            ],
            // A proxy in front that changes the host is named.
            &[("origin", "https://front.example")],
        ] {
            assert!(is_own(own), "{own:?}");
        }
        for foreign in [
            &[("origin", "http://localhost:3000")][..],
            &[("origin", "http://127.0.0.1:8000")],
            &[("origin", "https://evil.example")],
            &[("origin", "null")],
            &[("origin", "")],
            &[("sec-fetch-site", "cross-site")],
            &[
                ("sec-fetch-site", "same-site"),
                ("origin", "http://localhost:8000"),
            ],
            &[("origin", "http://localhost:8000"), ("origin", "null")],
        ] {
            assert!(!is_own(foreign), "{foreign:?}");
        }
    }

    #[test]
    fn named_hosts_replace_the_default_and_their_own_pages_may() {
        let access = Access {
            hosts: Some(vec!["mcp.example".into(), "other.example:8443".into()]),
            origins: Some(vec!["https://app.example:443".into()]),
        };
        access.validate().unwrap();
        assert_eq!(status(&access, "mcp.example:1234", None), 200);
        assert_eq!(status(&access, "other.example:8443", None), 200);
        assert_eq!(status(&access, "other.example", None), 403);
        assert_eq!(status(&access, "localhost", None), 403);
        assert_eq!(
            status(&access, "mcp.example", Some("https://app.example")),
            200
        );
        assert_eq!(
            status(&access, "mcp.example", Some("https://mcp.example")),
            200
        );
        assert_eq!(
            status(&access, "mcp.example", Some("http://localhost")),
            403
        );
        assert_eq!(
            status(&access, "mcp.example", Some("http://app.example")),
            403
        );
    }

    #[test]
    fn a_star_lets_everything_in() {
        let access = Access {
            hosts: Some(vec![ANY.into()]),
            origins: Some(vec![ANY.into()]),
        };
        access.validate().unwrap();
        assert_eq!(status(&access, "evil.example", Some("null")), 200);
        assert!(access.rmcp_hosts().is_empty());
    }

    #[test]
    fn an_entry_that_could_never_match_is_an_error() {
        let access = Access {
            hosts: Some(vec!["http://mcp.example".into()]),
            origins: None,
        };
        assert!(access.validate().is_err());
        let access = Access {
            hosts: None,
            origins: Some(vec!["app.example".into()]),
        };
        assert!(access.validate().is_err());
    }
}
