//! Requests of what is no MCP client: browsers, other systems.

use crate::http::HttpWire;

/// Sends a request as it is, and gives what came back; follows nothing, and keeps
/// no cookies.
pub async fn web(request: http::Request<String>) -> http::Response<String> {
    let wire = HttpWire::new(String::new());
    let (parts, text) = wire.exchange(request).await.expect("no response");
    http::Response::from_parts(parts, text)
}
