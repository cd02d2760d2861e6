//! How questions are put in the protocol versions that have sessions.
//!
//! What a version does not know is left out or said in its own way; what it has
//! no way to say is an error.

use std::sync::Arc;

use indexmap::IndexMap;
use rmcp::model::{ClientCapabilities, ElicitationCapability, ProtocolVersion};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::protocol::{Capabilities, ElicitationModes, InputKind, InputRequest, ProtocolError};

/// What the protocol version of a session has to ask with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Dialect {
    /// 2025-03-26 and before: sampling and roots.
    NoElicitation,
    /// 2025-06-18: forms too, of text, numbers, yes or no, and one choice.
    PlainForms,
    /// 2025-11-25: forms of every kind, and URLs.
    Full,
}

impl Dialect {
    /// That of a protocol version.
    pub(in crate::server) fn of(version: Option<&ProtocolVersion>) -> Self {
        match version.map(ProtocolVersion::as_str) {
            Some(version) if version >= ProtocolVersion::V_2025_11_25.as_str() => Self::Full,
            Some(version) if version >= ProtocolVersion::V_2025_06_18.as_str() => Self::PlainForms,
            _ => Self::NoElicitation,
        }
    }

    /// What a client can be asked that declared so much in its handshake.
    pub(in crate::server) fn declared(self, by: &ClientCapabilities) -> Capabilities {
        let modes = by.elicitation.as_ref();
        let elicitation = match self {
            Self::NoElicitation => ElicitationModes::default(),
            Self::PlainForms => ElicitationModes {
                form: modes.is_some(),
                url: false,
            },
            Self::Full => modes.map(modes_of).unwrap_or_default(),
        };
        Capabilities {
            tasks: false,
            elicitation,
            sampling: by.sampling.is_some(),
            roots: by.roots.is_some(),
            inbox: false,
        }
    }

    /// The parameters of a question in this version, in the order of their author.
    ///
    /// # Errors
    ///
    /// If the version cannot say it.
    pub(super) fn params(
        self,
        request: &InputRequest,
        id: &str,
    ) -> Result<Arc<RawValue>, ProtocolError> {
        let mut params: Members = match (request.kind(), self) {
            (InputKind::Url, _) | (InputKind::Form, Self::PlainForms) => read(&request.params)?,
            _ => return Ok(request.params.clone()),
        };
        if request.kind() == InputKind::Url {
            params.insert("elicitationId".to_owned(), raw(&id)?);
        } else {
            params.shift_remove("mode");
            if let Some(schema) = params.get_mut("requestedSchema") {
                *schema = plain(schema)?;
            }
        }
        raw(&params).map(Into::into)
    }
}

/// An object whose members keep their order.
type Members = IndexMap<String, Box<RawValue>>;

