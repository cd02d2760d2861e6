//! Who a request comes from.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The principal of a request, as the host's authentication established it.
///
/// A task belongs to the caller that created it; for any other it does not
/// exist. Without authentication everybody is [`Caller::anonymous`], and a
/// task's id is the secret that grants access to it.
///
/// Over HTTP it is what `TaskServer::bearer_tokens` or `TaskServer::caller` say,
/// or else what the host's auth layer has put into the request's extensions; over
/// stdio it is `TaskServer::stdio_caller`. A parameter `caller: Caller` of a task
/// function is given the task's own, also after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Caller(Arc<str>);

impl Caller {
    /// An authenticated principal.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The caller of every request of a server without authentication.
    pub fn anonymous() -> Self {
        Self::new("anonymous")
    }

    /// Whether nobody authenticated this caller.
    pub fn is_anonymous(&self) -> bool {
        &*self.0 == "anonymous"
    }

    /// The principal's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// On whose behalf a task is looked at.
#[derive(Clone, Copy, Debug)]
pub enum Access<'a> {
    /// A client's: only its own tasks exist.
    Caller(&'a Caller),
    /// The server's own code.
    Server,
}

impl Access<'_> {
    /// Whether a task of `owner` exists for this access.
    pub fn may_see(self, owner: &Caller) -> bool {
        match self {
            Self::Caller(caller) => caller == owner,
            Self::Server => true,
        }
    }
}
