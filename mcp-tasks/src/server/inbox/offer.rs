//! How a server is told to have an inbox.

use rmcp::ServerHandler;

use crate::runtime::Inbox;
use crate::server::TaskServer;

impl<H: ServerHandler> TaskServer<H> {
    /// Also serves an inbox: a web page where people find the open questions of
    /// their tasks as forms, and answer or decline them, whatever their MCP client
    /// can show. Default: there is none.
    ///
    /// [`serve_http`](Self::serve_http) serves it at `/inbox`; in an application
    /// [`BuiltServer::inbox_service`](crate::server::BuiltServer::inbox_service) is mounted wherever it suits, behind what
    /// says who calls. Who somebody is, and so what they see, is found as for every
    /// other request, by [`bearer_tokens`](Self::bearer_tokens), by
    /// [`caller`](Self::caller), or by a layer; with bearer tokens a browser asks
    /// for a name, which can be anything, and a password, which is the token.
    ///
    /// ```no_run
    /// # use mcp_tasks::prelude::*;
    /// # #[mcp_task]
    /// # async fn deploy() {}
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// TaskServer::new("deployer", "1.0.0")
    ///     .task(deploy)
    ///     .bearer_tokens([("alice", std::env::var("ALICE_TOKEN")?)])
    ///     .inbox()
    ///     .serve_http("127.0.0.1:8000")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A client that runs calls as tasks, but declares no elicitation, is told that
    /// such a task is working, while its person is asked here. (Without an inbox
    /// the question is [`AskError::Unsupported`](crate::AskError::Unsupported).) That
    /// is so for a call that is a task from its beginning.
    ///
    /// Whoever nobody vouches for is refused: without a name, a task's id is the
    /// secret that grants access to it, and a list would give that away.
    /// [`inbox_for_anybody`](Self::inbox_for_anybody) is for a server that one
    /// person has to themselves.
    ///
    /// # Security
    ///
    /// The page is written on the server and works without JavaScript; what tools
    /// say is text on it, and its content security policy allows nothing from
    /// elsewhere. An answer counts if it comes from a page of this server's own,
    /// with a token that was made for this person and this question; it goes the
    /// way of `tasks/update`, so that the first one counts. `Host` and `Origin` are
    /// checked as ever: name the [hosts](Self::allowed_hosts), and serve beyond
    /// this machine behind TLS only. Where a proxy in front changes `Host`, name the
    /// [origin](Self::allowed_origins) that people see, too, or the page is shown and
    /// no answer from it is taken.
    pub fn inbox(mut self) -> Self {
        self.inbox = Inbox::Authenticated;
        self
    }

    /// The same as [`inbox`](Self::inbox), where people whom nobody vouches for
    /// share one inbox: **each of them sees the questions of every anonymous task,
    /// and can answer them.**
    ///
    /// That is right for a server that nobody but one person can reach: on their
    /// own machine, at a loopback address.
    pub fn inbox_for_anybody(mut self) -> Self {
        self.inbox = Inbox::Anybody;
        self
    }
}
