//! Pictures that clients may show beside a name.

use serde::Serialize;

/// A picture for a tool: `#[mcp_task(icons = [..])]`.
///
/// ```
/// use mcp_tasks::prelude::*;
/// use mcp_tasks::{Icon, IconTheme};
///
/// /// Deploys.
/// #[mcp_task(icons = [
///     Icon::new("https://example.com/deploy.svg").mime_type("image/svg+xml").size("any"),
///     Icon::new("https://example.com/deploy-dark.png").size("48x48").theme(IconTheme::Dark),
/// ])]
/// async fn deploy() {}
/// ```
///
/// Where its address says enough, a text will do: `icons = ["https://.."]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    src: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sizes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    theme: Option<IconTheme>,
}

/// The background that an icon is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum IconTheme {
    /// A light one.
    Light,
    /// A dark one.
    Dark,
}

impl Icon {
    /// The picture at an `https:` address, or in a `data:` URI.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            mime_type: None,
            sizes: Vec::new(),
            theme: None,
        }
    }

    /// Its type, as in `image/png`.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// A size that it has, as in `48x48`, or `any` for one that scales.
    #[must_use]
    pub fn size(mut self, size: impl Into<String>) -> Self {
        self.sizes.push(size.into());
        self
    }

    /// The background that it is made for.
    #[must_use]
    pub fn theme(mut self, theme: IconTheme) -> Self {
        self.theme = Some(theme);
        self
    }
}

impl From<&str> for Icon {
    fn from(src: &str) -> Self {
        Self::new(src)
    }
}

impl From<String> for Icon {
    fn from(src: String) -> Self {
        Self::new(src)
    }
}
