//! What a server is made of, and the checks before it may serve.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServerHandler;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "http")]
use super::access::Access;
#[cfg(feature = "http")]
use super::callers::{Callers, SessionIds};
use super::catalogue::Catalogue;
use super::engine::Engine;
use super::era::Versions;
use super::handler::Merged;
#[cfg(feature = "http")]
use super::headers::NamePolicy;
#[cfg(feature = "http")]
use super::http::{HttpConfig, TaskService};
#[cfg(feature = "http")]
use super::inbox::{InboxConfig, InboxService};
#[cfg(feature = "http")]
use super::mirrored::MirroredArguments;
use super::stdio::StdioServer;
use super::stop::GRACE;
use super::{BuiltServer, NoHandler};
use crate::Error;
use crate::elicit::Elicit;
use crate::router::Router;
#[cfg(feature = "http")]
use crate::runtime::Inbox;
use crate::runtime::{Limits, Runtime, RuntimeBuilder, TaskFn, TaskOwner};
use crate::store::TaskStore;
use crate::task::Caller;

/// What a message may be longer than the arguments in it.
const AROUND_ARGUMENTS: usize = 3 << 20;

const IN_MEMORY: &str = "tasks are kept in memory and are lost when this process ends; so are calls \
     that wait for answers, unless `state_keys` are given";

const KEYS_IN_MEMORY: &str = "calls that wait for answers are lost when this process ends: its store \
     does not keep the keys that seal them, and no `state_keys` are given";

type Factory<H> = Arc<dyn Fn() -> Arc<H> + Send + Sync>;

/// A server of task functions, alone or around an rmcp handler.
///
/// # Example
///
/// ```no_run
/// use mcp_tasks::prelude::*;
///
/// /// Deploys a service once a person agrees.
/// #[mcp_task]
/// async fn deploy(service: String) -> Result<String, ToolError> {
///     let agreed: bool = ask_user(format!("Deploy {service}?")).await?;
///     Ok(format!("{service}: {}", if agreed { "deployed" } else { "left as it was" }))
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), mcp_tasks::Error> {
///     TaskServer::new("deployer", env!("CARGO_PKG_VERSION"))
///         .task(deploy)
///         .serve_stdio()
///         .await
/// }
/// ```
///
/// An rmcp server gains tasks by swapping its entry point; its handler, with its
/// tools, prompts and resources, stays as it is:
///
/// ```no_run
/// use mcp_tasks::prelude::*;
/// use mcp_tasks::rmcp::ServerHandler;
///
/// # #[mcp_task]
/// # async fn deploy() {}
/// async fn serve(handler: impl ServerHandler) -> Result<(), mcp_tasks::Error> {
///     TaskServer::wrap(handler).task(deploy).serve_stdio().await
/// }
/// ```
#[must_use = "a server does nothing until it is served"]
pub struct TaskServer<H = NoHandler> {
    runtime: RuntimeBuilder,
    factory: Factory<H>,
    has_store: bool,
    message_limit: Option<usize>,
    grace: Duration,
    stdio_caller: Caller,
    #[cfg(feature = "http")]
    callers: Result<Callers, Error>,
    #[cfg(feature = "http")]
    access: Access,
    #[cfg(feature = "http")]
    names: NamePolicy,
    #[cfg(feature = "http")]
    pub(super) inbox: Inbox,
}

impl TaskServer {
    /// A server of that name and version, which clients are shown.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::wrap(NoHandler::new(name, version))
    }
}

impl<H: ServerHandler> TaskServer<H> {
    /// Adds tasks to an rmcp handler, which all requests share.
    ///
    /// The server has the handler's name and version. Tasks that the handler
    /// makes by itself are not served: rmcp's task manager and this crate's
    /// engine do not mix.
    pub fn wrap(handler: H) -> Self {
        let handler = Arc::new(handler);
        Self::over(Arc::new(move || Arc::clone(&handler)))
    }

    /// Adds tasks to an rmcp handler that is made anew for each older session
    /// and each request over HTTP; over stdio, for the session and once for all
    /// requests that need none.
    pub fn wrap_with(handler: impl Fn() -> H + Send + Sync + 'static) -> Self {
        Self::over(Arc::new(move || Arc::new(handler())))
    }

