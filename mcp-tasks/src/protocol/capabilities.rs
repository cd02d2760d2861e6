//! What a client declares that it can do (P1, P21).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{InputKind, TASKS_EXTENSION};

/// The client capabilities that this crate acts on.
///
/// They are part of a task: what its creator declared decides what the task
/// may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Read", into = "Written")]
#[allow(clippy::struct_excessive_bools, reason = "each is said by itself")]
pub struct Capabilities {
    /// The Tasks extension.
    pub tasks: bool,
    /// Elicitation, by mode.
    pub elicitation: ElicitationModes,
    /// Sampling.
    pub sampling: bool,
    /// Roots.
    pub roots: bool,
    /// Nothing that the client declares: people find their questions at the server,
    /// too, in its inbox.
    pub inbox: bool,
}

impl Capabilities {
    /// Whether somebody can be asked such questions: the client (P21), or people in
    /// the server's inbox.
    pub fn can_be_asked(self, kind: InputKind) -> bool {
        let is_for_people = matches!(kind, InputKind::Form | InputKind::Url);
        self.client_can_be_asked(kind) || (self.inbox && is_for_people)
    }

    /// Whether the client can be asked such questions (P21).
    pub fn client_can_be_asked(self, kind: InputKind) -> bool {
        match kind {
            InputKind::Form => self.elicitation.form,
            InputKind::Url => self.elicitation.url,
            InputKind::Model => self.sampling,
            InputKind::Roots => self.roots,
        }
    }
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

/// Capabilities as clients declare them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Read {
    elicitation: Option<Object>,
    sampling: Option<Object>,
    roots: Option<Object>,
    extensions: Option<Object>,
    #[serde(rename = "rs.mcp-tasks/inbox")]
    inbox: bool,
}

impl From<Read> for Capabilities {
    fn from(read: Read) -> Self {
        let declares = |object: &Object, member| object.get(member).is_some_and(Value::is_object);
        let elicitation = read.elicitation.map_or_else(Default::default, |modes| {
            let url = declares(&modes, "url");
            ElicitationModes {
                form: declares(&modes, "form") || !url,
                url,
            }
        });
        Self {
            tasks: read
                .extensions
                .is_some_and(|extensions| declares(&extensions, TASKS_EXTENSION)),
            elicitation,
            sampling: read.sampling.is_some(),
            roots: read.roots.is_some(),
            inbox: read.inbox,
        }
    }
}

/// Capabilities as they are kept, in the same form.
#[derive(Serialize)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation: Option<Modes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling: Option<Declared>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roots: Option<Declared>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Extensions>,
    /// Written where it is kept with a task; what a client says of it does not count.
    #[serde(
        rename = "rs.mcp-tasks/inbox",
        skip_serializing_if = "std::ops::Not::not"
    )]
    inbox: bool,
}

#[derive(Serialize)]
struct Modes {
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<Declared>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<Declared>,
}

#[derive(Serialize)]
struct Extensions {
    #[serde(rename = "io.modelcontextprotocol/tasks")]
    tasks: Declared,
}

#[derive(Serialize)]
struct Declared {}

impl From<Capabilities> for Written {
    fn from(capabilities: Capabilities) -> Self {
        let declared = |declared: bool| declared.then_some(Declared {});
        let ElicitationModes { form, url } = capabilities.elicitation;
        Self {
            elicitation: (form || url).then(|| Modes {
                form: declared(form),
                url: declared(url),
            }),
            sampling: declared(capabilities.sampling),
            roots: declared(capabilities.roots),
            inbox: capabilities.inbox,
            extensions: declared(capabilities.tasks).map(|tasks| Extensions { tasks }),
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
            r#"{"elicitation":{"url":{}},"rs.mcp-tasks/inbox":true}"#,
        ] {
            let capabilities = read(text);
            let again = read(&serde_json::to_string(&capabilities).unwrap());
            assert_eq!(capabilities, again);
        }
    }
}
