//! Tasks whose servers die or are stopped, seen from the outside: what is done
//! with them, what their clients know, what they did to the world, and whether
//! they ended as they should have. How the servers are treated is left to the
//! test.

mod case;
mod chance;
mod effects;
mod journal;
mod record;
mod verdict;

pub use self::case::{Case, Order, Policy, cases};
pub use self::chance::Chance;
pub use self::effects::{Effect, Effects};
pub use self::journal::{Journal, dump, kind, of_kind};
pub use self::record::{Cancel, LETTERS, Record, Sent, now_ms};
pub use self::verdict::Undisturbed;

/// A number from the environment; `None` if it is not set.
pub fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} must be a number, and is `{text}`")))
}