    fn over(factory: Factory<H>) -> Self {
        let server = factory().get_info().server_info;
        Self {
            runtime: Runtime::builder(server.name, server.version),
            factory,
            has_store: false,
            message_limit: None,
            grace: GRACE,
            stdio_caller: Caller::anonymous(),
            #[cfg(feature = "http")]
            callers: Ok(Callers::default()),
            #[cfg(feature = "http")]
            access: Access::default(),
            #[cfg(feature = "http")]
            names: NamePolicy::default(),
            #[cfg(feature = "http")]
            inbox: Inbox::default(),
        }
    }

    /// Adds a tool.
    pub fn task<A, F: TaskFn<A>>(mut self, function: F) -> Self {
        self.runtime = self.runtime.task(function);
        self
    }

    /// Says that a task function asks for a `T`, so that what is wrong with its
    /// form is an error of [`build`](Self::build) rather than of the first task
    /// that asks. A [`FromSchema<T>`](crate::elicit::FromSchema) that is written
    /// out in the body of a tool is known without.
    pub fn asks<T: Elicit>(mut self) -> Self {
        self.runtime = self.runtime.asks::<T>();
        self
    }

    /// Adds every method marked `#[mcp_task]` of a value whose `impl` block is
    /// marked [`#[mcp_task_impl]`](crate::mcp_task_impl): the value itself, or an
    /// `Arc` of it, which all calls share. One of each type.
    pub fn tasks_of<O: TaskOwner>(mut self, owner: O) -> Self {
        self.runtime = self.runtime.tasks_of(owner);
        self
    }

    /// Adds a value that task functions take as `State(..)`; one of each type.
    pub fn state<T: Any + Send + Sync>(mut self, state: T) -> Self {
        self.runtime = self.runtime.state(state);
        self
    }

    /// Keeps tasks in this store instead of in memory.
    pub fn store(mut self, store: impl TaskStore) -> Self {
        self.runtime = self.runtime.store(store);
        self.has_store = true;
        self
    }

