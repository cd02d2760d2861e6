//! The questions of one caller, as people are shown them.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use fluent_uri::Uri;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::protocol::{Form, InputKind, InputRequest, ProtocolError, TaskStatus};
use crate::runtime::Runtime;
use crate::task::{Caller, InputKey, Snapshot, TaskId, Timestamp};

/// Of how many tasks the questions are shown.
const TASKS: usize = 100;

/// What waits for one caller, newest task first.
pub(super) struct Questions {
    pub(super) shown: Vec<Question>,
    /// Whether there are tasks beside them whose questions are not shown.
    pub(super) more: bool,
}

/// One question.
pub(super) struct Question {
    pub(super) task: TaskId,
    pub(super) key: InputKey,
    /// Names it within the page: letters and digits.
    pub(super) card: String,
    /// The tool's title, or its name.
    pub(super) tool: String,
    pub(super) message: String,
    /// What the tool says it is doing.
    pub(super) status: Option<String>,
    pub(super) called_at: Timestamp,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) asks: Asks,
}

/// What is asked for.
pub(super) enum Asks {
    Form(Form),
    Url {
        url: String,
        /// Where it leads, if it is on the web.
        host: Option<String>,
    },
}

impl Questions {
    pub(super) async fn of(runtime: &Runtime, caller: &Caller) -> Result<Self, ProtocolError> {
        let mut tasks = runtime.asking(caller, TASKS + 1).await?;
        let more = tasks.len() > TASKS;
        tasks.truncate(TASKS);
        let shown = tasks.iter().flat_map(|task| {
            let asked = task.input_requests.iter();
            asked.filter_map(|(key, request)| Question::new(runtime, task, key, request))
        });
        let shown = shown.collect();
        Ok(Self { shown, more })
    }

    /// Takes in a question that must be shown, if it is not there.
    pub(super) fn put(&mut self, question: Question) {
        if !self.shown.iter().any(|shown| shown.card == question.card) {
            self.shown.insert(0, question);
        }
    }

    /// Changes whenever anything does that a person would see.
    pub(super) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for question in &self.shown {
            hash.update(&question.card);
            hash.update(question.status.as_deref().unwrap_or_default());
            hash.update([0]);
        }
        hash.update([u8::from(self.more)]);
        short(hash)
    }
}

impl Question {
    /// The question of this key, if it is open and people may answer it.
    pub(super) async fn find(
        runtime: &Runtime,
        caller: &Caller,
        id: &TaskId,
        key: &InputKey,
    ) -> Result<Option<Self>, ProtocolError> {
        let Some(task) = runtime.find(id, caller).await? else {
            return Ok(None);
        };
        if task.status() != TaskStatus::InputRequired {
            return Ok(None);
        }
        let mut asked = task.input_requests.iter();
        let found = asked.find(|(asked, _)| asked == key);
        Ok(found.and_then(|(key, request)| Self::new(runtime, &task, key, request)))
    }

    fn new(
        runtime: &Runtime,
        task: &Arc<Snapshot>,
        key: &InputKey,
        request: &InputRequest,
    ) -> Option<Self> {
        #[derive(Deserialize)]
        struct Params {
            message: String,
            #[serde(default)]
            url: String,
        }
        let kind = request.kind();
        if matches!(kind, InputKind::Model | InputKind::Roots) {
            return None;
        }
        let params: Params = serde_json::from_str(request.params.get()).ok()?;
        let asks = match kind {
            InputKind::Url => Asks::Url {
                host: host(&params.url),
                url: params.url,
            },
            _ => Asks::Form(request.form().into_owned()),
        };
        let listed = runtime.tool(&task.tool).map(crate::runtime::Tool::listing);
        let title = listed.and_then(|listing| listing["title"].as_str());
        let mut hash = Sha256::new();
        hash.update(task.id.as_str());
        hash.update([0]);
        hash.update(key.as_str());
        Some(Self {
            task: task.id.clone(),
            key: key.clone(),
            card: format!("q{}", short(hash)),
            tool: title.unwrap_or(&task.tool).to_owned(),
            message: params.message,
            status: task.status_message(),
            called_at: task.created_at,
            expires_at: task.expires_at(),
            asks,
        })
    }
}

/// The host of a web page, with its port if it has one.
fn host(url: &str) -> Option<String> {
    let uri = Uri::parse(url).ok()?;
    let scheme = uri.scheme().as_str();
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    let authority = uri.authority().filter(|_| is_web)?;
    let host = authority.host().to_lowercase();
    if host.is_empty() {
        return None;
    }
    Some(match authority.port() {
        Some(port) if !port.as_str().is_empty() => format!("{host}:{port}"),
        _ => host,
    })
}

/// Enough of a hash to tell a few hundred things apart.
fn short(hash: Sha256) -> String {
    let text = BASE64.encode(&hash.finalize()[..12]);
    // What names something in HTML and CSS.
    text.replace('-', "0").replace('_', "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_url_leads_is_its_host_whatever_stands_before() {
        for (url, leads_to) in [
            ("https://Example.org/a?b#c", Some("example.org")),
            ("http://localhost:8000", Some("localhost:8000")),
            (
                "https://bank.example@evil.example/bank.example",
                Some("evil.example"),
            ),
            (
                "https://bank.example:pw@evil.example:1/",
                Some("evil.example:1"),
            ),
            ("https://[::1]:8000/", Some("[::1]:8000")),
            ("javascript:alert(1)", None),
            ("data:text/html,x", None),
            ("file:///etc/passwd", None),
            ("https:///nowhere", None),
            ("//example.org", None),
            ("not a url", None),
        ] {
            assert_eq!(host(url).as_deref(), leads_to, "{url}");
        }
    }
}
