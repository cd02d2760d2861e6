//! What gives another result, or is seen twice, when a body is replayed.

use quote::ToTokens as _;
use syn::Path;

use super::{Rewriter, messages};
use crate::task::keys::unraw;

/// Clocks, by the last two segments of their path.
const CLOCKS: [(&str, &str); 6] = [
    ("SystemTime", "now"),
    ("Instant", "now"),
    ("Utc", "now"),
    ("Local", "now"),
    ("OffsetDateTime", "now_utc"),
    ("Timestamp", "now"),
];

/// Sources of randomness, in the same way.
const RANDOM: [(&str, &str); 7] = [
    ("rand", "random"),
    ("rand", "rng"),
    ("rand", "thread_rng"),
    ("rand", "random_range"),
    ("rand", "random_bool"),
    ("Uuid", "new_v4"),
    ("Uuid", "now_v7"),
];

/// What `std::env` reads that another process may have otherwise.
const ENVIRONMENT: [&str; 6] = ["var", "var_os", "vars", "vars_os", "args", "args_os"];

impl Rewriter<'_> {
    /// Reports a call that a replay would answer differently.
    pub(super) fn refuse_unrepeatable(&self, path: &Path) {
        if !self.place.replayed {
            return;
        }
        let mut names = path
            .segments
            .iter()
            .rev()
            .map(|segment| unraw(&segment.ident));
        let (Some(last), before) = (names.next(), names.next()) else {
            return;
        };
        let before = before.unwrap_or_default();
        let is = |(owner, function): &(&str, &str)| *owner == before && *function == last;
        let text = || {
            let path: String = path.to_token_stream().to_string();
            format!("{}()", path.replace(' ', ""))
        };
        if CLOCKS.iter().any(is) {
            self.report
                .error_spanned(path, messages::reads_clock(&text()));
        } else if RANDOM.iter().any(is) || (before.is_empty() && last == "thread_rng") {
            let instead = if before == "Uuid" {
                "uuid()"
            } else {
                "random()"
            };
            self.report
                .error_spanned(path, messages::is_random(&text(), instead));
        } else if before == "thread" && last == "sleep" {
            self.report.error_spanned(path, messages::blocks(&text()));
        } else if is_std(path, "fs") {
            self.report
                .error_spanned(path, messages::touches_files(&text()));
        } else if is_std(path, "env") && ENVIRONMENT.contains(&last.as_str()) {
            self.report
                .error_spanned(path, messages::reads_environment(&text()));
        }
    }
}

/// Whether a path leads into this module of `std`; by itself the module's name
/// may be the user's.
fn is_std(path: &Path, module: &str) -> bool {
    let mut segments = path.segments.iter();
    let is_next = |segment: Option<&syn::PathSegment>, name: &str| {
        segment.is_some_and(|segment| segment.ident == name)
    };
    is_next(segments.next(), "std") && is_next(segments.next(), module)
}
