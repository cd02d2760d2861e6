//! The answers that a client sends (P22), and what it sends them with (P60).

use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::protocol::{Params, ProtocolError, text};
use crate::runtime::{Limits, Retry, limit_reached};
use crate::task::{Answer, InputKey};

/// Reads `inputResponses`, in the order in which they were sent.
pub(super) fn answers<'a>(
    raw: Option<&'a RawValue>,
    limits: &Limits,
) -> Result<Vec<Answer<'a>>, ProtocolError> {
    let raw = raw.ok_or_else(|| ProtocolError::invalid_params("`inputResponses` is missing"))?;
    let limit = limits.answers;
    let mut json = serde_json::Deserializer::from_str(raw.get());
    let read = json.deserialize_map(AtMost(limit)).map_err(|error| {
        ProtocolError::invalid_params(format!("`inputResponses` must be an object: {error}"))
    })?;
    let answers = read.ok_or_else(|| {
        let words = format!("`inputResponses` has more than {limit} answers, the limit");
        limit_reached("answers", ProtocolError::invalid_params(words))
    })?;
    Ok(answers
        .into_iter()
        .map(|(key, response)| Answer {
            key: InputKey::new(key),
            response,
        })
        .collect())
}

/// What a client brings that was asked something before; answers without a state
/// are to nothing that was asked (P62).
pub(super) fn retry<'a>(
    params: &Params<'a>,
    limits: &Limits,
) -> Result<Option<Retry<'a>>, ProtocolError> {
    let Some(state) = params.request_state else {
        return Ok(None);
    };
    let state = text(state)
        .ok_or_else(|| ProtocolError::invalid_params("`requestState` must be a string"))?;
    let answers = match params.input_responses {
        Some(_) => answers(params.input_responses, limits)?,
        None => Vec::new(),
    };
    Ok(Some(Retry { state, answers }))
}

/// Reads a map of no more than so many members; `None` if there are more.
struct AtMost(usize);

impl<'de> Visitor<'de> for AtMost {
    type Value = Option<IndexMap<String, &'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut read = IndexMap::new();
        let mut count = 0;
        while let Some((key, value)) = map.next_entry::<String, _>()? {
            count += 1;
            if count <= self.0 {
                read.insert(key, value);
            }
        }
        Ok((count <= self.0).then_some(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, limit: usize) -> Result<Vec<String>, ProtocolError> {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        let limits = Limits {
            answers: limit,
            ..Limits::default()
        };
        let answers = answers(Some(raw), &limits)?;
        let shown = answers
            .iter()
            .map(|answer| format!("{} {}", answer.key, answer.response));
        Ok(shown.collect())
    }

    #[test]
    fn answers_keep_their_order_and_their_text() {
        let text = r#"{"b": {"x": 1.0}, "a":[ ]}"#;
        assert_eq!(read(text, 2).unwrap(), [r#"b {"x": 1.0}"#, "a [ ]"]);
    }

    #[test]
    fn more_than_the_limit_are_refused() {
        let refused = read(r#"{"a":1,"b":2,"c":3}"#, 2).unwrap_err();
        assert!(refused.message.contains("more than 2"), "{refused}");
        assert_eq!(read("{}", 0).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["[]", "[1]", "7", "null", r#""a""#] {
            let refused = read(text, 9).unwrap_err();
            assert!(refused.message.contains("must be an object"), "{refused}");
        }
    }
}
