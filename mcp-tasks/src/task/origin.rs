//! What a call says of the client that made it.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The program that called a tool, as it names itself; nobody checks that it is
/// what it says.
///
/// A parameter `client: ClientInfo` of a task function is given it. It is
/// recorded with the task, for tools that take it, so that it is the same after
/// a restart. A client need not name itself: then everything is `None`, and so
/// it is for tasks that were recorded before their tool took it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientInfo {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<Arc<str>>,
}

impl ClientInfo {
    /// A client of this name and version.
    pub fn new(name: impl Into<Arc<str>>, version: impl Into<Arc<str>>) -> Self {
        Self {
            name: Some(name.into()),
            title: None,
            version: Some(version.into()),
        }
    }

    /// With a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<Arc<str>>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Its name, for programs.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its name, for people.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Its version.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        let texts = [&self.name, &self.title, &self.version];
        texts.into_iter().flatten().map(|text| text.len()).sum()
    }
}

/// The `_meta` of the request that called a tool, as the client sent it, the
/// protocol's own members included.
///
/// A parameter `meta: Meta` of a task function is given it; it derefs to a JSON
/// map. It is recorded with the task, for tools that take it, so that it is the
/// same after a restart; with the arguments it counts towards their limit. It is
/// empty for tasks that were recorded before their tool took it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta(pub Map<String, Value>);

impl Deref for Meta {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
