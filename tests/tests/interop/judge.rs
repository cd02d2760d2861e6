//! Whether an outcome is what the table says.

use rmcp::ErrorData;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::table::Case;

/// What became of a call.
pub(crate) struct Outcome {
    pub(crate) end: End,
    /// The questions, by the names that the table has for them.
    pub(crate) asked: Vec<(String, Value)>,
    pub(crate) progress: Vec<Value>,
}

pub(crate) enum End {
    Result(CallToolResult),
    Refused(ErrorData),
    /// The client cancelled it, and so much was left at the server.
    Cancelled(u64),
    /// Anything else, in words.
    Broken(String),
}

/// Everything that is wrong.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn must(&mut self, right: bool, words: impl FnOnce() -> String) {
        if !right {
            self.0.push(words());
        }
    }

    fn same(&mut self, what: &str, is: &Value, should: &Value) {
        self.must(alike(is, should), || {
            format!("{what} is {is}, not {should}")
        });
    }
}

/// Whether two values are the same, where 1 and 1.0 are.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let in_both = |(name, one): (&String, &Value)| {
                other.get(name).is_some_and(|other| alike(one, other))
            };
            one.len() == other.len() && one.iter().all(in_both)
        }
        _ => one == other,
    }
}

/// What is wrong with an outcome, in words.
pub(crate) fn judge(case: &Case, outcome: &Outcome) -> Vec<String> {
    let mut wrong = Wrong::default();
    judge_questions(case, outcome, &mut wrong);
    if let Some(wanted) = &case.progress {
        judge_progress(wanted, &outcome.progress, &mut wrong);
    }
    let expect = &case.expect;
    match &outcome.end {
        End::Broken(words) => wrong.0.push(words.clone()),
        End::Cancelled(left) => {
            wrong.must(expect["cancelled"] == true, || {
                "it was cancelled".to_owned()
            });
            wrong.must(*left == 0, || {
                format!("{left} calls are left at the server")
            });
        }
        End::Refused(error) => judge_error(case, error, &mut wrong),
        End::Result(result) => judge_result(case, result, &mut wrong),
    }
    wrong.0
}

fn judge_questions(case: &Case, outcome: &Outcome, wrong: &mut Wrong) {
    let refused = case.is_absent() || case.expect["protocolError"] == -32021;
    let mut asked: Vec<&str> = outcome.asked.iter().map(|(key, _)| key.as_str()).collect();
    asked.sort_unstable();
    let wanted: Vec<&str> = case.answers.keys().map(String::as_str).collect();
    let wanted = if refused { Vec::new() } else { wanted };
    wrong.same("what was asked", &json!(asked), &json!(wanted));
    for (key, schema) in &case.schemas {
        let shown = outcome.asked.iter().find(|(asked, _)| asked == key);
        let shown = shown.map_or(&Value::Null, |(_, params)| &params["requestedSchema"]);
        wrong.same("the form", shown, schema);
    }
}

/// Progress must grow, and say in the end what it should.
fn judge_progress(wanted: &Value, told: &[Value], wrong: &mut Wrong) {
    let done: Vec<f64> = told
        .iter()
        .filter_map(|told| told["progress"].as_f64())
        .collect();
    wrong.must(done.is_sorted_by(|one, next| one < next), || {
        format!("progress does not grow: {done:?}")
    });
    let last = told.last().unwrap_or(&Value::Null);
    for (member, value) in wanted.as_object().expect("members of the last one") {
        if member == "includes" {
            let is_there = told.iter().any(|told| alike(told, value));
            wrong.must(is_there, || format!("no {value} in {}", json!(told)));
            continue;
        }
        let name = if member == "last" { "progress" } else { member };
        wrong.same("the last progress", &last[name], value);
    }
}

fn judge_error(case: &Case, error: &ErrorData, wrong: &mut Wrong) {
    let expect = &case.expect;
    let code = match expect.get("protocolError") {
        Some(code) => code.clone(),
        None if case.is_absent() => json!(-32602),
        None => return wrong.0.push(format!("a protocol error: {error:?}")),
    };
    wrong.same("the code", &json!(error.code.0), &code);
    let words = expect["words"].as_str().unwrap_or_default();
    let words = if case.is_absent() { &case.tool } else { words };
    wrong.must(error.message.contains(words), || {
        format!("the words are {:?}, without {words:?}", error.message)
    });
    if let Some(data) = expect.get("data") {
        wrong.same("the data", &json!(error.data), data);
    }
    if let Some(secret) = expect["never"].as_str() {
        let whole = json!(error).to_string();
        wrong.must(!whole.contains(secret), || format!("{secret} got out"));
    }
}

fn judge_result(case: &Case, result: &CallToolResult, wrong: &mut Wrong) {
    let expect = &case.expect;
    let result = serde_json::to_value(result).expect("a result is JSON");
    let has_result = ["absent", "protocolError", "cancelled"]
        .iter()
        .all(|other| expect.get(*other).is_none());
    wrong.must(has_result, || format!("a result: {result}"));
    let is_error = result["isError"] == true;
    let should_be = expect.get("toolError").is_some();
    wrong.same("isError", &json!(is_error), &json!(should_be));
    let text = &result["content"][0]["text"];
    if let Some(words) = expect.get("toolError").or(expect.get("text")) {
        wrong.same("the text", text, words);
    }
    match expect["matches"].as_str() {
        // The patterns of the table, without an engine for all there could be.
        Some("^x{100000}$") => {
            let is_long = text.as_str() == Some(&"x".repeat(100_000));
            wrong.must(is_long, || "not 100,000 letters".to_owned());
        }
        Some(pattern) if pattern.ends_with(",\\1$") => {
            let halves = text.as_str().and_then(|text| text.split_once(','));
            let are_same = halves.is_some_and(|(one, two)| one == two && one.len() >= 16);
            wrong.must(are_same, || format!("not twice the same: {text}"));
        }
        Some(pattern) => wrong
            .0
            .push(format!("this client cannot look for {pattern}")),
        None => {}
    }
    if let Some(content) = expect.get("content") {
        wrong.same("the content", &result["content"], content);
    }
    if let Some(structured) = expect.get("structured") {
        wrong.same(
            "the structured content",
            &result["structuredContent"],
            structured,
        );
    }
    if let Some(members) = expect.get("members") {
        let has = result["structuredContent"].as_object();
        let has: Vec<&String> = has.map(|has| has.keys().collect()).unwrap_or_default();
        wrong.same("its members", &json!(has), members);
    }
    for (name, value) in expect["meta"].as_object().into_iter().flatten() {
        wrong.same(name, &result["_meta"][name], value);
    }
    if let Some(text) = expect.get("file") {
        let written = std::fs::read_to_string(case.path()).unwrap_or_default();
        wrong.same("the file", &json!(written), text);
    }
}
