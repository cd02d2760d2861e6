//! No lint fires in expanded code.
#![deny(
    warnings,
    missing_docs,
    unreachable_pub,
    rust_2018_idioms,
    unused,
    ambiguous_negative_literals,
    explicit_outlives_requirements,
    impl_trait_redundant_captures,
    let_underscore_drop,
    meta_variable_misuse,
    redundant_imports,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    variant_size_differences,
    clippy::pedantic
)]
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

/// Confirms something.
///
/// # Errors
///
/// Whatever the person says.
#[mcp_task_flow]
pub async fn confirm<T: Send + ToString>(
    what: &str,
    _unused: &[u8],
    (first, mut second): (T, &mut String),
) -> Result<bool, AskError> {
    const MOST: u64 = 3;
    second.push('!');
    for round in 0..MOST {
        report_progress(round, MOST);
    }
    helper(second);
    Box::pin(check(what)).await?;
    second = helper(second);
    let sure: bool = ask_user(format!("{what} {} {second}?", first.to_string())).await?;
    Ok(sure)
}

#[mcp_task_flow]
async fn check(what: &str) -> Result<(), AskError> {
    ask_user(what).await
}

fn helper(text: &mut String) -> &mut String {
    text.push('?');
    text
}

/// Has methods.
pub struct Desk {
    papers: Vec<String>,
}

#[mcp_task_impl]
impl Desk {
    /// Signs a paper.
    #[mcp_task(ttl = "1h")]
    pub async fn sign(
        &self,
        /// Which one
        paper: String,
        a: bool,
        b: bool,
        c: bool,
        d: bool,
        _unused: Option<u8>,
        State(fleet): State<Fleet>,
    ) -> Result<Json<String>, ToolError> {
        step(fleet.plan(&paper)).await?;
        let name = self.name(&paper, &[]).await?;
        Ok(Json(format!("{name} {:?}", [a, b, c, d])))
    }

    /// Waits for nothing.
    #[mcp_task]
    pub async fn nothing(&self) {}

    /// Not here.
    #[cfg(any())]
    #[mcp_task]
    pub async fn absent(&self, missing: Missing) {}

    /// The name of a paper.
    ///
    /// # Errors
    ///
    /// Whatever the person says.
    #[mcp_task_flow]
    pub async fn name<'a>(&'a self, paper: &str, rest: &[&str]) -> Result<&'a str, AskError> {
        let sure: bool = ask_user(format!("{paper} {rest:?}?")).await?;
        Ok(self
            .papers
            .first()
            .filter(|_| sure)
            .map_or("", String::as_str))
    }

    #[mcp_task_flow]
    #[expect(unused_variables, reason = "an expectation holds for the body")]
    async fn later(&self) {
        let unused = self.papers.len();
    }
}

fn give_up(text: &str) -> ! {
    panic!("{text}")
}

/// Uses all of it.
#[mcp_task]
pub async fn uses(State(desk): State<std::sync::Arc<Desk>>) -> Result<String, ToolError> {
    let mut text = String::new();
    let sure = confirm("Sure", &[1], (1, &mut text)).await?;
    desk.later().await;
    if text.len() > 99 {
        give_up(&text);
    }
    let (left, right) = join!(left: check("A"), right: async { check("B").await });
    let _ = (left?, right?);
    Ok(format!("{sure} {text}"))
}

#[test]
fn a_call_can_be_built() {
    drop(nothing());
    drop(deep::wait(1));
    let desk = std::sync::Arc::new(Desk { papers: Vec::new() });
    drop(desk.nothing());
}