fn read<T: for<'a> Deserialize<'a>>(json: &RawValue) -> Result<T, ProtocolError> {
    serde_json::from_str(json.get()).map_err(|_| unreadable())
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, ProtocolError> {
    to_raw_value(value).map_err(|_| unreadable())
}

fn unreadable() -> ProtocolError {
    ProtocolError::internal("its parameters cannot be put into JSON")
}

fn modes_of(declared: &ElicitationCapability) -> ElicitationModes {
    ElicitationModes {
        form: declared.form.is_some() || declared.url.is_none(),
        url: declared.url.is_some(),
    }
}

/// A form in the schemas of 2025-06-18.
fn plain(schema: &RawValue) -> Result<Box<RawValue>, ProtocolError> {
    let mut schema: Members = read(schema)?;
    let Some(properties) = schema.get_mut("properties") else {
        return raw(&schema);
    };
    let mut fields: IndexMap<String, IndexMap<String, Value>> = read(properties)?;
    for (name, field) in &mut fields {
        if field.get("type") == Some(&json!("array")) {
            return Err(ProtocolError::internal(format!(
                "its field `{name}` is a choice of several, which protocol version {} has no form \
                 for",
                ProtocolVersion::V_2025_06_18.as_str()
            )));
        }
        if field.get("type") != Some(&json!("boolean")) {
            field.shift_remove("default");
        }
        if let Some(Value::Array(choices)) = field.shift_remove("oneOf") {
            let all =
                |member| -> Vec<&Value> { choices.iter().map(|choice| &choice[member]).collect() };
            field.insert("enum".to_owned(), json!(all("const")));
            field.insert("enumNames".to_owned(), json!(all("title")));
        }
    }
    *properties = raw(&fields)?;
    raw(&schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(text: &str) -> ClientCapabilities {
        serde_json::from_str(text).unwrap()
    }

    fn dialects() -> [Dialect; 3] {
        let of = |version: &ProtocolVersion| Dialect::of(Some(version));
        [
            of(&ProtocolVersion::V_2025_03_26),
            of(&ProtocolVersion::V_2025_06_18),
            of(&ProtocolVersion::V_2025_11_25),
        ]
    }

    #[test]
    fn a_version_declares_what_it_knows() {
        let everything = capabilities(
            r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true}}"#,
        );
        let modes = |form, url| ElicitationModes { form, url };
        let expected = [modes(false, false), modes(true, false), modes(true, true)];
        for (dialect, elicitation) in dialects().into_iter().zip(expected) {
            let declared = dialect.declared(&everything);
            assert_eq!(declared.elicitation, elicitation, "{dialect:?}");
            assert!(declared.sampling && declared.roots && !declared.tasks);
            let nothing = dialect.declared(&capabilities("{}"));
            assert_eq!(nothing, Capabilities::default(), "{dialect:?}");
        }
        let bare = capabilities(r#"{"elicitation":{}}"#);
        assert_eq!(
            Dialect::Full.declared(&bare).elicitation,
            modes(true, false)
        );
        let url = capabilities(r#"{"elicitation":{"url":{}}}"#);
        assert_eq!(Dialect::Full.declared(&url).elicitation, modes(false, true));
    }

    fn put(dialect: Dialect, question: &InputRequest) -> Value {
        let params = dialect.params(question, "7").unwrap();
        serde_json::from_str(params.get()).unwrap()
    }

    fn form(properties: &Value) -> InputRequest {
        let params = json!({
            "mode": "form",
            "message": "?",
            "requestedSchema": { "type": "object", "properties": properties },
        });
        let params = serde_json::value::to_raw_value(&params).unwrap();
        InputRequest::new("elicitation/create", params.into())
    }

    #[test]
    fn a_form_is_put_as_2025_06_18_knows_it() {
        let question = form(&json!({
            "sure": { "type": "boolean", "default": true },
            "percent": { "type": "integer", "minimum": 1, "default": 10 },
            "mail": { "type": "string", "format": "email", "default": "a@b.org" },
            "plain": { "type": "string", "enum": ["a", "b"], "default": "a" },
            "titled": { "type": "string", "title": "T", "oneOf": [
                { "const": "r", "title": "Red" }, { "const": "g", "title": "Green" },
            ] },
        }));
        assert_eq!(
            put(Dialect::PlainForms, &question),
            json!({
                "message": "?",
                "requestedSchema": { "type": "object", "properties": {
                    "sure": { "type": "boolean", "default": true },
                    "percent": { "type": "integer", "minimum": 1 },
                    "mail": { "type": "string", "format": "email" },
                    "plain": { "type": "string", "enum": ["a", "b"] },
                    "titled": {
                        "type": "string", "title": "T",
                        "enum": ["r", "g"], "enumNames": ["Red", "Green"],
                    },
                } },
            })
        );
        let same: Value = serde_json::from_str(question.params.get()).unwrap();
        assert_eq!(put(Dialect::Full, &question), same);
    }

    #[test]
    fn members_keep_their_order() {
        let text = r#"{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{"z":{"type":"string","minLength":1},"a":{"type":"boolean"}},"required":["z","a"]}}"#;
        let params = RawValue::from_string(text.to_owned()).unwrap();
        let question = InputRequest::new("elicitation/create", params.into());
        let plain = Dialect::PlainForms.params(&question, "7").unwrap();
        assert_eq!(plain.get(), text.replace(r#""mode":"form","#, ""));
        let full = Dialect::Full.params(&question, "7").unwrap();
        assert_eq!(full.get(), text);
    }

    #[test]
    fn what_a_version_has_no_form_for_is_an_error() {
        let items = json!({ "type": "string", "enum": ["a"] });
        let question = form(&json!({ "several": { "type": "array", "items": items } }));
        let error = Dialect::PlainForms.params(&question, "id").unwrap_err();
        assert!(error.message.contains("`several`"), "{error}");
        assert!(error.message.contains("2025-06-18"), "{error}");
        assert!(Dialect::Full.params(&question, "id").is_ok());
    }

    #[test]
    fn a_url_has_an_id() {
        let params = json!({ "mode": "url", "message": "?", "url": "https://a.org" });
        let raw = serde_json::value::to_raw_value(&params).unwrap();
        let question = InputRequest::new("elicitation/create", raw.into());
        let put = put(Dialect::Full, &question);
        assert_eq!(put["elicitationId"], "7");
        assert_eq!(put["url"], "https://a.org");
    }
}
