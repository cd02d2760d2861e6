//! What a step evaluates may borrow, mutably too, and is read as written.
use mcp_tasks::prelude::*;

async fn edit(text: &mut String, by: &str) -> Result<usize, std::fmt::Error> {
    text.push_str(by);
    Ok(text.len())
}

struct Client;

impl Client {
    async fn get(&self, url: &str) -> Result<String, std::fmt::Error> {
        Ok(url.to_owned())
    }
}

fn client() -> Client {
    Client
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let mut text = String::new();
    // A mutable borrow and a temporary that lives until the step is done.
    let length = step(edit(&mut text, &format!("{service}!"))).await?;
    // A receiver that is a temporary.
    let page = step(client().get(&text)).await?;
    // Wrapped futures are called by what they do.
    let boxed = step(Box::pin(client().get("x"))).await?;
    // A loop of its own may be left.
    let first = step({
        let mut found = 0;
        for n in 0..10 {
            if n == 3 {
                found = n;
                break;
            }
        }
        async move { Ok::<_, std::fmt::Error>(found) }
    })
    .await?;
    // A value that moves in.
    let owned = service.clone();
    let moved = step_value(async move { owned }).await;
    // A step that is awaited later, after another.
    let later = step(client().get(&service));
    let sooner = step(client().get("sooner")).await?;
    Ok(format!(
        "{length} {page} {boxed} {first} {moved} {sooner} {}",
        later.await?
    ))
}
