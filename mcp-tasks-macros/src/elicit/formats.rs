//! The formats of texts, to find a default that is none before anybody runs the
//! program.
//!
//! Only what is surely wrong is refused here. The runtime crate knows the
//! formats exactly, and looks at every form before it is first asked.

/// What a text must look like.
#[derive(Clone, Copy)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Format {
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Email, Self::Uri, Self::Date, Self::DateTime]
            .into_iter()
            .find(|format| format.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Email => "ana@example.org",
            Self::Uri => "https://example.org/page",
            Self::Date => "2026-07-28",
            Self::DateTime => "2026-07-28T09:30:00Z",
        }
    }

    pub(super) fn surely_not(self, text: &str) -> bool {
        match self {
            Self::Email => !like_email(text),
            Self::Uri => !like_uri(text),
            Self::Date => !is_date(text),
            Self::DateTime => !like_date_time(text),
        }
    }
}

/// Something, an `@`, and a domain with a dot.
fn like_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let dotted = domain.split('.').count() > 1 && domain.split('.').all(|label| !label.is_empty());
    !local.is_empty() && dotted && !text.contains(char::is_whitespace)
}

/// A scheme, a colon, and something.
fn like_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(in_scheme)
        && !rest.is_empty()
        && rest.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A day that exists, as `2026-07-28`.
fn is_date(text: &str) -> bool {
    let [year, month, day] = text.split('-').collect::<Vec<_>>()[..] else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// A day, a `T`, a time of day and an offset.
fn like_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else {
        return false;
    };
    let offset_at = time.find(['Z', 'z', '+', '-']);
    let Some((clock, offset)) = offset_at.map(|at| time.split_at(at)) else {
        return false;
    };
    let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    let offset = offset.trim_start_matches(['+', '-']);
    is_date(date) && is_clock(clock, 3) && (offset.eq_ignore_ascii_case("z") || is_clock(offset, 2))
}

/// Hours, minutes and perhaps seconds, of which there may be 60.
fn is_clock(text: &str, parts: usize) -> bool {
    let within = |(part, max): (&str, u32)| digits(part, 2).is_some_and(|part| part <= max);
    text.split(':').count() == parts && text.split(':').zip([23, 59, 60]).all(within)
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_surely_wrong_is_found() {
        for (format, right, wrong) in [
            (
                Format::Email,
                ["ana@example.org", "o'neil@bücher.example"],
                ["ana", "ana@", "@b.co", "a@b", "a b@c.de", "a@b."].as_slice(),
            ),
            (
                Format::Uri,
                ["https://example.org/a?b#c", "mailto:a@b.co"],
                &["", "example.org", "https:", "/a/b", "1a://b", "https://a b"],
            ),
            (
                Format::Date,
                ["2026-07-28", "2024-02-29"],
                &[
                    "",
                    "2026-02-29",
                    "1900-02-29",
                    "2026-13-01",
                    "2026-1-1",
                    "28.7.2026",
                ],
            ),
            (
                Format::DateTime,
                ["2026-07-28T09:30:00Z", "2016-12-31t23:59:60.5-08:00"],
                &[
                    "2026-07-28",
                    "2026-07-28T09:30:00",
                    "2026-07-28T09:30Z",
                    "2026-07-28T24:00:00Z",
                    "2026-02-30T09:30:00Z",
                    "2026-07-28T09:30:00+2",
                ],
            ),
        ] {
            assert!(!format.surely_not(format.example()));
            for text in right {
                assert!(!format.surely_not(text), "{text} was refused");
            }
            for text in wrong {
                assert!(format.surely_not(text), "{text} was let through");
            }
        }
    }
}
