//! The table of cases, which is shared with the clients of other languages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcp_tasks_tests::Transport;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::connect::CALLER;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/interop/tools.json");

/// How a client and the server speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// A session of 2025-11-25.
    Session,
    /// 2026-07-28, without tasks.
    Rounds,
}

/// One call, and what must come of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Case {
    #[serde(rename = "case")]
    pub(crate) name: String,
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) arguments: Map<String, Value>,
    #[serde(default)]
    pub(crate) answers: BTreeMap<String, Value>,
    /// What every form must be, by its message.
    #[serde(default)]
    pub(crate) schemas: BTreeMap<String, Value>,
    /// Whether the client can do nothing that it could be asked for.
    #[serde(default)]
    pub(crate) bare: bool,
    /// When the client cancels the call.
    pub(crate) cancel: Option<When>,
    pub(crate) progress: Option<Value>,
    pub(crate) expect: Value,
    /// Why this client is expected to do something else than others.
    pub(crate) because: Option<String>,
    /// What is in the file that an argument names.
    file: Option<String>,
    /// For tasks only.
    #[serde(rename = "signal")]
    _signal: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum When {
    Asked,
    Started,
}

impl Case {
    /// Whether the tool does not exist for this client.
    pub(crate) fn is_absent(&self) -> bool {
        self.expect["absent"] == true
    }

    /// The file that an argument names.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(self.arguments["file"].as_str().expect("it names a file"))
    }
}

#[derive(Deserialize)]
struct Table {
    cases: Vec<Value>,
    elsewhere: Elsewhere,
}

/// The tools that other suites drive.
#[derive(Deserialize)]
pub(crate) struct Elsewhere {
    prefixes: Vec<String>,
}

impl Elsewhere {
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.prefixes.iter().any(|prefix| tool.starts_with(prefix))
    }
}

/// All cases as they are in one era over one transport.
pub(crate) fn table(era: Era, transport: Transport, folder: &Path) -> (Vec<Case>, Elsewhere) {
    let text = std::fs::read_to_string(TABLE).expect("the table is part of the repository");
    let Table { cases, elsewhere } = serde_json::from_str(&text).expect("it is a table");
    let caller = match transport {
        Transport::Http => CALLER,
        Transport::Stdio => "anonymous",
    };
    let mut number = 0;
    let filled = cases.into_iter().map(|case| {
        number += 1;
        let file = folder.join(format!("{number}.txt"));
        let text = chosen(case, era)
            .to_string()
            .replace("${caller}", caller)
            .replace("${file}", file.to_str().expect("a path is text"));
        let case: Case = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        if let Some(text) = &case.file {
            std::fs::write(file, text).unwrap();
        }
        case
    });
    (filled.collect(), elsewhere)
}

/// What holds for an era goes before what holds for all, and what holds for
/// this client before both.
fn chosen(mut case: Value, era: Era) -> Value {
    let members = case.as_object_mut().expect("a case is an object");
    let mut take = |name: &str| members.remove(name).unwrap_or_default();
    let needs_task = take("needsTask") == true;
    let session = take("session");
    let rounds = take("rounds");
    take("tasks");
    take("2025-06-18");
    let ours = take("clients")["rmcp"].take();
    let by_era = match era {
        Era::Session => session,
        Era::Rounds => rounds,
    };
    if needs_task {
        let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let expect = match era {
            Era::Session => json!({ "absent": true }),
            Era::Rounds => {
                json!({ "protocolError": -32021, "data": { "requiredCapabilities": tasks } })
            }
        };
        members.insert("expect".to_owned(), expect);
    }
    for more in [by_era, ours] {
        if let Value::Object(more) = more {
            members.extend(more);
        }
    }
    case
}
