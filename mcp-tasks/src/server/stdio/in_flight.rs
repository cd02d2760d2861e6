//! The requests that a client waits for, and who works on each.

use std::collections::HashMap;

use rmcp::model::RequestId;
use serde_json::value::RawValue;
use tokio::task::{AbortHandle, Id};

use super::super::engine::LoopId;

/// A request's id, compared as JSON-RPC does: by type and value, not by spelling.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum RequestKey {
    Number(i128),
    Text(String),
}

impl RequestKey {
    /// Reads an id; `None` if it is neither a string nor an integer.
    pub(super) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if text.starts_with('"') {
            serde_json::from_str(text).ok().map(Self::Text)
        } else {
            text.parse().ok().map(Self::Number)
        }
    }
}

impl From<&RequestId> for RequestKey {
    fn from(id: &RequestId) -> Self {
        match id {
            RequestId::Number(number) => Self::Number((*number).into()),
            RequestId::String(text) => Self::Text(text.as_ref().to_owned()),
        }
    }
}

/// Who will answer a request.
#[derive(Debug)]
pub(super) enum Owner {
    /// The router, in a task of its own.
    Router(AbortHandle),
    /// One of rmcp's loops.
    Rmcp(LoopId),
}

#[derive(Debug)]
struct Waiting {
    /// As the client wrote it.
    id: Box<RawValue>,
    owner: Owner,
}

/// All requests of a connection that have no reply yet.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    requests: HashMap<RequestKey, Waiting>,
}

impl InFlight {
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(super) fn contains(&self, key: &RequestKey) -> bool {
        self.requests.contains_key(key)
    }

    pub(super) fn insert(&mut self, key: RequestKey, id: &RawValue, owner: Owner) {
        let id = id.to_owned();
        self.requests.insert(key, Waiting { id, owner });
    }

    /// Takes a request out, whoever works on it.
    pub(super) fn remove(&mut self, key: &RequestKey) -> Option<(Box<RawValue>, Owner)> {
        let waiting = self.requests.remove(key)?;
        Some((waiting.id, waiting.owner))
    }

    /// Takes a request out that this task of the router works on.
    ///
    /// `None` when it was cancelled meanwhile: then no reply may be sent.
    pub(super) fn remove_routed(&mut self, key: &RequestKey, task: Id) -> Option<Box<RawValue>> {
        let is_its =
            |waiting: &Waiting| matches!(&waiting.owner, Owner::Router(call) if call.id() == task);
        self.requests.get(key).filter(|waiting| is_its(waiting))?;
        self.remove(key).map(|(id, _)| id)
    }

    /// Takes a request out that this loop works on; `None` as above.
    pub(super) fn remove_served(&mut self, key: &RequestKey, by: LoopId) -> Option<Box<RawValue>> {
        let is_its = |waiting: &Waiting| matches!(waiting.owner, Owner::Rmcp(owner) if owner == by);
        self.requests.get(key).filter(|waiting| is_its(waiting))?;
        self.remove(key).map(|(id, _)| id)
    }

    /// Takes out what a task of the router left behind that panicked.
    pub(super) fn remove_task(&mut self, task: Id) -> Option<Box<RawValue>> {
        let key = self
            .requests
            .iter()
            .find(|(_, waiting)| matches!(&waiting.owner, Owner::Router(call) if call.id() == task))
            .map(|(key, _)| key.clone())?;
        self.remove(&key).map(|(id, _)| id)
    }

    /// Takes out all that a loop left behind that ended.
    pub(super) fn remove_loop(&mut self, ended: LoopId) -> Vec<Box<RawValue>> {
        self.requests
            .extract_if(|_, waiting| matches!(waiting.owner, Owner::Rmcp(owner) if owner == ended))
            .map(|(_, waiting)| waiting.id)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Option<RequestKey> {
        RequestKey::read(&RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn ids_are_compared_by_value_and_type() {
        assert_eq!(key(r#""a""#), key(r#""\u0061""#));
        assert_ne!(key("1"), key(r#""1""#));
        assert_eq!(
            key("18446744073709551615"),
            Some(RequestKey::Number(u64::MAX.into()))
        );
        assert_eq!(key("1.5"), None);
        assert_eq!(key("null"), None);
        assert_eq!(key("1"), Some(RequestKey::from(&RequestId::Number(1))));
    }
}
