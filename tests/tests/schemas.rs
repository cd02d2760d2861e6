//! c09: every reply of whole lives validates against the published schemas.
//!
//! The schemas are not part of the repository: the variable `MCP_SCHEMAS` names
//! the folder that has them. Without it this suite fails rather than passes.

use std::collections::HashMap;
use std::path::PathBuf;

use jsonschema::Validator;
use mcp_tasks::Elicit;
use mcp_tasks_tests::{Client, Declares, Fixture, Reply, keys};
use serde_json::{Value, json};

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

/// One published schema and the validators for its definitions.
struct Schema {
    definitions: Value,
    validators: HashMap<String, Validator>,
}

/// The two schemas that replies are held against.
struct Schemas {
    /// The protocol itself.
    mcp: Schema,
    /// The Tasks extension.
    tasks: Schema,
}

impl Schema {
    fn load(file: &str) -> Self {
        let folder = std::env::var_os("MCP_SCHEMAS").expect(
            "the variable MCP_SCHEMAS must name the folder with the published schemas \
             `mcp-2026-07-28.schema.json` and `ext-tasks.schema.json`",
        );
        let path = PathBuf::from(folder).join(file);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut schema: Value = serde_json::from_str(&text).unwrap();
        Self {
            definitions: schema["$defs"].take(),
            validators: HashMap::new(),
        }
    }

    /// Checks that a value is what a definition says.
    #[track_caller]
    fn check(&mut self, definition: &str, value: &Value) {
        let errors = self.errors(definition, value);
        assert!(
            errors.is_empty(),
            "not a {definition}: {errors:#?}\n{value:#}"
        );
    }

    /// What is wrong with a value.
    #[track_caller]
    fn errors(&mut self, definition: &str, value: &Value) -> Vec<String> {
        assert!(
            self.definitions[definition].is_object(),
            "the schema has no `{definition}`"
        );
        let validator = self
            .validators
            .entry(definition.to_owned())
            .or_insert_with(|| {
                let schema = json!({
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "$ref": format!("#/$defs/{definition}"),
                    "$defs": self.definitions,
                });
                jsonschema::validator_for(&schema).unwrap()
            });
        validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }
}

impl Schemas {
    fn load() -> Self {
        Self {
            mcp: Schema::load("mcp-2026-07-28.schema.json"),
            tasks: Schema::load("ext-tasks.schema.json"),
        }
    }

    /// A reply with a result, of this definition of the extension.
    #[track_caller]
    fn tasks_result(&mut self, definition: &str, reply: &Reply) {
        self.mcp.check("JSONRPCResultResponse", &reply.message);
        self.tasks.check(definition, reply.result());
    }

    /// A reply with a result, of this definition of the protocol.
    #[track_caller]
    fn mcp_result(&mut self, definition: &str, reply: &Reply) {
        self.mcp.check("JSONRPCResultResponse", &reply.message);
        self.mcp.check(definition, reply.result());
        self.mcp
            .check(&format!("{definition}Response"), &reply.message);
    }

    /// A reply with an error; some errors have a definition of their own.
    #[track_caller]
    fn error(&mut self, definition: Option<&str>, reply: &Reply) {
        self.mcp.check("JSONRPCErrorResponse", &reply.message);
        let Some(definition) = definition else {
            return;
        };
        // Some definitions are of the whole reply, some of the error in it.
        let whole = self.mcp.definitions[definition]["properties"]["error"].is_object();
        let value = if whole {
            &reply.message
        } else {
            &reply.message["error"]
        };
        self.mcp.check(definition, value);
    }

