//! One error, whatever the macro would make of it.
use mcp_tasks::prelude::*;

mod tokio {
    macro_rules! select {
        ($($name:pat = $future:expr => $body:block)*) => {$(
            let $name = $future.await;
            $body
        )*};
    }
    pub(crate) use select;
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    tokio::select! {
        sure = ask_user::<bool>("Sure?") => { drop(sure); }
        () = sleep(Duration::from_secs(3)) => {}
    }
    Ok(service)
}

fn main() {}
