//! No lint fires in expanded code.
#![deny(warnings, missing_docs, unreachable_pub, clippy::pedantic)]
use mcp_tasks::prelude::*;

/// What is deployed.
#[derive(Clone, Default)]
pub struct Fleet;

impl Fleet {
    async fn plan(&self, service: &str) -> Result<String, std::fmt::Error> {
        std::future::ready(Ok(service.to_owned())).await
    }
}

/// Deploys a service.
///
/// In several paragraphs.
#[mcp_task(
    title = "Deploy",
    ttl = "none",
    poll_interval = "90s",
    support = "optional",
    inline = "50ms"
)]
pub async fn deploy(
    /// Service to deploy
    service: String,
    /// How often
    #[serde(default)]
    #[schemars(range(min = 1))]
    mut times: u8,
    a: bool,
    b: bool,
    c: bool,
    d: bool,
    e: bool,
    _unused: Option<String>,
    State(fleet): State<Fleet>,
) -> Result<Json<String>, ToolError> {
    const MOST: u8 = 3;
    times = times.min(MOST);
    let plan = step(fleet.plan(&service)).await?;
    let sure: bool = ask_user(format!("Deploy {plan}?")).await?;
    ask_user::<()>("Read this").await?;
    set_status("rolling out");
    sleep(Duration::from_secs(1)).await;
    Ok(Json(format!("{sure} {times} {:?}", [a, b, c, d, e])))
}

/// Takes and says everything that an attribute can.
#[mcp_task(
    annotations(read_only, open_world = false),
    icons = ["https://example.com/a.png"],
    meta = { "example.com/tier": 1 },
)]
pub async fn limits(
    #[arg(min = 1, max = 100, default = 10)] percent: u8,
    #[arg(min = -0.5, max = 1)] share: Option<f64>,
    #[arg(min_len = 1, max_len = 9, pattern = "^[a-z]+$", default = "main")] branch: String,
    #[arg(max_items = 3, default = ["a"])] tags: Vec<String>,
    #[arg(default)] dry_run: bool,
    caller: Caller,
    client: ClientInfo,
    meta: Meta,
) -> (String, Json<u8>) {
    let client = client.name().unwrap_or("nobody");
    let words = format!(
        "{share:?} {branch} {tags:?} {dry_run} {caller} {client} {}",
        meta.len()
    );
    (words, Json(percent))
}

/// Waits for nothing.
#[mcp_task(replay = false)]
pub async fn nothing() {}

/// The old one.
#[deprecated = "use `deploy`"]
#[mcp_task(name = "old/deploy", version = 2, description = "Other words")]
pub async fn old(service: String) -> String {
    service
}

/// Not here.
#[cfg(any())]
#[mcp_task]
pub async fn absent(missing: Missing) {}

/// Not here either.
#[mcp_task]
#[cfg(any())]
pub async fn absent_too(missing: Missing) {}

/// Within.
pub mod deep {
    use mcp_tasks::prelude::*;

    /// Waits.
    #[mcp_task(crate = ::mcp_tasks)]
    pub async fn wait(seconds: u64) {
        sleep(Duration::from_secs(seconds)).await;
    }
}

#[test]
fn a_call_can_be_built() {
    drop(nothing());
    drop(deep::wait(1));
}
