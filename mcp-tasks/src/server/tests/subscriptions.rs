//! Subscriptions, with and without what a wrapped handler has to say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{
    ListToolsResult, NumberOrString, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::super::TaskServer;
use super::stdio::Client;
use super::{Greeter, server, standalone};
use crate::task::TaskId;
use crate::{ToolError, ask_user, mcp_task, set_ttl, signal};

pub(super) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

#[mcp_task(crate = crate)]
pub(super) async fn question() -> Result<String, ToolError> {
    Ok(ask_user::<String>("name?").await?)
}

/// Changes in a way that shows each time it is told to, `n` times.
#[mcp_task(crate = crate)]
async fn restless(n: u32) -> Result<(), ToolError> {
    for i in 1..=n {
        signal::<()>("next").await?;
        set_ttl(Duration::from_secs(1000 + u64::from(i)));
    }
    Ok(())
}

/// A handler with news of all kinds, when it is told to have some.
#[derive(Clone)]
pub(super) struct Bulletin(watch::Receiver<&'static str>);

impl ServerHandler for Bulletin {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::default())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut words = self.0.clone();
        loop {
            let word = *words.borrow_and_update();
            match word {
                "tools" => {
                    // None of these belongs on the stream.
                    let peer = &context.request_context().peer;
                    let token = ProgressToken(NumberOrString::Number(2));
                    let progress = ProgressNotificationParam::new(token, 1.0);
                    peer.notify_progress(progress).await.ok();
                    peer.notify_tool_list_changed().await.ok();
                    context.sink().notify_tool_list_changed().await.ok();
                }
                #[cfg(feature = "http")]
                "caller" => {
                    let request = context.request_context();
                    let parts = request.extensions.get::<http::request::Parts>();
                    let caller = parts.and_then(|parts| parts.extensions.get::<crate::Caller>());
                    if caller == Some(&crate::Caller::new("alice")) {
                        context.sink().notify_tool_list_changed().await.ok();
                    }
                }
                "resource" => {
                    let updated = context.sink().notify_resource_updated("memo://notes");
                    updated.await.ok();
                }
                "end" => return Ok(()),
                "fail" => return Err(ErrorData::internal_error("out of paper", None)),
                _ => {}
            }
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = words.changed() => {
                    if changed.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

pub(super) fn bulletin() -> (watch::Sender<&'static str>, TaskServer<Bulletin>) {
    let (say, words) = watch::channel("");
    (say, TaskServer::wrap(Bulletin(words)).task(question))
}

/// The same request, from a client that declares the extension and forms.
pub(super) fn declaring(mut request: Value) -> Value {
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({
        "elicitation": {},
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    request
}

pub(super) fn listen(id: u32, notifications: &Value) -> Value {
    let params = json!({ "notifications": notifications });
    declaring(standalone(id, "subscriptions/listen", params))
}

pub(super) fn call(id: u32, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    declaring(standalone(id, "tools/call", params))
}

fn cancel(id: u32) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

fn get(id: u32, task: &str) -> Value {
    declaring(standalone(id, "tasks/get", json!({ "taskId": task })))
}

impl Client {
    /// Begins a task and gives its id.
    async fn task(&mut self, id: u32, tool: &str) -> String {
        let reply = self.ask(&call(id, tool, &json!({}))).await;
        reply["result"]["taskId"].as_str().unwrap().to_owned()
    }

    /// Waits for the next message, which must belong to this subscription.
    async fn hears(&mut self, subscription: u32, method: &str) -> Value {
        let message = self.receive().await;
        assert_eq!(message["method"], method, "{message}");
        let id = &message["params"]["_meta"][SUBSCRIPTION_ID];
        assert_eq!(*id, subscription, "{message}");
        message["params"].clone()
    }

    async fn acknowledged(&mut self, subscription: u32) -> Value {
        let method = "notifications/subscriptions/acknowledged";
        self.hears(subscription, method).await["notifications"].clone()
    }

    /// Waits for the end of a subscription.
    async fn ended(&mut self, subscription: u32) {
        let reply = self.receive().await;
        assert_eq!(reply["id"], subscription, "{reply}");
        assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
        let id = &reply["result"]["_meta"][SUBSCRIPTION_ID];
        assert_eq!(*id, subscription, "{reply}");
        self.said_to_be_cancelled(subscription).await;
    }

    async fn said_to_be_cancelled(&mut self, subscription: u32) {
        let cancelled = self.hears(subscription, "notifications/cancelled").await;
        assert_eq!(cancelled["requestId"], subscription, "{cancelled}");
    }
}

#[tokio::test]
async fn a_subscription_is_acknowledged_and_tells_what_becomes_of_tasks() {
    let mut client = Client::of(server().task(question));
    let task = client.task(1, "question").await;
    client
        .send(&listen(2, &json!({ "taskIds": [task, "t_none", task] })))
        .await;
    assert_eq!(client.acknowledged(2).await, json!({ "taskIds": [task] }));
    let asked = client.hears(2, "notifications/tasks").await;
    assert_eq!(asked["status"], "input_required");
    client
        .send(&declaring(standalone(
            3,
            "tasks/cancel",
            json!({ "taskId": task }),
        )))
        .await;
    // The acknowledgement of the cancellation may come before or after it.
    let (first, second) = (client.receive().await, client.receive().await);
    let notified = if first["id"] == 3 { second } else { first };
    assert_eq!(notified["params"]["status"], "cancelled", "{notified}");
    assert_eq!(notified["params"]["_meta"][SUBSCRIPTION_ID], 2);
    client.ask(&standalone(4, "tools/list", json!({}))).await;
    client.send(&cancel(2)).await;
    client.ask(&standalone(2, "tools/list", json!({}))).await;
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn subscriptions_of_one_connection_end_one_by_one_and_leave_tasks_alone() {
    let mut client = Client::of(server().task(question));
    let task = client.task(1, "question").await;
    for id in [2, 3] {
        client
            .send(&listen(id, &json!({ "taskIds": [task] })))
            .await;
        client.acknowledged(id).await;
        client.hears(id, "notifications/tasks").await;
    }
    let again = client.ask(&listen(3, &json!({}))).await;
    assert_eq!(again["error"]["code"], -32600, "{again}");
    client.send(&cancel(2)).await;
    let reply = client.ask(&get(4, &task)).await;
    assert_eq!(reply["result"]["status"], "input_required", "{reply}");
    let key = reply["result"]["inputRequests"].as_object().unwrap();
    let key = key.keys().next().unwrap().clone();
    let answer = json!({ key: { "action": "decline" } });
    let params = json!({ "taskId": task, "inputResponses": answer });
    client
        .send(&declaring(standalone(5, "tasks/update", params)))
        .await;
    let mut last = Value::Null;
    while last["params"]["status"] != "completed" {
        last = client.receive().await;
        if last["id"] != 5 {
            assert_eq!(last["params"]["_meta"][SUBSCRIPTION_ID], 3, "{last}");
        }
    }
    client.send(&cancel(3)).await;
    client.ask(&get(6, &task)).await;
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn tasks_and_what_a_handler_says_come_on_one_stream_with_one_end() {
    let (say, server) = bulletin();
    let mut client = Client::of(server);
    let task = client.task(1, "question").await;
    let wanted = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourceSubscriptions": ["memo://notes"],
        "taskIds": [task],
    });
    client.send(&listen(2, &wanted)).await;
    let agreed = json!({
        "toolsListChanged": true,
        "resourceSubscriptions": ["memo://notes"],
        "taskIds": [task],
    });
    assert_eq!(client.acknowledged(2).await, agreed);
    client.hears(2, "notifications/tasks").await;
    say.send_replace("tools");
    client.hears(2, "notifications/tools/list_changed").await;
    say.send_replace("resource");
    let updated = client.hears(2, "notifications/resources/updated").await;
    assert_eq!(updated["uri"], "memo://notes");
    say.send_replace("end");
    client.ended(2).await;
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn a_handler_that_fails_ends_the_subscription_with_its_error() {
    let (say, server) = bulletin();
    let mut client = Client::of(server);
    client
        .send(&listen(2, &json!({ "toolsListChanged": true })))
        .await;
    client.acknowledged(2).await;
    say.send_replace("fail");
    let reply = client.receive().await;
    assert_eq!(reply["error"]["message"], "out of paper", "{reply}");
    client.said_to_be_cancelled(2).await;
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn a_handler_hears_that_a_subscription_is_cancelled() {
    let (say, server) = bulletin();
    let mut client = Client::of(server);
    client
        .send(&listen(2, &json!({ "toolsListChanged": true })))
        .await;
    client.acknowledged(2).await;
    // The server's own handler, and the one that listens.
    assert_eq!(say.receiver_count(), 2);
    client.send(&cancel(2)).await;
    client.ask(&standalone(3, "tools/list", json!({}))).await;
    let gone = async {
        while say.receiver_count() > 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone)
        .await
        .unwrap();
}

/// A handler that counts those who listen.
struct Counting(Arc<AtomicUsize>);

impl ServerHandler for Counting {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed();
        ServerConfig::new(capabilities.build())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.fetch_add(1, Ordering::SeqCst);
        context.cancelled().await;
        Ok(())
    }
}

/// What happens after the acknowledgement, a client must not miss.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_listens_before_the_client_is_told_that_it_does() {
    let listening = Arc::new(AtomicUsize::new(0));
    let mut client = Client::of(TaskServer::wrap(Counting(listening.clone())).task(question));
    for id in 1..=100 {
        let request = listen(id, &json!({ "toolsListChanged": true }));
        client.send(&request).await;
        let said = client.receive().await;
        assert_eq!(said["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(listening.load(Ordering::SeqCst), id as usize);
        client.send(&cancel(id)).await;
    }
}

#[tokio::test]
async fn what_nobody_serves_is_left_out_of_the_acknowledgement() {
    let mut client = Client::of(server().task(question));
    client
        .send(&listen(1, &json!({ "toolsListChanged": true })))
        .await;
    assert_eq!(client.acknowledged(1).await, json!({}));
    let wanted = json!({ "toolsListChanged": true, "taskIds": ["t_none"] });
    client.send(&listen(2, &wanted)).await;
    assert_eq!(client.acknowledged(2).await, json!({ "taskIds": [] }));
}

#[tokio::test]
async fn a_bad_filter_is_refused_whoever_it_is_for() {
    let (_say, server) = bulletin();
    let mut client = Client::of(server);
    for (id, filter) in [
        (1, json!([])),
        (2, json!({ "taskIds": "t" })),
        (3, json!({ "taskIds": ["t"], "toolsListChanged": 7 })),
    ] {
        let reply = client.ask(&listen(id, &filter)).await;
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
    }
    let without = standalone(4, "subscriptions/listen", json!({}));
    assert_eq!(client.ask(&without).await["error"]["code"], -32602);
}

#[tokio::test]
async fn whoever_names_tasks_must_declare_the_extension() {
    let mut client = Client::of(server().task(question));
    for (id, ids) in [(1, json!(["t_none"])), (2, json!([])), (3, json!(7))] {
        let params = json!({ "notifications": { "taskIds": ids } });
        let reply = client
            .ask(&standalone(id, "subscriptions/listen", params))
            .await;
        assert_eq!(reply["error"]["code"], -32021, "{reply}");
        let required = &reply["error"]["data"]["requiredCapabilities"];
        let extensions = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        assert_eq!(*required, extensions);
    }
    let others = json!({ "notifications": { "toolsListChanged": true } });
    client
        .send(&standalone(4, "subscriptions/listen", others))
        .await;
    client.acknowledged(4).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_gets_few_states_and_the_last() {
    const CHANGES: u32 = 10_000;
    const PIPE: usize = 4096;
    let mut client = Client::with_pipe(server().task(question).task(restless), PIPE);
    let waits = client.task(1, "question").await;
    client
        .send(&call(2, "restless", &json!({ "n": CHANGES })))
        .await;
    let created = client.receive().await;
    let task = created["result"]["taskId"].as_str().unwrap();
    client
        .send(&listen(3, &json!({ "taskIds": [task, waits] })))
        .await;
    client.acknowledged(3).await;
    client.hears(3, "notifications/tasks").await;
    // Nothing is read from here until the task is over, while it shows one change
    // after the other.
    let id = TaskId::from_text(task);
    let mut updates = client.tasks.subscribe(&id).await.unwrap().unwrap();
    for _ in 0..=CHANGES {
        updates.next().await.expect("it shows each change");
        client.tasks.signal(&id, "next", &()).await.unwrap();
    }
    let (mut heard, mut ended) = (0, false);
    while !ended {
        let told = client.hears(3, "notifications/tasks").await;
        heard += 1;
        ended = told["status"] == "completed";
        if ended {
            assert_eq!(told["ttlMs"], 1000 * (1000 + CHANGES));
        }
    }
    // What fills the pipe, one in each hand of the server's, and the last.
    assert!(heard <= PIPE / 300 + 4, "{heard}");
    println!("{heard} of {CHANGES} states");
    // It goes on for the other task.
    client
        .tasks
        .cancel(&TaskId::from_text(&waits))
        .await
        .unwrap();
    while client.hears(3, "notifications/tasks").await["status"] != "cancelled" {}
}

#[tokio::test]
async fn the_end_of_the_input_ends_subscriptions_in_good_order() {
    let mut client = Client::of(server().task(question));
    let task = client.task(1, "question").await;
    client.send(&listen(2, &json!({ "taskIds": [task] }))).await;
    client.acknowledged(2).await;
    client.hears(2, "notifications/tasks").await;
    let rest = client.finish().await;
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert_eq!(rest[0]["id"], 2);
    assert_eq!(rest[0]["result"]["resultType"], "complete");
    assert_eq!(rest[1]["method"], "notifications/cancelled");
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_ends_subscriptions_in_good_order() {
    let mut client = Client::of(server().task(question));
    let task = client.task(1, "question").await;
    client.send(&listen(2, &json!({ "taskIds": [task] }))).await;
    client.acknowledged(2).await;
    client.hears(2, "notifications/tasks").await;
    client.stop.cancel();
    client.ended(2).await;
    assert!(client.finish().await.is_empty());
}

#[tokio::test]
async fn subscriptions_and_the_tasks_in_one_are_limited() {
    let limits = crate::Limits {
        subscriptions: 1,
        subscribed_tasks: 1,
        ..crate::Limits::default()
    };
    let mut client = Client::of(TaskServer::<Greeter>::wrap(Greeter).limits(limits));
    let reply = client
        .ask(&listen(1, &json!({ "taskIds": ["a", "b"] })))
        .await;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    client.send(&listen(2, &json!({ "taskIds": ["a"] }))).await;
    client.acknowledged(2).await;
    let reply = client.ask(&listen(3, &json!({ "taskIds": [] }))).await;
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    client.send(&cancel(2)).await;
    // It is let go of when it is next looked at.
    let opened = async {
        loop {
            client.send(&listen(4, &json!({ "taskIds": [] }))).await;
            if client.receive().await["error"].is_null() {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(5), opened)
        .await
        .unwrap();
}
