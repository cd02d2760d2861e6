//! What a client asks to hear of.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::{ProtocolError, object};
use crate::runtime::limit_reached;
use crate::task::TaskId;

const TASK_IDS: &str = "taskIds";

/// The `notifications` of a request.
pub(super) struct Filter<'a> {
    /// The value of `taskIds`; `null` is none.
    task_ids: Option<&'a RawValue>,
    asks_for_more: bool,
}

impl<'a> Filter<'a> {
    /// Reads the filter; `taskIds` is not looked into yet.
    pub(super) fn read(raw: Option<&'a RawValue>) -> Result<Self, ProtocolError> {
        let raw = raw.ok_or_else(|| ProtocolError::invalid_params("`notifications` is missing"))?;
        let mut members: IndexMap<String, &'a RawValue> = object(raw).map_err(|error| {
            ProtocolError::invalid_params(format!("`notifications` must be an object: {error}"))
        })?;
        let task_ids = members.swap_remove(TASK_IDS);
        Ok(Self {
            task_ids: task_ids.filter(|raw| raw.get() != "null"),
            asks_for_more: !members.is_empty(),
        })
    }

    pub(super) fn names_tasks(&self) -> bool {
        self.task_ids.is_some()
    }

    /// Whether it has members that are not ours.
    pub(super) fn asks_for_more(&self) -> bool {
        self.asks_for_more
    }

    /// The tasks that it names, each once, if it names any.
    pub(super) fn task_ids(&self, limit: usize) -> Result<Option<Vec<TaskId>>, ProtocolError> {
        let Some(raw) = self.task_ids else {
            return Ok(None);
        };
        let ids = Vec::<String>::deserialize(raw).map_err(|error| {
            ProtocolError::invalid_params(format!(
                "`notifications.{TASK_IDS}` must be an array of strings: {error}"
            ))
        })?;
        let mut seen = HashSet::new();
        let once: Vec<TaskId> = ids
            .iter()
            .filter(|id| seen.insert(id.as_str()))
            .map(|id| TaskId::from_text(id))
            .collect();
        if once.len() > limit {
            let words = format!(
                "`notifications.{TASK_IDS}` names {} tasks; one subscription may name {limit}: \
                 open several",
                once.len()
            );
            return Err(limit_reached(
                "subscribed_tasks",
                ProtocolError::invalid_params(words),
            ));
        }
        Ok(Some(once))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Option<Vec<TaskId>>, bool), ProtocolError> {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        let filter = Filter::read(Some(raw))?;
        assert_eq!(filter.names_tasks(), filter.task_ids(9)?.is_some());
        Ok((filter.task_ids(2)?, filter.asks_for_more()))
    }

    fn ids<const N: usize>(ids: [&str; N]) -> Vec<TaskId> {
        ids.map(TaskId::from_text).to_vec()
    }

    #[test]
    fn tasks_are_told_apart_from_what_is_not_ours() {
        assert_eq!(read("{}").unwrap(), (None, false));
        assert_eq!(read(r#"{"taskIds":null}"#).unwrap(), (None, false));
        assert_eq!(read(r#"{"taskIds":[]}"#).unwrap(), (Some(ids([])), false));
        let more = r#"{"toolsListChanged":true,"taskIds":["a"]}"#;
        assert_eq!(read(more).unwrap(), (Some(ids(["a"])), true));
        assert_eq!(read(r#"{"what":"ever"}"#).unwrap(), (None, true));
    }

    #[test]
    fn a_task_that_is_named_twice_is_one() {
        let twice = r#"{"taskIds":["b","a","b","a"]}"#;
        assert_eq!(read(twice).unwrap().0, Some(ids(["b", "a"])));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, words) in [
            ("[]", "`notifications` must be an object"),
            (
                r#"{"taskIds":"a"}"#,
                "`notifications.taskIds` must be an array of strings",
            ),
            (
                r#"{"taskIds":[7]}"#,
                "`notifications.taskIds` must be an array of strings",
            ),
            (
                r#"{"taskIds":["a","b","c"]}"#,
                "names 3 tasks; one subscription may name 2",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.code.0, -32602);
            assert!(error.message.contains(words), "{text}: {error}");
        }
        assert!(Filter::read(None).is_err());
    }
}
