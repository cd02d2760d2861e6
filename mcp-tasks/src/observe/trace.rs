//! W3C trace context, as requests carry it in `_meta`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::protocol::{object, text};

/// Which trace a call belongs to, as its `_meta` says by `traceparent` and
/// `tracestate` (W3C Trace Context).
///
/// It is recorded with a task, so that whatever the task does belongs to the trace
/// of the call that began it, also after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceContext {
    traceparent: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tracestate: Option<Arc<str>>,
}

/// Where a trace id stands in a `traceparent`, and the id of a span.
const TRACE_ID: std::ops::Range<usize> = 3..35;
const PARENT_ID: std::ops::Range<usize> = 36..52;

/// How long a `traceparent` of the first version is.
const LENGTH: usize = 55;

/// How much of a `tracestate` everybody has to pass on.
const LONGEST_STATE: usize = 512;

impl TraceContext {
    /// Reads a `traceparent`; `None` if it is none, in which case the
    /// specification has it ignored.
    pub fn new(traceparent: &str) -> Option<Self> {
        is_traceparent(traceparent).then(|| Self {
            traceparent: traceparent.into(),
            tracestate: None,
        })
    }

    /// With what tracing systems of the caller's say besides. What is too long or
    /// cannot be sent on is left out.
    #[must_use]
    pub fn with_tracestate(mut self, tracestate: &str) -> Self {
        let is_fit = (1..=LONGEST_STATE).contains(&tracestate.len())
            && tracestate.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        self.tracestate = is_fit.then(|| tracestate.into());
        self
    }

    /// What a call's `_meta` says.
    pub(crate) fn of_meta(meta: &RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        struct Meta<'a> {
            #[serde(borrow, default)]
            traceparent: Option<&'a RawValue>,
            #[serde(borrow, default)]
            tracestate: Option<&'a RawValue>,
        }
        // Most calls carry none, and need not be read for it.
        if !meta.get().contains("\"traceparent\"") {
            return None;
        }
        let meta: Meta<'_> = object(meta).ok()?;
        let context = Self::new(&text(meta.traceparent?)?)?;
        Some(match meta.tracestate.and_then(text) {
            Some(state) => context.with_tracestate(&state),
            None => context,
        })
    }

    /// The header of that name.
    pub fn traceparent(&self) -> &str {
        &self.traceparent
    }

    /// The header of that name.
    pub fn tracestate(&self) -> Option<&str> {
        self.tracestate.as_deref()
    }

    /// The id of the trace: 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        &self.traceparent[TRACE_ID]
    }

    /// The id of the caller's span: 16 hexadecimal digits.
    pub fn parent_id(&self) -> &str {
        &self.traceparent[PARENT_ID]
    }

    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        self.traceparent.len() + self.tracestate.as_ref().map_or(0, |state| state.len())
    }
}

/// Versions to come may add to the end of what there is.
fn is_traceparent(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_hex = |range: std::ops::Range<usize>| {
        let digits = &bytes[range];
        digits
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_zero = |range: std::ops::Range<usize>| bytes[range].iter().all(|byte| *byte == b'0');
    let is_long_enough = match bytes.get(..2) {
        Some(b"00") => bytes.len() == LENGTH,
        Some(b"ff") | None => false,
        Some(_) => {
            let more = bytes.get(LENGTH).is_none_or(|byte| *byte == b'-');
            bytes.len() >= LENGTH && bytes.len() <= LONGEST_STATE && more && text.is_ascii()
        }
    };
    is_long_enough
        && [2, 35, 52].iter().all(|at| bytes[*at] == b'-')
        && is_hex(0..2)
        && is_hex(TRACE_ID)
        && is_hex(PARENT_ID)
        && is_hex(53..55)
        && !is_zero(TRACE_ID)
        && !is_zero(PARENT_ID)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn of_meta(text: &str) -> Option<TraceContext> {
        TraceContext::of_meta(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn what_a_call_carries_is_read() {
        let meta = format!(r#"{{"traceparent":"{PARENT}","tracestate":"a=1,b=2"}}"#);
        let context = of_meta(&meta).unwrap();
        assert_eq!(context.traceparent(), PARENT);
        assert_eq!(context.trace_id(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(context.parent_id(), "b7ad6b7169203331");
        assert_eq!(context.tracestate(), Some("a=1,b=2"));
    }

    #[test]
    fn what_is_malformed_is_passed_over() {
        for parent in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333é-1",
        ] {
            assert_eq!(TraceContext::new(parent), None, "{parent}");
        }
        for meta in [
            "{}",
            r#"{"traceparent":7}"#,
            r#"{"x":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}"#,
        ] {
            assert_eq!(of_meta(meta), None, "{meta}");
        }
        let later = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes";
        assert!(TraceContext::new(later).is_some());
    }

    #[test]
    fn a_state_that_cannot_be_passed_on_is_left_out() {
        for state in ["", "a=é", "a=1\r\nx: y", &"x".repeat(513)] {
            let context = TraceContext::new(PARENT).unwrap().with_tracestate(state);
            assert_eq!(context.tracestate(), None, "{state}");
        }
    }
}
