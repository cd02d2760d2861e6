//! What differs from run to run elsewhere, and is the same in each run of a
//! task: the time, and chance.

use std::time::SystemTime;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{Flow, OutsideOfTask, Site};
use crate::task::Seed;

/// The time, as the task knows it: when the last outcome that it has seen was
/// recorded, and at first when it was created.
///
/// It stands still between two waits, and is the same whenever the function is
/// run again. May stand in nested closures, `async` blocks and steps too; a
/// step may as well read the clock, as its result is recorded.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// #[mcp_task]
/// async fn approve(change: String) -> Result<String, ToolError> {
///     let asked = now();
///     ask_user::<()>(format!("Apply {change}?")).await?;
///     let hours = now().duration_since(asked)?.as_secs() / 3600;
///     Ok(format!("approved within {hours} hours"))
/// }
/// ```
pub fn now() -> OutsideOfTask<SystemTime> {
    OutsideOfTask::new(|flow, _| flow.now().into())
}

/// A random value: any integer with the same chance, a fraction from 0 up to
/// but not including 1, or a `bool`.
///
/// It comes from the task's recorded seed and the place of the call, so that it
/// is the same whenever the function is run again. Each pass through a place
/// gives another value. May stand in nested closures, `async` blocks and steps
/// too, but not in what they spawn.
///
/// As the name of a value counts the variable that it is bound to: giving it
/// another is a change of the code, as is drawing once more under the same name
/// before it.
///
/// Not for secrets: who knows the seed in the journal knows the value.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// #[mcp_task]
/// async fn pick(hosts: Vec<String>) -> Result<String, ToolError> {
///     if hosts.is_empty() {
///         return Err(ToolError::new("no hosts"));
///     }
///     let canary = random::<u64>() % hosts.len() as u64;
///     Ok(hosts[canary as usize].clone())
/// }
/// ```
pub fn random<T: Random>() -> OutsideOfTask<T> {
    OutsideOfTask::new(|flow, site| T::from_bits(draw(flow, site)))
}

/// A random UUID of version 4, the same whenever the function is run again;
/// see [`random`].
///
/// ```
/// use mcp_tasks::prelude::*;
/// # async fn create(_: &str) -> std::io::Result<()> { Ok(()) }
///
/// #[mcp_task]
/// async fn open_account() -> Result<String, ToolError> {
///     let account = uuid().to_string();
///     step(create(&account)).await?;
///     Ok(account)
/// }
/// ```
pub fn uuid() -> OutsideOfTask<Uuid> {
    OutsideOfTask::new(|flow, site| uuid_of(draw(flow, site)))
}

fn uuid_of(bits: [u8; 16]) -> Uuid {
    uuid::Builder::from_random_bytes(bits).into_uuid()
}

/// What [`random`] can give.
#[diagnostic::on_unimplemented(
    message = "`random` cannot draw `{Self}`",
    label = "not drawn by `random`",
    note = "it draws `u32`, `u64`, `i32`, `i64`, `f64` and `bool`: draw one of these and make the value of it, or draw it in a step, which records it"
)]
pub trait Random: sealed::Sealed {
    #[doc(hidden)]
    fn from_bits(bits: [u8; 16]) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

/// What one pass through a place draws.
fn draw(flow: &Flow, site: Site) -> [u8; 16] {
    // `#` keeps the names apart from those of what is awaited. Inside a step
    // they are the step's own: it does not run in a replay, and what is drawn
    // elsewhere must not depend on that.
    let key = match flow.current_step() {
        None => format!("{}#drawn", site.key),
        Some(step) => format!("{}#drawn in {step}", site.key),
    };
    bits(flow.context().seed, flow.pass(&key).as_str())
}

/// Sixteen bytes for a name. Journals depend on them: they must never change.
pub(super) fn bits(seed: Seed, name: &str) -> [u8; 16] {
    let mut hash = Sha256::new();
    for half in seed.0 {
        hash.update(half.to_be_bytes());
    }
    hash.update(name);
    let mut bits = [0; 16];
    bits.copy_from_slice(&hash.finalize()[..16]);
    bits
}

/// From 0 up to but not including 1, evenly.
pub(super) fn fraction(bits: [u8; 16]) -> f64 {
    // As many bits as are exact in an `f64`.
    let number = <u64 as Random>::from_bits(bits) >> 11;
    #[allow(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let fraction = number as f64 / (1u64 << 53) as f64;
    fraction
}

macro_rules! integers {
    ($($integer:ty),+) => {$(
        impl sealed::Sealed for $integer {}

        #[diagnostic::do_not_recommend]
        impl Random for $integer {
            fn from_bits(bits: [u8; 16]) -> Self {
                let mut bytes = Self::default().to_be_bytes();
                let length = bytes.len();
                bytes.copy_from_slice(&bits[..length]);
                Self::from_be_bytes(bytes)
            }
        }
    )+};
}

integers!(u32, u64, i32, i64);

impl sealed::Sealed for f64 {}

#[diagnostic::do_not_recommend]
impl Random for f64 {
    fn from_bits(bits: [u8; 16]) -> Self {
        fraction(bits)
    }
}

impl sealed::Sealed for bool {}

#[diagnostic::do_not_recommend]
impl Random for bool {
    fn from_bits(bits: [u8; 16]) -> Self {
        bits[0] >= 0x80
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn<T: Random>(name: &str) -> T {
        T::from_bits(bits(Seed([7, 11]), name))
    }

    #[test]
    fn what_journals_depend_on_never_changes() {
        assert_eq!(drawn::<u32>("a#drawn"), 3_665_785_503);
        assert_eq!(drawn::<u64>("a#drawn"), 15_744_428_849_813_543_916);
        assert_eq!(drawn::<i32>("a#drawn#2"), -1_040_860_257);
        assert_eq!(drawn::<i64>("left/a#drawn"), -7_060_854_557_902_973_796);
        assert_eq!(drawn::<f64>("a#drawn").to_bits(), 0x3feb_4fee_53e2_118b);
        assert!(drawn::<bool>("a#drawn"));
        let uuid = uuid_of(bits(Seed([7, 11]), "id#drawn"));
        assert_eq!(uuid.to_string(), "f3e91690-c943-4ffe-bf60-a0b1aa72b7e2");
    }

    #[test]
    fn values_are_spread() {
        let names: Vec<String> = (0..1000).map(|n| format!("x#drawn#{n}")).collect();
        let fractions: Vec<f64> = names.iter().map(|name| drawn(name)).collect();
        assert!(
            fractions
                .iter()
                .all(|fraction| (0.0..1.0).contains(fraction))
        );
        let low = fractions.iter().filter(|fraction| **fraction < 0.5).count();
        let heads = names.iter().filter(|name| drawn::<bool>(name)).count();
        for count in [low, heads] {
            assert!((400..600).contains(&count), "{count} of 1000");
        }
    }
}