    /// What `tasks/get` says, as the state that it is in.
    #[track_caller]
    fn task(&mut self, reply: &Reply) -> Value {
        self.tasks_result("GetTaskResult", reply);
        let task = reply.result();
        self.tasks.check("DetailedTask", task);
        let definition = match task["status"].as_str().unwrap() {
            "working" => "WorkingTask",
            "input_required" => "InputRequiredTask",
            "completed" => "CompletedTask",
            "failed" => "FailedTask",
            "cancelled" => "CancelledTask",
            other => panic!("no such status: {other}"),
        };
        self.tasks.check(definition, task);
        match definition {
            "InputRequiredTask" => self.mcp.check("InputRequests", &task["inputRequests"]),
            "CompletedTask" => self.mcp.check("CallToolResult", &task["result"]),
            "FailedTask" => self.mcp.check("Error", &task["error"]),
            _ => {}
        }
        task.clone()
    }
}

/// Calls a tool and follows the task, answering nothing, until it is `status`.
async fn follow(
    schemas: &mut Schemas,
    client: &Client,
    tool: &str,
    arguments: Value,
    status: &str,
) -> String {
    let created = client.call(tool, arguments).await;
    schemas.tasks_result("CreateTaskResult", &created);
    let id = created.result()["taskId"].as_str().unwrap().to_owned();
    schemas.task(&client.try_get(&id).await);
    client.until(&id, status).await;
    let task = schemas.task(&client.try_get(&id).await);
    assert_eq!(task["status"], status);
    id
}

#[test]
fn the_schemas_refuse_what_is_wrong() {
    let mut schemas = Schemas::load();
    let task = json!({
        "resultType": "task", "taskId": "t", "status": "working", "ttlMs": 1,
        "createdAt": "2026-07-28T12:00:00Z", "lastUpdatedAt": "2026-07-28T12:00:00Z",
    });
    schemas.tasks.check("CreateTaskResult", &task);
    for (member, wrong) in [
        ("ttlMs", json!("1")),
        ("status", json!("new")),
        ("taskId", json!(7)),
    ] {
        let mut task = task.clone();
        task[member] = wrong;
        let errors = schemas.tasks.errors("CreateTaskResult", &task);
        assert!(!errors.is_empty(), "{task}");
    }
}

/// One field of each kind of P24, with every key that it takes, named for the
/// definition that it must fit (less `Schema`).
#[derive(Elicit)]
#[elicit(rename_all = "PascalCase")]
#[expect(dead_code, reason = "only its form is looked at")]
struct EveryKind {
    /// Words
    #[elicit(
        title = "Text",
        min_len = 1,
        max_len = 80,
        format = "email",
        default = "a@b.co"
    )]
    string: String,
    /// Words
    #[elicit(title = "Number", min = -1.5, max = 1.5, default = 0.5)]
    number: f64,
    /// Words
    #[elicit(title = "Yes or no", default = true)]
    boolean: bool,
    /// Words
    #[elicit(title = "One", default = Low)]
    untitled_single_select_enum: Bare,
    /// Words
    #[elicit(title = "One", default = Low)]
    titled_single_select_enum: Titled,
    /// Words
    #[elicit(title = "Some", min_items = 1, max_items = 2, default = [Low])]
    untitled_multi_select_enum: Vec<Bare>,
    /// Words
    #[elicit(title = "Some", min_items = 1, max_items = 2, default = [Low, High])]
    titled_multi_select_enum: Vec<Titled>,
}

#[derive(Elicit)]
enum Bare {
    Low,
    High,
}

#[derive(Elicit)]
enum Titled {
    /// Rather low
    Low,
    #[elicit(title = "Rather high", rename = "hi")]
    High,
}

#[test]
fn every_kind_of_field_is_one_that_the_schemas_define() {
    let mut schemas = Schemas::load();
    let form = EveryKind::form();
    assert!(form.faults().is_empty());
    let form = json!(form);
    let fields = form["properties"].as_object().unwrap();
    assert_eq!(fields.len(), 7);
    for (name, field) in fields {
        let definition = format!("{name}Schema");
        schemas.mcp.check(&definition, field);
        for (keyword, value) in field.as_object().unwrap() {
            let known = &schemas.mcp.definitions[&definition]["properties"][keyword];
            assert!(known.is_object(), "{definition} has no {keyword}: {value}");
        }
    }
    let request = json!({"mode": "form", "message": "Please", "requestedSchema": form});
    schemas.mcp.check("ElicitRequestFormParams", &request);
}

