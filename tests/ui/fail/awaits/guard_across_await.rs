//! A lock is not held while a person thinks.
use mcp_tasks::prelude::*;
use std::sync::Mutex;

static COUNT: Mutex<u8> = Mutex::new(0);

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let mut count = COUNT.lock().expect("not poisoned");
    *count += ask_user::<u8>("How many?").await?;
    Ok(service)
}

fn main() {}
