//! JSON-RPC over lines, which is MCP's stdio transport: one message per line,
//! requests that are answered in turn.
//!
//! A request is awaited before the next is sent, so a reply needs no table of
//! who waits for it. Notifications and late replies are passed over.

use std::fmt;
use std::io;
use std::time::Duration;

use mcp_tasks::protocol::ProtocolError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _, Lines};
use tokio::time::timeout;

use crate::Error;

/// How long a server may take to reply. What takes longer is what tasks are for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the server.
    Sent,
    /// From the server.
    Received,
}

type Reader = Box<dyn AsyncBufRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;
type Watcher = Box<dyn FnMut(Direction, &str) + Send>;

/// A connection to one server.
pub struct Connection {
    lines: Lines<Reader>,
    writer: Writer,
    last_id: u64,
    watcher: Option<Watcher>,
}

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'a str,
    id: u64,
    method: &'a str,
    params: P,
}

#[derive(Deserialize)]
struct Incoming {
    #[serde(default)]
    id: Option<Box<RawValue>>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<ProtocolError>,
}

impl Connection {
    /// A connection that reads and writes here.
    pub fn new(
        reader: impl AsyncBufRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let reader: Reader = Box::new(reader);
        Self {
            lines: reader.lines(),
            writer: Box::new(writer),
            last_id: 0,
            watcher: None,
        }
    }

    /// Shows every message to `watcher`, as it stands on the wire.
    pub fn watch(&mut self, watcher: impl FnMut(Direction, &str) + Send + 'static) {
        self.watcher = Some(Box::new(watcher));
    }

    /// Sends a request and waits for its result.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with the server's words if it replies with an error;
    /// [`Error::Gone`], [`Error::TimedOut`] and [`Error::NotAMessage`] if it
    /// does not reply as it should.
    pub async fn request(
        &mut self,
        method: &str,
        params: impl Serialize,
    ) -> Result<Box<RawValue>, Error> {
        match timeout(PATIENCE, self.exchange(method, params)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Error::TimedOut {
                method: method.to_owned(),
                seconds: PATIENCE.as_secs(),
            }),
        }
    }

    async fn exchange(
        &mut self,
        method: &str,
        params: impl Serialize,
    ) -> Result<Box<RawValue>, Error> {
        let gone = || Error::Gone {
            method: method.to_owned(),
        };
        self.last_id += 1;
        let request = Request {
            jsonrpc: "2.0",
            id: self.last_id,
            method,
            params,
        };
        // JSON has line breaks only between its tokens, where a space will do.
        let mut line = serde_json::to_string(&request)
            .map_err(io::Error::from)?
            .replace(['\n', '\r'], " ");
        self.show(Direction::Sent, &line);
        line.push('\n');
        match self.writer.write_all(line.as_bytes()).await {
            Ok(()) => self.writer.flush().await?,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(gone()),
            Err(error) => return Err(error.into()),
        }
        loop {
            let line = self.lines.next_line().await?.ok_or_else(gone)?;
            self.show(Direction::Received, &line);
            let incoming = parse(&line)?;
            if !incoming.answers(self.last_id) {
                continue;
            }
            return match (incoming.result, incoming.error) {
                (_, Some(error)) => Err(Error::Refused {
                    method: method.to_owned(),
                    error,
                }),
                (Some(result), None) => Ok(result),
                (None, None) => Err(Error::Unexpected {
                    method: method.to_owned(),
                    problem: "the reply has neither `result` nor `error`".to_owned(),
                }),
            };
        }
    }

    fn show(&mut self, direction: Direction, message: &str) {
        if let Some(watcher) = &mut self.watcher {
            watcher(direction, message);
        }
    }
}

impl Incoming {
    /// An error without an id answers what the server could not read, and that
    /// was the request that is waiting.
    fn answers(&self, id: u64) -> bool {
        match &self.id {
            Some(of) => of.get() == id.to_string(),
            None => self.error.is_some(),
        }
    }
}

fn parse(line: &str) -> Result<Incoming, Error> {
    const SHOWN: usize = 200;
    serde_json::from_str(line).map_err(|problem| Error::NotAMessage {
        problem,
        line: line.chars().take(SHOWN).collect(),
    })
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("last_id", &self.last_id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio::io::{AsyncReadExt as _, BufReader};

    use super::*;

    /// A server that says these lines, whatever it is asked.
    fn says(lines: &'static str) -> Connection {
        Connection::new(BufReader::new(lines.as_bytes()), tokio::io::sink())
    }

    async fn outcome(lines: &'static str) -> Result<String, Error> {
        let params = serde_json::json!({});
        let result = says(lines).request("ping", params).await?;
        Ok(result.get().to_owned())
    }

    #[tokio::test]
    async fn notifications_and_replies_to_others_are_passed_over() {
        let result = outcome(concat!(
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":9,"result":{"late":true}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"result":{"b":1,"a":2}}"#,
            "\n",
        ));
        assert_eq!(result.await.unwrap(), r#"{"b":1,"a":2}"#);
    }

    #[tokio::test]
    async fn what_goes_wrong_names_the_request() {
        let error = outcome("").await.unwrap_err();
        assert!(error.to_string().contains("before it answered `ping`"));

        let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
        let error = outcome(refused).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the server refused `ping`: no (code -32602)"
        );

        let unreadable = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}"#;
        let error = outcome(unreadable).await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }));

        let error = outcome("hello\n").await.unwrap_err();
        assert!(error.to_string().contains("not JSON-RPC"));
        assert!(error.to_string().ends_with(": hello"));
    }

    #[tokio::test]
    async fn a_message_is_one_line_however_its_parts_are_written() {
        let (near, mut far) = tokio::io::duplex(1 << 10);
        let reply: &[u8] = b"{\"id\":1,\"result\":{}}\n";
        let mut connection = Connection::new(BufReader::new(reply), near);
        let params = RawValue::from_string("{\n  \"x\":\r\n1\n}".to_owned()).unwrap();
        connection.request("ping", params).await.unwrap();
        drop(connection);
        let mut sent = String::new();
        far.read_to_string(&mut sent).await.unwrap();
        assert_eq!(sent.find('\n'), Some(sent.len() - 1));
    }

    #[tokio::test]
    async fn every_message_is_shown_with_its_direction() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut connection = says("{\"id\":1,\"result\":{}}\n");
        let record = Arc::clone(&seen);
        connection.watch(move |direction, message| {
            record.lock().unwrap().push((direction, message.to_owned()));
        });
        let params = serde_json::json!({"x": 1});
        connection.request("ping", params).await.unwrap();
        let sent = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1}}"#;
        assert_eq!(
            *seen.lock().unwrap(),
            [
                (Direction::Sent, sent.to_owned()),
                (Direction::Received, r#"{"id":1,"result":{}}"#.to_owned()),
            ]
        );
    }
}
