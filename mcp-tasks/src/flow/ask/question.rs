//! What is asked, as a request, and how its answer is read.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::super::choices::AskedForm;
use crate::elicit::{Elicit, KnownForm};
use crate::protocol::{Content, InputKind, InputRequest, ModelRequest, StringFormat};
use crate::task::{Elicited, Response};

/// What is asked.
pub(super) enum Question {
    Form { message: String, form: AskedForm },
    Url(Box<UrlParams>),
    Model(Box<ModelRequest>),
    Roots,
}

/// Reads an answer that is not a refusal, or says why it cannot.
pub(super) type Read<T> = fn(&Response) -> Result<T, String>;

impl Question {
    pub(super) fn kind(&self) -> InputKind {
        match self {
            Self::Form { .. } => InputKind::Form,
            Self::Url(_) => InputKind::Url,
            Self::Model(_) => InputKind::Model,
            Self::Roots => InputKind::Roots,
        }
    }

    /// The request, or why it cannot be made.
    pub(super) fn request(&mut self) -> Result<InputRequest, String> {
        Ok(match self {
            Self::Form { message, form } => {
                let form = form.make().map_err(|error| error.to_string())?;
                form_request(message, &form)
            }
            Self::Url(params) => {
                StringFormat::Uri
                    .check(&params.url)
                    .map_err(|rule| format!("its URL {rule}, and is `{}`", params.url))?;
                with_params(InputKind::Url, params)
            }
            Self::Model(request) => {
                request.check()?;
                with_params(InputKind::Model, request)
            }
            Self::Roots => with_params(InputKind::Roots, &NoParams {}),
        })
    }
}

fn with_params(kind: InputKind, params: &impl Serialize) -> InputRequest {
    let params = to_raw_value(params).expect("words and numbers are JSON");
    InputRequest::new(kind.method(), params.into())
}

/// The parameters of a URL elicitation (P25).
#[derive(Serialize)]
pub(super) struct UrlParams {
    mode: &'static str,
    message: String,
    url: String,
}

impl UrlParams {
    pub(super) fn new(message: String, url: String) -> Self {
        Self {
            mode: "url",
            message,
            url,
        }
    }
}

#[derive(Serialize)]
struct NoParams {}

/// The `elicitation/create` request that shows a form (P20, P24).
fn form_request(message: &str, known: &KnownForm) -> InputRequest {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        mode: &'static str,
        message: &'a str,
        requested_schema: &'a RawValue,
    }
    let params = Params {
        mode: "form",
        message,
        requested_schema: &known.json,
    };
    let params: Arc<RawValue> = to_raw_value(&params)
        .expect("words and a form are JSON")
        .into();
    InputRequest::new(InputKind::Form.method(), params).showing(known.form.clone())
}

/// Reads what was filled in.
pub(super) fn read_form<T: Elicit>(response: &Response) -> Result<T, String> {
    let nothing = Content::new();
    let content = match response {
        Response::Elicited(Elicited { content, .. }) => content.as_ref().unwrap_or(&nothing),
        _ => return Err(of_another_kind()),
    };
    T::from_content(content).map_err(|errors| {
        let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
        words.join("; ")
    })
}

/// A journal that was not written by us; a replay compares kinds before.
pub(super) fn of_another_kind() -> String {
    "it answers a question of another kind".to_owned()
}
