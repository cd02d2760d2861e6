//! Our tools as rmcp's types: in listings, in descriptions of the server, and
//! as calls in older sessions (P2, P70).

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult, MetaObject,
    ServerCapabilities, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::value::{RawValue, to_raw_value};

use super::callers::caller_of;
use super::session::{Dialect, Session, notices};
use crate::Error;
use crate::protocol::{Capabilities, META_SERVER_INFO, TASKS_EXTENSION};
use crate::router::Router;
use crate::runtime::{CallRequest, SessionClient, Support};
use crate::task::ClientInfo;

/// The tools that a router answers for, ready to be listed.
///
/// Listings go through rmcp's types, whose maps sort the properties of schemas.
pub(super) struct Catalogue {
    router: Router,
    tools: Vec<(Tool, Support)>,
}

impl Catalogue {
    pub(super) fn new(router: Router) -> Result<Self, Error> {
        let tools = router
            .runtime()
            .tools()
            .map(|tool| {
                serde_json::from_value(tool.listing().clone())
                    .map(|listing| (listing, tool.support()))
                    .map_err(|error| {
                        let name = tool.name();
                        Error::Config(format!("tool `{name}` cannot be listed: {error}"))
                    })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { router, tools })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.router.runtime().tool(name).is_some()
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools
            .iter()
            .map(|(tool, _)| tool)
            .find(|tool| tool.name == name)
    }

    /// Puts our tools before those of a wrapped handler.
    ///
    /// A tool that can only be a task is no use to an older session, which
    /// could not call it.
    pub(super) fn merge(
        &self,
        mut page: ListToolsResult,
        first_page: bool,
        standalone: bool,
    ) -> ListToolsResult {
        // Calls of these names come to us, whatever a listing says.
        page.tools.retain(|theirs| !self.has(&theirs.name));
        if first_page {
            let ours = self
                .tools
                .iter()
                .filter(|(_, support)| standalone || *support != Support::Required)
                .map(|(tool, _)| tool.clone());
            page.tools.splice(0..0, ours);
        }
        if standalone {
            page.meta
                .get_or_insert_with(MetaObject::default)
                .entry(META_SERVER_INFO.to_owned())
                .or_insert_with(|| self.router.runtime().server_info().clone());
        }
        page
    }

    /// Completes what `server/discover` says: tools, and the extension (P2).
    pub(super) fn describe(&self, capabilities: &mut ServerCapabilities) {
        self.describe_tools(capabilities);
        capabilities
            .extensions
            .get_or_insert_default()
            .entry(TASKS_EXTENSION.to_owned())
            .or_default();
    }

    /// Completes what `initialize` says, where the extension does not exist (P70).
    pub(super) fn describe_session(&self, capabilities: &mut ServerCapabilities) {
        self.describe_tools(capabilities);
        if let Some(extensions) = &mut capabilities.extensions {
            extensions.remove(TASKS_EXTENSION);
        }
        capabilities.extensions.take_if(|left| left.is_empty());
    }

    fn describe_tools(&self, capabilities: &mut ServerCapabilities) {
        if !self.tools.is_empty() {
            capabilities.tools.get_or_insert_default();
        }
    }

    /// Runs one of our tools on an open call of an older session.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request
            .arguments
            .as_ref()
            .map(to_raw_value)
            .transpose()
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let (caller, client) = (caller_of(&context.extensions), client(&context));
        let meta = to_raw_value(&context.meta)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let dialect = Dialect::of(context.protocol_version().as_ref());
        let session = Arc::new(Session::new(context.peer.clone(), dialect));
        let asked: Arc<dyn SessionClient> = session.clone();
        let token = context.meta.get_progress_token();
        let told = token.map(|token| notices(context.peer.clone(), token));
        let call = CallRequest {
            arguments: arguments.as_deref(),
            caller: &caller,
            capabilities: declared(&context, dialect),
            client: client.as_ref(),
            meta: Some(&meta),
            retry: None,
            session: Some(&asked),
            progress: told.as_ref(),
        };
        let call = self.router.call_in_session(&request.name, call);
        tokio::select! {
            result = call => {
                let result = complete(&result.map_err(ErrorData::from)?)?;
                if result.is_error != Some(true) {
                    session.complete().await;
                }
                Ok(result.into())
            }
            // Nobody reads the reply: rmcp drops it. What counts is that the call is dropped.
            () = context.ct.cancelled() => {
                Err(ErrorData::internal_error("the call was cancelled", None))
            }
        }
    }
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.tools.iter().map(|(tool, _)| &tool.name))
            .finish()
    }
}

/// What the client of a session said that it can do, as far as we can use it.
fn declared(context: &RequestContext<RoleServer>, dialect: Dialect) -> Capabilities {
    let declared = context.client_capabilities();
    declared.map_or_else(Default::default, |declared| dialect.declared(&declared))
}

/// How the client of a session named itself.
fn client(context: &RequestContext<RoleServer>) -> Option<ClientInfo> {
    let client = context.client_info()?;
    let named = ClientInfo::new(client.name, client.version);
    Some(match client.title {
        Some(title) => named.with_title(title),
        None => named,
    })
}

fn complete(result: &RawValue) -> Result<CallToolResult, ErrorData> {
    serde_json::from_str(result.get()).map_err(|error| {
        tracing::error!(%error, "a tool's result is not a tool result");
        ErrorData::internal_error("internal error", None)
    })
}
