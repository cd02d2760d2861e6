//! A helper that asks is marked too; every kind of call says so.
use mcp_tasks::prelude::*;

async fn approve() -> Result<Option<String>, AskError> {
    let reason: Option<String> = ask_user("Reason?").optional().await?;
    Ok(reason)
}

async fn several() -> Vec<Result<bool, AskError>> {
    join_all([ask_user("A?"), ask_user("B?")]).await
}

async fn retried() -> Result<u8, StepError> {
    step_with(Retry::attempts(3), || async { Ok::<u8, ToolError>(1) }).await
}

async fn given_up() {
    cancelled().await
}

fn main() {}