    /// How long a task that has ended stays readable. Default: until its ttl is
    /// over, and at least five minutes; without a ttl, for good.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.runtime = self.runtime.retention(retention);
        self
    }

    /// Divides servers of one name that share a store: they take over each
    /// other's tasks only within a scope.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.runtime = self.runtime.scope(scope);
        self
    }

    /// Names the build of the server; a task that brought processes down is
    /// tried again by another build only. Default: the version, and when the
    /// program's file was written.
    pub fn build_id(mut self, build: impl Into<String>) -> Self {
        self.runtime = self.runtime.build_id(build);
        self
    }

    /// How long a process that shares its store may run tasks without a sign of
    /// life, before others take them over. Default: 10 s.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.runtime = self.runtime.lease(lease);
        self
    }

    /// How long a task waits in memory before only the store has it. Default:
    /// 30 s. Plays no part without a durable store.
    pub fn park_after(mut self, park_after: Duration) -> Self {
        self.runtime = self.runtime.park_after(park_after);
        self
    }

    /// How often a task may bring down a process that resumes it alone before
    /// it is held. Default: 5.
    pub fn max_recoveries(mut self, max_recoveries: u32) -> Self {
        self.runtime = self.runtime.max_recoveries(max_recoveries);
        self
    }

    /// Seals the state of calls that ask their client in rounds with the first of
    /// these keys, and opens what any of them has sealed; each is at least 32
    /// random bytes. To replace a key, put the new one in front, and take the old
    /// one out when its states are too old (an hour, or the tool's `state_ttl`).
    ///
    /// Default: keys in the store, which are replaced every day. A store in
    /// memory loses them with the process, and then such calls begin anew.
    pub fn state_keys<K: AsRef<[u8]>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.runtime = self.runtime.state_keys(keys);
        self
    }

    /// Sets the limits of what clients may send and start.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.runtime = self.runtime.limits(limits);
        self
    }

    /// How long steps that run may take to end when the server is told to stop,
    /// before they are dropped and run again elsewhere. Default: 8 s.
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Who calls over stdio, where one client has the server to itself. Default:
    /// [`Caller::anonymous`].
    ///
    /// Whoever starts the server knows who it is for, and may have told it so:
    ///
    /// ```no_run
    /// # use mcp_tasks::prelude::*;
    /// # #[mcp_task]
    /// # async fn deploy() {}
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// let user = std::env::var("DEPLOYER_USER")?;
    /// let server = TaskServer::new("deployer", "1.0.0").task(deploy);
    /// server.stdio_caller(Caller::new(user)).serve_stdio().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn stdio_caller(mut self, caller: Caller) -> Self {
        self.stdio_caller = caller;
        self
    }

    /// Serves HTTP to whoever brings one of these bearer tokens, each of which
    /// stands for a caller: pairs of the caller's name and the token. Everybody
    /// else gets 401.
    ///
    /// This is for a few clients that are known beforehand. A token is as good as
    /// it is hard to guess, and as the connection is private: make it of 32 random
    /// bytes, and serve beyond this machine behind TLS only. For tokens that are
    /// issued and checked elsewhere there is [`caller`](Self::caller), or a layer
    /// in front.
    ///
    /// ```no_run
    /// # use mcp_tasks::prelude::*;
    /// # #[mcp_task]
    /// # async fn deploy() {}
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = TaskServer::new("deployer", "1.0.0").task(deploy);
    /// server
    ///     .bearer_tokens([("ci", std::env::var("CI_TOKEN")?)])
    ///     .serve_http("127.0.0.1:8000")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Only hashes of the tokens are kept. What cannot work (no token at all, one
    /// that no client can send, one for two callers) is an error of
    /// [`build`](Self::build).
    #[cfg(feature = "http")]
    pub fn bearer_tokens(
        mut self,
        tokens: impl IntoIterator<Item = (impl Into<Arc<str>>, impl AsRef<str>)>,
    ) -> Self {
        self.callers = Callers::with_tokens(tokens);
        self
    }

    /// Finds the caller of each HTTP request by a function of its head; `None` is
    /// answered with 401.
    ///
    /// Default: the [`Caller`] that a layer in front has put into the request's
    /// extensions, and [`Caller::anonymous`] where there is none. The function
    /// sees those extensions, so that it can make a caller of whatever such a
    /// layer says, and refuse requests that came around it:
    ///
    /// ```no_run
    /// # use mcp_tasks::prelude::*;
    /// # #[mcp_task]
    /// # async fn deploy() {}
    /// #[derive(Clone)]
    /// struct Claims {
    ///     subject: String,
    /// }
    ///
    /// # fn server() -> TaskServer {
    /// TaskServer::new("deployer", "1.0.0")
    ///     .task(deploy)
    ///     .caller(|request| {
    ///         let claims = request.extensions.get::<Claims>()?;
    ///         Some(Caller::new(claims.subject.as_str()))
    ///     })
    /// # }
    /// ```
    ///
    /// It is asked for every request, and must not wait for anything. What needs
    /// a look elsewhere (a session store, a key server) is a layer's work, as is
    /// a `WWW-Authenticate` that names an authorization server.
    #[cfg(feature = "http")]
    pub fn caller(
        mut self,
        function: impl Fn(&http::request::Parts) -> Option<Caller> + Send + Sync + 'static,
    ) -> Self {
        self.callers = Ok(Callers::with_function(function));
        self
    }

    /// The most bytes that one message may have. Default: the limit of
    /// arguments and 3 MiB.
    pub fn message_limit(mut self, bytes: usize) -> Self {
        self.message_limit = Some(bytes);
        self
    }

    /// Whether to refuse `tasks/*` over HTTP without the header `Mcp-Name`.
    ///
    /// The specification obliges clients to send it, and clients in wide use do
    /// not. Default: such a request is served. A header that differs from the
    /// message is refused in any case.
    #[cfg(feature = "http")]
    pub fn strict_headers(mut self, strict: bool) -> Self {
        self.names = if strict {
            NamePolicy::Strict
        } else {
            NamePolicy::TasksMayOmit
        };
        self
    }

    /// The hosts that HTTP requests may be addressed to, as `HOST` (with any
    /// port) or `HOST:PORT`, or `*` for all. Default: loopback names.
    ///
    /// This is what keeps a web page from reaching a server on the same machine
    /// by DNS rebinding: name hosts rather than `*`.
    #[cfg(feature = "http")]
    pub fn allowed_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.access.hosts = Some(hosts.into_iter().map(Into::into).collect());
        self
    }

    /// The web pages that may send HTTP requests, by origin, as
    /// `SCHEME://HOST[:PORT]`, or `*` for all. Default: pages served from
    /// loopback. Pages of the server's own host always may, and so may whatever
    /// sends no `Origin`, which is all that is not a browser.
    #[cfg(feature = "http")]
    pub fn allowed_origins(mut self, origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.access.origins = Some(origins.into_iter().map(Into::into).collect());
        self
    }

    /// Checks everything and makes the server.
    ///
    /// # Errors
    ///
    /// [`Error`] when a tool's name is used twice (the wrapped handler's tools,
    /// as far as its `get_tool` knows them, count), when a state is missing, when
    /// a list of hosts, origins or tokens has an entry that could never match, or
    /// when an `x-mcp-header` stands where the specification has no header for it.
    pub fn build(self) -> Result<BuiltServer, Error> {
        #[cfg(feature = "http")]
        self.access.validate()?;
        #[cfg(feature = "http")]
        let callers = self.callers?;
        #[cfg(feature = "http")]
        let building = self.runtime.inbox(self.inbox);
        #[cfg(not(feature = "http"))]
        let building = self.runtime;
        let runtime = building.build()?;
        let handler = (self.factory)();
        if let Some(tool) = runtime
            .tools()
            .find(|tool| handler.get_tool(tool.name()).is_some())
        {
            return Err(Error::Config(format!(
                "tool `{}` is registered here and in the wrapped handler: rename one of them",
                tool.name()
            )));
        }
        #[cfg(feature = "http")]
        let mirrored = MirroredArguments::of(&runtime)?;
        let notice = if runtime.tools().next().is_none() {
            None
        } else if !self.has_store {
            Some(IN_MEMORY)
        } else if !runtime.seals_for_good() {
            Some(KEYS_IN_MEMORY)
        } else {
            None
        };
        if let Some(notice) = notice {
            tracing::warn!("{notice}");
        }
        let message_limit = self
            .message_limit
            .unwrap_or_else(|| runtime.limits().arguments.saturating_add(AROUND_ARGUMENTS));
        let versions = Arc::new(Versions::of(handler.as_ref()));
        let tasks = runtime.tasks();
        // Outside of tokio the first request does.
        runtime.start();
        let router = Router::new(runtime);
        let catalogue = Arc::new(Catalogue::new(router.clone())?);
        let factory = self.factory;
        let merged = move || Merged::new(factory(), Arc::clone(&catalogue));
        let engine = Arc::new(Engine::new(merged.clone()));
        let stop = CancellationToken::new();
        #[cfg(feature = "http")]
        let inbox = (self.inbox != Inbox::Nobody).then(|| {
            let config = InboxConfig {
                visitors: self.inbox,
                access: self.access.clone(),
                callers: callers.clone(),
                stop: stop.clone(),
            };
            InboxService::new(config, router.runtime().clone())
        });
        #[cfg(feature = "http")]
        let http = TaskService::new(
            HttpConfig {
                access: self.access,
                callers,
                session_ids: SessionIds::new()?,
                names: self.names,
                mirrored,
                message_limit,
                versions: Arc::clone(&versions),
            },
            router.clone(),
            merged,
            Arc::clone(&engine),
            stop.clone(),
        );
        Ok(BuiltServer {
            tasks,
            stdio: Arc::new(StdioServer {
                router,
                engine,
                versions,
                message_limit,
                caller: self.stdio_caller,
                stop: stop.clone(),
            }),
            #[cfg(feature = "http")]
            http,
            #[cfg(feature = "http")]
            inbox,
            stop,
            grace: self.grace,
            notice,
        })
    }

    /// Builds the server and serves one client over stdin and stdout; see
    /// [`BuiltServer::serve_stdio`].
    ///
    /// # Errors
    ///
    /// Those of [`TaskServer::build`] and [`BuiltServer::serve_stdio`].
    pub async fn serve_stdio(self) -> Result<(), Error> {
        self.build()?.serve_stdio().await
    }

    /// Builds the server and serves it over HTTP; see
    /// [`BuiltServer::serve_http`].
    ///
    /// # Errors
    ///
    /// Those of [`TaskServer::build`] and [`BuiltServer::serve_http`].
    #[cfg(feature = "http")]
    pub async fn serve_http(self, address: impl tokio::net::ToSocketAddrs) -> Result<(), Error> {
        self.build()?.serve_http(address).await
    }

    /// Builds the server as a tower service; see [`BuiltServer::service`].
    ///
    /// # Errors
    ///
    /// Those of [`TaskServer::build`].
    #[cfg(feature = "http")]
    pub fn into_service(self) -> Result<TaskService, Error> {
        Ok(self.build()?.service())
    }
}

impl<H> std::fmt::Debug for TaskServer<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskServer").finish_non_exhaustive()
    }
}
