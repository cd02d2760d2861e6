//! What a tool says of itself to clients that list it, beyond its name.

use serde_json::{Value, json};

use super::Definition;
use crate::protocol::Icon;

impl Definition {
    /// A hint of how the tool behaves.
    #[must_use]
    pub fn annotation(mut self, hint: &str, value: bool) -> Self {
        let annotations = self.listing.entry("annotations").or_insert(json!({}));
        annotations[hint] = value.into();
        self
    }

    /// Pictures of the tool.
    #[must_use]
    pub fn icons<I: Into<Icon>>(self, icons: impl IntoIterator<Item = I>) -> Self {
        let icons: Vec<Icon> = icons.into_iter().map(Into::into).collect();
        self.listed("icons", json!(icons))
    }

    /// The `_meta` of the tool.
    #[must_use]
    pub fn meta(self, meta: Value) -> Self {
        self.listed("_meta", meta)
    }
}
