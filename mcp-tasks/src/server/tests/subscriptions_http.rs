//! Subscriptions as streams of server-sent events.

use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::time::timeout;
use tower_service::Service as _;

use super::super::{BuiltServer, TaskService};
use super::http::{post, send};
use super::subscriptions::{SUBSCRIPTION_ID, bulletin, call, listen, question};
use super::{server, standalone};
use crate::router::LISTEN;
use crate::{Caller, Limits};

/// A response that goes on.
struct Events(Body);

impl Events {
    async fn of(service: &TaskService, request: Request<Body>) -> Self {
        let response = service.clone().call(request).await.unwrap();
        assert_eq!(response.status(), 200);
        let header = |response: &Response<Body>, name: &str| {
            response.headers()[name].to_str().unwrap().to_owned()
        };
        assert_eq!(header(&response, "content-type"), "text/event-stream");
        assert_eq!(header(&response, "cache-control"), "no-cache");
        assert_eq!(header(&response, "x-accel-buffering"), "no");
        Self(response.into_body())
    }

    /// The next frame; `None` at the end.
    async fn frame(&mut self) -> Option<String> {
        let frame = timeout(Duration::from_secs(60), self.0.frame()).await;
        let frame = frame.expect("nothing comes")?.unwrap();
        let data = frame.into_data().unwrap();
        Some(String::from_utf8(data.to_vec()).unwrap())
    }

    /// The messages of the next frame.
    async fn messages(&mut self) -> Vec<Value> {
        let frame = self.frame().await.expect("the stream has ended");
        let events = frame.strip_suffix("\n\n").expect("whole events");
        let message = |event: &str| {
            let data = event.strip_prefix("data: ").expect("an event is one line");
            serde_json::from_str(data).unwrap()
        };
        events.split("\n\n").map(message).collect()
    }

    async fn message(&mut self) -> Value {
        let mut messages = self.messages().await;
        assert_eq!(messages.len(), 1, "{messages:?}");
        messages.remove(0)
    }
}

fn built() -> BuiltServer {
    server().task(question).build().unwrap()
}

fn from(caller: &str, message: &Value) -> Request<Body> {
    let mut request = post(message);
    request.extensions_mut().insert(Caller::new(caller));
    request
}

async fn task(service: &TaskService, caller: &str) -> String {
    let (_, reply) = send(service, from(caller, &call(1, "question", &json!({})))).await;
    reply["result"]["taskId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn events_come_until_the_server_stops() {
    let server = built();
    let service = server.service();
    let task = task(&service, "alice").await;
    let request = from("alice", &listen(7, &json!({ "taskIds": [task] })));
    let mut events = Events::of(&service, request).await;
    let first = events.message().await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        first["params"]["notifications"],
        json!({ "taskIds": [task] })
    );
    let asked = events.message().await;
    assert_eq!(asked["method"], "notifications/tasks");
    assert_eq!(asked["params"]["status"], "input_required");
    server.shut_down().await;
    let last = events.messages().await;
    assert_eq!(last[0]["method"], "notifications/cancelled");
    assert_eq!(last[0]["params"]["requestId"], 7);
    assert_eq!(last[1]["id"], 7);
    assert_eq!(last[1]["result"]["resultType"], "complete");
    for message in [&first["params"], &last[0]["params"], &last[1]["result"]] {
        assert_eq!(message["_meta"][SUBSCRIPTION_ID], 7, "{message}");
    }
    assert_eq!(events.frame().await, None);
}

#[tokio::test]
async fn tasks_of_others_are_left_out_like_those_that_never_were() {
    let server = built();
    let service = server.service();
    let task = task(&service, "alice").await;
    for ids in [json!([task]), json!(["t_none"])] {
        let request = from("bob", &listen(7, &json!({ "taskIds": ids })));
        let mut events = Events::of(&service, request).await;
        let first = events.message().await;
        assert_eq!(first["params"]["notifications"], json!({ "taskIds": [] }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_is_kept_alive_by_comments() {
    let server = built();
    let service = server.service();
    let task = task(&service, "alice").await;
    let request = from("alice", &listen(7, &json!({ "taskIds": [task] })));
    let mut events = Events::of(&service, request).await;
    events.message().await;
    events.message().await;
    let quiet_since = tokio::time::Instant::now();
    for n in 1..=3 {
        assert_eq!(events.frame().await.as_deref(), Some(":\n\n"));
        assert_eq!(quiet_since.elapsed().as_secs(), 15 * n);
    }
    server
        .tasks()
        .cancel(&crate::task::TaskId::from_text(&task))
        .await
        .unwrap();
    assert_eq!(events.message().await["params"]["status"], "cancelled");
    assert_eq!(events.frame().await.as_deref(), Some(":\n\n"));
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_subscription_and_no_task() {
    let limits = Limits {
        subscriptions_per_caller: 1,
        ..Limits::default()
    };
    let built = server().limits(limits).task(question).build().unwrap();
    let service = built.service();
    let task = task(&service, "alice").await;
    let request = |caller| from(caller, &listen(7, &json!({ "taskIds": [task] })));
    let mut events = Events::of(&service, request("alice")).await;
    events.message().await;
    let (_, refused) = send(&service, request("alice")).await;
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    let _others = Events::of(&service, request("bob")).await;
    drop(events);
    Events::of(&service, request("alice")).await;
    let id = crate::task::TaskId::from_text(&task);
    let lives = built.tasks().get(&id).await.unwrap().unwrap();
    assert!(!lives.is_terminal());
}

#[tokio::test]
async fn tasks_and_what_a_handler_says_come_on_one_stream_with_one_end() {
    let (say, server) = bulletin();
    let service = server.into_service().unwrap();
    let task = task(&service, "alice").await;
    let filter = json!({ "toolsListChanged": true, "taskIds": [task] });
    let mut events = Events::of(&service, from("alice", &listen(7, &filter))).await;
    let first = events.message().await;
    assert_eq!(first["params"]["notifications"], filter, "{first}");
    let asked = events.message().await;
    assert_eq!(asked["method"], "notifications/tasks");
    // The handler knows by what request it is listened to.
    say.send_replace("caller");
    let told = events.message().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"][SUBSCRIPTION_ID], 7);
    say.send_replace("end");
    let last = events.messages().await;
    assert_eq!(last[0]["method"], "notifications/cancelled");
    assert_eq!(last[1]["result"]["resultType"], "complete");
    assert_eq!(events.frame().await, None);
}

#[tokio::test]
async fn what_is_refused_is_refused_in_one_reply() {
    let (_say, server) = bulletin();
    let service = server.into_service().unwrap();
    for (filter, code) in [
        (json!({ "taskIds": 7 }), -32602),
        (json!({ "taskIds": [], "toolsListChanged": 7 }), -32602),
    ] {
        let (_, reply) = send(&service, post(&listen(7, &filter))).await;
        assert_eq!(reply["error"]["code"], code, "{reply}");
    }
    let params = json!({ "notifications": { "taskIds": [] } });
    let (status, reply) = send(&service, post(&standalone(7, LISTEN, params))).await;
    assert_eq!(
        (status.as_u16(), &reply["error"]["code"]),
        (400, &json!(-32021))
    );
}
