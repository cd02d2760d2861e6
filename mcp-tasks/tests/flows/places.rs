//! Every place where an expression may stand: that a call of ours works there,
//! and which key it gets.

use mcp_tasks::prelude::*;
use mcp_tasks::testing::TestTask;

use super::{answer_all, end};

#[derive(Elicit)]
enum Window {
    Yes,
    Later,
}

#[expect(clippy::unused_async, reason = "stands for a call over the network")]
async fn plan(what: impl Into<String>) -> Result<String, std::io::Error> {
    Ok(what.into())
}

#[mcp_task_flow]
async fn part(name: &str) -> Result<u8, AskError> {
    ask_user(format!("{name}?")).await
}

#[mcp_task(ttl = "30d")]
async fn matches() -> Result<String, ToolError> {
    let word = match ask_user::<u8>("Scrutinee?").await {
        Ok(0) => "none".to_owned(),
        Ok(_) if ask_user::<bool>("Guard?").await? => match part("inner").await? {
            1 => ask_user::<String>("Arm?").await?,
            _ => step(plan("never")).key("never").await?,
        },
        Ok(_) | Err(_) => return Err(ToolError::new("no answer")),
    };
    let bound = match step(plan("bound")).await {
        Ok(text) => text,
        Err(error) => return Err(error.into()),
    };
    ask_user::<()>("End?").key("end").await?;
    Ok(format!("{word} {bound}"))
}

#[tokio::test(start_paused = true)]
async fn in_a_match() {
    let task = TestTask::start(matches()).await;
    let keys = ["u8", "bool", "part/answer", "string", "plan"];
    assert_eq!(answer_all(&task).await, keys);
    assert_eq!(end(&task).await, "yes bound");
}

#[mcp_task(ttl = "30d")]
async fn conditions() -> Result<String, ToolError> {
    let mut text = String::new();
    if let Ok(Some(reason)) = ask_user::<String>("Reason?").optional().await
        && !reason.is_empty()
        && let Ok(deep) = part("deep").await
        && deep == 1
    {
        text.push_str(&reason);
    }
    if ask_user::<bool>("If?").await? {
        step_value(async { 1 }).await;
    } else if part("else").await? == 1 {
        return Err(ToolError::new("not here"));
    }
    let Ok(limit) = ask_user::<u8>("Limit?").await else {
        return Ok(text);
    };
    let Some(first) = step(plan("x")).await?.chars().next() else {
        let late: String = ask_user("Late?").await?;
        return Ok(late);
    };
    let chosen = if limit > 1 {
        ask_user::<u8>("Left?").key("left").await?
    } else {
        part("right").key("right").await?
    } + ask_user::<u8>("Add?").key("add").await?;
    ask_user::<()>("End?").key("end").await?;
    Ok(format!("{text} {limit} {first} {chosen}"))
}

#[tokio::test(start_paused = true)]
async fn in_conditions() {
    let task = TestTask::start(conditions()).await;
    let keys = [
        "reason",
        "deep/answer",
        "bool",
        "block",
        "limit",
        "first",
        "right/answer",
        "add",
    ];
    assert_eq!(answer_all(&task).await, keys);
    assert_eq!(end(&task).await, "yes 1 x 2");
}

#[mcp_task(ttl = "30d")]
async fn loops() -> Result<String, ToolError> {
    let mut rounds = 0;
    for pass in 0..=ask_user::<u8>("How often?").key("times").await? {
        if pass == 9 {
            continue;
        }
        sleep(Duration::from_secs(1)).await;
        rounds += part("pass").await?;
    }
    while let Ok(more) = ask_user::<u8>("More?").await {
        rounds += more;
        if rounds > 3 {
            break;
        }
    }
    while ask_user::<bool>("While?").await? {
        rounds += 1;
        if rounds > 5 {
            break;
        }
    }
    let found = 'outer: loop {
        for _ in 0..2 {
            let name: String = ask_user("Name?").await?;
            if !name.is_empty() {
                break 'outer name;
            }
        }
    };
    let broken = loop {
        if rounds > 5 {
            break step(plan("out")).await?;
        }
        rounds += 1;
    };
    ask_user::<()>("End?").key("end").await?;
    Ok(format!("{rounds} {found} {broken}"))
}

