//! What a tool call returns (`CallToolResult`).

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// One block of a tool's result: text, an image, a sound, a link to a resource,
/// or a resource itself.
///
/// ```
/// use mcp_tasks::prelude::*;
/// use mcp_tasks::{Audience, ContentBlock};
///
/// /// Draws the load of a service.
/// #[mcp_task]
/// async fn load(service: String) -> Vec<ContentBlock> {
///     vec![
///         ContentBlock::text(format!("The load of {service}:")),
///         ContentBlock::image(b"\x89PNG..", "image/png"),
///         ContentBlock::link(format!("load://{service}"), "load").mime_type("text/csv"),
///         ContentBlock::text("drawn from 3 samples").audience([Audience::Assistant]),
///     ]
/// }
/// ```
///
/// It is a JSON object on the wire, and keeps whatever a block that came from
/// elsewhere has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentBlock(IndexMap<Cow<'static, str>, Value>);

/// For whom a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// A person.
    User,
    /// A model.
    Assistant,
}

impl ContentBlock {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of("text").member("text", text.into())
    }

    /// An image, with its type as in `image/png`.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::of("image")
            .member("data", BASE64.encode(bytes))
            .mime_type(mime_type)
    }

    /// A sound, with its type as in `audio/wav`.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::of("audio")
            .member("data", BASE64.encode(bytes))
            .mime_type(mime_type)
    }

    /// A link to a resource that the client may read, with the resource's name.
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::of("resource_link")
            .member("uri", uri.into())
            .member("name", name.into())
    }

    /// A resource of text, as a part of the result.
    pub fn resource(uri: impl Into<String>, text: impl Into<String>) -> Self {
        let resource = json!({ "uri": uri.into(), "text": text.into() });
        Self::of("resource").member("resource", resource)
    }

    /// A resource of bytes, as a part of the result.
    pub fn binary_resource(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        let resource = json!({ "uri": uri.into(), "blob": BASE64.encode(bytes) });
        Self::of("resource").member("resource", resource)
    }

    /// The type of what a link or resource is, as in `text/csv`.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        let mime_type = Value::from(mime_type.into());
        match self.0.get_mut("resource").and_then(Value::as_object_mut) {
            Some(resource) => {
                resource.insert("mimeType".to_owned(), mime_type);
                self
            }
            None => self.member("mimeType", mime_type),
        }
    }

    /// A link's name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.member("title", title.into())
    }

    /// What is behind a link, for the model.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.member("description", description.into())
    }

    /// How many bytes are behind a link.
    #[must_use]
    pub fn size(self, bytes: u64) -> Self {
        self.member("size", bytes)
    }

    /// For whom it is.
    #[must_use]
    pub fn audience(self, audience: impl IntoIterator<Item = Audience>) -> Self {
        let audience: Vec<Audience> = audience.into_iter().collect();
        self.inside("annotations", "audience", json!(audience))
    }

    /// How important it is, from 0 (optional) to 1 (required).
    #[must_use]
    pub fn priority(self, priority: f64) -> Self {
        self.inside("annotations", "priority", json!(priority))
    }

    /// Adds to its `_meta`.
    #[must_use]
    pub fn meta(self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.inside("_meta", &key.into(), value.into())
    }

    /// Its kind, as in `text`.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.get("type")?.as_str()
    }

    /// A member of the block.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The text, if it is a block of text.
    pub fn as_text(&self) -> Option<&str> {
        self.0.get("text")?.as_str()
    }

    fn of(kind: &str) -> Self {
        Self(IndexMap::from([(Cow::Borrowed("type"), kind.into())]))
    }

    fn member(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.0.insert(Cow::Borrowed(name), value.into());
        self
    }

    fn inside(mut self, outer: &'static str, name: &str, value: Value) -> Self {
        let object = self.0.entry(Cow::Borrowed(outer)).or_insert(json!({}));
        object[name] = value;
        self
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// The result of a tool call, as `tools/call` returns it and as a completed
/// task carries it.
#[derive(Clone, Debug, Default)]
pub struct ToolResult {
    /// The blocks that a model or a person reads.
    pub content: Vec<ContentBlock>,
    /// The same for programs, kept as it was written.
    pub structured: Option<Arc<RawValue>>,
    /// Whether the tool ran and failed (P14).
    pub is_error: bool,
    /// The result's `_meta`, beside what the server adds.
    pub meta: Map<String, Value>,
}

impl ToolResult {
    /// A result of one block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text)],
            ..Self::default()
        }
    }

    /// A failure that the tool reports, for the model to read.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// The text of all blocks of text, a line break between two.
    pub fn to_text(&self) -> String {
        let texts: Vec<_> = self
            .content
            .iter()
            .filter_map(ContentBlock::as_text)
            .collect();
        texts.join("\n")
    }

    /// The structured content as a value of this type; `null` if there is none.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn structured_as<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        let json = self.structured.as_deref().map_or("null", RawValue::get);
        serde_json::from_str(json)
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut result = serializer.serialize_struct("CallToolResult", 5)?;
        result.serialize_field("resultType", "complete")?;
        result.serialize_field("content", &self.content)?;
        match &self.structured {
            Some(structured) => result.serialize_field("structuredContent", structured)?,
            None => result.skip_field("structuredContent")?,
        }
        result.serialize_field("isError", &self.is_error)?;
        if self.meta.is_empty() {
            result.skip_field("_meta")?;
        } else {
            result.serialize_field("_meta", &self.meta)?;
        }
        result.end()
    }
}
