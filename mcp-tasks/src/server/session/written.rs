//! Requests as they were written: members in the order of their author, which
//! rmcp's maps do not keep.
//!
//! A request to rmcp's loop has its text along. Whoever writes the loop's
//! messages, as we do on stdio, can write that instead.

use std::sync::Arc;

use rmcp::model::{CustomRequest, JsonRpcRequest, RequestId, ServerRequest};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::protocol::ProtocolError;

/// The parameters of a request.
#[derive(Clone, Debug)]
struct Written(Arc<RawValue>);

/// A request that has its text along.
pub(super) fn request(method: &str, params: Arc<RawValue>) -> Result<ServerRequest, ProtocolError> {
    let value = serde_json::from_str(params.get())
        .map_err(|_| ProtocolError::internal("it cannot be put into JSON"))?;
    let mut request = CustomRequest::new(method, Some(value));
    request.extensions.insert(Written(params));
    Ok(ServerRequest::CustomRequest(request))
}

/// A request as it was written, if it has its text along.
pub(in crate::server) fn as_written(request: &JsonRpcRequest<ServerRequest>) -> Option<String> {
    #[derive(Serialize)]
    struct Line<'a> {
        jsonrpc: &'static str,
        id: &'a RequestId,
        method: &'a str,
        params: &'a RawValue,
    }
    let ServerRequest::CustomRequest(custom) = &request.request else {
        return None;
    };
    let Written(params) = custom.extensions.get()?;
    let line = Line {
        jsonrpc: "2.0",
        id: &request.id,
        method: &custom.method,
        params,
    };
    serde_json::to_string(&line).ok()
}
