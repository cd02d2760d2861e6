//! More places where an expression may stand, and what may stand around it.
use std::collections::HashMap;

use mcp_tasks::prelude::*;

#[derive(Clone, Default, Elicit)]
struct Approval {
    approve: bool,
    percent: u8,
}

#[derive(Clone, Default)]
struct Fleet {
    hosts: [u8; 3],
}

fn no_length() -> Result<usize, ToolError> {
    Ok(0)
}

async fn load() -> std::io::Result<String> {
    Ok(String::new())
}

#[mcp_task]
async fn loops_and_operators(mut n: u8, State(fleet): State<Fleet>) -> Result<String, ToolError> {
    let found = 'outer: loop {
        loop {
            let more: bool = ask_user("More?").await?;
            if more {
                break 'outer 3_u32;
            }
            if n > 1 {
                continue 'outer;
            }
        }
    };
    let early = 'block: {
        if n > 1 {
            break 'block ask_user::<u8>("Early?").key("early").await?;
        }
        3
    };
    let mut total = found;
    total += u32::from(ask_user::<u8>("Add?").key("add").await?);
    total = total * 2 + u32::from(ask_user::<u8>("Once more?").key("once_more").await?);
    let host = fleet.hosts[usize::from(ask_user::<u8>("Host?").key("index").await? % 3)];
    let some = &fleet.hosts[..usize::from(ask_user::<u8>("How many?").key("range").await?.min(3))];
    let approval = Approval {
        approve: ask_user("Approve?").key("field").await?,
        ..Approval::default()
    };
    while let Some(next) = ask_user::<u8>("Next?").key("next").optional().await? {
        n = next;
    }
    if let Ok(first) = ask_user::<u8>("First?").key("first").await
        && first > 3
        && let Some(second) = ask_user::<u8>("Second?").key("second").optional().await?
        && second > 1
    {
        n += second;
    }
    let both = ask_user::<bool>("Left?").key("left").await?
        && !ask_user::<bool>("Right?").key("right").await?;
    for pass in 0..ask_user::<u8>("Passes?").key("passes").await? {
        n = n.max(pass);
    }
    let cast = ask_user::<u64>("Cast?").key("cast").await? as f32;
    let reference = &ask_user::<String>("Borrowed?").key("borrowed").await?;
    Ok(format!(
        "{total} {early} {host} {some:?} {} {both} {cast} {reference} {n}",
        approval.approve || approval.percent > 3
    ))
}

#[mcp_task]
async fn values_and_arguments(n: u8) -> Result<String, ToolError> {
    struct Nested(u8);
    impl Nested {
        const fn new(n: u8) -> Self {
            Self(n)
        }
    }
    const MOST: u8 = 3;
    let n = n.min(MOST);

    let mut counts: HashMap<String, u8> = HashMap::new();
    *counts.entry("a".to_owned()).or_insert(0) += ask_user::<u8>("Count?").await?;
    counts.insert(
        ask_user::<String>("Name?").key("name").await?,
        ask_user::<u8>("Value?").key("value").await?,
    );
    let list = vec![n; usize::from(ask_user::<u8>("Length?").key("length").await?)];
    let forms: Vec<Approval> = vec![
        ask_user("A?").key("a").await?,
        ask_user("B?").key("b").await?,
    ];
    let grid = [[ask_user::<u8>("Cell?").key("cell").await?; 2]; 2];
    let boxed: Box<u8> = Box::new(ask_user("Boxed?").key("boxed").await?);
    let nested = Nested::new(ask_user::<u8>("Nested?").key("nested").await?);
    let length = ask_user::<String>("Text?")
        .key("text")
        .await
        .map(|text| text.trim().len())
        .or_else(|_| no_length())?;
    let word = match n {
        0 => "none",
        1 => {
            ask_user::<()>("One?").key("one").await?;
            "one"
        }
        _ if matches!(ask_user::<u8>("Some?").key("some").await?, 1 | 2) => "some",
        _ => return Err(ToolError::new("too many")),
    };
    let doubled: Vec<u8> = list.iter().map(|n| n * 2).filter(|n| *n > 1).collect();
    let kept = ask_user::<String>("Kept?");
    let kept = kept.timeout(Duration::from_secs(3)).await?;
    let tried = step_with(Retry::attempts(2), load).await?;
    let at_run_time = ask_user::<u8>("Any?").key(format!("any-{n}")).await?;
    let first = race!(
        async { ask_user::<bool>("Sure?").await.ok() },
        async {
            sleep(Duration::from_secs(3)).await;
            None
        }
    );
    Ok(format!(
        "{counts:?} {} {grid:?} {boxed} {} {length} {word} {doubled:?} {kept} {tried} {at_run_time} {first:?}",
        forms.len(),
        nested.0
    ))
}

/// A parameter may have attributes, and any type that serde and schemars know.
#[mcp_task]
async fn parameters(
    mut service: String,
    #[allow(unused_variables, reason = "it is enough that it is there")] flags: [bool; 2],
    pair: (u8, String),
    nested: Option<Vec<HashMap<String, Box<u8>>>>,
    _other: std::sync::Arc<str>,
) -> String {
    service.push_str(&pair.1);
    format!("{service} {nested:?}")
}

#[cfg_attr(all(), mcp_task)]
async fn conditional() -> Result<String, ToolError> {
    Ok(ask_user("Sure?").await?)
}

struct Desk {
    papers: Vec<String>,
}

impl Desk {
    /// A flow may be a function of a type, with or without a `self`.
    #[mcp_task_flow]
    async fn open(first: String) -> Result<Self, AskError> {
        let sure: bool = ask_user(format!("Open {first}?")).await?;
        Ok(Self {
            papers: sure.then_some(first).into_iter().collect(),
        })
    }
}

#[mcp_task]
async fn opens(first: String) -> Result<String, ToolError> {
    let desk = Desk::open(first).await?;
    Ok(desk.papers.join(" "))
}
