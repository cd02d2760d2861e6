//! Wire types of the extension and of JSON-RPC: plain data, no I/O.
//!
//! What is written to the wire keeps the order that its author gave it:
//! structs serialize field by field, and recorded requests are kept as text.

/// The rules of the wire in this project's words, with the numbers (`P1` and so
/// on) by which code and tests refer to them.
///
#[doc = include_str!("rules.md")]
pub mod rules {}

mod capabilities;
mod content;
mod error;
mod form;
mod icon;
mod input;
mod jsonrpc;
mod meta;
#[cfg(any(feature = "http", feature = "client"))]
mod mirrored;
mod roots;
mod sampling;
mod task;

pub use capabilities::{Capabilities, ElicitationModes};
pub use content::{Audience, ContentBlock, ToolResult};
pub(crate) use error::shortened;
pub use error::{ErrorCode, ProtocolError};
pub use form::{Choice, Content, Field, FieldError, FieldKind, Form, StringFormat};
pub(crate) use form::{SAFE_INTEGER, unfit_default};
pub use icon::{Icon, IconTheme};
pub use input::InputKind;
pub use jsonrpc::{Malformed, Message, MessageKind, Reply};
pub(crate) use jsonrpc::{Params, object, text};
pub use meta::RequestMeta;
#[cfg(any(feature = "http", feature = "client"))]
pub(crate) use mirrored::MirroredArgument;
#[cfg(feature = "http")]
pub(crate) use mirrored::{MIRROR, Misplaced};
pub use roots::Root;
pub use sampling::{ModelReply, ModelRequest};
pub(crate) use task::Meta;
pub use task::{Detail, DetailedTask, InputRequest, TaskStatus};

/// The identifier of the Tasks extension (P1).
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The protocol version whose messages this crate answers itself.
pub const PROTOCOL_VERSION: &str = "2026-07-28";

/// Where a request's `_meta` carries its protocol version (P3).
pub const META_PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Where a request's `_meta` carries the client's capabilities (P1, P3).
pub const META_CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Where a result's `_meta` names the server (P16).
pub const META_SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Where the `_meta` of a message that belongs to a subscription carries the id
/// of the request that began it (P40).
pub const META_SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Where a task's `_meta` carries its progress, as `{done, total}`.
pub const META_PROGRESS: &str = "rs.mcp-tasks/progress";
