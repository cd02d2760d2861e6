//! A question that is answered elsewhere: at an address that a person opens.

use super::menu::stopped_at_choice;
use super::{Asked, Desk, Reply, Stopped};
use crate::screen::{Look, Screen, harmless};

/// What a person should know of an address before opening it.
fn warning(url: &str) -> Option<&'static str> {
    let (scheme, rest) = url.split_once(':')?;
    let is = |known: &str| scheme.eq_ignore_ascii_case(known);
    if !is("https") && !is("http") {
        return Some("Careful: this is not the address of a page in the web.");
    }
    let authority = rest.trim_start_matches('/').split(['/', '?', '#']).next()?;
    if authority.contains('@') {
        return Some("Careful: where it leads stands after the @.");
    }
    if !authority.is_ascii() || authority.to_ascii_lowercase().contains("xn--") {
        return Some("Careful: its host has letters that look like others.");
    }
    None
}

/// Shows an address, and asks whether the person opens it.
pub(super) fn open_url(
    desk: &mut impl Desk,
    screen: Screen,
    url: &str,
    can_detach: bool,
) -> Result<Asked, Stopped> {
    // Nothing is left out of it: where it leads is for the person to judge. Nor is it
    // broken into lines, so that it can be opened or copied where it stands.
    screen
        .line(&format!("  {}", harmless(url)))
        .map_err(Stopped::Broken)?;
    if let Some(warning) = warning(url) {
        screen
            .prose(0, Look::Notable, warning)
            .map_err(Stopped::Broken)?;
    }
    screen.line("").map_err(Stopped::Broken)?;
    let options = [
        "I open it, or have opened it",
        "Decline",
        "Close the question without an answer",
    ];
    let options = options.map(str::to_owned);
    loop {
        return Ok(match desk.choose("Open this address?", &options) {
            Ok(0) => Asked::Replied(Reply::Consent),
            Ok(1) => Asked::Replied(Reply::Decline),
            Ok(_) => Asked::Replied(Reply::Dismiss),
            Err(stopped) => match stopped_at_choice(desk, stopped, can_detach)? {
                Some(asked) => asked,
                None => continue,
            },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_not_what_it_seems_comes_with_a_warning() {
        for url in [
            "https://example.org/in?to=a@b",
            "http://127.0.0.1:8000/sign-in",
            "HTTPS://example.org",
        ] {
            assert_eq!(warning(url), None, "{url}");
        }
        for url in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://example.org@example.net/",
            "https://ex\u{430}mple.org/",
            "https://xn--exmple-4nf.org/",
            "https://XN--exmple-4nf.org/",
        ] {
            assert!(warning(url).is_some(), "{url}");
        }
    }
}
