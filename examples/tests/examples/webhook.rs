//! `webhook`: a job system that calls back, and others that pretend to.

use std::path::Path;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request, StatusCode, Uri};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use mcp_tasks_tests::{Fixture, Launch, PATIENCE, Transport, web};
use serde_json::{Value, json};
use sha2::Sha256;
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::tool_error;

const SECRET: &str = "what the server and its job system know";

/// A job system that is played by the test.
struct System {
    url: String,
    heard: mpsc::UnboundedReceiver<Heard>,
}

/// A request that it has not answered yet.
struct Heard {
    what: String,
    key: String,
    order: Value,
    answer: oneshot::Sender<(StatusCode, String)>,
}

impl System {
    async fn open() -> Self {
        async fn hear(
            State(heard): State<mpsc::UnboundedSender<Heard>>,
            method: Method,
            uri: Uri,
            headers: HeaderMap,
            body: Bytes,
        ) -> (StatusCode, String) {
            let (answer, answered) = oneshot::channel();
            let key = headers.get("idempotency-key");
            let request = Heard {
                what: format!("{method} {uri}"),
                key: key.map_or("", |key| key.to_str().unwrap()).to_owned(),
                order: serde_json::from_slice(&body).unwrap_or_default(),
                answer,
            };
            heard.send(request).expect("the test hears");
            let gone = (StatusCode::GONE, String::new());
            answered.await.unwrap_or(gone)
        }
        let (sender, heard) = mpsc::unbounded_channel();
        let application = Router::new().fallback(hear).with_state(sender);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, application).await });
        Self { url, heard }
    }

    async fn hears(&mut self, what: &str) -> Heard {
        let heard = timeout(PATIENCE, self.heard.recv()).await;
        let heard = heard.expect("nothing is asked of it").unwrap();
        assert_eq!(heard.what, what);
        heard
    }

    /// Starts the job that is asked for, under this name.
    async fn starts(&mut self, job: &str) -> Value {
        let heard = self.hears("POST /jobs").await;
        let started = json!({ "job": job }).to_string();
        heard.answer.send((StatusCode::OK, started)).unwrap();
        heard.order
    }

    fn server(&self) -> Launch {
        Launch::example(env!("CARGO_BIN_EXE_webhook"), Transport::Http)
            .flags(&["--jobs", &self.url])
            .with("WEBHOOK_SECRET", &SECRET)
    }
}

fn signature(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    BASE64_STANDARD.encode(mac.finalize().into_bytes())
}

/// Calls back with this signature, if any; gives the status.
async fn call_back(order: &Value, body: &str, signature: Option<&str>) -> u16 {
    let mut request = Request::post(order["callback"].as_str().unwrap());
    if let Some(signature) = signature {
        request = request.header("x-signature", signature);
    }
    web(request.body(body.to_owned()).unwrap())
        .await
        .status()
        .as_u16()
}

/// Calls back as the job system does.
async fn call_back_signed(order: &Value, body: &str) -> u16 {
    call_back(order, body, Some(&signature(SECRET, body))).await
}

fn built(job: &str, reference: &Value) -> String {
    let outcome = json!({ "result": "built", "artifact": "billing.tar.gz" });
    json!({ "job": job, "reference": reference, "outcome": outcome }).to_string()
}

/// Calls the tool.
async fn build(server: &Fixture) -> String {
    let project = json!({ "project": "billing" });
    server.client().task("build", project).await
}

#[tokio::test]
async fn the_job_system_to_play_with_calls_back() {
    let server = Launch::example(env!("CARGO_BIN_EXE_webhook"), Transport::Http)
        .start()
        .await;
    let client = server.client();
    let built = client.task("build", json!({ "project": "web" })).await;
    let failed = client.task("build", json!({ "project": "broken" })).await;
    let hasty = json!({ "project": "search", "patience": 1 });
    let hasty = client.task("build", hasty).await;

    let waits = client
        .until_task(&built, "waiting", |task| task["statusMessage"].is_string())
        .await;
    assert_eq!(waits["status"], "working");
    let words = waits["statusMessage"].as_str().unwrap();
    assert!(words.ends_with(" builds web"), "{words}");

    let words = tool_error(&client, &hasty).await;
    assert!(
        words.contains("was cancelled: not done within 1 s"),
        "{words}"
    );
    let words = client.until_text(&built).await;
    assert!(words.starts_with("web is built: web-J"), "{words}");
    let words = tool_error(&client, &failed).await;
    assert_eq!(words, "broken is not built: two tests fail");
}

