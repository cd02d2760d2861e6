//! What a browser sends when a form is submitted.

use std::pin::pin;

use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::Serialize;

use super::BoxError;
use super::page::Note;
use crate::protocol::Content;
use crate::task::{Action, InputKey, TaskId};

/// The names of what is in every form.
pub(super) const TASK: &str = "task";
pub(super) const KEY: &str = "key";
pub(super) const TOKEN: &str = "token";
pub(super) const ACTION: &str = "reply";

/// What the buttons say.
pub(super) const ANSWER: &str = "answer";
pub(super) const DECLINE: &str = "decline";
pub(super) const DISMISS: &str = "dismiss";

/// What a form takes beside the answer in it.
const AROUND_ANSWER: usize = 16 << 10;

/// The fields of a form, in the order in which they were sent.
pub(super) struct Typed(Vec<(String, String)>);

/// Which button was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pressed(Action);

/// Why nothing can be made of a body.
pub(super) enum Unreadable {
    NotAForm,
    TooLong(usize),
    Broken(String),
}

/// An answer as clients send it.
#[derive(Serialize)]
pub(super) struct Sent {
    action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Content>,
}

impl Typed {
    /// Reads a form whose answer takes up to `limit` bytes.
    pub(super) async fn read<B>(
        headers: &HeaderMap,
        body: B,
        limit: usize,
    ) -> Result<Self, Unreadable>
    where
        B: http_body::Body<Error: Into<BoxError>>,
    {
        let kind = headers.get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(Unreadable::NotAForm);
        }
        // One byte may take three.
        let limit = limit.saturating_mul(3).saturating_add(AROUND_ANSWER);
        let read = pin!(Limited::new(body, limit)).collect().await;
        let body = read.map_err(|error| {
            if error.is::<LengthLimitError>() {
                Unreadable::TooLong(limit)
            } else {
                Unreadable::Broken(error.to_string())
            }
        })?;
        Ok(Self::parse(&body.to_bytes()))
    }

    fn parse(body: &[u8]) -> Self {
        let fields = form_urlencoded::parse(body);
        Self(
            fields
                // Browsers write every line's end as two characters.
                .map(|(name, value)| (name.into_owned(), value.replace("\r\n", "\n")))
                .collect(),
        )
    }

    /// The question that the form belongs to.
    pub(super) fn question(&self) -> (TaskId, InputKey) {
        let text = |name| self.one(name).unwrap_or_default();
        (TaskId::from_text(text(TASK)), InputKey::new(text(KEY)))
    }

    pub(super) fn token(&self) -> &str {
        self.one(TOKEN).unwrap_or_default()
    }

    pub(super) fn action(&self) -> Option<Pressed> {
        match self.one(ACTION)? {
            ANSWER => Some(Pressed(Action::Accept)),
            DECLINE => Some(Pressed(Action::Decline)),
            DISMISS => Some(Pressed(Action::Cancel)),
            _ => None,
        }
    }

    /// The first value of this name.
    pub(super) fn one(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All values of this name.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let of_name = self.0.iter().filter(move |(field, _)| field == name);
        of_name.map(|(_, value)| value.as_str())
    }
}

impl Pressed {
    /// What a client would send.
    pub(super) fn response(self, content: Option<Content>) -> Sent {
        let Self(action) = self;
        let content = content.filter(|_| action == Action::Accept);
        Sent { action, content }
    }

    /// What is said once it counts.
    pub(super) fn note(self) -> Note {
        match self.0 {
            Action::Accept => Note::Answered,
            Action::Decline => Note::Declined,
            Action::Cancel => Note::Dismissed,
        }
    }
}

impl Unreadable {
    pub(super) fn in_words(self) -> (StatusCode, String) {
        match self {
            Self::NotAForm => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Answers are sent by the forms of the inbox, as \
                 `application/x-www-form-urlencoded`."
                    .to_owned(),
            ),
            Self::TooLong(limit) => (
                StatusCode::PAYLOAD_TOO_LARGE,
                format!(
                    "Nothing was recorded: the answer is too long. All of it together may take \
                     {limit} bytes. Go back, and shorten it."
                ),
            ),
            Self::Broken(error) => (
                StatusCode::BAD_REQUEST,
                format!("Nothing was recorded: the answer did not arrive whole ({error})."),
            ),
        }
    }
}
