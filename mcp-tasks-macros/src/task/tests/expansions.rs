//! Golden expansions: what `cargo expand` shows, as somebody would read it.
//!
//! Run with `UPDATE_GOLDEN=1` to write them anew, and read the difference.

use super::{errors, expand, expand_flow, expand_impl};

fn golden(name: &str, attribute: &str, item: &str) {
    assert_eq!(errors(attribute, item), [""; 0]);
    compare(name, &expand(attribute, item));
}

fn compare(name: &str, expanded: &str) {
    assert!(!expanded.contains("compile_error"), "{expanded}");
    let path = format!("{}/src/task/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, expanded).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == expanded,
        "{name} expands to something new; if that is right, run with UPDATE_GOLDEN=1:\n{expanded}"
    );
}

#[test]
fn a_task_function() {
    golden(
        "deploy",
        r#"ttl = "24h", poll_interval = "1s""#,
        r#"
        /// Deploys a service once a person has signed off.
        ///
        /// It may take a day.
        #[tracing::instrument(skip_all)]
        pub async fn deploy(
            /// Service to deploy
            service: String,
            #[serde(default, rename = "share")] mut percent: u8,
            State(fleet): State<Fleet>,
        ) -> Result<Json<Deployed>, ToolError> {
            let plan = step(fleet.plan(&service)).await?;
            let approval: Approval = ask_user(format!("Deploy {service}?\n{plan}")).await?;
            set_status("rolling out");
            Ok(Json(fleet.report(&plan)))
        }
        "#,
    );
}

#[test]
fn every_key() {
    golden(
        "every_key",
        r#"name = "a/b", title = "T", description = "D", ttl = "none", poll_interval = "90s",
           support = "forbidden", inline = "50ms", replay = false, cancel_grace = "5s",
           concurrency = 4, version = 2, crate = renamed::tasks"#,
        "#[cfg(unix)] pub(crate) async fn r#move() { cancelled().await; plain().await; }",
    );
}

#[test]
fn limits_defaults_and_what_the_server_gives() {
    golden(
        "arguments",
        r#"annotations(read_only, open_world = false), icons = ["https://example.com/a.png"],
           meta = { "example.com/tier": 1 }"#,
        r#"
        async fn look(
            /// How deep
            #[arg(min = 1, max = 9, default = 3)] depth: u8,
            #[arg(min_len = 1, pattern = "^[a-z]+$")] name: Option<String>,
            #[arg(default = Fast)] how: How,
            caller: Caller,
            Meta(meta): Meta,
        ) {}
        "#,
    );
}

#[test]
fn joins() {
    golden(
        "joins",
        "",
        r#"
        async fn ask(hosts: Vec<String>) -> Result<(), ToolError> {
            let (left, right) = join!(
                left: ask_user::<Approval>("Left?"),
                right: async move {
                    sleep(SECOND).await;
                    step(plan()).await
                },
            );
            let done = join_all(hosts.iter().map(|host| step(restart(host)))).await;
            join_all(hosts.iter().map(|host| async move { ask_user::<bool>(host).await })).await;
            Ok(())
        }
        "#,
    );
}

#[test]
fn what_a_task_awaits() {
    golden(
        "awaits",
        "",
        r#"
        async fn ship(hosts: Vec<String>) -> Result<(), ToolError> {
            if patched("checksums") {
                let id = uuid();
                let sum = unrecorded(checksum(&hosts)).await;
                step(upload(id, sum, step_key())).typed().await?;
            }
            step_with(Retry::attempts(5), || push(&hosts)).await?;
            let built: Built = signal("built").await?;
            step(charge(now())).at_most_once(OnAmbiguous::Fail).await?;
            join_all(hosts.iter().map(|host| step(restart(host)).key(format!("on-{host}")))).await;
            Ok(())
        }
        "#,
    );
}

#[test]
fn a_flow() {
    compare(
        "flow",
        &expand_flow(
            r#"
            /// Asks twice.
            pub async fn confirm<T: Display + Sync>(
                what: &T,
                (mut left, right): (u8, &[u8]),
            ) -> Result<bool, AskError> {
                let first: bool = ask_user(format!("{what}?")).await?;
                left += 1;
                audit("asked");
                Ok(first && again(right, left).key("second").await?)
            }
            "#,
        ),
    );
}

#[test]
fn methods() {
    compare(
        "methods",
        &expand_impl(
            r"
            impl Deployer {
                #[mcp_task(version = 2)]
                pub async fn deploy(&self, service: String) -> Result<String, ToolError> {
                    step(self.plan(&service)).await?;
                    Ok(service)
                }

                fn untouched(&self) {}
            }
            ",
        ),
    );
}
