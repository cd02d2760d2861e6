//! `notifications/progress` for calls under 2026-07-28, as text.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Number, Value};
use tokio::sync::mpsc;

use crate::protocol::{Message, MessageKind, object};
use crate::runtime::{ProgressSink, ProgressUpdate, Telling};

/// Whether a request asks to be told of its progress.
pub(super) fn token<'a>(message: &Message<'a>) -> Option<&'a RawValue> {
    #[derive(Deserialize)]
    struct Meta<'a> {
        #[serde(borrow, rename = "progressToken", default)]
        token: Option<&'a RawValue>,
    }
    if message.kind() != MessageKind::Request {
        return None;
    }
    let meta: Meta<'_> = object(message.params().meta?).ok()?;
    // Nothing else can be a token.
    meta.token.filter(|token| {
        let value: Result<Value, _> = serde_json::from_str(token.get());
        value.is_ok_and(|value| value.is_string() || value.is_i64() || value.is_u64())
    })
}

/// Writes notifications for the client that gave this token.
pub(super) struct Notices {
    pub(super) token: Arc<RawValue>,
    pub(super) lines: mpsc::Sender<String>,
}

impl ProgressSink for Notices {
    fn tell(&self, update: ProgressUpdate) -> Telling {
        let line = notification(&self.token, &update);
        let lines = self.lines.clone();
        Box::pin(async move {
            // Whoever has gone needs no telling.
            lines.send(line).await.ok();
        })
    }
}

fn notification(token: &RawValue, update: &ProgressUpdate) -> String {
    #[derive(Serialize)]
    struct Notification<'a> {
        jsonrpc: &'static str,
        method: &'static str,
        params: Params<'a>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        progress_token: &'a RawValue,
        progress: Number,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
    }
    let notification = Notification {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: Params {
            progress_token: token,
            progress: number(update.progress),
            total: update.total,
            message: update.message.as_deref(),
        },
    };
    serde_json::to_string(&notification).expect("words and numbers are JSON")
}

/// A whole number without a fraction, as its author would write it.
fn number(progress: f64) -> Number {
    let fraction = || Number::from_f64(progress).unwrap_or_else(|| 0.into());
    if progress.fract() != 0.0 {
        return fraction();
    }
    format!("{progress:.0}")
        .parse()
        .unwrap_or_else(|_| fraction())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(token: &str) -> bool {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{{"progressToken":{token}}}}}}}"#
        );
        super::token(&Message::parse(text.as_bytes()).unwrap()).is_some()
    }

    #[test]
    fn a_token_is_text_or_an_integer() {
        for good in ["\"\"", "\"a\"", "0", "-7", "18446744073709551615"] {
            assert!(asked(good), "{good}");
        }
        for bad in ["null", "1.5", "true", "{}", "[1]"] {
            assert!(!asked(bad), "{bad}");
        }
    }

    #[test]
    fn a_notification_says_what_there_is() {
        let token = RawValue::from_string("\"\\u0061\"".to_owned()).unwrap();
        let mut update = ProgressUpdate {
            progress: 3.0,
            total: Some(10),
            message: Some("packing".into()),
        };
        assert_eq!(
            notification(&token, &update),
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"\u0061","progress":3,"total":10,"message":"packing"}}"#
        );
        update.progress = 3.001;
        (update.total, update.message) = (None, None);
        assert!(notification(&token, &update).ends_with(r#""progress":3.001}}"#));
    }
}
