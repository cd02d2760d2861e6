//! How a task in a unit test has ended.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::task::describe;
use crate::protocol::ProtocolError;
use crate::task::{Outcome, Snapshot};

/// How a task under test has ended.
#[derive(Clone, Debug)]
pub struct TestResult(pub(super) Arc<Snapshot>);

impl TestResult {
    /// The task as a client sees it.
    pub fn task(&self) -> &Snapshot {
        &self.0
    }

    /// Whether it completed with an error of the tool.
    ///
    /// # Panics
    ///
    /// If it did not complete.
    pub fn is_error(&self) -> bool {
        self.json()["isError"] == json!(true)
    }

    /// The error, if the task failed.
    pub fn error(&self) -> Option<&ProtocolError> {
        match &self.0.outcome {
            Some(Outcome::Failed { error }) => Some(error),
            _ => None,
        }
    }

    /// The text of the result.
    ///
    /// # Panics
    ///
    /// If the task did not complete.
    pub fn text(&self) -> String {
        let json = self.json();
        let blocks = json["content"].as_array();
        let texts = blocks
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str());
        texts.collect()
    }

    /// The structured content of the result.
    ///
    /// # Panics
    ///
    /// If the task did not complete, or its content is not a `T`.
    pub fn structured<T: DeserializeOwned>(&self) -> T {
        let content = self.json()["structuredContent"].clone();
        serde_json::from_value(content).unwrap_or_else(|error| panic!("{error}: {:?}", self.0))
    }

    fn json(&self) -> Value {
        match &self.0.outcome {
            Some(Outcome::Completed { result }) => {
                serde_json::from_str(result.get()).expect("a result is JSON")
            }
            _ => panic!("it did not complete: {}", describe(&self.0)),
        }
    }
}