#[tokio::test]
async fn c09_every_reply_of_whole_lives_validates() {
    let mut schemas = Schemas::load();
    for server in [
        Fixture::http(FIXTURES, &[]).await,
        Fixture::stdio(FIXTURES, &[]).await,
    ] {
        let client = server.client();
        descriptions(&mut schemas, &client).await;
        lives(&mut schemas, &client).await;
        errors(&mut schemas, &client).await;
        if client.is_http() {
            header_errors(&mut schemas, &client).await;
        }
        subscriptions(&mut schemas, server).await;
    }
}

/// Every message of a subscription, to the end of its server.
async fn subscriptions(schemas: &mut Schemas, mut server: Fixture) {
    let client = server.client();
    let id = client.task("form", json!({})).await;
    client.until(&id, "input_required").await;
    let filter = json!({ "taskIds": [id] });
    let wanted = "TaskSubscriptionNotifications";
    schemas.tasks.check(wanted, &filter);
    let mut listening = client.listen(filter).await;
    let method = "notifications/subscriptions/acknowledged";
    let first = listening.hears(method).await.message;
    schemas
        .mcp
        .check("SubscriptionsAcknowledgedNotification", &first);
    let agreed = &first["params"]["notifications"];
    let agreed_to = "TaskSubscriptionAcknowledgedNotifications";
    schemas.tasks.check(agreed_to, agreed);
    for status in ["input_required", "cancelled"] {
        let told = listening.hears("notifications/tasks").await.message;
        schemas.tasks.check("TaskStatusNotification", &told);
        schemas.tasks.check("DetailedTask", &told["params"]);
        assert_eq!(told["params"]["status"], status);
        client.cancelled(&id).await;
    }
    server.stop().await;
    while let Some(last) = listening.next().await {
        let definition = if last.message["method"].is_null() {
            "SubscriptionsListenResultResponse"
        } else {
            "CancelledNotification"
        };
        schemas.mcp.check(definition, &last.message);
    }
}

async fn descriptions(schemas: &mut Schemas, client: &Client) {
    let discovered = client.request("server/discover", json!({})).await;
    schemas.mcp_result("DiscoverResult", &discovered);
    let extension = &discovered.result()["capabilities"]["extensions"];
    let extension = &extension["io.modelcontextprotocol/tasks"];
    schemas.tasks.check("TasksExtensionCapability", extension);
    let listed = client.request("tools/list", json!({})).await;
    schemas.mcp_result("ListToolsResult", &listed);
    let tools = listed.result()["tools"].as_array().unwrap();
    assert!(tools.len() > 20, "{}", tools.len());
}

