//! The formats that a text may have, checked for real by the crates that know
//! them.
//!
//! `date`, `date-time` and `uri` follow their RFCs. An `email` must be one that
//! mail can be sent to: a bare address, no quotes or comments, a domain with a
//! dot.

use chrono::{DateTime, NaiveDate};
use email_address::{EmailAddress, Options};
use fluent_uri::Uri;

use super::StringFormat;

/// Says how the text should look if it does not.
pub(super) fn check(format: StringFormat, text: &str) -> Result<(), &'static str> {
    let (fits, rule) = match format {
        StringFormat::Email => (
            is_email(text),
            "must be a mail address such as `ana@example.org`",
        ),
        StringFormat::Uri => (
            is_absolute_uri(text),
            "must be an absolute URI such as `https://example.org/page`",
        ),
        StringFormat::Date => (is_date(text), "must be a date such as `2026-07-28`"),
        StringFormat::DateTime => (
            is_date_time(text),
            "must be a time with its offset such as `2026-07-28T09:30:00Z`",
        ),
    };
    if fits { Ok(()) } else { Err(rule) }
}

fn is_email(text: &str) -> bool {
    let options = Options::default()
        .with_required_tld()
        .without_display_text()
        .without_domain_literal();
    !text.contains('"') && EmailAddress::parse_with_options(text, options).is_ok()
}

/// An absolute URI with something after the colon; on the web, with a host.
fn is_absolute_uri(text: &str) -> bool {
    let Ok(uri) = Uri::parse(text) else {
        return false;
    };
    let scheme = uri.scheme().as_str();
    let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    match uri.authority() {
        Some(authority) => !(web && authority.host().is_empty()),
        None => !web && !uri.path().is_empty(),
    }
}

/// RFC 3339 `full-date`, with days that exist.
fn is_date(text: &str) -> bool {
    // The parser takes shorter and signed years too.
    text.len() == 10
        && text.starts_with(|c: char| c.is_ascii_digit())
        && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

/// RFC 3339 `date-time`.
fn is_date_time(text: &str) -> bool {
    // The parser takes a space for the `T` too.
    matches!(text.as_bytes().get(10), Some(b'T' | b't'))
        && DateTime::parse_from_rfc3339(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn hold(check: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(check(text), "{text} was refused");
        }
        for text in bad {
            assert!(!check(text), "{text} was accepted");
        }
    }

    #[test]
    fn mail_addresses() {
        hold(
            is_email,
            &[
                "a@b.co",
                "first.last+tag@sub.example.org",
                "o'neil@example.org",
                "jörg@bücher.example",
            ],
            &[
                "",
                "a",
                "@b.co",
                "a@",
                "a@b",
                "a@b.",
                "a@.b",
                "a b@c.de",
                "a@b c.de",
                "a@@b.co",
                ".a@b.co",
                "a.@b.co",
                "a..b@c.de",
                "a@-b.co",
                "a@b-.co",
                "<a@b.co>",
                "a@b.co\n",
            ],
        );
    }

    #[test]
    fn absolute_uris() {
        hold(
            is_absolute_uri,
            &[
                "https://example.org",
                "HTTP://user:pw@example.org:8080/a/b?c=d/?#e",
                "http://[::1]:80/",
                "https://127.0.0.1/%C3%A4",
                "mailto:a@b.co",
                "urn:isbn:0451450523",
                "file:///etc/hosts",
                "tel:+1-816-555-1212",
            ],
            &[
                "",
                "example.org",
                "/a/b",
                "//example.org/a",
                "https:",
                "https://",
                "https:/a",
                "http:example.org",
                "1http://a.b",
                "https://a b",
                "https://a.b/ä",
                "https://a.b/%2",
                "https://a.b/%zz",
                "https://a.b/#c#d",
                "https://a.b/<x>",
                "https://a.b:port",
                "http://[::1",
                "http://[nine]/",
                "http://[::1]x/",
                "https://a.b/\\",
            ],
        );
    }

    #[test]
    fn calendar_days() {
        hold(
            is_date,
            &["2026-07-28", "2024-02-29", "2000-02-29", "0000-01-01"],
            &[
                "",
                "2026-02-29",
                "1900-02-29",
                "2026-04-31",
                "2026-13-01",
                "2026-00-01",
                "2026-01-00",
                "2026-1-1",
                "26-01-01",
                "2026/01/01",
                "20260101",
                " 2026-01-01",
                "2026-01-01Z",
                "+026-01-01",
                "２０２６-01-01",
            ],
        );
    }

    #[test]
    fn points_in_time() {
        hold(
            is_date_time,
            &[
                "2026-07-28T09:30:00Z",
                "2026-07-28t09:30:00.123456789012345z",
                "2026-07-28T23:59:59+14:00",
                "2026-07-28T00:00:00-00:00",
                "2016-12-31T23:59:60Z",
                "2016-12-31T15:59:60-08:00",
            ],
            &[
                "",
                "2026-07-28",
                "2026-07-28T09:30:00",
                "2026-07-28 09:30:00Z",
                "2026-07-28T09:30Z",
                "2026-07-28T24:00:00Z",
                "2026-07-28T09:60:00Z",
                "2026-07-28T09:30:61Z",
                "2026-07-28T09:30:00.Z",
                "2026-07-28T09:30:00.1.2Z",
                "2026-07-28T09:30:00+0200",
                "2026-07-28T09:30:00+24:00",
                "2026-07-28T09:30:00+02:60",
                "2026-07-28T09:30:00Z ",
                "2026-02-30T09:30:00Z",
                "2026-07-28T09:30:00ZZ",
            ],
        );
    }
}