#[tokio::test(start_paused = true)]
async fn in_loops() {
    let task = TestTask::start(loops()).await;
    let keys = [
        "times",
        "sleep",
        "part/answer",
        "sleep#2",
        "part#2/answer",
        "more",
        "more#2",
        "bool",
        "bool#2",
        "name",
        "plan",
    ];
    assert_eq!(answer_all(&task).await, keys);
    assert_eq!(end(&task).await, "6 yes out");
}

#[mcp_task(ttl = "30d")]
async fn chains() -> Result<String, ToolError> {
    let length = step(plan("abc")).await?.trim().len();
    let words = step(plan("a b")).key("words").await?.split(' ').count();
    let parsed: Option<u8> = ask_user::<String>("?").await?.parse().ok();
    let mapped = part("mapped").await.map(|n| n + 1).unwrap_or_default();
    let text = (plan_or(ask_user::<bool>("?").timeout(Duration::from_secs(60)).await)?).len();
    let nested = part(&ask_user::<String>("?").key("inner").await?).await?;
    let closure = ask_user::<u8>("?")
        .key("closed")
        .await
        .map_or_else(|_| 0, |n| n * 2);
    ask_user::<()>("End?").key("end").await?;
    Ok(format!(
        "{length} {words} {parsed:?} {mapped} {text} {nested} {closure}"
    ))
}

fn plan_or(answer: Result<bool, AskError>) -> Result<String, AskError> {
    answer.map(|answer| answer.to_string())
}

#[tokio::test(start_paused = true)]
async fn in_chains_of_methods_and_question_marks() {
    let task = TestTask::start(chains()).await;
    let keys = [
        "length",
        "words",
        "parsed",
        "mapped/answer",
        "bool",
        "bool#timeout",
        "inner",
        "nested/answer",
        "closed",
    ];
    assert_eq!(answer_all(&task).await, keys);
    assert_eq!(end(&task).await, "3 2 None 2 4 1 2");
}

struct Pair {
    left: u8,
    right: u8,
}

#[mcp_task(ttl = "30d")]
async fn values() -> Result<String, ToolError> {
    let plan = {
        let inner = { step(plan("deep")).await? };
        inner + &{ ask_user::<String>("Block?").await? }
    };
    let pair = Pair {
        left: ask_user::<u8>("Left?").key("left").await?,
        ..Pair {
            left: 0,
            right: part("right").await?,
        }
    };
    let Pair { left, right } = pair;
    let tuple = (
        ask_user::<u8>("Tuple?").key("tuple").await?,
        [part("array").key("array").await?],
    );
    let mut list = vec![ask_user::<u8>("Vec?").key("vec").await?; 2];
    list.push(0);
    let index = list[usize::from(ask_user::<u8>("Index?").key("index").await?)];
    let range = 0..=ask_user::<u8>("Range?").key("range").await?;
    let cast = part("cast").key("cast").await? as char;
    let not = !ask_user::<bool>("Not?").key("not").await?;
    let reference = &ask_user::<u8>("Borrow?").key("borrow").await?;
    let text = format!(
        "{} {name}",
        ask_user::<u8>("Format?").key("format").await?,
        name = part("named").key("named").await?,
    );
    assert_eq!(ask_user::<u8>("Assert?").key("assert").await?, 1, "one");
    let mut assigned;
    assigned = part("assigned").key("assigned").await?;
    assigned += ask_user::<u8>("Plus?").key("plus").await?;
    let lazy = left == 0 && part("never").key("never").await? == 1;
    let window = ask_user::<Window>("When?").optional().await?;
    let window = matches!(window, Some(Window::Later));
    ask_user::<()>("End?").key("end").await?;
    Ok(format!(
        "{plan} {left} {right} {tuple:?} {index} {range:?} {cast:?} {not} {reference} {text} {assigned} {lazy} {window}"
    ))
}

#[tokio::test(start_paused = true)]
async fn in_values_of_every_kind() {
    let task = TestTask::start(values()).await;
    let keys = [
        "plan",
        "string",
        "left",
        "part/answer",
        "tuple",
        "array/answer",
        "vec",
        "index",
        "range",
        "cast/answer",
        "not",
        "borrow",
        "format",
        "named/answer",
        "assert",
    ];
    let rest = ["assigned/answer", "plus", "window"];
    assert_eq!(answer_all(&task).await, [&keys[..], &rest].concat());
    let text = "deepyes 1 1 (1, [1]) 1 0..=1 '\\u{1}' false 1 1 1 2 false false";
    assert_eq!(end(&task).await, text);
}
