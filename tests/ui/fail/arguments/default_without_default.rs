//! A type without a default has none to be left out for.
use mcp_tasks::prelude::*;

#[derive(serde::Deserialize)]
enum Window {
    Night,
}

impl mcp_tasks::__private::schemars::JsonSchema for Window {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Window".into()
    }

    fn json_schema(
        generator: &mut mcp_tasks::__private::schemars::SchemaGenerator,
    ) -> mcp_tasks::__private::schemars::Schema {
        String::json_schema(generator)
    }
}

#[mcp_task]
async fn deploy(#[arg(default)] window: Window) -> String {
    match window {
        Window::Night => "at night".to_owned(),
    }
}

fn main() {}
