//! Branches, named and numbered, nested and over a list.
use mcp_tasks::prelude::*;

async fn restart(host: &str, times: u8) -> Result<u8, std::fmt::Error> {
    let _ = host;
    Ok(times)
}

#[mcp_task]
async fn deploy(hosts: Vec<String>) -> Result<String, ToolError> {
    let (left, right) = join!(
        left: ask_user::<bool>("Left?"),
        right: async {
            let sure: bool = ask_user("Right?").await?;
            sleep(Duration::from_secs(1)).await;
            Ok::<_, ToolError>(sure)
        },
    );
    let (one, two) = try_join!(ask_user::<u8>("One?"), ask_user::<u8>("Two?"))?;
    let first = race!(
        person: async { ask_user::<bool>("Quick?").await.unwrap_or(false) },
        clock: async {
            sleep(Duration::from_secs(60)).await;
            false
        },
    );
    let (outer, ()) = join!(
        outer: async {
            let (a, b) = join!(
                a: ask_user::<u8>("A?"),
                b: step(restart("b", 1)),
            );
            (a.is_ok(), b.is_ok())
        },
        other: async {},
    );
    // A call as a closure's value, an `async` block, and a block that ends in one.
    let restarts = join_all(hosts.iter().map(|host| step(restart(host, one)))).await;
    let asked = join_all(hosts.iter().map(|host| async move {
        let times: u8 = ask_user(format!("How often {host}?")).await?;
        let done = step(restart(host, times)).await?;
        Ok::<_, ToolError>(done)
    }))
    .await;
    let named = join_all(hosts.iter().filter(|host| host.len() > 1).map(|host| {
        let words = format!("Name of {host}?");
        ask_user::<String>(words).key(host)
    }))
    .await;
    let stored = (ask_user::<bool>("Later?"), sleep(Duration::from_secs(1)));
    let (later, ()) = join!(stored.0, stored.1);
    Ok(format!(
        "{left:?} {right:?} {two} {first} {outer:?} {restarts:?} {asked:?} {named:?} {later:?}"
    ))
}
