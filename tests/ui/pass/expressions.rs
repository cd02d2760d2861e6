//! Suspension points in every place where an expression may stand.
use mcp_tasks::prelude::*;

#[derive(Clone, Default)]
struct Fleet;

impl Fleet {
    async fn plan(&self, service: &str) -> Result<String, std::fmt::Error> {
        Ok(service.to_owned())
    }
}

#[mcp_task(cancel_grace = "5s")]
async fn deploy(mut service: String, State(fleet): State<Fleet>) -> Result<String, ToolError> {
    // A chain after the await.
    let length = step(fleet.plan(&service)).await?.trim().len();
    // Match arms, scrutinee and guard.
    let word = match ask_user::<u8>("How many?").await {
        Ok(0) => ask_user::<String>("Why none?").await?,
        Ok(n) if ask_user::<bool>(format!("{n}, sure?")).key("sure").await? => "sure".to_owned(),
        Ok(_) => step(fleet.plan("word")).key("word").await?,
        Err(_) => return Err(ToolError::new("no answer")),
    };
    // `if let`, with a chain of conditions.
    if let Ok(Some(reason)) = ask_user::<String>("Reason?").optional().await
        && !reason.is_empty()
    {
        service.push_str(&reason);
    }
    // `let else`.
    let Ok(limit) = ask_user::<u8>("Limit?").await else {
        return Ok(service);
    };
    // Loops, and each pass is a site of its own.
    for pass in 0..limit {
        if pass == 3 {
            break;
        }
        set_status(format!("{pass}/{limit}"));
        report_progress(u64::from(pass), u64::from(limit));
        sleep(Duration::from_secs(1)).await;
    }
    while let Ok(more) = ask_user::<bool>("More?").await {
        if !more {
            break;
        }
    }
    let found = loop {
        let name: String = ask_user("Name?").await?;
        if !name.is_empty() {
            break name;
        }
    };
    // Blocks as values, nested.
    let plan = {
        let inner = { step(fleet.plan(&found)).key("inner").await? };
        inner + &word
    };
    // Both sides of an `if`, and operands.
    let total = if plan.is_empty() {
        ask_user::<u8>("Left?").key("left").await?
    } else {
        ask_user::<u8>("Right?").key("right").await?
    } + ask_user::<u8>("Add?").key("add").await?;
    // Arguments of calls, fields, indices, ranges and macros of std.
    let text = format!(
        "{} {name}",
        ask_user::<u8>("One?").key("one").await?,
        name = plan
    );
    let list = vec![ask_user::<u8>("Two?").key("two").await?; 2];
    let _ = list[usize::from(ask_user::<u8>("Three?").key("three").await?)];
    assert_eq!(ask_user::<u8>("Four?").key("four").await?, 4, "four");
    let pair = (
        ask_user::<u8>("Five?").key("five").await?,
        [step(fleet.plan("x")).key("six").await?],
    );
    // An `async` block as a step may do as it likes.
    let counted = step_value(async {
        let now = std::time::Instant::now();
        println!("{now:?}");
        std::future::ready(length).await
    })
    .await;
    Ok(format!(
        "{service} {total} {text} {pair:?} {counted} {} {found}",
        task_id()
    ))
}
