//! Who calls.
//!
//! Every request has a caller before anything else of it is looked at. Over
//! HTTP it is what the server was told to look for (bearer tokens, a function of
//! the request) or what a layer in front has put into the request's extensions;
//! over stdio it is the one client that started the server.

#[cfg(feature = "http")]
mod requests;
#[cfg(feature = "http")]
mod sessions;
#[cfg(feature = "http")]
mod tokens;

use rmcp::model::Extensions;

#[cfg(feature = "http")]
pub(super) use self::requests::{Callers, Unauthenticated};
#[cfg(feature = "http")]
pub(super) use self::sessions::SessionIds;
use crate::task::Caller;

/// Whose request rmcp is serving.
///
/// It is put in by the transport; over HTTP rmcp passes on the request's parts.
pub(super) fn caller_of(extensions: &Extensions) -> Caller {
    #[cfg(feature = "http")]
    if let Some(parts) = extensions.get::<http::request::Parts>()
        && let Some(caller) = parts.extensions.get::<Caller>()
    {
        return caller.clone();
    }
    extensions
        .get::<Caller>()
        .cloned()
        .unwrap_or_else(Caller::anonymous)
}
