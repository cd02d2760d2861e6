//! A lifetime within a type is a borrow.
use mcp_tasks::prelude::*;

use std::borrow::Cow;

#[mcp_task]
async fn deploy(service: Cow<'_, str>) -> String {
    service.into_owned()
}

fn main() {}
