//! What is counted and measured.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_tasks::prelude::*;
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use serde_json::json;

use crate::server::Server;

/// Keeps every figure: the sum of a counter, the value of a gauge, how many
/// values a histogram was given.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<BTreeMap<String, f64>>>);

/// One of them.
struct Figure {
    kept: Kept,
    name: String,
}

impl Kept {
    fn figure(&self, key: &Key) -> Arc<Figure> {
        let labels = key.labels().map(|label| format!(" {}", label.value()));
        Arc::new(Figure {
            kept: self.clone(),
            name: key.name().to_owned() + &labels.collect::<String>(),
        })
    }

    /// As it would be printed.
    fn shown(&self, name: &str) -> String {
        let kept = self.0.lock().unwrap();
        let value = kept.get(&format!("mcp_tasks_{name}")).copied();
        value.unwrap_or_default().to_string()
    }
}

impl Figure {
    fn change(&self, change: impl FnOnce(&mut f64)) {
        let mut kept = self.kept.0.lock().unwrap();
        change(kept.entry(self.name.clone()).or_default());
    }
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
impl CounterFn for Figure {
    fn increment(&self, by: u64) {
        self.change(|sum| *sum += by as f64);
    }

    fn absolute(&self, value: u64) {
        self.change(|sum| *sum = value as f64);
    }
}

impl GaugeFn for Figure {
    fn increment(&self, by: f64) {
        self.change(|value| *value += by);
    }

    fn decrement(&self, by: f64) {
        self.change(|value| *value -= by);
    }

    fn set(&self, to: f64) {
        self.change(|value| *value = to);
    }
}

impl HistogramFn for Figure {
    fn record(&self, value: f64) {
        assert!(value >= 0.0);
        self.change(|count| *count += 1.0);
    }
}

impl Recorder for Kept {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.described(&name);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.described(&name);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.described(&name);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.figure(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.figure(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.figure(key))
    }
}

impl Kept {
    fn described(&self, name: &KeyName) {
        let name = format!("described {}", name.as_str());
        self.0.lock().unwrap().insert(name, 1.0);
    }
}

#[mcp_task]
async fn counted() -> Result<String, ToolError> {
    step(done()).await?;
    step(failed()).await.ok();
    let answer: String = ask_user("Well?").await?;
    Ok(answer)
}

async fn done() -> Result<(), String> {
    Ok(())
}

async fn failed() -> Result<(), String> {
    Err("no".to_owned())
}

#[mcp_task(support = "forbidden")]
async fn plain() -> &'static str {
    "ok"
}

#[tokio::test(start_paused = true)]
async fn tasks_and_what_they_do_are_counted() {
    let kept = Kept::default();
    let _recorder = metrics::set_default_local_recorder(&kept);
    let mut server = Server::start(|builder| builder.task(counted).task(plain));
    server.call("plain", json!({})).await;
    let id = server.task("counted", json!({})).await;
    server.until(&id, "input_required").await;
    assert_eq!(kept.shown("resident"), "1");
    server.crash().await;
    server.answer(&id, "answer", "yes").await;
    server.until(&id, "completed").await;
    let cancelled = server.task("counted", json!({})).await;
    server.until(&cancelled, "input_required").await;
    let params = json!({ "taskId": cancelled });
    server.send("tasks/cancel", params, json!({})).await;
    server
        .send("tasks/get", json!({ "taskId": "never" }), json!({}))
        .await;
    let long = json!({ "x": "y".repeat(2 << 20) });
    server.call("counted", long).await;
    for (name, count) in [
        ("calls_total plain inline", "1"),
        ("calls_total counted task", "2"),
        ("created_total counted", "2"),
        ("ended_total counted completed", "1"),
        ("ended_total counted cancelled", "1"),
        ("steps_total counted done", "2"),
        ("steps_total counted failed", "2"),
        ("asked_total counted", "2"),
        ("answered_total counted", "1"),
        ("answer_seconds counted", "1"),
        ("resume_seconds", "1"),
        ("refused_total parameters", "2"),
        ("limits_reached_total arguments", "1"),
        ("subscriptions", "0"),
    ] {
        assert_eq!(kept.shown(name), count, "{name}");
    }
    for name in ["commits_total", "commit_seconds", "wake_seconds"] {
        assert_ne!(kept.shown(name), "0", "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_figure_is_described_where_people_look() {
    let kept = Kept::default();
    let _recorder = metrics::set_default_local_recorder(&kept);
    let _server = Server::start(|builder| builder.task(plain));
    let docs = include_str!("../../src/lib.rs");
    let kept = kept.0.lock().unwrap();
    let described = kept
        .keys()
        .filter_map(|name| name.strip_prefix("described "));
    let described: Vec<&str> = described.collect();
    assert!(described.len() > 15, "{described:?}");
    for name in described {
        assert!(docs.contains(&format!("`{name}`")), "{name}");
    }
}
