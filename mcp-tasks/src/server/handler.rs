//! What rmcp serves: the user's handler, with our tools merged in.
//!
//! The router answers most of what concerns tasks before rmcp sees it. Here is
//! what remains: our tools in listings and in the server's description, and
//! calls of them in older sessions, where the function runs on the open call.

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelledNotificationParam, CompleteRequestParams,
    CompleteResult, CustomNotification, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams, GetSkillResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ReadResourceDirectoryRequestParams,
    ReadResourceDirectoryResult, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::catalogue::Catalogue;
use super::subscription::Begun;
use crate::protocol::shortened;

/// The methods that MCP defines: malformed parameters are the only way in which
/// they reach a handler as custom requests.
const DEFINED: [&str; 14] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// A handler with our tools beside its own.
#[derive(Debug)]
pub(super) struct Merged<H> {
    inner: Arc<H>,
    catalogue: Arc<Catalogue>,
}

impl<H> Merged<H> {
    pub(super) fn new(inner: Arc<H>, catalogue: Arc<Catalogue>) -> Self {
        Self { inner, catalogue }
    }
}

type Request = RequestContext<RoleServer>;
type Notice = NotificationContext<RoleServer>;

impl<H: ServerHandler> ServerHandler for Merged<H> {
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Request,
    ) -> Result<ListToolsResult, ErrorData> {
        let first_page = request.as_ref().is_none_or(|page| page.cursor.is_none());
        let standalone = is_standalone(&context);
        let theirs = match self.inner.list_tools(request, context).await {
            // A handler without tools is no reason not to list ours.
            Err(error) if first_page && error.code == ErrorCode::METHOD_NOT_FOUND => {
                ListToolsResult::default()
            }
            theirs => theirs?,
        };
        Ok(self.catalogue.merge(theirs, first_page, standalone))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Request,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.catalogue.has(&request.name) {
            return self.catalogue.call(request, context).await;
        }
        match self.inner.call_tool(request, context).await? {
            // `tasks/get` would not find it: those methods are answered by our engine.
            CallToolResponse::Task(_) => Err(ErrorData::internal_error(
                "the wrapped handler made a task of its own; tools that are tasks are registered with `TaskServer::task`",
                None,
            )),
            response => Ok(response),
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalogue
            .tool(name)
            .cloned()
            .or_else(|| self.inner.get_tool(name))
    }

    fn get_info(&self) -> ServerConfig {
        let mut info = self.inner.get_info();
        self.catalogue.describe_session(&mut info.capabilities);
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Request,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.inner.initialize(request, context).await?;
        self.catalogue.describe_session(&mut result.capabilities);
        Ok(result)
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.inner.negotiate_initialize(request)?;
        self.catalogue.describe_session(&mut result.capabilities);
        Ok(result)
    }

    async fn discover(&self, context: Request) -> Result<DiscoverResult, ErrorData> {
        let mut result = self.inner.discover(context).await?;
        self.catalogue.describe(&mut result.capabilities);
        if !result
            .supported_versions
            .contains(&ProtocolVersion::V_2026_07_28)
        {
            result
                .supported_versions
                .push(ProtocolVersion::V_2026_07_28);
        }
        Ok(result)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let mut versions = self.inner.supported_protocol_versions();
        if !versions.contains(&ProtocolVersion::V_2026_07_28) {
            versions.to_mut().push(ProtocolVersion::V_2026_07_28);
        }
        versions
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Request,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.clone();
        let result = self.inner.on_custom_request(request, context).await;
        match result {
            Err(error) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                Err(if DEFINED.contains(&method.as_str()) {
                    ErrorData::invalid_params(
                        format!("the parameters of `{method}` are malformed"),
                        None,
                    )
                } else {
                    let words = format!("method not found: {}", shortened(&method));
                    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, words, None)
                })
            }
            result => result,
        }
    }

    // What follows is the wrapped handler's alone. `get_task`, `update_task` and
    // `cancel_task` keep their defaults: what reaches them is of an older
    // session, where they do not exist.

    async fn ping(&self, context: Request) -> Result<(), ErrorData> {
        self.inner.ping(context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Request,
    ) -> Result<CompleteResult, ErrorData> {
        self.inner.complete(request, context).await
    }

    #[expect(deprecated, reason = "older clients still set it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: Request,
    ) -> Result<(), ErrorData> {
        self.inner.set_level(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Request,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.inner.get_prompt(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Request,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.inner.list_prompts(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Request,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.inner.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Request,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.inner.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Request,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.inner.read_resource(request, context).await
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // The method exists, as it does for tasks, whatever else is agreed to.
        Some(
            self.inner
                .accepted_subscription_filter(requested)
                .unwrap_or_default(),
        )
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let begun = context.request_context().extensions.get::<Begun>().cloned();
        let mut listening = pin!(self.inner.listen(context));
        let first = poll_fn(|cx| Poll::Ready(listening.as_mut().poll(cx))).await;
        if let Some(begun) = begun {
            begun.tell();
        }
        match first {
            Poll::Ready(end) => end,
            Poll::Pending => listening.await,
        }
    }

    #[expect(deprecated, reason = "older sessions still subscribe this way")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Request,
    ) -> Result<(), ErrorData> {
        self.inner.subscribe(request, context).await
    }

    #[expect(deprecated, reason = "older sessions still subscribe this way")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Request,
    ) -> Result<(), ErrorData> {
        self.inner.unsubscribe(request, context).await
    }

    async fn on_cancelled(&self, notification: CancelledNotificationParam, context: Notice) {
        self.inner.on_cancelled(notification, context).await;
    }

    async fn on_progress(&self, notification: ProgressNotificationParam, context: Notice) {
        self.inner.on_progress(notification, context).await;
    }

    async fn on_initialized(&self, context: Notice) {
        self.inner.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: Notice) {
        self.inner.on_roots_list_changed(context).await;
    }

    async fn on_custom_notification(&self, notification: CustomNotification, context: Notice) {
        self.inner
            .on_custom_notification(notification, context)
            .await;
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Request,
    ) -> Result<ListSkillsResult, ErrorData> {
        self.inner.list_skills(request, context).await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: Request,
    ) -> Result<GetSkillResult, ErrorData> {
        self.inner.get_skill(request, context).await
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: Request,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        self.inner.read_resource_directory(request, context).await
    }
}

/// Whether a request is one of 2026-07-28, which needs no session.
fn is_standalone(context: &Request) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| !version.has_initialize())
}

/// The handler of a server that wraps none: a name, a version, no tools of its own.
#[derive(Clone, Debug)]
pub struct NoHandler {
    info: ServerConfig,
}

impl NoHandler {
    pub(super) fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let info = ServerConfig::default()
            .with_server_info(rmcp::model::Implementation::new(name, version));
        Self { info }
    }
}

impl ServerHandler for NoHandler {
    fn get_info(&self) -> ServerConfig {
        self.info.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Request,
    ) -> Result<ListToolsResult, ErrorData> {
        match request.and_then(|page| page.cursor) {
            None => Ok(ListToolsResult::default()),
            Some(_) => Err(ErrorData::invalid_params(
                "unknown `cursor`: the tools fit on one page",
                None,
            )),
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: Request,
    ) -> Result<CallToolResponse, ErrorData> {
        Err(ErrorData::invalid_params(
            format!("unknown tool: {}", shortened(&request.name)),
            None,
        ))
    }
}
