//! The caller of an HTTP request.

use std::sync::Arc;

use http::HeaderMap;
use http::header::{AUTHORIZATION, Entry};
use http::request::Parts;

use super::tokens::BearerTokens;
use crate::Error;
use crate::task::Caller;

/// How the caller of a request is found.
#[derive(Clone, Default)]
pub(in crate::server) enum Callers {
    /// A layer in front says so in the request's extensions; otherwise everybody
    /// is anonymous.
    #[default]
    Extensions,
    /// By the token that it brings.
    Tokens(Arc<BearerTokens>),
    /// By a function of the host.
    Function(Arc<Extractor>),
}

type Extractor = dyn Fn(&Parts) -> Option<Caller> + Send + Sync;

/// A request that nobody vouches for.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::server) struct Unauthenticated {
    /// What goes into `WWW-Authenticate`, if that is known.
    pub(in crate::server) challenge: Option<&'static str>,
    pub(in crate::server) words: &'static str,
}

impl Callers {
    pub(in crate::server) fn with_tokens(
        tokens: impl IntoIterator<Item = (impl Into<Arc<str>>, impl AsRef<str>)>,
    ) -> Result<Self, Error> {
        BearerTokens::new(tokens).map(Arc::new).map(Self::Tokens)
    }

    pub(in crate::server) fn with_function(
        function: impl Fn(&Parts) -> Option<Caller> + Send + Sync + 'static,
    ) -> Self {
        Self::Function(Arc::new(function))
    }

    /// Finds the caller of a request, and puts it where rmcp's side finds it.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated`] if there is none: the request goes no further.
    pub(in crate::server) fn identify(&self, parts: &mut Parts) -> Result<Caller, Unauthenticated> {
        self.find(parts, BearerTokens::caller_of)
    }

    /// The same for a person's browser, which can send a token as a password
    /// only.
    ///
    /// # Errors
    ///
    /// As [`identify`](Self::identify).
    pub(in crate::server) fn identify_visitor(
        &self,
        parts: &mut Parts,
    ) -> Result<Caller, Unauthenticated> {
        self.find(parts, BearerTokens::visitor_of)
    }

    /// Whether nothing but a layer in front can say who calls.
    pub(in crate::server) fn are_said_by_a_layer(&self) -> bool {
        matches!(self, Self::Extensions)
    }

    fn find(
        &self,
        parts: &mut Parts,
        by_token: fn(&BearerTokens, &HeaderMap) -> Result<Caller, Unauthenticated>,
    ) -> Result<Caller, Unauthenticated> {
        // Whatever prints the headers from here on leaves these out.
        if let Entry::Occupied(mut secrets) = parts.headers.entry(AUTHORIZATION) {
            for secret in secrets.iter_mut() {
                secret.set_sensitive(true);
            }
        }
        let caller = match self {
            Self::Extensions => parts
                .extensions
                .get::<Caller>()
                .cloned()
                .unwrap_or_else(Caller::anonymous),
            Self::Tokens(tokens) => by_token(tokens, &parts.headers)?,
            Self::Function(function) => function(parts).ok_or(Unauthenticated {
                challenge: None,
                words: "this request carries nothing that says who you are",
            })?,
        };
        parts.extensions.insert(caller.clone());
        Ok(caller)
    }
}