async fn lives(schemas: &mut Schemas, client: &Client) {
    let plain = client.declaring(Declares::NoTasks);
    for (tool, arguments) in [
        ("sync", json!({})),
        ("soft", json!({})),
        ("stats", json!({})),
        ("big", json!({"bytes": 10})),
        ("shows", json!({})),
    ] {
        schemas.mcp_result("CallToolResult", &plain.call(tool, arguments).await);
    }

    let none = json!({});
    for (tool, arguments, status) in [
        ("slow", json!({"ms": 50}), "completed"),
        ("soft", none.clone(), "completed"),
        ("count", json!({"n": 20}), "completed"),
        ("shows", json!({"depth": 3}), "completed"),
        ("hard", none.clone(), "failed"),
        ("boom", none.clone(), "failed"),
        ("note", json!({"n": 3}), "input_required"),
        ("race", json!({"ms": 60_000}), "input_required"),
        ("askpar", none.clone(), "input_required"),
        ("confirm", none.clone(), "input_required"),
    ] {
        follow(schemas, client, tool, arguments, status).await;
    }

    let id = follow(schemas, client, "form", none.clone(), "input_required").await;
    let content = json!({
        "name": "Ada", "short": "ada", "level": "high", "levels": ["low", "high"],
        "email": "ada@example.org", "link": "https://example.org/", "day": "2026-07-28",
        "moment": "2026-07-28T12:00:00Z", "windows": ["tonight"],
    });
    let key = client.until_asked(&id, None).await;
    let wrong = json!({ &key: { "action": "accept" } });
    schemas.error(Some("InvalidParamsError"), &client.update(&id, wrong).await);
    let right = json!({ &key: { "action": "accept", "content": content } });
    schemas.tasks_result("UpdateTaskResult", &client.update(&id, right).await);
    client.until(&id, "completed").await;
    schemas.task(&client.try_get(&id).await);

    let id = follow(
        schemas,
        client,
        "form_of_schema",
        none.clone(),
        "input_required",
    )
    .await;
    let key = client.until_asked(&id, None).await;
    let content = json!({"zone": "west", "atMost": 7, "level": "low", "windows": ["tonight"]});
    let right = json!({ &key: { "action": "accept", "content": content } });
    schemas.tasks_result("UpdateTaskResult", &client.update(&id, right).await);
    let task = client.until(&id, "completed").await;
    assert_eq!(task["result"]["structuredContent"], content);

    let id = follow(
        schemas,
        client,
        "ask_loop",
        json!({"n": 2}),
        "input_required",
    )
    .await;
    for _ in 0..2 {
        let task = client.until(&id, "input_required").await;
        for key in keys(&task) {
            let answer = json!({ key: { "action": "accept", "content": { "answer": "a" } } });
            schemas.tasks_result("UpdateTaskResult", &client.update(&id, answer).await);
            schemas.task(&client.try_get(&id).await);
        }
    }
    client.until(&id, "completed").await;
    schemas.task(&client.try_get(&id).await);

    let id = follow(schemas, client, "ask1", none, "input_required").await;
    schemas.tasks_result("CancelTaskResult", &client.cancel(&id).await);
    client.until(&id, "cancelled").await;
    schemas.task(&client.try_get(&id).await);
    schemas.tasks_result("CancelTaskResult", &client.cancel(&id).await);
}

async fn errors(schemas: &mut Schemas, client: &Client) {
    let undeclared = client.declaring(Declares::Nothing);
    let missing = Some("MissingRequiredClientCapabilityError");
    for reply in [
        undeclared.call("required", json!({})).await,
        undeclared.call("ask1", json!({})).await,
        undeclared.try_get("never").await,
        undeclared.cancel("never").await,
    ] {
        schemas.error(missing, &reply);
    }
    for reply in [
        client.try_get("never").await,
        client.cancel("never").await,
        client.update("never", json!({})).await,
        client.call("slow", json!({})).await,
        client.call("shows", json!({"depth": 4, "name": "A"})).await,
        client.call("no_such_tool", json!({})).await,
    ] {
        schemas.error(Some("InvalidParamsError"), &reply);
    }
    for method in ["tasks/list", "tasks/result", "no/such/method"] {
        let reply = client.request(method, json!({})).await;
        schemas.error(Some("MethodNotFoundError"), &reply);
    }
    let plain = client.declaring(Declares::NoTasks);
    schemas.error(None, &plain.call("hard", json!({})).await);
    schemas.error(Some("InternalError"), &plain.call("boom", json!({})).await);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let reply = client.with_meta(meta).call("sync", json!({})).await;
    schemas.error(Some("UnsupportedProtocolVersionError"), &reply);
    schemas.error(Some("ParseError"), &client.send_raw("{").await);
    schemas.error(Some("InvalidRequestError"), &client.send_raw("[]").await);
}

async fn header_errors(schemas: &mut Schemas, client: &Client) {
    let mut request = client.compose("tools/call", json!({"name": "sync"}));
    request
        .headers_mut()
        .insert("mcp-name", "other".parse().unwrap());
    let reply = client.send_http(request).await;
    schemas.error(Some("HeaderMismatchError"), &reply);
}
