//! What a client declares that it can do (P1, P21).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::TASKS_EXTENSION;

/// The client capabilities that this crate acts on.
///
/// They are part of a task: what its creator declared decides what the task
/// may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Wire", into = "Wire")]
pub struct Capabilities {
    /// The Tasks extension.
    pub tasks: bool,
    /// Elicitation, by mode.
    pub elicitation: ElicitationModes,
    /// Sampling.
    pub sampling: bool,
    /// Roots.
    pub roots: bool,
}

/// The modes of elicitation that a client declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ElicitationModes {
    /// Forms; what a bare `elicitation: {}` means.
    pub form: bool,
    /// URLs to open.
    pub url: bool,
}

/// Any JSON object; arrays, which a derived struct would accept, are refused.
type Object = serde_json::Map<String, Value>;

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Wire {
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation: Option<Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling: Option<Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roots: Option<Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Object>,
}

impl From<Wire> for Capabilities {
    fn from(wire: Wire) -> Self {
        let declares = |object: &Object, member| object.get(member).is_some_and(Value::is_object);
        let elicitation = wire.elicitation.map_or_else(Default::default, |modes| {
            let url = declares(&modes, "url");
            ElicitationModes {
                form: declares(&modes, "form") || !url,
                url,
            }
        });
        Self {
            tasks: wire
                .extensions
                .is_some_and(|extensions| declares(&extensions, TASKS_EXTENSION)),
            elicitation,
            sampling: wire.sampling.is_some(),
            roots: wire.roots.is_some(),
        }
    }
}

impl From<Capabilities> for Wire {
    fn from(capabilities: Capabilities) -> Self {
        let declared = |declared: bool| declared.then(Object::new);
        let with = |members: &[(&str, bool)]| -> Option<Object> {
            let object: Object = members
                .iter()
                .filter(|(_, declared)| *declared)
                .map(|(member, _)| ((*member).to_owned(), Value::Object(Object::new())))
                .collect();
            (!object.is_empty()).then_some(object)
        };
        let ElicitationModes { form, url } = capabilities.elicitation;
        Self {
            elicitation: with(&[("form", form), ("url", url)]),
            sampling: declared(capabilities.sampling),
            roots: declared(capabilities.roots),
            extensions: with(&[(TASKS_EXTENSION, capabilities.tasks)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Capabilities {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn bare_elicitation_means_forms_only() {
        let modes = read(r#"{"elicitation":{}}"#).elicitation;
        assert!(modes.form && !modes.url);
        let modes = read(r#"{"elicitation":{"url":{}}}"#).elicitation;
        assert!(!modes.form && modes.url);
        assert_eq!(read("{}"), Capabilities::default());
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        for text in [
            "{}",
            r#"{"elicitation":{"form":{},"url":{}},"roots":{}}"#,
            r#"{"sampling":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
        ] {
            let capabilities = read(text);
            let again = read(&serde_json::to_string(&capabilities).unwrap());
            assert_eq!(capabilities, again);
        }
    }
}
