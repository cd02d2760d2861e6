//! `#[mcp_task_impl]`: methods as tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_tasks::prelude::*;
use mcp_tasks::runtime::Runtime;
use mcp_tasks::testing::TestTask;
use serde_json::json;

use super::answer;

/// State that no call may copy.
struct Deployer {
    region: String,
    deployed: AtomicUsize,
}

#[mcp_task_impl]
impl Deployer {
    const LIMIT: u8 = 100;

    fn new(region: &str) -> Self {
        Self {
            region: region.to_owned(),
            deployed: AtomicUsize::new(0),
        }
    }

    /// Deploys a service.
    #[mcp_task(ttl = "24h")]
    async fn deploy(
        &self,
        /// Which one
        service: String,
        #[serde(default)] share: u8,
        State(suffix): State<&'static str>,
    ) -> Result<Json<Deployed>, ToolError> {
        if !self.confirm(&service).await? {
            return Err(ToolError::new("not approved"));
        }
        step(self.roll_out(share.min(Self::LIMIT))).await?;
        let place = format!("{service}@{}{suffix}", self.region);
        let count = self.deployed.load(Ordering::SeqCst);
        Ok(Json(Deployed { place, count }))
    }

    /// What the region is called.
    #[mcp_task(name = "where", support = "forbidden")]
    async fn region(&self) -> String {
        self.region.clone()
    }

    #[mcp_task(version = 3)]
    async fn merge(&self, others: Vec<String>, self_: Option<String>) -> Result<String, ToolError> {
        let (left, right) = join!(left: self.confirm("left"), right: self.confirm("right"));
        Ok(format!("{others:?} {self_:?} {} {}", left?, right?))
    }

    #[mcp_task_flow]
    async fn confirm(&self, what: &str) -> Result<bool, AskError> {
        let approval: bool = ask_user(format!("Deploy {what} in {}?", self.region)).await?;
        Ok(approval)
    }

    #[expect(clippy::unused_async, reason = "stands for a call over the network")]
    async fn roll_out(&self, share: u8) -> Result<u8, std::io::Error> {
        self.deployed.fetch_add(1, Ordering::SeqCst);
        Ok(share)
    }
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Deployed {
    place: String,
    count: usize,
}

#[tokio::test(start_paused = true)]
async fn a_method_runs_as_a_task_on_the_value_and_survives_crashes() {
    let deployer = Arc::new(Deployer::new("north"));
    let mut task = TestTask::start(deployer.deploy("billing".to_owned(), 5, State("!"))).await;
    let question = task.asked("confirm/approval").await;
    assert!(question.params.get().contains("Deploy billing in north?"));
    task.crash().await;
    answer(&task, "confirm/approval", true).await;
    task.crash().await;
    let result: Deployed = task.result().await.structured();
    let place = "billing@north!".to_owned();
    assert_eq!(result, Deployed { place, count: 1 });
    assert_eq!(deployer.deployed.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn flows_of_the_value_are_branches_of_its_tasks() {
    let deployer = Arc::new(Deployer::new("north"));
    let task = TestTask::start(deployer.merge(vec!["a".to_owned()], None)).await;
    answer(&task, "right/confirm/approval", false).await;
    answer(&task, "left/confirm/approval", true).await;
    assert_eq!(task.result().await.text(), r#"["a"] None true false"#);
}

#[test]
fn one_call_registers_every_marked_method() {
    let runtime = Runtime::builder("test", "1")
        .tasks_of(Deployer::new("north"))
        .state("!")
        .build()
        .expect("the server is put together");
    let names: Vec<&str> = runtime
        .tools()
        .map(mcp_tasks::runtime::Tool::name)
        .collect();
    assert_eq!(names, ["deploy", "where", "merge"]);
    let deploy = runtime.tool("deploy").expect("it is there").listing();
    assert_eq!(deploy["description"], "Deploys a service.");
    let properties = &deploy["inputSchema"]["properties"];
    assert_eq!(properties["service"]["description"], "Which one");
    assert_eq!(properties["share"]["type"], "integer");
    assert_eq!(properties.as_object().map(serde_json::Map::len), Some(2));
    assert_eq!(deploy["inputSchema"]["required"], json!(["service"]));
    assert!(deploy["outputSchema"].is_object());
}

#[test]
fn what_a_method_takes_besides_is_asked_for_when_the_server_is_built() {
    let shared = Arc::new(Deployer::new("north"));
    let Err(error) = Runtime::builder("test", "1").tasks_of(shared).build() else {
        panic!("the state is missing");
    };
    assert!(
        error.to_string().contains("tool `deploy`: no `&str`"),
        "{error}"
    );
}
