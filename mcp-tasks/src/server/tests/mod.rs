//! The edges around a wrapped rmcp handler, with and without tools of ours.

mod callers;
mod described;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod mirrored;
mod routed;
mod stdio;
mod subscriptions;
#[cfg(feature = "http")]
mod subscriptions_http;

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequestParams,
    ElicitationSchema, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::TaskServer;

/// An rmcp server of two tools: `greet` answers, `ask` asks first.
pub(super) struct Greeter;

impl Greeter {
    fn tools() -> Vec<Tool> {
        let schema = Arc::new(rmcp::model::object(json!({ "type": "object" })));
        ["greet", "ask"]
            .map(|name| Tool::new(name, "theirs", Arc::clone(&schema)))
            .to_vec()
    }
}

impl ServerHandler for Greeter {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("greeter", "7"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Self::tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // One tool a page.
        let second = request.is_some_and(|page| page.cursor.is_some());
        let tools = Self::tools();
        let mut page = ListToolsResult::with_all_items(vec![tools[usize::from(second)].clone()]);
        page.next_cursor = (!second).then(|| "second".to_owned());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = match request.name.as_ref() {
            "greet" => "hello".to_owned(),
            "ask" => {
                let params = ElicitRequestParams::FormElicitationParams {
                    meta: None,
                    message: "name?".to_owned(),
                    requested_schema: ElicitationSchema::new(BTreeMap::default()),
                };
                let answer = context.peer.create_elicitation(params).await;
                let answer =
                    answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                format!("{:?}", answer.action)
            }
            other => return Err(ErrorData::invalid_params(format!("no {other}"), None)),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

pub(super) fn server() -> TaskServer<Greeter> {
    TaskServer::wrap(Greeter)
}

/// A request of 2026-07-28.
pub(super) fn standalone(id: u32, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(super) fn initialize(id: u32) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "test", "version": "0" },
    } })
}
