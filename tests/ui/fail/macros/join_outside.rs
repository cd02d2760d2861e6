//! A join belongs to a task.
use mcp_tasks::prelude::*;

async fn both() {
    join!(ask_user::<bool>("Sure?"), sleep(Duration::from_secs(1)));
}

fn main() {
    drop(both());
}