#[tokio::test]
async fn whoever_does_not_know_the_secret_is_refused_and_the_task_goes_on() {
    let mut system = System::open().await;
    let server = system.server().start().await;
    let client = server.client();
    let id = build(&server).await;
    let order = system.starts("J7").await;
    assert_eq!(order["project"], "billing");
    assert_eq!(order["reference"], id);

    let body = built("J7", &order["reference"]);
    let right = signature(SECRET, &body);
    let of_another = signature("what somebody else would know of it", &body);
    let of_another_body = signature(SECRET, &built("J8", &order["reference"]));
    let cut = &right[..20];
    for wrong in ["", "=", &of_another, &of_another_body, cut] {
        assert_eq!(call_back(&order, &body, Some(wrong)).await, 401, "{wrong}");
    }
    assert_eq!(call_back(&order, &body, None).await, 401);
    assert_eq!(client.get(&id).await["status"], "working");

    // Signed, and yet of no use: no report, another job, no such task.
    assert_eq!(call_back_signed(&order, "{}").await, 400);
    let other = built("J8", &order["reference"]);
    assert_eq!(call_back_signed(&order, &other).await, 204);
    let nobody = built("J7", &json!("nobody"));
    assert_eq!(call_back_signed(&order, &nobody).await, 404);
    assert_eq!(client.get(&id).await["status"], "working");

    assert_eq!(call_back(&order, &body, Some(&right)).await, 204);
    let words = client.until_text(&id).await;
    assert_eq!(words, "billing is built: billing.tar.gz");
    // Once more does no harm.
    assert_eq!(call_back(&order, &body, Some(&right)).await, 204);
    assert_eq!(client.until_text(&id).await, words);
}

#[tokio::test]
async fn a_callback_before_the_job_is_known_to_have_started_is_not_lost() {
    let mut system = System::open().await;
    let server = system.server().start().await;
    let id = build(&server).await;
    let heard = system.hears("POST /jobs").await;
    let order = heard.order;
    let body = built("J1", &order["reference"]);
    assert_eq!(call_back_signed(&order, &body).await, 204);
    let started = json!({ "job": "J1" }).to_string();
    heard.answer.send((StatusCode::OK, started)).unwrap();
    let words = server.client().until_text(&id).await;
    assert_eq!(words, "billing is built: billing.tar.gz");
}

#[tokio::test]
async fn a_job_whose_start_was_not_heard_of_is_asked_for_by_the_same_key() {
    let mut system = System::open().await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("tasks.db");
    let mut server = on_file(&system, &file).start().await;
    let id = build(&server).await;
    let first = system.hears("POST /jobs").await;
    assert!(first.key.contains(&id), "{}", first.key);

    // The server dies before it hears that the job has started.
    server.restart().await;
    let second = system.hears("POST /jobs").await;
    assert_eq!(second.key, first.key);
    // And an attempt that fails is made again.
    let busy = (StatusCode::SERVICE_UNAVAILABLE, String::new());
    second.answer.send(busy).unwrap();
    let third = system.hears("POST /jobs").await;
    assert_eq!(third.key, first.key);
    let started = json!({ "job": "J1" }).to_string();
    third.answer.send((StatusCode::OK, started)).unwrap();

    // Nor does the wait end with the process.
    let client = server.client();
    client
        .until_task(&id, "waiting", |task| task["statusMessage"].is_string())
        .await;
    server.restart().await;
    let callback = server.client().url().replace("/mcp", "/jobs/ended");
    let order = json!({ "callback": callback });
    let body = built("J1", &json!(id));
    assert_eq!(call_back_signed(&order, &body).await, 204);
    let words = server.client().until_text(&id).await;
    assert_eq!(words, "billing is built: billing.tar.gz");
}

fn on_file(system: &System, file: &Path) -> Launch {
    system.server().flags(&["--db", file.to_str().unwrap()])
}

#[tokio::test]
async fn told_to_stop_it_puts_its_tasks_down_and_ends_well() {
    let mut system = System::open().await;
    let folder = TempDir::new().unwrap();
    let mut server = on_file(&system, &folder.path().join("tasks.db"))
        .start()
        .await;
    let id = build(&server).await;
    system.starts("J1").await;
    let client = server.client();
    client
        .until_task(&id, "waiting", |task| task["statusMessage"].is_string())
        .await;
    let mut listening = client.listen_to(&[&id]).await;
    assert_eq!(listening.task().await["status"], "working");

    // Whoever listens is told that it ends, and does not keep it from ending.
    let (ended, last) = tokio::join!(server.terminate(), listening.next());
    assert!(ended.success(), "{ended}: {}", server.said());
    assert!(last.is_some());

    server.start_again().await;
    let callback = server.client().url().replace("/mcp", "/jobs/ended");
    let body = built("J1", &json!(id));
    let order = json!({ "callback": callback });
    assert_eq!(call_back_signed(&order, &body).await, 204);
    let words = server.client().until_text(&id).await;
    assert_eq!(words, "billing is built: billing.tar.gz");
}

#[tokio::test]
async fn without_a_secret_it_does_not_start() {
    let jobs = ["--jobs", "http://127.0.0.1:1"];
    for secret in ["", "short"] {
        let refused = Launch::example(env!("CARGO_BIN_EXE_webhook"), Transport::Http)
            .flags(&jobs)
            .with("WEBHOOK_SECRET", &secret)
            .refused()
            .await;
        assert!(refused.said.contains("WEBHOOK_SECRET"), "{}", refused.said);
        assert_eq!(refused.code, Some(1));
    }
}
