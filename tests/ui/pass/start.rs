//! Calls that become tasks where they say so.
use mcp_tasks::prelude::*;

#[mcp_task(state_ttl = "10m", once = false)]
async fn deploy(service: String) -> Result<String, ToolError> {
    if !ask_user::<bool>(format!("Deploy {service}?")).await? {
        return Ok("not deployed".to_owned());
    }
    start_task().await;
    sleep(Duration::from_secs(1)).await;
    Ok(service)
}

#[mcp_task]
async fn at_once() {
    mcp_tasks::start_task().await;
}

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[mcp_task(name = "deploy_it")]
    async fn deploy(&self, service: String) -> Result<String, ToolError> {
        ask_user::<()>("Sure?").await?;
        match service.as_str() {
            "none" => {}
            _ => start_task().await,
        }
        Ok(service)
    }
}

#[test]
fn they_are_tools_of_one_server() {
    let server = mcp_tasks::TaskServer::new("deployer", "1")
        .task(deploy)
        .task(at_once)
        .tasks_of(Deployer)
        .state_keys([[7; 32]]);
    server.build().expect("it has all that it needs");
}
