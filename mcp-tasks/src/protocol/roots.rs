//! What a client answers to `roots/list`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::object;

/// A folder or file that the client works in: see
/// [`list_roots`](crate::list_roots).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// Where it is; so far always a `file://` URI.
    pub uri: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Root {
    /// A root without a name.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: None,
        }
    }

    /// Reads a client's result.
    pub(crate) fn read_list(result: &RawValue) -> serde_json::Result<Vec<Self>> {
        #[derive(Deserialize)]
        struct Listed {
            roots: Vec<Root>,
        }
        object::<Listed>(result).map(|listed| listed.roots)
    }

    /// The same with a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}
