//! A person's browser, as far as a server sees it: pages, and forms that are sent.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::timeout;

use crate::PATIENCE;

/// Somebody who visits one page of a server.
#[derive(Clone)]
pub struct Visitor {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
    headers: Vec<(&'static str, String)>,
}

/// What came back.
#[derive(Debug)]
pub struct Page {
    /// The HTTP status.
    pub status: u16,
    /// The response's headers.
    pub headers: http::HeaderMap,
    /// The body.
    pub text: String,
}

/// A form on a page: what is in it unseen, as a browser would send it.
#[derive(Clone, Debug)]
pub struct PageForm {
    /// The text of its card.
    pub card: String,
    hidden: Vec<(String, String)>,
}

/// Events that a page hears.
pub struct PageEvents {
    body: Incoming,
    read: String,
}

impl Visitor {
    /// Visits this URL.
    pub fn of(url: impl Into<String>) -> Self {
        Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            url: url.into(),
            headers: Vec::new(),
        }
    }

    /// Sends a header with everything.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Looks at the page.
    pub async fn look(&self) -> Page {
        self.get("").await
    }

    /// Gets what a query of the page names.
    pub async fn get(&self, query: &str) -> Page {
        let page = self.send(self.request("GET", query, String::new())).await;
        page.read().await
    }

    /// Sends the fields of a form.
    pub async fn submit(&self, fields: &[(&str, &str)]) -> Page {
        let pairs = fields
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let mut request = self.request("POST", "", body);
        let kind = http::HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().entry("content-type").or_insert(kind);
        self.send(request).await.read().await
    }

    /// Sends a request of this method.
    pub async fn method(&self, method: &str) -> Page {
        let request = self.request(method, "", String::new());
        self.send(request).await.read().await
    }

    /// Listens as an open page does.
    pub async fn events(&self) -> PageEvents {
        self.try_events().await.expect("there is a stream")
    }

    /// The same; `None` if it may not.
    pub async fn try_events(&self) -> Option<PageEvents> {
        let Arrived(response) = self
            .send(self.request("GET", "events", String::new()))
            .await;
        if response.status() != 200 {
            return None;
        }
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Some(PageEvents {
            body: response.into_body(),
            read: String::new(),
        })
    }

    fn request(&self, method: &str, query: &str, body: String) -> http::Request<Full<Bytes>> {
        let uri = if query.is_empty() {
            self.url.clone()
        } else {
            format!("{}?{query}", self.url)
        };
        let mut request = http::Request::builder().method(method).uri(uri);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(body.into()));
        request.expect("headers are plain text")
    }

    async fn send(&self, request: http::Request<Full<Bytes>>) -> Arrived {
        let response = timeout(PATIENCE, self.client.request(request)).await;
        let response = response.expect("no reply in time");
        Arrived(response.expect("no response"))
    }
}

struct Arrived(http::Response<Incoming>);

impl Arrived {
    async fn read(self) -> Page {
        let (parts, body) = self.0.into_parts();
        let body = timeout(PATIENCE, body.collect()).await;
        let body = body.expect("no body in time").expect("the body is whole");
        Page {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(body.to_bytes().to_vec()).expect("the page is UTF-8"),
        }
    }
}

impl Page {
    /// The forms on it, in their order.
    pub fn forms(&self) -> Vec<PageForm> {
        let cards = self.text.split("<article").skip(1);
        let cards = cards.map(|card| card.split("</article>").next().unwrap_or_default());
        cards.map(PageForm::on).collect()
    }

    /// The one form on it.
    pub fn form(&self) -> PageForm {
        let mut forms = self.forms();
        assert_eq!(forms.len(), 1, "{}", self.text);
        forms.remove(0)
    }

    /// Fails unless all these texts are on it.
    pub fn shows(&self, texts: &[&str]) {
        for text in texts {
            assert!(
                self.text.contains(text),
                "`{text}` is not on: {}",
                self.text
            );
        }
    }
}

impl PageForm {
    fn on(card: &str) -> Self {
        let inputs = card.split("<input type=\"hidden\"").skip(1);
        let hidden = inputs.map(|input| {
            let of = |attribute: &str| {
                let start = input.find(&format!(" {attribute}=\""))? + attribute.len() + 3;
                let end = start + input[start..].find('"')?;
                Some(input[start..end].to_owned())
            };
            (
                of("name").expect("it has a name"),
                of("value").expect("it has a value"),
            )
        });
        Self {
            card: card.to_owned(),
            hidden: hidden.collect(),
        }
    }

    /// What is in it unseen under this name.
    pub fn hidden(&self, name: &str) -> &str {
        let mut hidden = self.hidden.iter();
        let found = hidden.find(|(hidden, _)| hidden == name);
        found.map(|(_, value)| value.as_str()).expect("it is there")
    }

    /// The fields that are sent with these beside, by the button of this value.
    pub fn filled<'a>(
        &'a self,
        button: &'a str,
        more: &[(&'a str, &'a str)],
    ) -> Vec<(&'a str, &'a str)> {
        let hidden = self.hidden.iter();
        let mut fields: Vec<_> = hidden.map(|(name, value)| (&**name, &**value)).collect();
        fields.push(("reply", button));
        fields.extend(more);
        fields
    }

    /// The same form with something else in it unseen.
    #[must_use]
    pub fn forged(mut self, name: &str, value: &str) -> Self {
        self.hidden.retain(|(hidden, _)| hidden != name);
        self.hidden.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same form without what is in it under this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.hidden.retain(|(hidden, _)| hidden != name);
        self
    }
}

impl PageEvents {
    /// What the next event says; `None` once there are no more.
    pub async fn next(&mut self) -> Option<String> {
        let next = async {
            loop {
                if let Some(end) = self.read.find("\n\n") {
                    let event: String = self.read.drain(..end + 2).collect();
                    let mut lines = event.lines();
                    if let Some(data) = lines.find_map(|line| line.strip_prefix("data: ")) {
                        return Some(data.to_owned());
                    }
                    continue;
                }
                let frame = self.body.frame().await?.expect("the stream is whole");
                let data = frame.into_data().expect("there are no trailers");
                self.read
                    .push_str(std::str::from_utf8(&data).expect("events are UTF-8"));
            }
        };
        timeout(PATIENCE, next).await.expect("nothing comes")
    }
}

fn encoded(text: &str) -> String {
    let bytes = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    bytes.collect()
}
