//! rmcp's own client in a session of 2025-11-25.

use mcp_tasks_tests::Fixture;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, Implementation,
};
use rmcp::service::RequestContext;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt as _};
use serde_json::json;

use super::FIXTURES;

/// Fills in every form with the same answer.
struct Desk;

impl ClientHandler for Desk {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("desk", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Err(ErrorData::invalid_params("not a form", None));
        };
        let content = json!({ "answer": format!("to {message}") });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}

#[tokio::test]
async fn it_answers_the_questions_of_a_call() {
    let server = Fixture::http(FIXTURES, &[]).await;
    let transport = StreamableHttpClientTransport::from_uri(server.client().url());
    let client = Desk.serve(transport).await.unwrap();
    let result = client
        .call_tool(CallToolRequestParams::new("ask2"))
        .await
        .unwrap();
    let text = result.content[0].as_text().unwrap();
    assert_eq!(text.text, "to The first?,to The second?");
    client.cancel().await.unwrap();
}
