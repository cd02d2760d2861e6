//! Starts the fixture server as a process and speaks to it as a client does.
//!
//! The client here knows the wire and nothing of the library: it writes JSON by
//! hand and hands back what came, as text too, so that tests see what a client
//! in another language would see. A request that does not get its reply in
//! time, a process that does not start, a task that never gets where a test
//! waits for it: all of them panic, with what was seen.

#![allow(
    clippy::missing_panics_doc,
    reason = "a panic in here is a failed test, which is what it is for"
)]

mod client;
pub mod example;
mod fixture;
mod http;
mod launch;
mod listening;
pub mod meddler;
mod mortal;
pub mod postgres;
mod progress;
mod reply;
pub mod rounds;
pub mod scripted;
mod session;
mod stdio;
mod store_file;
pub mod trial;
mod visitor;
mod web;

pub use self::client::{Client, Declares, acknowledged, declared, keys};
pub use self::fixture::Fixture;
pub use self::launch::{Launch, Place, Refusal, Transport};
pub use self::listening::Listening;
pub use self::mortal::Mortal;
pub use self::progress::Told;
pub use self::reply::{Failure, Gone, Reply};
pub use self::session::{Said, Session};
pub use self::store_file::StoreFile;
pub use self::visitor::{Page, PageEvents, PageForm, Visitor};
pub use self::web::web;

/// Makes each of these functions of a transport a test over every transport. One
/// that is missing here is never called, which the compiler says.
#[macro_export]
macro_rules! over_every_transport {
    ($($case:ident),+ $(,)?) => {$(
        mod $case {
            #[tokio::test]
            async fn http() {
                super::$case($crate::Transport::Http).await;
            }

            #[tokio::test]
            async fn stdio() {
                super::$case($crate::Transport::Stdio).await;
            }
        }
    )+};
}

/// How long anything may take before a test gives up on it.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// The examples of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
