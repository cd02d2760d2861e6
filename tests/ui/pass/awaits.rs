//! Everything that a task can await, and what else it can call.
use mcp_tasks::prelude::*;
use mcp_tasks::{Consent, InputKind, ModelReply, ModelRequest, Root, SignalError, Uuid};

#[derive(Debug, serde::Serialize, serde::Deserialize)]
enum Refused {
    Closed,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("closed")
    }
}

async fn push(host: &str, key: String) -> Result<usize, Refused> {
    if key.is_empty() {
        return Err(Refused::Closed);
    }
    Ok(host.len())
}

async fn status(host: &str) -> String {
    host.to_owned()
}

/// Neither `Clone` nor serializable.
struct Connection<'a>(&'a str);

async fn connect(host: &str) -> Connection<'_> {
    Connection(host)
}

#[mcp_task]
async fn deploy(hosts: Vec<String>, retries: u32) -> Result<String, ToolError> {
    let policy = Retry::attempts(retries).first(Duration::from_millis(10));
    let host = hosts.first().cloned().unwrap_or_default();

    // Attempts borrow, and are told their key.
    let first = step_with(policy, || push(&host, step_key())).await?;
    // An attempt of several statements.
    let second = step_with(policy, || {
        let key = format!("{}!", step_key());
        async {
            let key = key;
            push(&host, key).await
        }
    })
    .key("second")
    .typed()
    .await;
    // In a step's argument, in a block, in a closure.
    let third = step(async {
        let keys: Vec<String> = (0..2).map(|n| format!("{n}{}", step_key())).collect();
        push(&host, keys.concat()).await
    })
    .at_most_once(OnAmbiguous::Skip(0))
    .await?;
    let fourth = step_with(policy, || push(&host, step_key()))
        .at_most_once(OnAmbiguous::RunAgain)
        .key("fourth")
        .await?;

    // What borrows, lives on and is awaited later.
    let connection = unrecorded(connect(&host)).await;
    let later = unrecorded(status(&hosts[0]));
    let all = join_all(hosts.iter().map(|host| unrecorded(status(host)))).await;
    let by_host = join_all(hosts.iter().map(|host| {
        let name = format!("push-{host}");
        step(push(host, step_key())).key(name).typed()
    }))
    .await;
    let retried = join_all(
        hosts
            .iter()
            .map(|host| step_with(policy, move || push(host, step_key())).key(host)),
    )
    .await;
    let maybe: Result<String, SignalError> = signal(format!("built-{host}")).await;
    let both = join!(
        left: signal::<u32>("left"),
        right: async { signal::<Vec<String>>("right").await.unwrap_or_default() },
    );
    let first_built = race!(async { signal::<u32>("built").await.ok() }, async {
        unrecorded(status(&host)).await;
        None
    },);

    let id: Uuid = uuid();
    let lots: (u32, u64, i32, i64, f64, bool) =
        (random(), random(), random(), random(), random(), random());
    let ids: Vec<String> = hosts.iter().map(|_| uuid().to_string()).collect();
    let started = now();
    if patched("checks") && !patched(format!("checks-{host}")) {
        step(push(&uuid().to_string(), format!("{:?}", now())))
            .key("checked")
            .await?;
    }

    Ok(format!(
        "{first} {second:?} {third} {fourth} {} {} {all:?} {by_host:?} {} {maybe:?} {both:?} \
         {first_built:?} {id} {lots:?} {ids:?} {started:?}",
        connection.0,
        later.await,
        retried.len(),
    ))
}

#[mcp_task]
async fn survey(urls: Vec<String>) -> Result<String, ToolError> {
    // In a loop, chained, in branches; what they give is used or not.
    for url in urls {
        ask_user_url("Open it, please.", url).timeout(Duration::from_secs(60)).await?;
    }
    let agreed: Option<Consent> = mcp_tasks::ask_user_url("And this?", "https://example.org")
        .key("last")
        .any_wording()
        .optional()
        .await?;
    let text = ask_model(ModelRequest::new(10).user("Well?")).await?.text();
    let (reply, roots) = join!(
        ask_model(ModelRequest::new(10).user(text.clone())),
        list_roots().timeout(Duration::from_secs(5)),
    );
    let names: Vec<String> = roots?.into_iter().filter_map(|root: Root| root.name).collect();
    match reply {
        Ok(ModelReply { model, .. }) => Ok(format!("{model} {names:?} {}", agreed.is_some())),
        Err(AskError::Unsupported(InputKind::Model)) => Ok(text),
        Err(error) => Err(error.into()),
    }
}

mod own {
    //! Functions of these names, which are none of ours.

    use mcp_tasks::prelude::{ToolError, mcp_task};

    fn now() -> u8 {
        1
    }

    fn signal(kind: u8) -> Result<u8, std::fmt::Error> {
        Ok(kind)
    }

    fn unrecorded(number: u8) -> u8 {
        number
    }

    fn list_roots(number: u8) -> Result<u8, std::fmt::Error> {
        Ok(number)
    }

    fn patched(text: &mut String) -> &mut String {
        text
    }

    async fn step_with(number: u8, f: impl Fn(u8) -> u8) -> u8 {
        f(number)
    }

    #[mcp_task(replay = false)]
    async fn uses() -> Result<String, ToolError> {
        let random = || 4;
        let mut text = String::new();
        patched(&mut text).push('x');
        let number = now() + signal(2)? + unrecorded(3) + random() + list_roots(4)?;
        let more = step_with(number, |number| number + 1).await;
        Ok(format!("{text} {more}"))
    }
}
