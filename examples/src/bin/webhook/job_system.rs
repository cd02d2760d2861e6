//! The other side: a job system to play with, on a port of its own. It is spoken
//! to over HTTP and nothing else, as one on another machine would be.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{delete, post};
use axum::{Json, Router};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::jobs::{Ended, IDEMPOTENCY_KEY, Order, Outcome, Started};
use crate::signature::{SIGNATURE, Secret};

const WORK: Duration = Duration::from_secs(5);

/// Jobs by the keys that they were ordered with.
type Jobs = Arc<Mutex<HashMap<String, Job>>>;

struct Job {
    id: String,
    work: AbortHandle,
}

#[derive(Clone)]
struct System {
    jobs: Jobs,
    secret: Secret,
}

/// Starts it; gives its address.
pub(crate) async fn start(secret: Secret) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let jobs = Jobs::default();
    let application = Router::new()
        .route("/jobs", post(order))
        .route("/jobs/{id}", delete(cancel))
        .with_state(System { jobs, secret });
    tokio::spawn(async move { axum::serve(listener, application).await });
    Ok(url)
}

async fn order(
    State(system): State<System>,
    headers: HeaderMap,
    Json(order): Json<Order>,
) -> Result<Json<Started>, StatusCode> {
    let key = headers
        .get(IDEMPOTENCY_KEY)
        .and_then(|key| key.to_str().ok());
    let key = key.ok_or(StatusCode::BAD_REQUEST)?;
    let mut jobs = lock(&system.jobs);
    let id = format!("J{}", jobs.len() + 1);
    let job = jobs.entry(key.to_owned()).or_insert_with(|| Job {
        id: id.clone(),
        work: tokio::spawn(work(id, order, system.secret)).abort_handle(),
    });
    let job = job.id.clone();
    Ok(Json(Started { job }))
}

async fn cancel(State(system): State<System>, Path(id): Path<String>) -> StatusCode {
    let jobs = lock(&system.jobs);
    let Some(job) = jobs.values().find(|job| job.id == id) else {
        return StatusCode::NOT_FOUND;
    };
    job.work.abort();
    StatusCode::NO_CONTENT
}

/// Does the job, and tells of it until it is heard.
async fn work(job: String, order: Order, secret: Secret) {
    sleep(WORK).await;
    let outcome = if order.project == "broken" {
        let reason = "two tests fail".to_owned();
        Outcome::Failed { reason }
    } else {
        let artifact = format!("{}-{job}.tar.gz", order.project);
        Outcome::Built { artifact }
    };
    let reference = order.reference;
    let ended = Ended {
        job,
        reference,
        outcome,
    };
    let body = serde_json::to_vec(&ended).expect("it is JSON");
    let http = reqwest::Client::new();
    for attempt in 1..6 {
        let request = http
            .post(&order.callback)
            .header(SIGNATURE, secret.sign(&body));
        match request.body(body.clone()).send().await {
            Ok(heard) if !heard.status().is_server_error() => return,
            _ => sleep(Duration::from_secs(attempt)).await,
        }
    }
}

fn lock(jobs: &Jobs) -> MutexGuard<'_, HashMap<String, Job>> {
    // Nothing panics while it is locked.
    jobs.lock().unwrap_or_else(PoisonError::into_inner)
}
